#define _GNU_SOURCE
#include "disk/contexts/disk.h"

#include <check.h>
#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/counters.h"
#include "check_main.h"
#include "config.h"
#include "config/machine.h"
#include "disk/contexts/dirs.h"

#define MIB ((size_t)1 << 20)
#define CONTEXT (4 * DISK_BLOCK)

static char dir[64];      /* removed at the end, must then be empty */
static char dirs[256];    /* three below it: a, b, c */
static char *buf, *other; /* aligned, 32 MiB each */
static struct disks *d;
static struct pems_error error;

static void make_dirs(void) {
  char path[80];
  strcpy(dir, "/var/tmp/test_disk-XXXXXX");
  ck_assert_ptr_nonnull(mkdtemp(dir));
  for (char c = 'a'; c <= 'c'; c++) {
    snprintf(path, sizeof(path), "%s/%c", dir, c);
    ck_assert_int_eq(mkdir(path, 0700), 0);
  }
  snprintf(dirs, sizeof(dirs), "%s/a,%s/b,%s/c", dir, dir, dir);
  ck_assert_int_eq(posix_memalign((void **)&buf, DISK_BLOCK, 32 * MIB), 0);
  ck_assert_int_eq(posix_memalign((void **)&other, DISK_BLOCK, 32 * MIB), 0);
  memset(buf, 0, 32 * MIB);
  error.text[0] = '\0';
}

static void remove_dirs(void) {
  char path[80];
  disks_close(d);
  d = NULL;
  for (char c = 'a'; c <= 'c'; c++) {
    snprintf(path, sizeof(path), "%s/%c", dir, c);
    ck_assert_int_eq(rmdir(path), 0);
  }
  ck_assert_int_eq(rmdir(dir), 0);
  free(buf);
  free(other);
}

static int try_open(const char *where, const char *io, int n, uint64_t size,
                    bool reserve) {
  disks_close(d);
  const int result = disks_open(
      &d, &(struct disks_options){.dirs = where, .io = io, .reserve = reserve},
      n, size, &error);
  ck_assert_int_eq(result == 0, d != NULL);
  return result;
}

static void reopen(const char *io, int n, uint64_t size) {
  ck_assert_msg(try_open(dirs, io, n, size, true) == 0, "%s", error.text);
}

static void expect_error(const char *what) {
  ck_assert_str_eq(error.text, what);
}

/* Different in every block of every context. */
static void fill(char *p, size_t n, unsigned seed) {
  for (size_t i = 0; i < n; i++) {
    p[i] = (char)(seed * 37 + i * 7 + i / DISK_BLOCK);
  }
}

static const char *const all[] = {
    "unix",  "mmap",        "mem", "fault:unix",
#ifdef HAVE_LIBAIO
    "aio",   "fault:aio",
#endif
#ifdef HAVE_LIBURING
    "uring", "fault:uring",
#endif
};
enum { ALL = sizeof(all) / sizeof(*all) };

static const char *const failing[] = {
    "fault:mem,read=2:EIO,write=2:ENOSPC",
    "fault:unix,read=2:EIO,write=2:ENOSPC",
#ifdef HAVE_LIBAIO
    "fault:aio,read=2:EIO,write=2:ENOSPC",
#endif
#ifdef HAVE_LIBURING
    "fault:uring,read=2:EIO,write=2:ENOSPC",
#endif
};
enum { FAILING = sizeof(failing) / sizeof(*failing) };

START_TEST(contexts_keep_their_data_apart) {
  enum { N = 11 };
  reopen(all[_i], N, CONTEXT);
  for (unsigned c = 0; c < N; c++) {
    fill(buf, CONTEXT, c);
    ck_assert_int_eq(disks_write(d, (int)c, buf, CONTEXT, 0), 0);
  }
  for (unsigned c = 0; c < N; c++) {
    fill(buf, CONTEXT, c);
    ck_assert_int_eq(disks_read(d, (int)c, other, CONTEXT, 0), 0);
    ck_assert_mem_eq(buf, other, CONTEXT);
    ck_assert_int_eq(disks_read(d, (int)c, other, DISK_BLOCK, 2 * DISK_BLOCK),
                     0);
    ck_assert_mem_eq(buf + 2 * DISK_BLOCK, other, DISK_BLOCK);
  }
}
END_TEST

