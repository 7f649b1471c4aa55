#define _GNU_SOURCE
#include "drivers/driver.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "config.h"

#include "check_drivers.h"
#include "check_main.h"

#include "drivers/scratch.h"
#include "os/clock.h"

#define BLOCK 4096
#define MIB ((size_t)1 << 20)

/* --- a system that behaves badly --- */

/* These take the place of libc's functions for the drivers. */
static struct {
  int no_tmpfile; /* errno for O_TMPFILE, or 0 */
  int no_direct;  /* O_DIRECT is EINVAL */
  bool no_fallocate;
  int fallocate_interrupted; /* times */
  bool fallocate_full;
  int free_blocks; /* what fstatvfs says, or 0: the truth */
  int interrupted; /* this many next transfers fail with EINTR */
  size_t at_most;  /* bytes per transfer, or 0 */
  int stuck;       /* transfers move nothing */
  int odd;         /* those over a block tell of 100 bytes less */
  int few;         /* this many next reads move 100 bytes */
  int broken;      /* errno of all transfers, or 0 */
  size_t too_many; /* writes of so many bytes are EIO, or 0 */
  int flush_error;
  _Atomic int opened, transfers; /* counts of calls that were passed on */
} sys;

__attribute__((visibility("default"))) int open(const char *path, int flags,
                                                ...) {
  va_list args;
  va_start(args, flags);
  const int mode = va_arg(args, int);
  va_end(args);
  if ((flags & O_TMPFILE) == O_TMPFILE) {
    if (sys.no_direct && flags & O_DIRECT) {
      errno = EINVAL;
      return -1;
    }
    if (sys.no_tmpfile) {
      errno = sys.no_tmpfile;
      return -1;
    }
    sys.opened++;
  }
  return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

__attribute__((visibility("default"))) int fallocate(int fd, int mode,
                                                     off_t offset, off_t n) {
  if (sys.no_fallocate || sys.fallocate_full) {
    errno = sys.no_fallocate ? EOPNOTSUPP : ENOSPC;
    return -1;
  }
  if (sys.fallocate_interrupted > 0) {
    sys.fallocate_interrupted--;
    errno = EINTR;
    return -1;
  }
  return (int)syscall(SYS_fallocate, fd, mode, offset, n);
}

__attribute__((visibility("default"))) int fstatvfs(int fd,
                                                    struct statvfs *fs) {
  char path[64];
  snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
  const int result = statvfs(path, fs);
  if (sys.free_blocks) {
    fs->f_bavail = (fsblkcnt_t)sys.free_blocks;
  }
  return result;
}

static ssize_t told(ssize_t moved) {
  return sys.odd && moved > BLOCK ? moved - 100 : moved;
}

/* How many of n bytes may move; -1 with errno for none. */
static ssize_t permitted(size_t n) {
  if (sys.interrupted > 0) {
    sys.interrupted--;
    errno = EINTR;
    return -1;
  }
  sys.transfers++;
  if (sys.broken) {
    errno = sys.broken;
    return -1;
  }
  if (sys.stuck) {
    return 0;
  }
  return (ssize_t)(sys.at_most && sys.at_most < n ? sys.at_most : n);
}

__attribute__((visibility("default"))) ssize_t pread(int fd, void *buf,
                                                     size_t n, off_t offset) {
  const ssize_t m = permitted(n);
  if (m > 0 && sys.few > 0) {
    sys.few--;
    return 100;
  }
  return m <= 0 ? m : told(syscall(SYS_pread64, fd, buf, (size_t)m, offset));
}

__attribute__((visibility("default"))) ssize_t pwrite(int fd, const void *buf,
                                                      size_t n, off_t offset) {
  const ssize_t m = permitted(n);
  if (m > 0 && sys.too_many && n >= sys.too_many) {
    errno = EIO;
    return -1;
  }
  return m <= 0 ? m : told(syscall(SYS_pwrite64, fd, buf, (size_t)m, offset));
}

__attribute__((visibility("default"))) int fdatasync(int fd) {
  if (sys.flush_error) {
    errno = sys.flush_error;
    return -1;
  }
  return (int)syscall(SYS_fdatasync, fd);
}

/* --- fixture --- */

static char dir[64];
static char *buf, *other; /* aligned, MIB each */
static struct driver_file *file;
static const char *const all[] = {
    "unix",  "mmap",        "mem", "fault:unix", "fault:mmap", "fault:mem",
#ifdef HAVE_LIBAIO
    "aio",   "fault:aio",
#endif
#ifdef HAVE_LIBURING
    "uring", "fault:uring",
#endif
};
enum { ALL = sizeof(all) / sizeof(*all) };

static int try_open(const char *io, uint64_t size, int reserve) {
  const char *args;
  const struct driver *const d = driver_find(io, &args);
  ck_assert_ptr_nonnull(d);
  return d->open(&file, dir, size, reserve, args);
}

static void reopen(const char *io, uint64_t size) {
  const int error = try_open(io, size, 1);
  ck_assert_msg(error == 0, "%s: %s", io, strerror(error));
}

static int rd(void *to, size_t n, uint64_t offset) {
  return file->driver->read(file, to, n, offset);
}

static int wr(const void *from, size_t n, uint64_t offset) {
  return file->driver->write(file, from, n, offset);
}

static void shut(void) {
  file->driver->close(file);
  file = NULL;
}

static void fill(char *p, size_t n, unsigned seed) {
  for (size_t i = 0; i < n; i++) {
    p[i] = (char)(seed + i * 7 + i / BLOCK);
  }
}

static int entries(void) {
  char command[128];
  snprintf(command, sizeof(command), "test -z \"$(ls -A '%s')\"", dir);
  return system(command);
}

static void make_dir(void) {
  /* Not /tmp, which may be in memory. */
  strcpy(dir, "/var/tmp/test_driver-XXXXXX");
  ck_assert_ptr_nonnull(mkdtemp(dir));
  ck_assert_int_eq(posix_memalign((void **)&buf, BLOCK, MIB), 0);
  ck_assert_int_eq(posix_memalign((void **)&other, BLOCK, MIB), 0);
  memset(&sys, 0, sizeof(sys));
}

static void remove_dir(void) {
  if (file) {
    shut();
  }
  /* Fails if anything was left behind. */
  ck_assert_int_eq(rmdir(dir), 0);
  free(buf);
  free(other);
}

/* --- the table --- */

START_TEST(drivers_are_found_by_name) {
  const char *args = "x";
  int n = 0;
  for (const struct driver *const *d = drivers; *d; d++, n++) {
    ck_assert_ptr_eq(driver_find((*d)->name, &args), *d);
    ck_assert_ptr_null(args);
    ck_assert_ptr_nonnull((*d)->help);
  }
  ck_assert_int_ge(n, 4);
  ck_assert_str_eq(driver_find("fault:unix,read=1:EIO", &args)->name, "fault");
  ck_assert_str_eq(args, "unix,read=1:EIO");
  ck_assert_str_eq(driver_find("unix:", &args)->name, "unix");
  ck_assert_str_eq(args, "");
  ck_assert_ptr_null(driver_find("foo", &args));
  ck_assert_ptr_null(driver_find("uni", &args));
  ck_assert_ptr_null(driver_find("unixx", &args));
  ck_assert_ptr_null(driver_find("", &args));
  ck_assert_ptr_null(driver_find(":unix", &args));
}
END_TEST

START_TEST(arguments_are_refused_where_there_are_none) {
  ck_assert_int_eq(try_open("unix:x", MIB, 0), EINVAL);
  ck_assert_int_eq(try_open("mmap:x", MIB, 0), EINVAL);
  ck_assert_int_eq(try_open("mmap:", MIB, 0), EINVAL);
  ck_assert_int_eq(try_open("mmap:randomly", MIB, 0), EINVAL);
#ifdef HAVE_LIBAIO
  ck_assert_int_eq(try_open("aio:x", MIB, 0), EINVAL);
#endif
#ifdef HAVE_LIBURING
  ck_assert_int_eq(try_open("uring:x", MIB, 0), EINVAL);
#endif
  ck_assert_int_eq(try_open("mem:", MIB, 0), EINVAL);
}
END_TEST

/* --- what all drivers do --- */

START_TEST(what_was_written_is_read) {
  reopen(all[_i], 4 * MIB);
  fill(buf, MIB, 1);
  ck_assert_int_eq(wr(buf, MIB, 3 * MIB), 0);
  ck_assert_int_eq(wr(buf + BLOCK, 2 * BLOCK, 5 * BLOCK), 0);
  ck_assert_int_eq(file->driver->flush(file), 0);
  ck_assert_int_eq(rd(other, MIB, 3 * MIB), 0);
  ck_assert_mem_eq(buf, other, MIB);
  ck_assert_int_eq(rd(other, BLOCK, 6 * BLOCK), 0);
  ck_assert_mem_eq(buf + 2 * BLOCK, other, BLOCK);
  ck_assert_int_eq(entries(), 0);
}
END_TEST

START_TEST(what_was_not_written_is_zero) {
  reopen(all[_i], 2 * MIB);
  memset(buf, 0, MIB);
  memset(other, 1, MIB);
  ck_assert_int_eq(rd(other, MIB, MIB), 0);
  ck_assert_mem_eq(buf, other, MIB);
  fill(buf, BLOCK, 3);
  ck_assert_int_eq(wr(buf, BLOCK, 0), 0);
  memset(other, 1, MIB);
  memset(buf, 0, MIB);
  ck_assert_int_eq(rd(other, MIB - BLOCK, BLOCK), 0);
  ck_assert_mem_eq(buf, other, MIB - BLOCK);
}
END_TEST

START_TEST(files_are_not_shared) {
  reopen(all[_i], MIB);
  struct driver_file *const first = file;
  reopen(all[_i], MIB);
  struct driver_file *const second = file;
  fill(buf, BLOCK, 1);
  ck_assert_int_eq(first->driver->write(first, buf, BLOCK, 0), 0);
  ck_assert_int_eq(second->driver->read(second, other, BLOCK, 0), 0);
  memset(buf, 0, BLOCK);
  ck_assert_mem_eq(buf, other, BLOCK);
  first->driver->close(first);
}
END_TEST

START_TEST(outside_the_file_is_einval) {
  reopen(all[_i], MIB);
  ck_assert_int_eq(rd(buf, BLOCK, MIB), EINVAL);
  ck_assert_int_eq(wr(buf, BLOCK, MIB), EINVAL);
  ck_assert_int_eq(rd(buf, 2 * BLOCK, MIB - BLOCK), EINVAL);
  ck_assert_int_eq(wr(buf, 2 * BLOCK, MIB - BLOCK), EINVAL);
  ck_assert_int_eq(rd(buf, BLOCK, UINT64_MAX - BLOCK + 1), EINVAL);
  ck_assert_int_eq(wr(buf, BLOCK, UINT64_MAX - BLOCK + 1), EINVAL);
  ck_assert_int_eq(rd(buf, BLOCK, MIB - BLOCK), 0);
  ck_assert_int_eq(rd(buf, 0, MIB), 0);
}
END_TEST

START_TEST(alignment_is_checked_or_free) {
  reopen(all[_i], MIB);
  if (file->align == 1) {
    fill(buf, 100, 5);
    ck_assert_int_eq(wr(buf + 1, 99, 77), 0);
    ck_assert_int_eq(rd(other + 3, 99, 77), 0);
    ck_assert_mem_eq(buf + 1, other + 3, 99);
  } else {
    ck_assert_uint_eq(file->align, BLOCK);
    ck_assert_int_eq(wr(buf + 1, BLOCK, 0), EINVAL);
    ck_assert_int_eq(wr(buf, BLOCK - 1, 0), EINVAL);
    ck_assert_int_eq(wr(buf, BLOCK, 1), EINVAL);
    ck_assert_int_eq(rd(buf + 1, BLOCK, 0), EINVAL);
    ck_assert_int_eq(rd(buf, BLOCK - 1, 0), EINVAL);
    ck_assert_int_eq(rd(buf, BLOCK, 1), EINVAL);
  }
}
END_TEST

START_TEST(empty_files_are_possible) {
  reopen(all[_i], 0);
  ck_assert_int_eq(rd(buf, 0, 0), 0);
  ck_assert_int_eq(rd(buf, BLOCK, 0), EINVAL);
}
END_TEST

enum { THREADS = 4, ROUNDS = 50 };

static void *hammer(void *number) {
  const uint64_t mine = (uint64_t)(uintptr_t)number * ROUNDS * BLOCK;
  char *const a = aligned_alloc(BLOCK, BLOCK);
  char *const b = aligned_alloc(BLOCK, BLOCK);
  uintptr_t errors = 0;
  for (unsigned i = 0; i < ROUNDS; i++) {
    fill(a, BLOCK, (unsigned)(uintptr_t)number * 31 + i);
    errors += wr(a, BLOCK, mine + i * BLOCK) != 0;
    errors += rd(b, BLOCK, mine + i * BLOCK) != 0;
    errors += memcmp(a, b, BLOCK) != 0;
  }
  free(a);
  free(b);
  return (void *)errors;
}

START_TEST(threads_do_not_disturb_each_other) {
  pthread_t threads[THREADS];
  reopen(all[_i], THREADS * ROUNDS * BLOCK);
  for (uintptr_t i = 0; i < THREADS; i++) {
    ck_assert_int_eq(pthread_create(&threads[i], NULL, hammer, (void *)i), 0);
  }
  for (int i = 0; i < THREADS; i++) {
    void *errors;
    pthread_join(threads[i], &errors);
    ck_assert_ptr_null(errors);
  }
}
END_TEST

/* --- queues --- */

static const char *const queued[] = {
#ifdef HAVE_LIBAIO
    "aio",   "fault:aio",
#endif
#ifdef HAVE_LIBURING
    "uring", "fault:uring",
#endif
    NULL,
};
enum { QUEUED = sizeof(queued) / sizeof(*queued) - 1 };

START_TEST(only_some_drivers_have_queues) {
  reopen(all[_i], MIB);
  const struct driver *const f = file->driver;
  const int has = strstr(all[_i], "aio") || strstr(all[_i], "uring");
  ck_assert_int_eq(f->queue_open != NULL, has);
  ck_assert_int_eq(f->queue_submit != NULL, has);
  ck_assert_int_eq(f->queue_reap != NULL, has);
  ck_assert_int_eq(f->queue_interrupt != NULL, has);
  ck_assert_int_eq(f->queue_close != NULL, has);
  ck_assert_int_eq(f->map_lazy != NULL, f->forget != NULL);
}
END_TEST

/* Waits for `wanted` requests; a bit for each of r[] that came back. */
static unsigned reap(struct driver_queue *q, const struct driver_request *r,
                     int wanted) {
  unsigned seen = 0;
  while (wanted > 0) {
    const struct driver_request *done = file->driver->queue_reap(q);
    ck_assert_ptr_nonnull(done);
    for (; done; done = done->next, wanted--) {
      seen |= 1u << (done - r);
    }
  }
  ck_assert_int_eq(wanted, 0);
  return seen;
}

START_TEST(queues_move_data_and_tell_errors) {
  enum { N = 8 };
  struct driver_queue *q;
  struct driver_request r[N];
  reopen(queued[_i], MIB);
  ck_assert_int_eq(file->driver->queue_open(&q, file, N), 0);
  fill(buf, MIB, 4);
  for (int write = 1; write >= 0; write--) {
    for (int i = 0; i < N; i++) {
      r[i] = (struct driver_request){
          .write = write,
          .buf = (write ? buf : other) + (size_t)i * 3 * BLOCK,
          .n = 3 * BLOCK,
          .offset = (uint64_t)i * 3 * BLOCK,
          .next = i + 1 < N ? &r[i + 1] : NULL,
      };
    }
    /* The next transfer is cut in two, and nobody notices. */
    scratch_shorten_next();
    file->driver->queue_submit(q, r);
    ck_assert_uint_eq(reap(q, r, N), (1u << N) - 1);
    for (int i = 0; i < N; i++) {
      ck_assert_int_eq(r[i].error, 0);
    }
  }
  ck_assert_mem_eq(buf, other, N * 3 * BLOCK);
  /* Three that are wrong, one that is empty, and one that is not. */
  for (int i = 0; i < 5; i++) {
    r[i] = (struct driver_request){
        .buf = other, .n = BLOCK, .next = i < 4 ? &r[i + 1] : NULL};
  }
  r[0].offset = MIB;
  r[1].n = BLOCK / 2;
  r[2].buf = other + 1;
  r[3].n = 0;
  file->driver->queue_submit(q, r);
  ck_assert_uint_eq(reap(q, r, 5), 31);
  for (int i = 0; i < 5; i++) {
    ck_assert_int_eq(r[i].error, i < 3 ? EINVAL : 0);
  }
  /* Memory that is not there; valgrind (make check-valgrind) minds. */
  if (!getenv("PEMS_TEST_FEW")) {
    r[0] = (struct driver_request){.buf = (void *)(uintptr_t)BLOCK, .n = BLOCK};
    file->driver->queue_submit(q, r);
    ck_assert_uint_eq(reap(q, r, 1), 1);
    ck_assert_int_eq(r[0].error, EFAULT);
  }
  for (int i = 0; i < 3; i++) {
    file->driver->queue_interrupt(q);
    ck_assert_ptr_null(file->driver->queue_reap(q));
  }
  file->driver->queue_close(q);
}
END_TEST

/* --- mapping --- */

START_TEST(only_mmap_maps) {
  reopen(all[_i], MIB);
  const bool maps = strstr(all[_i], "mmap") != NULL;
  ck_assert_int_eq(file->driver->map != NULL, maps);
}
END_TEST

START_TEST(a_mapping_is_the_file) {
  static const char *const io[] = {"mmap", "fault:mmap", "mmap:sequential",
                                   "mmap:random"};
  reopen(io[_i], 4 * MIB);
  char *const range = mmap(NULL, 2 * MIB, PROT_NONE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ck_assert_ptr_ne(range, MAP_FAILED);
  fill(buf, MIB, 9);
  ck_assert_int_eq(wr(buf, MIB, 2 * MIB), 0);
  ck_assert_int_eq(file->driver->map(file, range, MIB, 2 * MIB), 0);
  ck_assert_mem_eq(range, buf, MIB);
  memset(range, 5, BLOCK);
  ck_assert_int_eq(rd(other, BLOCK, 2 * MIB), 0);
  ck_assert_mem_eq(range, other, BLOCK);
  const int rewritten = file->driver->map_rewrite(file, other, 2 * MIB);
  ck_assert(rewritten == 0 || rewritten == EOPNOTSUPP);
  ck_assert_int_eq(range[BLOCK - 1], 5);
  range[BLOCK - 1] = 6;
  ck_assert_int_eq(rd(other, BLOCK, 2 * MIB), 0);
  ck_assert_mem_eq(range, other, BLOCK);
  ck_assert_int_eq(file->driver->map(file, range, MIB, 4 * MIB), EINVAL);
  ck_assert_int_eq(file->driver->map(file, range, 2 * MIB, 3 * MIB), EINVAL);
  ck_assert_int_eq(file->driver->map(file, range, MIB, 1), EINVAL);
  munmap(range, 2 * MIB);
}
END_TEST

/* --- files --- */

START_TEST(unix_does_direct_io) {
  reopen("unix", MIB);
  ck_assert_uint_eq(file->align, BLOCK);
  ck_assert_int_eq(sys.opened, 1);
}
END_TEST

START_TEST(a_bad_directory_is_an_error) {
  static const char *const io[] = {"unix", "mmap", "fault:unix"};
  char real[64];
  strcpy(real, dir);
  strcpy(dir, "/does/not/exist");
  for (int i = 0; i < 3; i++) {
    ck_assert_int_eq(try_open(io[i], MIB, 0), ENOENT);
  }
  strcpy(dir, "/proc/self/status");
  for (int i = 0; i < 3; i++) {
    ck_assert_int_eq(try_open(io[i], MIB, 0), ENOTDIR);
  }
  strcpy(dir, real);
}
END_TEST

START_TEST(without_o_tmpfile_names_go_at_once) {
  sys.no_tmpfile = _i ? EISDIR : EOPNOTSUPP;
  reopen("unix", MIB);
  ck_assert_int_eq(sys.opened, 0);
  ck_assert_int_eq(entries(), 0);
  ck_assert_uint_eq(file->align, BLOCK);
  fill(buf, MIB, 2);
  ck_assert_int_eq(wr(buf, MIB, 0), 0);
  ck_assert_int_eq(rd(other, MIB, 0), 0);
  ck_assert_mem_eq(buf, other, MIB);
}
END_TEST

START_TEST(without_o_direct_files_are_cached_with_one_warning) {
  int ends[2];
  char text[1024];
  ck_assert_int_eq(pipe(ends), 0);
  const int err = dup(STDERR_FILENO);
  dup2(ends[1], STDERR_FILENO);
  sys.no_direct = 1;
  sys.no_tmpfile = _i ? EOPNOTSUPP : 0;
  reopen("unix", MIB);
  shut();
  reopen("unix", MIB);
  dup2(err, STDERR_FILENO);
  close(err);
  close(ends[1]);
  const ssize_t n = read(ends[0], text, sizeof(text) - 1);
  close(ends[0]);
  ck_assert_int_gt(n, 0);
  text[n] = '\0';
  ck_assert_int_eq(strncmp(text, "pems: direct I/O refused", 24), 0);
  ck_assert_ptr_nonnull(strstr(text, dir));
  ck_assert_ptr_eq(strchr(text, '\n'), text + n - 1);
  ck_assert_uint_eq(file->align, 1);
  ck_assert_int_eq(wr("abc", 3, 5), 0);
  ck_assert_int_eq(rd(other, 3, 5), 0);
  ck_assert_mem_eq(other, "abc", 3);
}
END_TEST

START_TEST(reserving_takes_the_space) {
  struct stat st;
  const size_t size = 16 * MIB;
  ck_assert_int_eq(try_open("unix", size, _i), 0);
  ck_assert_int_eq(fstat(((struct scratch *)file)->fd, &st), 0);
  ck_assert_uint_eq((size_t)st.st_size, size);
  ck_assert_int_eq((size_t)st.st_blocks * 512 >= size, _i);
}
END_TEST

START_TEST(a_full_disk_is_enospc_when_reserving) {
  sys.free_blocks = 10;
  ck_assert_int_eq(try_open("unix", MIB, 1), ENOSPC);
  ck_assert_int_eq(try_open("fault:unix", MIB, 1), ENOSPC);
  ck_assert_int_eq(try_open("mmap", MIB, 1), ENOSPC);
  ck_assert_int_eq(try_open("unix", MIB, 0), 0);
  shut();
  sys.free_blocks = 0;
  ck_assert_int_eq(try_open("unix", UINT64_C(1) << 43, 1), ENOSPC);
  sys.fallocate_full = true;
  ck_assert_int_eq(try_open("unix", MIB, 1), ENOSPC);
  ck_assert_int_eq(try_open("mmap", MIB, 1), ENOSPC);
}
END_TEST

/* Bytes that the open file takes on its disk. */
static size_t taken(void) {
  struct stat st;
  ck_assert_int_eq(fstat(((struct scratch *)file)->fd, &st), 0);
  return (size_t)st.st_blocks * 512;
}

START_TEST(granting_takes_the_space_and_releasing_gives_it_back) {
  for (int i = 0; i < DRIVER_FILES; i++) {
    ck_assert_int_eq(try_open(driver_names[i], 16 * MIB, 0), 0);
    ck_assert_uint_lt(taken(), MIB);
    ck_assert_int_eq(file->driver->grant(file, 4 * MIB, 8 * MIB), 0);
    ck_assert_uint_ge(taken(), 4 * MIB);
    ck_assert_uint_lt(taken(), 6 * MIB);
    ck_assert_int_eq(wr(buf, BLOCK, 9 * MIB), 0);
    file->driver->release(file, 3 * MIB, 9 * MIB);
    ck_assert_uint_ge(taken(), MIB);
    ck_assert_uint_lt(taken(), 2 * MIB);
    file->driver->release(file, 0, 0);
    ck_assert_int_eq(file->driver->grant(file, 0, 0), 0);
    ck_assert_int_eq(file->driver->grant(file, 2 * MIB, 15 * MIB), EINVAL);
    shut();
  }
}
END_TEST

START_TEST(what_cannot_be_granted_takes_nothing) {
  ck_assert_int_eq(try_open("unix", 16 * MIB, 0), 0);
  sys.free_blocks = 10;
  ck_assert_int_eq(file->driver->grant(file, MIB, 0), ENOSPC);
  sys.free_blocks = 0;
  sys.fallocate_full = true;
  ck_assert_int_eq(file->driver->grant(file, MIB, 0), ENOSPC);
  sys.fallocate_full = false;
  sys.no_fallocate = true;
  ck_assert_int_eq(file->driver->grant(file, MIB, 0), EOPNOTSUPP);
  ck_assert_uint_lt(taken(), MIB);
  sys.no_fallocate = false;
  sys.fallocate_interrupted = 3;
  ck_assert_int_eq(file->driver->grant(file, MIB, 0), 0);
  ck_assert_uint_ge(taken(), MIB);
}
END_TEST

START_TEST(grants_fail_when_they_are_told_to) {
  ck_assert_int_eq(
      try_open("fault:mem,grant=2:ENOSPC,room=3145728", 16 * MIB, 0), 0);
  ck_assert_int_eq(file->driver->grant(file, MIB, 0), 0);
  ck_assert_int_eq(file->driver->grant(file, MIB, MIB), ENOSPC);
  ck_assert_int_eq(file->driver->grant(file, 2 * MIB, MIB), 0);
  ck_assert_int_eq(file->driver->grant(file, BLOCK, 3 * MIB), ENOSPC);
  file->driver->release(file, BLOCK, 0);
  ck_assert_int_eq(file->driver->grant(file, BLOCK, 3 * MIB), 0);
  shut();
  ck_assert_int_eq(try_open("fault:mem,grant=0:ENOSPC", MIB, 0), EINVAL);
  ck_assert_int_eq(try_open("fault:mem,room=0", MIB, 0), EINVAL);
}
END_TEST

START_TEST(without_fallocate_nothing_can_be_reserved) {
  sys.no_fallocate = true;
  ck_assert_int_eq(try_open("unix", MIB, 1), EOPNOTSUPP);
  ck_assert_int_eq(try_open("unix", MIB, 0), 0);
  shut();
  sys.free_blocks = 10;
  ck_assert_int_eq(try_open("unix", MIB, 1), ENOSPC);
}
END_TEST

START_TEST(reserving_goes_on_after_eintr) {
  sys.fallocate_interrupted = 3;
  ck_assert_int_eq(try_open("unix", MIB, 1), 0);
  ck_assert_int_eq(sys.fallocate_interrupted, 0);
}
END_TEST

START_TEST(a_file_over_the_limit_is_efbig) {
  const struct rlimit small = {MIB, MIB};
  ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
  ck_assert_int_eq(try_open("unix", 2 * MIB, 0), EFBIG);
  ck_assert_int_eq(try_open("mmap", 2 * MIB, 0), EFBIG);
  ck_assert_int_eq(try_open("unix", UINT64_MAX, 0), EFBIG);
  ck_assert_int_eq(try_open("unix", MIB, 0), 0);
}
END_TEST

START_TEST(short_and_interrupted_transfers_are_completed) {
  reopen(_i ? "mmap" : "unix", MIB);
  fill(buf, MIB, 11);
  sys.at_most = 100 * BLOCK;
  sys.interrupted = 2;
  ck_assert_int_eq(wr(buf, MIB, 0), 0);
  ck_assert_int_eq(sys.transfers, 3);
  sys.interrupted = 2;
  ck_assert_int_eq(rd(other, MIB, 0), 0);
  ck_assert_int_eq(sys.transfers, 6);
  ck_assert_mem_eq(buf, other, MIB);
}
END_TEST

START_TEST(odd_transfers_go_on_from_whole_blocks) {
  reopen("unix", MIB);
  fill(buf, 8 * BLOCK, 12);
  sys.odd = 1;
  ck_assert_int_eq(wr(buf, 8 * BLOCK, 0), 0);
  ck_assert_int_eq(sys.transfers, 2);
  ck_assert_int_eq(rd(other, 8 * BLOCK, 0), 0);
  ck_assert_mem_eq(buf, other, 8 * BLOCK);
}
END_TEST

START_TEST(a_read_of_less_than_a_block_is_asked_for_again) {
  reopen("unix", MIB);
  fill(buf, 8 * BLOCK, 13);
  ck_assert_int_eq(wr(buf, 8 * BLOCK, 0), 0);
  sys.few = 3;
  ck_assert_int_eq(rd(other, 8 * BLOCK, 0), 0);
  ck_assert_mem_eq(buf, other, 8 * BLOCK);
  sys.few = 1000;
  ck_assert_int_eq(rd(other, 8 * BLOCK, 0), EIO);
}
END_TEST

static struct driver_request half_done(int write, char *memory) {
  return (struct driver_request){
      .write = write, .buf = memory, .n = 8 * BLOCK, .moved = 4 * BLOCK};
}

/* FUSE says EIO where an asynchronous write was short: what is left is written
   all the same. */
START_TEST(a_request_goes_on_where_the_queue_could_not) {
  reopen(driver_names[_i], MIB);
  const struct scratch *const s = (const struct scratch *)file;
  fill(buf, 8 * BLOCK, 14);
  ck_assert_int_eq(wr(buf, 4 * BLOCK, 0), 0);
  struct driver_request r = half_done(1, buf);
  ck_assert_int_eq(scratch_advance(s, &r, -EIO), 0);
  ck_assert_int_eq(r.error, 0);
  r = half_done(0, other);
  ck_assert_int_eq(rd(other, 4 * BLOCK, 0), 0);
  ck_assert_int_eq(scratch_advance(s, &r, 0), 0);
  ck_assert_int_eq(r.error, 0);
  ck_assert_mem_eq(buf, other, 8 * BLOCK);
}
END_TEST

START_TEST(a_write_that_fails_is_tried_in_pieces) {
  reopen(_i ? "mmap" : "unix", MIB);
  fill(buf, MIB, 15);
  sys.too_many = 3 * BLOCK;
  ck_assert_int_eq(wr(buf, MIB, 0), 0);
  ck_assert_int_eq(rd(other, MIB, 0), 0);
  ck_assert_mem_eq(buf, other, MIB);
  sys.too_many = BLOCK;
  ck_assert_int_eq(wr(buf, MIB, 0), EIO);
}
END_TEST

START_TEST(errors_of_a_disk_stay_errors) {
  static const int errors[] = {EIO, ENOSPC, EDQUOT, EROFS};
  reopen(driver_names[_i], MIB);
  const struct scratch *const s = (const struct scratch *)file;
  for (unsigned i = 0; i < sizeof(errors) / sizeof(*errors); i++) {
    sys.broken = errors[i];
    ck_assert_int_eq(wr(buf, BLOCK, 0), errors[i]);
    ck_assert_int_eq(rd(buf, BLOCK, 0), errors[i]);
    for (int write = 0; write < 2; write++) {
      struct driver_request r = half_done(write, buf);
      ck_assert_int_eq(scratch_advance(s, &r, -errors[i]), 0);
      ck_assert_int_eq(r.error, errors[i]);
    }
  }
  sys.broken = 0;
}
END_TEST

START_TEST(a_transfer_that_makes_no_progress_is_eio) {
  reopen("unix", MIB);
  sys.stuck = 1;
  ck_assert_int_eq(wr(buf, BLOCK, 0), EIO);
  ck_assert_int_eq(rd(buf, BLOCK, 0), EIO);
}
END_TEST

START_TEST(a_failed_flush_is_told) {
  reopen("unix", MIB);
  sys.flush_error = EIO;
  ck_assert_int_eq(file->driver->flush(file), EIO);
  shut();
  reopen("fault:unix", MIB);
  ck_assert_int_eq(file->driver->flush(file), EIO);
}
END_TEST

/* --- mem --- */

START_TEST(memory_that_cannot_be_had_is_enomem) {
  ck_assert_int_eq(try_open("mem", UINT64_C(1) << 60, 1), ENOMEM);
}
END_TEST

START_TEST(mem_uses_no_file) {
  char real[64];
  strcpy(real, dir);
  strcpy(dir, "/does/not/exist");
  ck_assert_int_eq(try_open("mem", MIB, 1), 0);
  strcpy(dir, real);
}
END_TEST

/* --- fault --- */

START_TEST(bad_fault_arguments_are_einval) {
  static const char *const bad[] = {
      "fault",
      "fault:",
      "fault:foo",
      "fault:fault:unix",
      "fault:fault",
      "fault:unix:",
      "fault:unix,",
      "fault:unix,read",
      "fault:unix,read=",
      "fault:unix,read=0:EIO",
      "fault:unix,read=1",
      "fault:unix,read=1:",
      "fault:unix,read=1:EWHAT",
      "fault:unix,read=1:0",
      "fault:unix,read=1:5000",
      "fault:unix,read=-1:EIO",
      "fault:unix,read=1:EIOX",
      "fault:unix,short=0",
      "fault:unix,short=",
      "fault:unix,torn=0",
      "fault:unix,torn=",
      "fault:unix,every=0",
      "fault:unix,after=5",
      "fault:unix,after=:EIO",
      "fault:unix,delay=x",
      "fault:unix,other=1",
      "fault:averyveryveryveryveryverylongdrivername",
      "fault:mem,read=99999999999999999999999:EIO",
  };
  for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
    ck_assert_msg(try_open(bad[i], MIB, 0) == EINVAL, "%s", bad[i]);
  }
}
END_TEST

START_TEST(the_nth_request_fails) {
  reopen("fault:mem,write=3:ENOSPC,read=2:EROFS", MIB);
  ck_assert_int_eq(rd(buf, BLOCK, 0), 0);
  ck_assert_int_eq(wr(buf, BLOCK, 0), 0);
  ck_assert_int_eq(wr(buf, BLOCK, 0), 0);
  ck_assert_int_eq(wr(buf, BLOCK, 0), ENOSPC);
  ck_assert_int_eq(wr(buf, BLOCK, 0), 0);
  ck_assert_int_eq(rd(buf, BLOCK, 0), EROFS);
  ck_assert_int_eq(rd(buf, BLOCK, 0), 0);
}
END_TEST

START_TEST(errors_have_names_or_numbers) {
  reopen("fault:mem,read=1:EIO,write=1:28", MIB);
  ck_assert_int_eq(rd(buf, BLOCK, 0), EIO);
  ck_assert_int_eq(wr(buf, BLOCK, 0), 28);
}
END_TEST

START_TEST(requests_are_counted_over_all_files) {
  reopen("fault:mem,read=2:EIO", MIB);
  struct driver_file *const first = file;
  reopen("fault:mem,read=2:EIO", MIB);
  ck_assert_int_eq(first->driver->read(first, buf, BLOCK, 0), 0);
  ck_assert_int_eq(rd(buf, BLOCK, 0), EIO);
  ck_assert_int_eq(rd(buf, BLOCK, 0), 0);
  first->driver->close(first);
  shut();
  reopen("fault:mem,read=2:EIO", MIB); /* all closed: from the beginning */
  ck_assert_int_eq(rd(buf, BLOCK, 0), 0);
  ck_assert_int_eq(rd(buf, BLOCK, 0), EIO);
}
END_TEST

START_TEST(a_torn_write_writes_half) {
  reopen("fault:unix,torn=2", MIB);
  fill(buf, MIB, 1);
  fill(other, MIB, 2);
  ck_assert_int_eq(wr(buf, 6 * BLOCK, 0), 0);
  ck_assert_int_eq(wr(other, 6 * BLOCK, 0), EIO);
  memcpy(other + 3 * BLOCK, buf + 3 * BLOCK, 3 * BLOCK);
  ck_assert_int_eq(rd(buf, 6 * BLOCK, 0), 0);
  ck_assert_mem_eq(buf, other, 6 * BLOCK);
}
END_TEST

START_TEST(a_delay_takes_time) {
  reopen("fault:mem,delay=20000", MIB);
  const uint64_t begin = clock_ns();
  ck_assert_int_eq(rd(buf, BLOCK, 0), 0);
  ck_assert_int_eq(wr(buf, BLOCK, 0), 0);
  ck_assert_uint_ge(clock_ns() - begin, 40000000);
}
END_TEST

START_TEST(fault_aligns_as_what_is_below) {
  reopen("fault:unix", MIB);
  ck_assert_uint_eq(file->align, BLOCK);
  shut();
  reopen("fault:mem", MIB);
  ck_assert_uint_eq(file->align, 1);
}
END_TEST

int main(void) {
  Suite *const s = suite_create("driver");
  TCase *const t = tcase_create("driver");
  tcase_set_timeout(t, 30);
  tcase_add_checked_fixture(t, make_dir, remove_dir);
  tcase_add_test(t, drivers_are_found_by_name);
  tcase_add_test(t, arguments_are_refused_where_there_are_none);
  tcase_add_loop_test(t, what_was_written_is_read, 0, ALL);
  tcase_add_loop_test(t, what_was_not_written_is_zero, 0, ALL);
  tcase_add_loop_test(t, files_are_not_shared, 0, ALL);
  tcase_add_loop_test(t, outside_the_file_is_einval, 0, ALL);
  tcase_add_loop_test(t, alignment_is_checked_or_free, 0, ALL);
  tcase_add_loop_test(t, empty_files_are_possible, 0, ALL);
  tcase_add_loop_test(t, threads_do_not_disturb_each_other, 0, ALL);
  tcase_add_loop_test(t, only_mmap_maps, 0, ALL);
  tcase_add_loop_test(t, a_mapping_is_the_file, 0, 4);
  tcase_add_test(t, unix_does_direct_io);
  tcase_add_test(t, a_bad_directory_is_an_error);
  tcase_add_loop_test(t, without_o_tmpfile_names_go_at_once, 0, 2);
  tcase_add_loop_test(t, without_o_direct_files_are_cached_with_one_warning, 0,
                      2);
  tcase_add_loop_test(t, reserving_takes_the_space, 0, 2);
  tcase_add_test(t, a_full_disk_is_enospc_when_reserving);
  tcase_add_test(t, without_fallocate_nothing_can_be_reserved);
  tcase_add_test(t, granting_takes_the_space_and_releasing_gives_it_back);
  tcase_add_test(t, what_cannot_be_granted_takes_nothing);
  tcase_add_test(t, grants_fail_when_they_are_told_to);
  tcase_add_test(t, reserving_goes_on_after_eintr);
  tcase_add_test(t, a_file_over_the_limit_is_efbig);
  tcase_add_loop_test(t, short_and_interrupted_transfers_are_completed, 0, 2);
  tcase_add_test(t, odd_transfers_go_on_from_whole_blocks);
  tcase_add_loop_test(t, only_some_drivers_have_queues, 0, ALL);
  tcase_add_loop_test(t, queues_move_data_and_tell_errors, 0, QUEUED);
  tcase_add_test(t, a_transfer_that_makes_no_progress_is_eio);
  tcase_add_test(t, a_read_of_less_than_a_block_is_asked_for_again);
  tcase_add_loop_test(t, a_write_that_fails_is_tried_in_pieces, 0, 2);
  tcase_add_loop_test(t, a_request_goes_on_where_the_queue_could_not, 0,
                      DRIVER_FILES);
  tcase_add_loop_test(t, errors_of_a_disk_stay_errors, 0, DRIVER_FILES);
  tcase_add_test(t, a_failed_flush_is_told);
  tcase_add_test(t, memory_that_cannot_be_had_is_enomem);
  tcase_add_test(t, mem_uses_no_file);
  tcase_add_test(t, bad_fault_arguments_are_einval);
  tcase_add_test(t, the_nth_request_fails);
  tcase_add_test(t, errors_have_names_or_numbers);
  tcase_add_test(t, requests_are_counted_over_all_files);
  tcase_add_test(t, a_torn_write_writes_half);
  tcase_add_test(t, a_delay_takes_time);
  tcase_add_test(t, fault_aligns_as_what_is_below);
  suite_add_tcase(s, t);
  return check_run(s);
}
