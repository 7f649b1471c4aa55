/* Files of the user: read directly, or written under no name. */
#define _GNU_SOURCE
#include "disk/file.h"

#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "check_main.h"
#include "config.h"

#define UNIT PEMS_DISK_UNIT
#define MIB ((size_t)1 << 20)

/* --- a system that behaves badly --- */

static struct {
  int no_tmpfile; /* errno for O_TMPFILE, or 0 */
  int no_direct;  /* O_DIRECT is refused */
  int no_link;    /* errno for linkat, or 0 */
  int no_rename;  /* errno for rename, or 0 */
  int flushes;    /* calls of fdatasync */
  int no_write;   /* errno for the second pwrite from now on, or 0 */
  int killed;     /* by this signal, in it */
} sys;

__attribute__((visibility("default"))) ssize_t pwrite(int fd, const void *bytes,
                                                      size_t n, off_t at) {
  static int calls;
  calls = sys.no_write || sys.killed ? calls + 1 : 0;
  if (calls > 1 && sys.killed) {
    raise(sys.killed);
    sys.killed = 0;
  }
  if (calls > 1 && sys.no_write) {
    errno = sys.no_write;
    return -1;
  }
  return syscall(SYS_pwrite64, fd, bytes, n, at);
}

__attribute__((visibility("default"))) int open(const char *path, int flags,
                                                ...) {
  va_list args;
  va_start(args, flags);
  const int mode = va_arg(args, int);
  va_end(args);
  if ((flags & O_TMPFILE) == O_TMPFILE && sys.no_tmpfile) {
    errno = sys.no_tmpfile;
    return -1;
  }
  return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

__attribute__((visibility("default"))) int fcntl(int fd, int call, ...) {
  va_list args;
  va_start(args, call);
  const long arg = va_arg(args, long);
  va_end(args);
  if (sys.no_direct && call == F_SETFL && arg & O_DIRECT) {
    errno = EINVAL;
    return -1;
  }
  return (int)syscall(SYS_fcntl, fd, call, arg);
}

__attribute__((visibility("default"))) int
linkat(int from_dir, const char *from, int to_dir, const char *to, int flags) {
  if (sys.no_link) {
    errno = sys.no_link;
    return -1;
  }
  return (int)syscall(SYS_linkat, from_dir, from, to_dir, to, flags);
}

__attribute__((visibility("default"))) int rename(const char *from,
                                                  const char *to) {
  if (sys.no_rename) {
    errno = sys.no_rename;
    return -1;
  }
  return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

__attribute__((visibility("default"))) int fdatasync(int fd) {
  sys.flushes++;
  return (int)syscall(SYS_fdatasync, fd);
}

/* --- fixture --- */

static char dir[64];
static unsigned char byte_at(size_t i) {
  return (unsigned char)(i * 2654435761u >> 13);
}

static struct disk_file *f;
static struct pems_error error;
static unsigned char *buf;          /* MIB, aligned */
static unsigned char expected[MIB]; /* byte_at each */

static void *aligned(size_t n) {
  void *p;
  ck_assert_int_eq(posix_memalign(&p, UNIT, n), 0);
  return memset(p, 0, n);
}

static void begin(void) {
  strcpy(dir, "/var/tmp/test_disk_file-XXXXXX");
  ck_assert_ptr_nonnull(mkdtemp(dir));
  buf = aligned(MIB);
  for (size_t i = 0; i < MIB; i++) {
    expected[i] = byte_at(i);
  }
}

static void end(void) {
  disk_file_close(f);
  free(buf);
  ck_assert_int_eq(rmdir(dir), 0);
}

static const char *in_dir(const char *name) {
  static char path[8][128];
  static int next;
  char *const p = path[next++ % 8];
  snprintf(p, sizeof(*path), "%s/%s", dir, name);
  return p;
}

/* A file of n bytes, byte_at each. */
static const char *file_of(const char *name, size_t n) {
  const char *const path = in_dir(name);
  const int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0644);
  ck_assert_int_ge(fd, 0);
  ck_assert_int_eq(write(fd, expected, n), (ssize_t)n);
  close(fd);
  return path;
}

static void expect_file(const char *path, size_t n) {
  struct stat st;
  ck_assert_int_eq(stat(path, &st), 0);
  ck_assert_int_eq(st.st_size, (off_t)n);
  unsigned char *const p = malloc(n + 1);
  const int fd = open(path, O_RDONLY);
  ck_assert_int_eq(read(fd, p, n + 1), (ssize_t)n);
  ck_assert_int_eq(memcmp(p, expected, n), 0);
  close(fd);
  free(p);
}

static void expect_names(int n) {
  DIR *const d = opendir(dir);
  int found = -2;
  while (readdir(d)) {
    found++;
  }
  closedir(d);
  ck_assert_int_eq(found, n);
}

static int move(int write, uint64_t at, void *p, size_t n) {
  struct pems_request r = {
      .block = {.disk = -7, .at = at}, .buf = p, .n = n, .write = write};
  struct pems_request *list = &r;
  disk_file_start(f, &list, 1);
  return disk_file_wait(f, &r);
}

static size_t rounded(size_t n) {
  return (n + UNIT - 1) / UNIT * UNIT;
}

static void create(const char *path, const char *io) {
  ck_assert_msg(disk_file_create(&f, path, io, 0, &error) == 0, "%s",
                error.text);
}

/* Writes byte_at in pieces, whole units, from the back. */
static void write_all(size_t n) {
  for (size_t at = rounded(n); at > 0;) {
    const size_t part = at < 5 * UNIT ? at : 5 * UNIT;
    at -= part;
    memcpy(buf, expected + at, part);
    ck_assert_int_eq(move(1, at, buf, part), 0);
  }
}

static void commit(size_t n) {
  ck_assert_msg(disk_file_commit(f, n, &error) == 0, "%s", error.text);
  disk_file_close(f);
  f = NULL;
}

static const char *const drivers_tried[] = {
#ifdef HAVE_LIBAIO
    "aio",   "fault:aio,short=2",
#endif
#ifdef HAVE_LIBURING
    "uring", "fault:uring,short=2",
#endif
    "unix",  "fault:unix,short=2",  "mmap", "mem", "fault:mem,short=2", NULL,
};
enum { DRIVERS = sizeof(drivers_tried) / sizeof(*drivers_tried) };
static const size_t sizes[] = {0,    1,        4095,          4096,
                               4097, 3 * 4096, 5 * 4096 - 10, 300001};
enum { SIZES = sizeof(sizes) / sizeof(*sizes) };

/* --- reading --- */

static void read_whole(const char *io) {
  for (int i = 0; i < SIZES; i++) {
    const size_t n = sizes[i], all = rounded(n);
    const char *const path = file_of("in", n);
    ck_assert_msg(disk_file_open(&f, path, io, 0, &error) == 0, "%s",
                  error.text);
    ck_assert_uint_eq(disk_file_size(f), n);
    ck_assert_str_eq(disk_file_path(f), path);
    /* All at once, then unit by unit. */
    for (size_t part = all; n && part >= UNIT; part = part > UNIT ? UNIT : 0) {
      for (size_t at = 0; at < all; at += part) {
        memset(buf, 0xee, part);
        ck_assert_int_eq(move(0, at, buf, part), 0);
        ck_assert_int_eq(
            memcmp(buf, expected + at, part < n - at ? part : n - at), 0);
      }
    }
    ck_assert_int_eq(move(0, all, buf, UNIT), EINVAL);
    ck_assert_int_eq(move(0, 0, buf, all + UNIT), EINVAL);
    ck_assert_int_eq(move(1, 0, buf, UNIT), EBADF);
    disk_file_close(f);
    f = NULL;
    unlink(path);
  }
}

START_TEST(tails_are_read) {
  read_whole(drivers_tried[_i]);
}
END_TEST

START_TEST(without_direct_io) {
  sys.no_direct = 1;
  read_whole(drivers_tried[_i]);
}
END_TEST

START_TEST(what_has_become_shorter) {
  const char *const path = file_of("in", 10 * UNIT);
  sys.no_direct = _i / DRIVERS;
  ck_assert_int_eq(
      disk_file_open(&f, path, drivers_tried[_i % DRIVERS], 0, &error), 0);
  ck_assert_int_eq(truncate(path, 3 * UNIT + 5), 0);
  ck_assert_int_eq(move(0, 2 * UNIT, buf, UNIT), 0);
  ck_assert_int_eq(move(0, 0, buf, 10 * UNIT), EIO);
  ck_assert_int_eq(move(0, 5 * UNIT, buf, UNIT), EIO);
  unlink(path);
}
END_TEST

static void expect_open_error(const char *path, int code, const char *what) {
  char want[256];
  ck_assert_int_eq(disk_file_open(&f, path, NULL, 0, &error), code);
  ck_assert_ptr_null(f);
  ck_assert_int_eq(error.code, code);
  snprintf(want, sizeof(want), "input file: %s: %s", path, what);
  ck_assert_msg(strncmp(error.text, want, strlen(want)) == 0, "%s", error.text);
}

START_TEST(what_cannot_be_read) {
  const char *const path = in_dir("in");
  expect_open_error(path, ENOENT, "No such file or directory: name a file");
  expect_open_error(dir, EISDIR, "Is a directory: name a file");
  expect_open_error("/dev/null", EINVAL, "is not a regular file: ");
  ck_assert_int_eq(mkfifo(path, 0600), 0);
  expect_open_error(path, EINVAL, "is not a regular file: ");
  unlink(path);
  file_of("in", 10);
  ck_assert_int_eq(chmod(path, 0), 0);
  const int root = geteuid() == 0;
  if (root) {
    ck_assert(chmod(dir, 0777) == 0 && seteuid(65534) == 0);
  }
  expect_open_error(path, EACCES, "Permission denied: name a file");
  if (root) {
    ck_assert_int_eq(seteuid(0), 0);
  }
  unlink(path);
}
END_TEST

START_TEST(unknown_drivers) {
  const char *const path = file_of("in", 10);
  ck_assert_int_eq(disk_file_open(&f, path, "floppy", 0, &error), EINVAL);
  ck_assert_ptr_nonnull(strstr(error.text, "unknown I/O driver: floppy"));
  ck_assert_int_eq(disk_file_open(&f, path, "unix:x", 0, NULL), EINVAL);
  ck_assert_int_eq(disk_file_open(&f, path, "fault:x", 0, &error), EINVAL);
  ck_assert_int_eq(disk_file_create(&f, path, "fault:unix,x", 0, &error),
                   EINVAL);
  ck_assert_ptr_nonnull(strstr(error.text, "give fault:DRIVER["));
  ck_assert_ptr_null(f);
  expect_file(path, 10);
  unlink(path);
}
END_TEST

/* --- writing --- */

static void write_sizes(const char *io) {
  for (int i = 0; i < SIZES; i++) {
    const size_t n = sizes[i];
    const char *const path = in_dir("out");
    create(path, io);
    if (i % 2) {
      ck_assert_int_eq(disk_file_expect(f, n, &error), 0);
    }
    write_all(n);
    /* What was written can be read. */
    if (n >= UNIT) {
      memset(buf, 0, UNIT);
      ck_assert_int_eq(move(0, 0, buf, UNIT), 0);
      ck_assert_uint_eq(buf[100], byte_at(100));
    }
    ck_assert_int_eq(access(path, F_OK), -1);
    commit(n);
    expect_file(path, n);
    expect_names(1);
    unlink(path);
  }
}

START_TEST(files_are_written) {
  write_sizes(drivers_tried[_i]);
}
END_TEST

START_TEST(files_are_written_elsewhere) {
  sys.no_direct = _i & 1;
  sys.no_tmpfile = _i & 2 ? EOPNOTSUPP : 0;
  write_sizes("unix");
  ck_assert_int_eq(sys.flushes > 0, _i & 1);
}
END_TEST

static mode_t mode_of(const char *path) {
  struct stat st;
  ck_assert_int_eq(stat(path, &st), 0);
  return st.st_mode & 07777;
}

START_TEST(modes_and_owners) {
  const char *const path = in_dir("out");
  struct stat st;
  sys.no_tmpfile = _i ? EISDIR : 0;
  umask(027);
  create(path, NULL);
  commit(0);
  ck_assert_uint_eq(mode_of(path), 0640);
  ck_assert_int_eq(chmod(path, 0604), 0);
  const int root = geteuid() == 0;
  if (root) {
    ck_assert_int_eq(chown(path, 12, 34), 0);
  }
  create(path, NULL);
  commit(0);
  ck_assert_uint_eq(mode_of(path), 0604);
  stat(path, &st);
  if (root) {
    ck_assert_uint_eq(st.st_uid, 12);
    ck_assert_uint_eq(st.st_gid, 34);
  }
  unlink(path);
}
END_TEST

START_TEST(links_stay_links) {
  const char *const path = file_of("real", 5), *const link = in_dir("link");
  const char *const second = in_dir("second");
  struct stat st;
  ck_assert_int_eq(symlink("real", link), 0);
  ck_assert_int_eq(symlink(link, second), 0);
  for (int i = 0; i < 2; i++) { /* then one that points to nothing */
    create(second, NULL);
    write_all(5000);
    commit(5000);
    expect_file(path, 5000);
    ck_assert_int_eq(lstat(link, &st), 0);
    ck_assert(S_ISLNK(st.st_mode));
    expect_names(3);
    unlink(path);
  }
  unlink(link);
  ck_assert_int_eq(symlink("link", link), 0);
  ck_assert_int_eq(disk_file_create(&f, second, NULL, 0, &error), ELOOP);
  unlink(link);
  unlink(second);
}
END_TEST

/* --- a file whose contents alone are replaced --- */

static ino_t inode_of(const char *path) {
  struct stat st;
  ck_assert_int_eq(stat(path, &st), 0);
  return st.st_ino;
}

/* It becomes longer, then shorter, by each driver and without unnamed files. */
START_TEST(hard_links_stay) {
  const char *const path = file_of("out", 3 * UNIT), *const other = in_dir("o");
  const ino_t inode = inode_of(path);
  sys.no_tmpfile = _i % 2 ? EOPNOTSUPP : 0;
  ck_assert_int_eq(chmod(path, 0604), 0);
  ck_assert_int_eq(link(path, other), 0);
  for (size_t n = 300001; n > 100; n /= 60) {
    create(path, drivers_tried[_i / 2]);
    write_all(n);
    commit(n);
    expect_file(other, n);
    expect_names(2);
    ck_assert_uint_eq(inode_of(path), inode);
    ck_assert_uint_eq(mode_of(path), 0604);
  }
  unlink(path);
  unlink(other);
}
END_TEST

static void expect_overwritten(const char *path, size_t n) {
  const ino_t inode = inode_of(path);
  create(path, NULL);
  write_all(n);
  commit(n);
  expect_file(path, n);
  ck_assert_uint_eq(inode_of(path), inode);
}

START_TEST(a_directory_that_may_not_be_written) {
  const char *const path = file_of("out", 10);
  const int root = geteuid() == 0;
  sys.no_tmpfile = _i ? EOPNOTSUPP : 0;
  setenv("TMPDIR", "/var/tmp", 1);
  ck_assert_int_eq(chmod(path, 0666), 0);
  ck_assert_int_eq(chmod(dir, 0555), 0);
  if (root) {
    ck_assert_int_eq(seteuid(65534), 0);
  }
  expect_overwritten(path, 5000);
  expect_names(1);
  if (root) {
    ck_assert_int_eq(seteuid(0), 0);
  }
  ck_assert_int_eq(chmod(dir, 0700), 0);
  unlink(path);
}
END_TEST

/* A file of another user that all may write, in a directory that is one's own,
   and in one where only owners may remove it. */
START_TEST(owners_stay) {
  const char *const path = file_of("out", 10);
  struct stat st;
  if (geteuid()) {
    puts("skipped: owners_stay: not root");
    unlink(path);
    return;
  }
  ck_assert(chmod(path, 0666) == 0 && chown(path, 12, 34) == 0);
  ck_assert_int_eq(chmod(dir, _i ? 01777 : 0777), 0);
  ck_assert_int_eq(seteuid(65534), 0);
  expect_overwritten(path, 5000);
  ck_assert_int_eq(seteuid(0), 0);
  ck_assert(stat(path, &st) == 0 && st.st_uid == 12 && st.st_gid == 34);
  unlink(path);
}
END_TEST

START_TEST(attributes_stay) {
  const char *const path = file_of("out", 10);
  char value[8];
  if (setxattr(path, "user.note", "x", 1, 0)) {
    puts("skipped: attributes_stay: this file system has none");
  } else {
    expect_overwritten(path, 5000);
    ck_assert_int_eq(getxattr(path, "user.note", value, sizeof(value)), 1);
  }
  unlink(path);
}
END_TEST

START_TEST(what_is_mounted_on) {
  const char *const path = file_of("out", 10);
  sys.no_rename = EBUSY;
  expect_overwritten(path, 5000);
  expect_names(1);
  unlink(path);
}
END_TEST

/* The file that is complete beside `path`: a copy of it. */
static void expect_kept(const char *path, size_t n) {
  char shell[512];
  snprintf(shell, sizeof(shell), "mv %s.pems-?????? %s.kept", path, path);
  ck_assert_int_eq(system(shell), 0);
  snprintf(shell, sizeof(shell), "%s.kept", path);
  ck_assert_uint_eq(mode_of(shell), 0600);
  expect_file(shell, n);
  unlink(shell);
}

/* The old contents are gone by then, in part; the new ones are not. */
START_TEST(a_disk_that_fails_meanwhile) {
  enum { N = MIB - 5 };
  const char *const path = file_of("out", 77), *const other = in_dir("o");
  char want[256];
  ck_assert_int_eq(link(path, other), 0);
  create(path, NULL);
  write_all(N);
  sys.no_write = EIO;
  pwrite(-1, "", 0, 0); /* the next one fails */
  ck_assert_int_eq(disk_file_commit(f, N, &error), EIO);
  sys.no_write = 0;
  ck_assert(disk_file_broken(f));
  snprintf(want, sizeof(want),
           "output file: %s: Input/output error while it was overwritten: what "
           "belongs there is in %s.pems-",
           path, path);
  ck_assert_msg(strncmp(error.text, want, strlen(want)) == 0, "%s", error.text);
  disk_file_close(f);
  f = NULL;
  disk_file_unlink_names();
  expect_kept(path, N);
  unlink(path);
  unlink(other);
}
END_TEST

/* Signals that can wait do until all is written; SIGKILL leaves the complete
   file beside. */
START_TEST(signals_meanwhile) {
  static const int signals[] = {SIGTERM, SIGINT, SIGHUP, SIGKILL};
  enum { N = 300001 };
  const char *const path = file_of("out", 77), *const other = in_dir("o");
  int status;
  ck_assert_int_eq(link(path, other), 0);
  const pid_t child = fork();
  if (child == 0) {
    disk_file_unlink_at_signals();
    create(path, NULL);
    write_all(N);
    sys.killed = signals[_i];
    pwrite(-1, "", 0, 0);
    disk_file_commit(f, N, &error);
    _exit(3);
  }
  ck_assert_int_eq(waitpid(child, &status, 0), child);
  ck_assert(WIFSIGNALED(status));
  ck_assert_int_eq(WTERMSIG(status), signals[_i]);
  if (signals[_i] == SIGKILL) {
    expect_kept(path, N);
  } else {
    expect_file(other, N);
    expect_names(2);
  }
  unlink(path);
  unlink(other);
}
END_TEST

/* There is no room for the file where the old one is: it is as it was. */
START_TEST(a_full_disk_that_is_overwritten) {
  char small[64], path[128], other[128];
  strcpy(small, "/var/tmp/test_disk_small-XXXXXX");
  ck_assert_ptr_nonnull(mkdtemp(small));
  if (unshare(CLONE_NEWNS) ||
      mount("none", "/", "none", MS_REC | MS_PRIVATE, "") ||
      mount("tmpfs", small, "tmpfs", 0, "size=1m")) {
    puts("skipped: a_full_disk_that_is_overwritten: cannot mount");
    rmdir(small);
    return;
  }
  snprintf(path, sizeof(path), "%s/out", small);
  snprintf(other, sizeof(other), "%s/other", small);
  const int fd = open(path, O_CREAT | O_WRONLY, 0644);
  ck_assert_int_eq(write(fd, expected, 77), 77);
  close(fd);
  ck_assert_int_eq(link(path, other), 0);
  create(path, NULL);
  write_all(700000); /* twice that does not fit */
  ck_assert_int_eq(disk_file_commit(f, 700000, &error), ENOSPC);
  ck_assert(!disk_file_broken(f));
  disk_file_close(f);
  f = NULL;
  expect_file(path, 77);
  ck_assert_int_eq(umount2(small, MNT_DETACH), 0);
  ck_assert_int_eq(rmdir(small), 0);
}
END_TEST

START_TEST(relative_paths) {
  char was[512];
  ck_assert_ptr_nonnull(getcwd(was, sizeof(was)));
  ck_assert_int_eq(chdir(dir), 0);
  create("out", NULL);
  write_all(100);
  ck_assert_int_eq(chdir(was), 0);
  commit(100);
  expect_file(in_dir("out"), 100);
  unlink(in_dir("out"));
}
END_TEST

START_TEST(without_commit_nothing_is_left) {
  const char *const path = file_of("out", 77);
  sys.no_tmpfile = _i ? EOPNOTSUPP : 0;
  create(path, NULL);
  write_all(MIB);
  expect_names(1 + _i);
  expect_file(path, 77);
  disk_file_close(f);
  f = NULL;
  expect_names(1);
  expect_file(path, 77);
  unlink(path);
  disk_file_close(NULL);
}
END_TEST

START_TEST(a_commit_that_fails_changes_nothing) {
  const char *const path = file_of("out", 77);
  sys.no_tmpfile = _i & 1 ? EOPNOTSUPP : 0;
  create(path, NULL);
  write_all(5000);
  sys.no_rename = _i & 2 ? 0 : EROFS;
  sys.no_link = _i & 2 ? EDQUOT : 0;
  const bool fails = _i != 3; /* has a name already */
  ck_assert_int_eq(disk_file_commit(f, 5000, &error) != 0, fails);
  if (fails) {
    char want[256];
    snprintf(want, sizeof(want), "output file: %s: %s: ", path,
             strerror(_i & 2 ? EDQUOT : EROFS));
    ck_assert_msg(strncmp(error.text, want, strlen(want)) == 0, "%s",
                  error.text);
    expect_file(path, 77);
  }
  disk_file_close(f);
  f = NULL;
  expect_names(1);
  unlink(path);
}
END_TEST

static void clean_up(int signal) {
  disk_file_unlink_names();
  _exit(signal);
}

/* The process ends as by the signal, or as it would where that is ignored. */
START_TEST(names_are_removed_at_signals) {
  const char *const path = in_dir("out");
  const pid_t child = fork();
  if (child == 0) {
    sys.no_tmpfile = EOPNOTSUPP;
    signal(SIGHUP, SIG_IGN);
    disk_file_unlink_at_signals();
    if (disk_file_create(&f, path, NULL, 0, NULL) || raise(SIGHUP)) {
      _exit(1);
    }
    expect_names(1);
    raise(SIGTERM);
    _exit(2);
  }
  int status;
  ck_assert_int_eq(waitpid(child, &status, 0), child);
  ck_assert(WIFSIGNALED(status));
  ck_assert_int_eq(WTERMSIG(status), SIGTERM);
  expect_names(0);
}
END_TEST

START_TEST(names_are_removed_by_a_handler) {
  const char *const path = in_dir("out");
  const pid_t child = fork();
  if (child == 0) {
    struct disk_file *other;
    sys.no_tmpfile = EOPNOTSUPP;
    signal(SIGTERM, clean_up);
    if (disk_file_create(&f, path, NULL, 0, NULL) ||
        disk_file_create(&other, path, NULL, 0, NULL)) {
      _exit(1);
    }
    expect_names(2);
    raise(SIGTERM);
    _exit(2);
  }
  int status;
  ck_assert_int_eq(waitpid(child, &status, 0), child);
  ck_assert_int_eq(WEXITSTATUS(status), SIGTERM);
  expect_names(0);
}
END_TEST

static void expect_create_error(const char *path, int code, const char *what) {
  char want[256];
  ck_assert_int_eq(disk_file_create(&f, path, NULL, 0, &error), code);
  ck_assert_ptr_null(f);
  snprintf(want, sizeof(want), "output file: %s: %s", path, what);
  ck_assert_msg(strncmp(error.text, want, strlen(want)) == 0, "%s", error.text);
}

START_TEST(what_cannot_be_written) {
  expect_create_error(dir, EISDIR, "Is a directory: name another file");
  expect_create_error(in_dir("sub/out"), ENOENT, "No such file or directory");
  expect_create_error(in_dir("sub/"), EISDIR, "Is a directory");
  expect_create_error("", ENOENT, "No such file or directory");
  expect_create_error("/dev/null", EINVAL, "is there and not a regular file");
  const char *const path = file_of("out", 10);
  expect_create_error(in_dir("out/out"), ENOTDIR, "Not a directory");
  /* A file that may not be written, in a directory that may, and none where
     none can be made; root may do anything. */
  const int root = geteuid() == 0;
  ck_assert_int_eq(chmod(path, 0444), 0);
  ck_assert_int_eq(chmod(dir, 0777), 0);
  if (root) {
    ck_assert_int_eq(seteuid(65534), 0);
  }
  expect_create_error(path, EACCES, "Permission denied");
  if (root) {
    ck_assert_int_eq(seteuid(0), 0);
  }
  ck_assert_int_eq(chmod(path, 0666), 0);
  ck_assert_int_eq(chmod(dir, 0555), 0);
  if (root) {
    ck_assert_int_eq(seteuid(65534), 0);
  }
  expect_create_error(in_dir("none"), EACCES, "Permission denied");
  if (root) {
    ck_assert_int_eq(seteuid(0), 0);
  }
  ck_assert_int_eq(chmod(dir, 0700), 0);
  expect_file(path, 10);
  unlink(path);
}
END_TEST

START_TEST(wrong_requests) {
  create(in_dir("out"), drivers_tried[_i]);
  ck_assert_int_eq(move(1, 1, buf, UNIT), EINVAL);
  ck_assert_int_eq(move(1, 0, buf, UNIT + 1), EINVAL);
  ck_assert_int_eq(move(1, 0, buf + 8, UNIT), EINVAL);
  ck_assert_int_eq(move(0, 0, buf, UNIT), EIO);
  ck_assert_int_eq(move(1, 0, buf, UNIT), 0);
}
END_TEST

START_TEST(a_limit_of_files) {
  const struct rlimit limit = {2 * UNIT + 5, 2 * UNIT + 5};
  ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
  create(in_dir("out"), NULL);
  ck_assert_int_eq(move(1, 0, buf, 2 * UNIT), 0);
  ck_assert_int_eq(move(1, UNIT, buf, 2 * UNIT), EFBIG);
  ck_assert_int_eq(disk_file_expect(f, 3 * UNIT, &error), EFBIG);
  ck_assert_ptr_nonnull(strstr(error.text, "ulimit -f is "));
}
END_TEST

START_TEST(the_nth_request_fails) {
  enum { N = 6 };
  char io[64];
  const char *const kind = drivers_tried[_i % DRIVERS];
  const int nth = 1 + _i / DRIVERS * 2;
  if (!kind || strchr(kind, ':')) {
    return;
  }
  snprintf(io, sizeof(io), "fault:%s,write=%d:ENOSPC,read=%d:EIO", kind, nth,
           nth);
  create(in_dir("out"), io);
  for (int write = 1; write >= 0; write--) {
    for (int i = 1; i <= N; i++) {
      ck_assert_int_eq(move(write, (uint64_t)i * UNIT, buf, UNIT), i != nth ? 0
                                                                   : write
                                                                       ? ENOSPC
                                                                       : EIO);
    }
  }
  struct pems_disk_counts c;
  disk_file_counts(f, &c);
  ck_assert_uint_eq(c.reads, N);
  ck_assert_uint_eq(c.writes, N);
  ck_assert_uint_eq(c.bytes_read, (N - 1) * UNIT);
  ck_assert_uint_eq(c.bytes_written, (N - 1) * UNIT);
}
END_TEST

START_TEST(a_full_disk) {
  struct stat st;
  if (unshare(CLONE_NEWNS) ||
      mount("none", "/", "none", MS_REC | MS_PRIVATE, "") ||
      mount("tmpfs", dir, "tmpfs", 0, "size=2m")) {
    puts("skipped: a_full_disk: cannot mount");
    return;
  }
  create(in_dir("out"), drivers_tried[_i]);
  ck_assert_int_eq(disk_file_expect(f, 3 * MIB, &error), ENOSPC);
  ck_assert_ptr_nonnull(strstr(error.text, "needs 3.0 MiB, 2.0 MiB free"));
  ck_assert_int_eq(move(1, 0, buf, MIB), 0);
  ck_assert_int_eq(move(1, MIB, buf, MIB), 0);
  ck_assert_int_eq(move(1, 2 * MIB, buf, MIB), ENOSPC);
  disk_file_close(f);
  f = NULL;
  ck_assert_int_eq(stat(in_dir("out"), &st), -1);
  ck_assert_int_eq(umount2(dir, MNT_DETACH), 0);
}
END_TEST

/* --- callbacks and drivers --- */

static _Atomic int called;

static void note(struct pems_request *r) {
  called += r->error == 0;
}

START_TEST(callbacks_and_merging) {
  enum { N = 16 };
  struct pems_request r[N] = {0}, *list[N];
  create(in_dir("out"), "fault:unix,delay=10000");
  for (int i = 0; i < N; i++) {
    r[i] = (struct pems_request){.block.at = (uint64_t)i * UNIT,
                                 .buf = buf + (size_t)i * UNIT,
                                 .n = UNIT,
                                 .write = 1,
                                 .done = note};
    list[i] = &r[i];
  }
  called = 0;
  disk_file_start(f, list, N);
  while (called < N) {
    sched_yield();
  }
  struct pems_disk_counts c;
  disk_file_counts(f, &c);
  ck_assert_uint_eq(c.writes, N);
  ck_assert_uint_gt(c.merged, 0);
  ck_assert_uint_eq(c.bytes_written, N * UNIT);
}
END_TEST

/* The system refuses: another driver does it, without a word. */
START_TEST(drivers_that_are_not_offered) {
  static const int calls[] = {SYS_io_setup, SYS_io_uring_setup};
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)calls[_i], 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const struct sock_fprog program = {sizeof(filter) / sizeof(*filter), filter};
  const char *const io = _i ? "uring" : "aio";
  ck_assert_int_eq(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
  ck_assert_int_eq(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
  if (disk_file_create(&f, in_dir("out"), io, 0, &error)) {
    ck_assert_msg(strstr(error.text, "unknown") != NULL, "%s", error.text);
    return; /* not built */
  }
  write_all(5000);
  commit(5000);
  expect_file(in_dir("out"), 5000);
  unlink(in_dir("out"));
}
END_TEST

int main(void) {
  Suite *const s = suite_create("disk_file");
  TCase *const t = tcase_create("disk_file");
  tcase_set_timeout(t, 60);
  tcase_add_checked_fixture(t, begin, end);
  tcase_add_loop_test(t, tails_are_read, 0, DRIVERS);
  tcase_add_loop_test(t, without_direct_io, 0, DRIVERS);
  tcase_add_loop_test(t, what_has_become_shorter, 0, 2 * DRIVERS);
  tcase_add_test(t, what_cannot_be_read);
  tcase_add_test(t, unknown_drivers);
  tcase_add_loop_test(t, files_are_written, 0, DRIVERS);
  tcase_add_loop_test(t, files_are_written_elsewhere, 0, 4);
  tcase_add_loop_test(t, modes_and_owners, 0, 2);
  tcase_add_test(t, links_stay_links);
  tcase_add_loop_test(t, hard_links_stay, 0, 2 * (DRIVERS - 1));
  tcase_add_loop_test(t, a_directory_that_may_not_be_written, 0, 2);
  tcase_add_loop_test(t, owners_stay, 0, 2);
  tcase_add_test(t, attributes_stay);
  tcase_add_test(t, what_is_mounted_on);
  tcase_add_test(t, a_disk_that_fails_meanwhile);
  tcase_add_loop_test(t, signals_meanwhile, 0, 4);
  tcase_add_test(t, a_full_disk_that_is_overwritten);
  tcase_add_test(t, relative_paths);
  tcase_add_loop_test(t, without_commit_nothing_is_left, 0, 2);
  tcase_add_loop_test(t, a_commit_that_fails_changes_nothing, 0, 4);
  tcase_add_test(t, names_are_removed_by_a_handler);
  tcase_add_test(t, names_are_removed_at_signals);
  tcase_add_test(t, what_cannot_be_written);
  tcase_add_loop_test(t, wrong_requests, 0, DRIVERS);
  tcase_add_test(t, a_limit_of_files);
  tcase_add_loop_test(t, the_nth_request_fails, 0, 3 * DRIVERS);
  tcase_add_loop_test(t, a_full_disk, 0, DRIVERS);
  tcase_add_test(t, callbacks_and_merging);
  tcase_add_loop_test(t, drivers_that_are_not_offered, 0, 2);
  suite_add_tcase(s, t);
  return check_run(s);
}