START_TEST(fresh_contexts_are_zero) {
  reopen(all[_i], 5, CONTEXT);
  memset(buf, 0, CONTEXT);
  memset(other, 1, CONTEXT);
  ck_assert_int_eq(disks_read(d, 4, other, CONTEXT, 0), 0);
  ck_assert_mem_eq(buf, other, CONTEXT);
}
END_TEST

START_TEST(wrong_requests_are_einval) {
  reopen(all[_i], 5, CONTEXT);
  static const struct {
    int context, skew;
    size_t n;
    uint64_t offset;
  } bad[] = {
      {-1, 0, DISK_BLOCK, 0},
      {5, 0, DISK_BLOCK, 0},
      {0, 1, DISK_BLOCK, 0},
      {0, 0, DISK_BLOCK - 1, 0},
      {0, 0, DISK_BLOCK, 1},
      {0, 0, DISK_BLOCK, CONTEXT},
      {0, 0, CONTEXT, DISK_BLOCK},
      {0, 0, DISK_BLOCK, UINT64_MAX - DISK_BLOCK + 1},
      {0, 0, SIZE_MAX - DISK_BLOCK + 1, DISK_BLOCK},
  };
  for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
    char *const at = buf + bad[i].skew;
    ck_assert_int_eq(disks_read(d, bad[i].context, at, bad[i].n, bad[i].offset),
                     EINVAL);
    ck_assert_int_eq(
        disks_write(d, bad[i].context, at, bad[i].n, bad[i].offset), EINVAL);
  }
  ck_assert_int_eq(disks_read(d, 0, buf, 0, CONTEXT), 0);
}
END_TEST

START_TEST(contexts_go_round_the_disks) {
  char path[80];
  reopen("unix", 7, CONTEXT);
  for (int c = 0; c < 7; c++) {
    snprintf(path, sizeof(path), "%s/%c", dir, 'a' + c % 3);
    ck_assert_str_eq(disks_dir(d, c), path);
  }
}
END_TEST

START_TEST(fewer_contexts_than_disks) {
  reopen("unix", 1, CONTEXT);
  fill(buf, CONTEXT, 1);
  ck_assert_int_eq(disks_write(d, 0, buf, CONTEXT, 0), 0);
  ck_assert_int_eq(disks_read(d, 0, other, CONTEXT, 0), 0);
  ck_assert_mem_eq(buf, other, CONTEXT);
  ck_assert_int_eq(disks_read(d, 1, other, CONTEXT, 0), EINVAL);
  reopen("unix", 0, CONTEXT);
  ck_assert_int_eq(disks_read(d, 0, other, CONTEXT, 0), EINVAL);
}
END_TEST

START_TEST(large_transfers_are_cut_and_counted) {
  const size_t n = 20 * MIB;
  reopen("unix", 2, 32 * MIB);
  fill(buf, n, 1);
  ck_assert_int_eq(disks_write(d, 1, buf, n, MIB), 0);
  ck_assert_uint_eq(counter_get(writes), 10);
  ck_assert_uint_eq(counter_get(bytes_written), n);
  ck_assert_uint_gt(counter_get(io_wait), 0);
  const uint64_t waited = counter_get(io_wait);
  ck_assert_int_eq(disks_read(d, 1, other, n, MIB), 0);
  ck_assert_mem_eq(buf, other, n);
  ck_assert_uint_eq(counter_get(reads), 10);
  ck_assert_uint_eq(counter_get(bytes_read), n);
  ck_assert_uint_gt(counter_get(io_wait), waited);
}
END_TEST

START_TEST(waiting_is_measured) {
  reopen("fault:mem,delay=20000", 2, CONTEXT);
  ck_assert_int_eq(disks_write(d, 0, buf, CONTEXT, 0), 0);
  ck_assert_int_eq(disks_read(d, 1, buf, CONTEXT, 0), 0);
  ck_assert_uint_ge(counter_get(io_wait), 40000000);
  ck_assert_uint_lt(counter_get(io_wait), UINT64_C(10000000000));
}
END_TEST

/* All requests are carried out even if one fails. */
START_TEST(failures_come_back) {
  reopen(failing[_i], 3, 32 * MIB);
  ck_assert_int_eq(disks_write(d, 0, buf, 20 * MIB, 0), ENOSPC);
  ck_assert_uint_eq(counter_get(writes), 10);
  ck_assert_uint_eq(counter_get(bytes_written), 18 * MIB);
  ck_assert_int_eq(disks_read(d, 0, buf, 20 * MIB, 0), EIO);
  ck_assert_uint_eq(counter_get(reads), 10);
  ck_assert_uint_eq(counter_get(bytes_read), 18 * MIB);
  ck_assert_int_eq(disks_write(d, 0, buf, 20 * MIB, 0), 0);
}
END_TEST

START_TEST(mapped_contexts_are_their_files) {
  reopen(_i ? "fault:mmap" : "mmap", 5, CONTEXT);
  ck_assert(disks_mapped(d));
  char *const range =
      mmap(NULL, 5 * CONTEXT, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ck_assert_ptr_ne(range, MAP_FAILED);
  for (int c = 0; c < 5; c++) {
    ck_assert_int_eq(disks_map(d, c, range + c * CONTEXT, CONTEXT, 0), 0);
  }
  for (int c = 0; c < 5; c++) {
    fill(range + c * CONTEXT, CONTEXT, (unsigned)c);
  }
  for (int c = 0; c < 5; c++) {
    ck_assert_int_eq(disks_read(d, c, buf, CONTEXT, 0), 0);
    ck_assert_mem_eq(buf, range + c * CONTEXT, CONTEXT);
  }
  ck_assert_int_eq(disks_map(d, 5, range, CONTEXT, 0), EINVAL);
  ck_assert_int_eq(disks_map(d, 0, range, CONTEXT, DISK_BLOCK), EINVAL);
  ck_assert_int_eq(disks_map(d, 0, range + 1, DISK_BLOCK, 0), EINVAL);
  const char *dir = NULL;
  ck_assert_int_eq(disks_map_failed(d, &dir), 0);
  ck_assert_int_eq(disks_read(d, 3, buf, DISK_BLOCK, DISK_BLOCK), 0);
  const int rewritten = disks_map_rewrite(d, 3, buf, DISK_BLOCK);
  ck_assert(rewritten == 0 || rewritten == EOPNOTSUPP);
  ck_assert_mem_eq(buf, range + 3 * CONTEXT + DISK_BLOCK, DISK_BLOCK);
  munmap(range, 5 * CONTEXT);
}
END_TEST

START_TEST(others_cannot_be_mapped) {
  static const char *const io[] = {"unix", "mem", "fault:unix"};
  for (int i = 0; i < 3; i++) {
    reopen(io[i], 2, CONTEXT);
    ck_assert(!disks_mapped(d));
    ck_assert_int_eq(disks_map(d, 0, buf, CONTEXT, 0), ENOTSUP);
    ck_assert_int_eq(disks_map_rewrite(d, 0, buf, 0), ENOTSUP);
  }
}
END_TEST

#ifdef HAVE_LIBAIO
#define AIO_ ", aio"
#else
#define AIO_ ""
#endif
#ifdef HAVE_LIBURING
#define URING_ ", uring"
#else
#define URING_ ""
#endif
#define KNOWN                                                                  \
  "unknown I/O driver: foo: known are unix" AIO_ URING_ ", mmap, mem, fault"

START_TEST(unknown_drivers) {
  ck_assert_int_eq(try_open(dirs, "foo", 2, CONTEXT, false), EINVAL);
  expect_error(KNOWN);
  ck_assert_int_eq(try_open(dirs, "foo:bar", 2, CONTEXT, false), EINVAL);
  expect_error(KNOWN);
  ck_assert_int_eq(try_open(dirs, "", 2, CONTEXT, false), EINVAL);
}
END_TEST

START_TEST(bad_driver_arguments) {
  ck_assert_int_eq(try_open(dirs, "unix:fast", 2, CONTEXT, false), EINVAL);
  expect_error("I/O driver: unix:fast: give just --pems-io=unix");
  ck_assert_int_eq(try_open(dirs, "fault:unix,x=1", 2, CONTEXT, false), EINVAL);
  expect_error("I/O driver: fault:unix,x=1: give --pems-io=fault:DRIVER"
               "[,read=N:ERRNO][,write=N:ERRNO][,torn=N][,short=N]"
               "[,after=BYTES:ERRNO][,grant=N:ERRNO][,room=BYTES]"
               "[,delay=MICROSECONDS][,every=N]"
               "[,seek=MICROSECONDS][,rate=MB]");
}
END_TEST

START_TEST(bad_directories) {
  char want[512], list[256], file[80];
  ck_assert_int_eq(try_open("/does/not/exist", NULL, 2, CONTEXT, false),
                   ENOENT);
  expect_error("scratch directory: /does/not/exist: does not exist: create it "
               "or name another directory with --pems-disk");
  /* The second of two, and with any driver. */
  snprintf(list, sizeof(list), "%s/a,/no", dir);
  ck_assert_int_eq(try_open(list, "mem", 2, CONTEXT, false), ENOENT);
  expect_error("scratch directory: /no: does not exist: create it or name "
               "another directory with --pems-disk");
  snprintf(file, sizeof(file), "%s/file", dir);
  fclose(fopen(file, "w"));
  ck_assert_int_eq(try_open(file, "unix", 2, CONTEXT, false), ENOTDIR);
  snprintf(want, sizeof(want),
           "scratch directory: %s: is not a directory: name another directory "
           "with --pems-disk",
           file);
  expect_error(want);
  unlink(file);
  ck_assert_int_eq(try_open("", "unix", 2, CONTEXT, false), ENOENT);
  ck_assert_int_eq(try_open(",", "unix", 2, CONTEXT, false), ENOENT);
}
END_TEST

START_TEST(a_directory_without_permission) {
  char want[512], path[80];
  snprintf(path, sizeof(path), "%s/a", dir);
  ck_assert_int_eq(chmod(path, 0500), 0);
  ck_assert_int_eq(chmod(dir, 0755), 0);
  const uid_t user = geteuid();
  if (user == 0) {
    ck_assert_int_eq(seteuid(65534), 0);
  }
  /* "nobody" owns nothing here; without root, the mode decides. */
  const int result = try_open(path, "unix", 2, CONTEXT, false);
  ck_assert_int_eq(seteuid(user), 0);
  ck_assert_int_eq(result, EACCES);
  snprintf(want, sizeof(want),
           "scratch directory: %s: may not be written by you: name another "
           "directory with --pems-disk",
           path);
  expect_error(want);
}
END_TEST

START_TEST(bad_context_sizes) {
  ck_assert_int_eq(try_open(dirs, "mem", 2, DISK_BLOCK + 1, false), EINVAL);
  expect_error("context size: 4097 bytes: give a multiple of 4096 bytes");
  ck_assert_int_eq(try_open(dirs, "mem", 2, 0, false), EINVAL);
  ck_assert_int_eq(try_open(dirs, "mem", -1, DISK_BLOCK, false), EINVAL);
}
END_TEST

START_TEST(too_much_for_the_disk) {
  char want[512], rest[200];
  const uint64_t context = UINT64_C(1) << 42;
  ck_assert_int_eq(try_open(dirs, "unix", 9, context, true), ENOSPC);
  /* All three directories are on one file system: 9 contexts, not 3. */
  snprintf(want, sizeof(want), "scratch space: %s/a: needs 36.0 TiB, ", dir);
  ck_assert_int_eq(strncmp(error.text, want, strlen(want)), 0);
  ck_assert_int_eq(
      sscanf(error.text + strlen(want), "%*f %*ciB free: %199[^\n]", rest), 1);
  ck_assert_str_eq(rest,
                   "free some or name another directory with --pems-disk");
  ck_assert_int_eq(try_open(dirs, "unix", INT32_MAX, UINT64_MAX - 4095, false),
                   ENOSPC);
  ck_assert_int_eq(strncmp(error.text, "scratch space: ", 15), 0);
}
END_TEST

START_TEST(too_much_for_the_memory) {
  ck_assert_int_eq(try_open(dirs, "mem", 3, UINT64_C(1) << 60, true), ENOMEM);
  expect_error("scratch space: 3.0 EiB in memory: cannot be had: use another "
               "driver with --pems-io");
}
END_TEST

/* Two directories share a small file system: each file would fit alone. */
START_TEST(a_small_disk_is_shared) {
  char list[256], want[256], path[80];
  if (geteuid() != 0 || unshare(CLONE_NEWNS) ||
      mount("none", "/", "none", MS_REC | MS_PRIVATE, "") ||
      mount("tmpfs", dir, "tmpfs", 0, "size=8m")) {
    puts("skipped: a_small_disk_is_shared: cannot mount");
    return;
  }
  snprintf(list, sizeof(list), "%s/x,%s/y", dir, dir);
  for (char c = 'x'; c <= 'y'; c++) {
    snprintf(path, sizeof(path), "%s/%c", dir, c);
    ck_assert_int_eq(mkdir(path, 0700), 0);
  }
  ck_assert_uint_gt(disks_free(list), 7 * MIB);
  ck_assert_uint_le(disks_free(list), 8 * MIB);
  ck_assert_int_eq(try_open(list, "unix", 2, 5 * MIB, true), ENOSPC);
  snprintf(want, sizeof(want),
           "scratch space: %s/x: needs 10.0 MiB, 8.0 MiB free: free some or "
           "name another directory with --pems-disk",
           dir);
  expect_error(want);
  ck_assert_uint_eq(machine_disk_free(dir), 8 * MIB);
  ck_assert_int_eq(try_open(list, "unix", 2, 3 * MIB, true), 0);
  disks_close(d);
  d = NULL;
  /* Not reserved, the disk fills up while writing. */
  ck_assert_int_eq(try_open(list, "unix", 2, 5 * MIB, false), 0);
  ck_assert_int_eq(disks_write(d, 0, buf, 5 * MIB, 0), 0);
  ck_assert_int_eq(disks_write(d, 1, buf, 5 * MIB, 0), ENOSPC);
  disks_close(d);
  d = NULL;
  ck_assert_int_eq(umount(dir), 0);
}
END_TEST

/* Mounts memory of so many MiB on the directory below dir; 0 if it cannot. */
static bool mount_below(char name, int mib) {
  char path[80], option[32];
  snprintf(path, sizeof(path), "%s/%c", dir, name);
  snprintf(option, sizeof(option), "size=%dm", mib);
  return mount("tmpfs", path, "tmpfs", 0, option) == 0;
}

static int open_striped(uint64_t stripe, int n, uint64_t size) {
  disks_close(d);
  const struct disks_options o = {
      .dirs = dirs, .io = "unix", .stripe = stripe, .reserve = 1};
  return disks_open(&d, &o, n, size, &error);
}

START_TEST(unequal_disks) {
  char want[256], path[80];
  int on[3] = {0};
  if (geteuid() != 0 || unshare(CLONE_NEWNS) ||
      mount("none", "/", "none", MS_REC | MS_PRIVATE, "") ||
      !mount_below('a', 4) || !mount_below('b', 40) || !mount_below('c', 20)) {
    puts("skipped: unequal_disks: cannot mount");
    return;
  }
  /* Even shares fit. */
  ck_assert_int_eq(open_striped(0, 6, 2 * MIB), 0);
  for (int c = 0; c < 6; c++) {
    ck_assert_int_eq(disks_home(d, c), c % 3);
  }
  /* They do not: in proportion to the room, which is 4, 40, and 20 MiB. */
  ck_assert_int_eq(open_striped(0, 16, 3 * MIB), 0);
  for (int c = 0; c < 16; c++) {
    on[disks_home(d, c)]++;
  }
  ck_assert_int_eq(on[0], 1);
  ck_assert_int_ge(on[1], 9);
  ck_assert_int_ge(on[2], 4);
  for (unsigned c = 0; c < 16; c++) {
    fill(buf, 3 * MIB, c);
    ck_assert_int_eq(disks_write(d, (int)c, buf, 3 * MIB, 0), 0);
  }
  for (unsigned c = 0; c < 16; c++) {
    fill(buf, 3 * MIB, c);
    ck_assert_int_eq(disks_read(d, (int)c, other, 3 * MIB, 0), 0);
    ck_assert_int_eq(memcmp(buf, other, 3 * MIB), 0);
  }
  disks_close(d);
  d = NULL;
  /* All of what is told to be free can be had. */
  for (int n = 1; n < 20; n++) {
    const uint64_t most = disks_free_for(dirs, n, 0) / (uint64_t)n;
    ck_assert_int_eq(open_striped(0, n, most), 0);
    ck_assert_int_eq(open_striped(0, n, most + DISK_BLOCK), ENOSPC);
    ck_assert_uint_le(disks_free(dirs), most * (uint64_t)n);
  }
  /* Pieces fill disks better than whole contexts do. */
  ck_assert_int_eq(open_striped(64 * 1024, 3, 20 * MIB), 0);
  ck_assert_int_eq(disks_home(d, 0), -1);
  fill(buf, 20 * MIB, 3);
  ck_assert_int_eq(disks_write(d, 1, buf, 20 * MIB, 0), 0);
  ck_assert_int_eq(disks_read(d, 1, other, 20 * MIB, 0), 0);
  ck_assert_int_eq(memcmp(buf, other, 20 * MIB), 0);
  ck_assert_int_eq(open_striped(0, 3, 20 * MIB), 0);
  ck_assert_int_eq(open_striped(0, 3, 24 * MIB), ENOSPC);
  snprintf(want, sizeof(want),
           "scratch space: %s/a: needs 24.0 MiB, 4.0 MiB free: free some or "
           "name another directory with --pems-disk",
           dir);
  expect_error(want);
  for (char c = 'a'; c <= 'c'; c++) {
    snprintf(path, sizeof(path), "%s/%c", dir, c);
    ck_assert_uint_eq(machine_disk_free(path) % MIB, 0);
    ck_assert_int_eq(umount(path), 0);
  }
}
END_TEST

/* Each directory has a small file system of its own, of 4, 40 and 20 MiB. */
static bool mount_unequal(const char *test) {
  if (geteuid() != 0 || unshare(CLONE_NEWNS) ||
      mount("none", "/", "none", MS_REC | MS_PRIVATE, "") ||
      !mount_below('a', 4) || !mount_below('b', 40) || !mount_below('c', 20)) {
    printf("skipped: %s: cannot mount\n", test);
    return false;
  }
  return true;
}

static void unmount_all(void) {
  char path[80];
  disks_close(d);
  d = NULL;
  for (char c = 'a'; c <= 'c'; c++) {
    snprintf(path, sizeof(path), "%s/%c", dir, c);
    ck_assert_int_eq(umount(path), 0);
  }
}

static uint64_t free_below(char name) {
  char path[80];
  snprintf(path, sizeof(path), "%s/%c", dir, name);
  return machine_disk_free(path);
}

static int open_unreserved(const char *io, uint64_t stripe, int n,
                           uint64_t size) {
  disks_close(d);
  const struct disks_options o = {.dirs = dirs, .io = io, .stripe = stripe};
  const int result = disks_open(&d, &o, n, size, &error);
  ck_assert_msg(result == 0, "%s", error.text);
  return result;
}

START_TEST(what_is_granted_can_be_written_to_a_full_disk) {
  static const uint64_t stripes[] = {0, 64 * 1024};
  const char *where = NULL;
  char path[96];
  if (!mount_unequal("what_is_granted_can_be_written_to_a_full_disk")) {
    return;
  }
  for (int i = 0; i < 2; i++) {
    open_unreserved("unix", stripes[i], 6, 10 * MIB);
    ck_assert(!disks_reserved(d));
    /* All but what is granted is taken by others. */
    for (int c = 0; c < 6; c++) {
      ck_assert_int_eq(disks_grant(d, c, 0, MIB / 2, &where), 0);
    }
    for (int c = 0; c < 6; c++) {
      ck_assert_int_eq(disks_grant(d, c, MIB / 2, MIB, &where), 0);
    }
    for (char name = 'a'; name <= 'c'; name++) {
      snprintf(path, sizeof(path), "%s/%c/other", dir, name);
      FILE *const other_file = fopen(path, "w");
      while (fwrite(other, DISK_BLOCK, 1, other_file) == 1 &&
             fflush(other_file) == 0)
        ;
      fclose(other_file);
      ck_assert_uint_eq(free_below(name), 0);
    }
    for (unsigned c = 0; c < 6; c++) {
      fill(buf, MIB, c);
      ck_assert_int_eq(disks_write(d, (int)c, buf, MIB, 0), 0);
    }
    for (unsigned c = 0; c < 6; c++) {
      fill(buf, MIB, c);
      ck_assert_int_eq(disks_read(d, (int)c, other, MIB, 0), 0);
      ck_assert_int_eq(memcmp(buf, other, MIB), 0);
    }
    ck_assert_int_eq(disks_grant(d, 0, MIB, 2 * MIB, &where), ENOSPC);
    ck_assert_int_eq(strncmp(where, dir, strlen(dir)), 0);
    for (char name = 'a'; name <= 'c'; name++) {
      snprintf(path, sizeof(path), "%s/%c/other", dir, name);
      ck_assert_int_eq(unlink(path), 0);
    }
  }
  unmount_all();
}
END_TEST

START_TEST(what_cannot_be_granted_takes_nothing_from_any_disk) {
  const char *where = NULL;
  if (!mount_unequal("what_cannot_be_granted_takes_nothing_from_any_disk")) {
    return;
  }
  /* Even shares of what is not reserved would fit: a has room for 4 MiB. */
  open_unreserved("unix", 64 * 1024, 1, 12 * MIB - 192 * 1024);
  ck_assert_int_eq(disks_home(d, 0), -1);
  const uint64_t b = free_below('b'), c = free_below('c');
  char path[96];
  snprintf(path, sizeof(path), "%s/a/other", dir);
  FILE *const other_file = fopen(path, "w");
  ck_assert_uint_eq(fwrite(other, MIB, 2, other_file), 2);
  fclose(other_file);
  ck_assert_int_eq(disks_grant(d, 0, 0, 10 * MIB, &where), ENOSPC);
  ck_assert_str_eq(where + strlen(dir), "/a");
  ck_assert_uint_eq(free_below('b'), b);
  ck_assert_uint_eq(free_below('c'), c);
  ck_assert_int_eq(disks_grant(d, 0, 0, 3 * MIB, &where), 0);
  ck_assert_uint_eq(free_below('b'), b - MIB);
  disks_release(d, 0, 0, 3 * MIB);
  ck_assert_uint_eq(free_below('b'), b);
  ck_assert_int_eq(disks_grant(d, 0, 1, MIB, &where), EINVAL);
  ck_assert_int_eq(disks_grant(d, 0, MIB, 0, &where), EINVAL);
  ck_assert_int_eq(disks_grant(d, 1, 0, MIB, &where), EINVAL);
  ck_assert_int_eq(disks_grant(d, 0, 0, 13 * MIB, NULL), EINVAL);
  ck_assert_int_eq(unlink(path), 0);
  unmount_all();
}
END_TEST

START_TEST(more_than_there_is_room_for_lies_where_there_is_most) {
  int on[3] = {0};
  if (!mount_unequal("more_than_there_is_room_for_lies_where_there_is_most")) {
    return;
  }
  /* 4, 40, and 20 MiB for 64 times 1 GiB, not reserved. */
  open_unreserved("unix", 0, 64, 1024 * MIB);
  for (int c = 0; c < 64; c++) {
    on[disks_home(d, c)]++;
  }
  ck_assert_int_ge(on[0], 3);
  ck_assert_int_le(on[0], 5);
  ck_assert_int_ge(on[1], 38);
  ck_assert_int_ge(on[2], 18);
  unmount_all();
}
END_TEST

START_TEST(what_a_file_system_cannot_grant_is_filled_with_zeros) {
  const uint64_t before = counter_get(granted);
  /* EOPNOTSUPP for the first, which finds out. */
  ck_assert_int_eq(try_open(dir, "fault:mem,grant=1:95", 2, CONTEXT, false), 0);
  ck_assert_int_eq(disks_grant(d, 1, 0, 2 * DISK_BLOCK, NULL), 0);
  ck_assert_uint_eq(counter_get(granted), before + 2 * DISK_BLOCK);
  ck_assert_int_eq(
      try_open(dir, "fault:unix,grant=1:95,write=3:ENOSPC", 4, 4 * MIB, false),
      0);
  ck_assert_int_eq(disks_grant(d, 1, 0, 2 * MIB, NULL), 0);
  memset(other, 1, 2 * MIB);
  ck_assert_int_eq(disks_read(d, 1, other, 2 * MIB, 0), 0);
  ck_assert_int_eq(memcmp(buf, other, 2 * MIB), 0);
  ck_assert_int_eq(disks_grant(d, 1, 2 * MIB, 4 * MIB, NULL), ENOSPC);
  ck_assert_int_eq(disks_grant(d, 1, 2 * MIB, 4 * MIB, NULL), 0);
}
END_TEST

START_TEST(strictly_a_file_system_must_grant) {
  char want[256];
  const struct disks_options o = {
      .dirs = dir, .io = "fault:unix,grant=1:95", .strict = 1};
  ck_assert_int_eq(disks_open(&d, &o, 2, CONTEXT, &error), ENOTSUP);
  snprintf(want, sizeof(want),
           "scratch space: %s: the file system cannot reserve it (fallocate): "
           "name another directory with --pems-disk",
           dir);
  expect_error(want);
}
END_TEST

START_TEST(bad_stripes) {
  ck_assert_int_eq(open_striped(DISK_BLOCK + 1, 2, CONTEXT), EINVAL);
  expect_error("--pems-stripe: 4097 bytes: give a multiple of 4096 bytes");
}
END_TEST

START_TEST(a_read_only_disk) {
  char want[256];
  if (geteuid() != 0 || unshare(CLONE_NEWNS) ||
      mount("none", "/", "none", MS_REC | MS_PRIVATE, "") ||
      mount("tmpfs", dir, "tmpfs", MS_RDONLY, "size=1m")) {
    puts("skipped: a_read_only_disk: cannot mount");
    return;
  }
  ck_assert_int_eq(try_open(dir, "unix", 2, CONTEXT, true), EROFS);
  snprintf(want, sizeof(want),
           "scratch directory: %s: is read-only: name another directory with "
           "--pems-disk",
           dir);
  expect_error(want);
  ck_assert_int_eq(umount(dir), 0);
}
END_TEST

START_TEST(defaults) {
  setenv("TMPDIR", dir, 1);
  ck_assert_int_eq(try_open(NULL, NULL, 2, CONTEXT, true), 0);
  ck_assert_str_eq(disks_dir(d, 1), dir);
  ck_assert(!disks_mapped(d));
  setenv("TMPDIR", "", 1);
  ck_assert_int_eq(try_open(NULL, NULL, 2, CONTEXT, true), 0);
  ck_assert_str_eq(disks_dir(d, 0), "/var/tmp");
  unsetenv("TMPDIR");
  ck_assert_int_eq(try_open(NULL, NULL, 2, CONTEXT, true), 0);
  ck_assert_str_eq(disks_dir(d, 0), "/var/tmp");
  ck_assert_uint_gt(disks_free(NULL), 0);
}
END_TEST

START_TEST(closing_nothing_is_allowed) {
  disks_close(NULL);
}
END_TEST

int main(void) {
  Suite *const s = suite_create("disk");
  TCase *const t = tcase_create("disk");
  tcase_set_timeout(t, 30);
  tcase_add_checked_fixture(t, make_dirs, remove_dirs);
  tcase_add_loop_test(t, contexts_keep_their_data_apart, 0, ALL);
  tcase_add_loop_test(t, fresh_contexts_are_zero, 0, ALL);
  tcase_add_loop_test(t, wrong_requests_are_einval, 0, ALL);
  tcase_add_test(t, contexts_go_round_the_disks);
  tcase_add_test(t, fewer_contexts_than_disks);
  tcase_add_test(t, large_transfers_are_cut_and_counted);
  tcase_add_test(t, waiting_is_measured);
  tcase_add_loop_test(t, failures_come_back, 0, FAILING);
  tcase_add_loop_test(t, mapped_contexts_are_their_files, 0, 2);
  tcase_add_test(t, others_cannot_be_mapped);
  tcase_add_test(t, unknown_drivers);
  tcase_add_test(t, bad_driver_arguments);
  tcase_add_test(t, bad_directories);
  tcase_add_test(t, a_directory_without_permission);
  tcase_add_test(t, bad_context_sizes);
  tcase_add_test(t, too_much_for_the_disk);
  tcase_add_test(t, too_much_for_the_memory);
  tcase_add_test(t, a_small_disk_is_shared);
  tcase_add_test(t, unequal_disks);
  tcase_add_test(t, what_is_granted_can_be_written_to_a_full_disk);
  tcase_add_test(t, what_cannot_be_granted_takes_nothing_from_any_disk);
  tcase_add_test(t, more_than_there_is_room_for_lies_where_there_is_most);
  tcase_add_test(t, what_a_file_system_cannot_grant_is_filled_with_zeros);
  tcase_add_test(t, strictly_a_file_system_must_grant);
  tcase_add_test(t, bad_stripes);
  tcase_add_test(t, a_read_only_disk);
  tcase_add_test(t, defaults);
  tcase_add_test(t, closing_nothing_is_allowed);
  suite_add_tcase(s, t);
  return check_run(s);
}
