/* Asynchronous requests of all drivers, against a model in memory. */
#define _GNU_SOURCE
#include "disk/contexts/disk.h"

#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/counters.h"
#include "config.h"

#include "check_drivers.h"
#include "check_main.h"

#include "os/clock.h"

#define BLOCK DISK_BLOCK
#define MIB ((size_t)1 << 20)

static char dir[64];
static struct pems_error error;
static struct disks *d;

static void make_dirs(void) {
  char path[80];
  strcpy(dir, "/var/tmp/test_batch-XXXXXX");
  ck_assert_ptr_nonnull(mkdtemp(dir));
  for (char c = 'a'; c <= 'c'; c++) {
    snprintf(path, sizeof(path), "%s/%c", dir, c);
    ck_assert_int_eq(mkdir(path, 0700), 0);
  }
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
}

static int try_open(const char *io, int disks, uint64_t stripe, int depth,
                    int n, uint64_t size, bool strict) {
  char dirs[256] = "";
  for (int i = 0; i < disks; i++) {
    sprintf(dirs + strlen(dirs), "%s%s/%c", i ? "," : "", dir, 'a' + i);
  }
  const struct disks_options o = {.dirs = dirs,
                                  .io = io,
                                  .stripe = stripe,
                                  .depth = depth,
                                  .reserve = 1,
                                  .strict = strict};
  disks_close(d);
  return disks_open(&d, &o, n, size, &error);
}

static void reopen(const char *io, int disks, uint64_t stripe, int depth, int n,
                   uint64_t size) {
  ck_assert_msg(try_open(io, disks, stripe, depth, n, size, true) == 0, "%s",
                error.text);
}

static char *aligned(size_t n) {
  void *p;
  ck_assert_int_eq(posix_memalign(&p, BLOCK, n), 0);
  return memset(p, 0, n);
}

static uint64_t rnd(uint64_t *state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state;
}

/* --- the model --- */

static const char *const drivers_tried[] = {
#ifdef HAVE_LIBAIO
    "aio",
    "fault:aio,short=3",
    "fault:aio,delay=300,every=7",
#endif
#ifdef HAVE_LIBURING
    "uring",
    "fault:uring,short=3",
    "fault:uring,delay=300,every=7",
#endif
    "unix",
    "fault:unix,short=3",
    "mem",
    "fault:mem,delay=100,every=5",
    "mmap",
};
enum { DRIVERS = sizeof(drivers_tried) / sizeof(*drivers_tried) };

static const struct {
  int disks, depth;
  uint64_t stripe;
} shapes[] = {
    {1, 1, 0},         {1, 64, 0},         {2, 4, 0},
    {2, 3, 64 * 1024}, {3, 2, 3 * BLOCK},  {3, 64, 0},
    {3, 4, BLOCK},     {2, 4, 40 * BLOCK}, {3, 1, (uint64_t)1 << 30},
};
enum { SHAPES = sizeof(shapes) / sizeof(*shapes) };

enum { THREADS = 3, CONTEXTS = 2 * THREADS, BLOCKS = 150, ROUNDS = 12 };

/* What a thread knows of its two contexts. */
struct worker {
  uint64_t seed;
  int first;                    /* contexts first and first + 1 */
  char *model[2];               /* what must be on disk */
  char *buf[2];                 /* what requests use: block i for block i */
  unsigned char way[2][BLOCKS]; /* 0: left alone, 1: read, 2: written */
  const char *wrong;
};

/* Cuts a context into pieces that are read, written or left alone. */
static void start_pieces(struct worker *w, struct disk_batch *b, int c) {
  for (int at = 0, n; at < BLOCKS; at += n) {
    n = 1 + (int)(rnd(&w->seed) % (rnd(&w->seed) % 3 ? 8 : BLOCKS));
    n = n < BLOCKS - at ? n : BLOCKS - at;
    const int way = (int)(rnd(&w->seed) % 3);
    const size_t offset = (size_t)at * BLOCK, bytes = (size_t)n * BLOCK;
    memset(w->way[c] + at, way, (size_t)n);
    if (way == 1) {
      memset(w->buf[c] + offset, 0xee, bytes);
      disks_start_read(d, b, w->first + c, w->buf[c] + offset, bytes, offset);
    } else if (way == 2) {
      for (size_t i = offset; i < offset + bytes; i += 8) {
        *(uint64_t *)(void *)(w->buf[c] + i) = rnd(&w->seed);
      }
      memcpy(w->model[c] + offset, w->buf[c] + offset, bytes);
      disks_start_write(d, b, w->first + c, w->buf[c] + offset, bytes, offset);
    }
  }
}

static void compare(struct worker *w, int c) {
  for (int i = 0; i < BLOCKS; i++) {
    if (w->way[c][i] &&
        memcmp(w->buf[c] + i * BLOCK, w->model[c] + i * BLOCK, BLOCK) != 0) {
      w->wrong = w->way[c][i] == 1 ? "read" : "written from";
    }
  }
}

static void *work(void *arg) {
  struct worker *const w = arg;
  struct disk_batch b;
  disk_batch_begin(&b);
  if (w->first == 0) {
    disk_batch_help(&b);
  }
  for (int round = 0; round < ROUNDS && !w->wrong; round++) {
    start_pieces(w, &b, 0);
    if (rnd(&w->seed) % 2 && disk_batch_wait(&b)) {
      w->wrong = "failed";
    }
    start_pieces(w, &b, 1);
    if (disk_batch_wait(&b)) {
      w->wrong = "failed";
    }
    compare(w, 0);
    compare(w, 1);
  }
  for (int c = 0; c < 2; c++) {
    if (disks_read(d, w->first + c, w->buf[c], BLOCKS * BLOCK, 0) ||
        memcmp(w->buf[c], w->model[c], BLOCKS * BLOCK) != 0) {
      w->wrong = "read synchronously";
    }
  }
  return NULL;
}

START_TEST(batches_equal_the_model) {
  const int driver = _i / SHAPES, shape = _i % SHAPES;
  reopen(drivers_tried[driver], shapes[shape].disks, shapes[shape].stripe,
         shapes[shape].depth, CONTEXTS, BLOCKS * BLOCK);
  struct worker w[THREADS];
  pthread_t thread[THREADS];
  memset(w, 0, sizeof(w));
  for (int i = 0; i < THREADS; i++) {
    w[i].seed = (uint64_t)(_i * 10 + i + 1) * 0x9e3779b97f4a7c15u;
    w[i].first = 2 * i;
    for (int c = 0; c < 2; c++) {
      w[i].model[c] = aligned(BLOCKS * BLOCK);
      w[i].buf[c] = aligned(BLOCKS * BLOCK);
    }
    ck_assert_int_eq(pthread_create(&thread[i], NULL, work, &w[i]), 0);
  }
  for (int i = 0; i < THREADS; i++) {
    pthread_join(thread[i], NULL);
    ck_assert_msg(!w[i].wrong, "%s, shape %d: %s", drivers_tried[driver], shape,
                  w[i].wrong);
    for (int c = 0; c < 2; c++) {
      free(w[i].model[c]);
      free(w[i].buf[c]);
    }
  }
  for (int i = 0; i < disks_count(d); i++) {
    ck_assert_uint_eq(disks_busy(d, i), 0);
  }
}
END_TEST

/* --- special cases, each for all kinds of queue --- */

static const char *const *const kinds = &driver_names[DRIVER_UNMAPPED];
enum { KINDS = DRIVER_COUNT - DRIVER_UNMAPPED };

static const char *fault(int kind, const char *plan) {
  static char io[128];
  snprintf(io, sizeof(io), "fault:%s,%s", kinds[kind], plan);
  return io;
}

START_TEST(an_error_in_the_middle) {
  enum { N = 20, BAD = 7 };
  reopen(fault(_i, "write=7:ENOSPC,read=7:EIO"), 2, 0, 1, N, BLOCK);
  char *const buf = aligned(N * BLOCK);
  struct disk_batch b;
  disk_batch_begin(&b);
  for (int c = 0; c < N; c++) {
    buf[c * BLOCK] = (char)(c + 1);
    disks_start_write(d, &b, c, buf + c * BLOCK, BLOCK, 0);
  }
  ck_assert_int_eq(disk_batch_wait(&b), ENOSPC);
  /* The batch can be used again, and all other requests were carried out. */
  ck_assert_int_eq(disk_batch_wait(&b), 0);
  memset(buf, 0, N * BLOCK);
  for (int c = 0; c < N; c++) {
    disks_start_read(d, &b, c, buf + c * BLOCK, BLOCK, 0);
  }
  ck_assert_int_eq(disk_batch_wait(&b), EIO);
  int missing = 0;
  for (int c = 0; c < N; c++) {
    ck_assert(buf[c * BLOCK] == c + 1 || buf[c * BLOCK] == 0);
    missing += buf[c * BLOCK] == 0;
  }
  ck_assert_int_ge(missing, 1);
  ck_assert_int_le(missing, 2);
  for (int c = 0; c < N; c++) {
    disks_start_read(d, &b, c, buf + c * BLOCK, BLOCK, 0);
  }
  ck_assert_int_eq(disk_batch_wait(&b), 0);
  free(buf);
}
END_TEST

/* Its last request is the caller's own. */
START_TEST(who_waits_helps) {
  reopen(fault(_i, "write=3:ENOSPC"), 1, 0, 2, 1, 3 * BLOCK);
  char *const buf = aligned(BLOCK), *const back = aligned(BLOCK);
  struct disk_batch b;
  disk_batch_begin(&b);
  disk_batch_help(&b);
  memset(buf, 1, BLOCK);
  disks_start_write(d, &b, 0, buf, BLOCK, 0);
  ck_assert_uint_eq(disks_busy(d, 0), 0);
  memset(buf, 2, BLOCK); /* not begun */
  ck_assert_int_eq(disk_batch_wait(&b), 0);
  ck_assert_int_eq(disks_read(d, 0, back, BLOCK, 0), 0);
  ck_assert_mem_eq(buf, back, BLOCK);
  disks_start_write(d, &b, 0, buf, BLOCK, BLOCK);
  disks_start_write(d, &b, 0, buf, BLOCK, 2 * BLOCK);
  ck_assert_int_eq(disk_batch_wait(&b), ENOSPC);
  ck_assert_int_eq(disk_batch_wait(&b), 0);
  free(buf);
  free(back);
}
END_TEST

START_TEST(a_disk_that_gets_full) {
  enum { N = 16 };
  reopen(fault(_i, "after=40960:ENOSPC"), 3, 0, 4, N, BLOCK);
  char *const buf = aligned(BLOCK);
  struct disk_batch b;
  disk_batch_begin(&b);
  for (int c = 0; c < 10; c++) {
    disks_start_write(d, &b, c, buf, BLOCK, 0);
  }
  ck_assert_int_eq(disk_batch_wait(&b), 0);
  disks_start_write(d, &b, 11, buf, BLOCK, 0);
  ck_assert_int_eq(disk_batch_wait(&b), ENOSPC);
  ck_assert_int_eq(disks_write(d, 1, buf, BLOCK, 0), ENOSPC);
  ck_assert_int_eq(disks_read(d, 1, buf, BLOCK, 0), 0);
  free(buf);
}
END_TEST

START_TEST(a_torn_write) {
  enum { N = 6 };
  reopen(fault(_i, "torn=2"), 1, 0, 4, 1, N * BLOCK);
  char *const buf = aligned(N * BLOCK);
  struct disk_batch b;
  disk_batch_begin(&b);
  memset(buf, 1, N * BLOCK);
  disks_start_write(d, &b, 0, buf, N * BLOCK, 0);
  ck_assert_int_eq(disk_batch_wait(&b), 0);
  memset(buf, 2, N * BLOCK);
  disks_start_write(d, &b, 0, buf, N * BLOCK, 0);
  ck_assert_int_eq(disk_batch_wait(&b), EIO);
  ck_assert_int_eq(disks_read(d, 0, buf, N * BLOCK, 0), 0);
  for (size_t i = 0; i < N * BLOCK; i++) {
    ck_assert_int_eq(buf[i], i < N / 2 * BLOCK ? 2 : 1);
  }
  free(buf);
}
END_TEST

START_TEST(wrong_arguments_fail_their_batch_only) {
  reopen(kinds[_i], 2, 0, 4, 2, 4 * BLOCK);
  char *const buf = aligned(4 * BLOCK);
  struct disk_batch b, other;
  disk_batch_begin(&b);
  disk_batch_begin(&other);
  memset(buf, 5, 4 * BLOCK);
  disks_start_write(d, &other, 1, buf, 4 * BLOCK, 0);
  static const struct {
    int context, skew;
    size_t n;
    uint64_t offset;
  } bad[] = {
      {-1, 0, BLOCK, 0},        {2, 0, BLOCK, 0}, {0, 1, BLOCK, 0},
      {0, 0, BLOCK - 1, 0},     {0, 0, BLOCK, 1}, {0, 0, BLOCK, 4 * BLOCK},
      {0, 0, 4 * BLOCK, BLOCK},
  };
  for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
    disks_start_write(d, &b, 0, buf, BLOCK, 0);
    disks_start_read(d, &b, bad[i].context, buf + bad[i].skew, bad[i].n,
                     bad[i].offset);
    ck_assert_int_eq(disk_batch_wait(&b), EINVAL);
    disks_start_write(d, &b, bad[i].context, buf + bad[i].skew, bad[i].n,
                      bad[i].offset);
    ck_assert_int_eq(disk_batch_wait(&b), EINVAL);
  }
  disks_start_read(d, &b, 0, buf, 0, 4 * BLOCK);
  ck_assert_int_eq(disk_batch_wait(&b), 0);
  ck_assert_int_eq(disk_batch_wait(&other), 0);
  free(buf);
}
END_TEST

START_TEST(tiny_and_huge) {
  enum { TINY = 3000 };
  const size_t huge = 48 * MIB;
  reopen(kinds[_i], 2, _i % 2 ? 5 * MIB : 0, 3, 2, huge);
  char *const buf = aligned(huge), *const back = aligned(huge);
  struct disk_batch b;
  uint64_t seed = 7;
  for (size_t i = 0; i < huge; i += 8) {
    *(uint64_t *)(void *)(buf + i) = rnd(&seed);
  }
  disk_batch_begin(&b);
  disks_start_write(d, &b, 1, buf, huge, 0);
  ck_assert_int_eq(disk_batch_wait(&b), 0);
  /* More than a queue has records for. */
  for (size_t i = 0; i < TINY; i++) {
    disks_start_write(d, &b, 0, buf + i * BLOCK, BLOCK, i * BLOCK);
  }
  ck_assert_int_eq(disk_batch_wait(&b), 0);
  for (size_t i = 0; i < TINY; i++) {
    disks_start_read(d, &b, 1, back + i * BLOCK, BLOCK, i * BLOCK);
  }
  disks_start_read(d, &b, 1, back + TINY * BLOCK, huge - TINY * BLOCK,
                   TINY * BLOCK);
  ck_assert_int_eq(disk_batch_wait(&b), 0);
  ck_assert_int_eq(memcmp(buf, back, huge), 0);
  disks_start_read(d, &b, 0, back, huge, 0);
  ck_assert_int_eq(disk_batch_wait(&b), 0);
  ck_assert_int_eq(memcmp(buf, back, TINY * BLOCK), 0);
  free(buf);
  free(back);
}
END_TEST

/* How often what takes part of a delay only is tried. A busy machine holds up
   one try, or many; what is done one after the other is never faster. */
enum { TRIES = 200 };

enum { EIGHT_MS = 8 * 30 };

struct seen {
  unsigned ms, busy, waited_ms; /* busy: before all are waited for */
};

/* 8 requests of 30 ms to one disk. */
static struct seen eight(int kind, int depth) {
  reopen(fault(kind, "delay=30000"), 1, 0, depth, 8, BLOCK);
  char *const buf = aligned(8 * BLOCK);
  struct disk_batch b;
  disk_batch_begin(&b);
  const uint64_t begin = clock_ns(), waited = counter_get(io_wait);
  for (int c = 0; c < 8; c++) {
    disks_start_read(d, &b, c, buf + c * BLOCK, BLOCK, 0);
  }
  const unsigned busy = disks_busy(d, 0);
  ck_assert_uint_le(busy, 8);
  ck_assert_int_eq(disk_batch_wait(&b), 0);
  const uint64_t end = clock_ns();
  ck_assert_uint_eq(disks_busy(d, 0), 0);
  free(buf);
  return (struct seen){
      .ms = (unsigned)((end - begin) / 1000000),
      .busy = busy,
      .waited_ms = (unsigned)((counter_get(io_wait) - waited) / 1000000)};
}

START_TEST(depth_requests_are_under_way) {
  bool fast = false, busy = false, waited = false;
  ck_assert_uint_ge(eight(_i, 1).ms, EIGHT_MS);
  ck_assert_uint_ge(eight(_i, 4).ms, EIGHT_MS / 4);
  for (int i = 0; i < TRIES && !(fast && busy && waited); i++) {
    const struct seen s = eight(_i, 8);
    fast |= s.ms < EIGHT_MS / 2;
    busy |= s.busy > 0;
    waited |= s.waited_ms >= 20;
  }
  ck_assert(fast);
  ck_assert(busy);
  ck_assert(waited);
}
END_TEST

/* Milliseconds for a request of 50 ms to each of three disks. */
static unsigned each(int kind) {
  reopen(fault(kind, "delay=50000"), 3, 0, 1, 3, BLOCK);
  char *const buf = aligned(3 * BLOCK);
  struct disk_batch b;
  disk_batch_begin(&b);
  const uint64_t begin = clock_ns();
  for (int c = 0; c < 3; c++) {
    disks_start_write(d, &b, c, buf + c * BLOCK, BLOCK, 0);
  }
  ck_assert_int_eq(disk_batch_wait(&b), 0);
  const uint64_t end = clock_ns();
  free(buf);
  return (unsigned)((end - begin) / 1000000);
}

START_TEST(all_disks_work_at_once) {
  unsigned shortest = 3 * 50;
  for (int i = 0; i < TRIES && shortest >= 3 * 50; i++) {
    const unsigned ms = each(_i);
    shortest = ms < shortest ? ms : shortest;
  }
  ck_assert_uint_lt(shortest, 3 * 50);
}
END_TEST

/* --- what the disk takes --- */

enum { SLOW_MB = 100 }; /* 10^6 bytes a second */

struct part {
  int context;
  size_t n;
  char *buf;
  uint64_t served_ns, begin, end;
};

static void *move_part(void *arg) {
  struct part *const p = arg;
  struct disk_batch b;
  disk_batch_begin(&b);
  const uint64_t served = disks_served_ns();
  p->begin = clock_ns();
  for (size_t at = 0; at < p->n; at += 256 << 10) {
    disks_start_write(d, &b, p->context, p->buf + at, 256 << 10, at);
  }
  ck_assert_int_eq(disk_batch_wait(&b), 0);
  p->end = clock_ns();
  p->served_ns = disks_served_ns() - served;
  return NULL;
}

/* Two move at once: one waits behind the other, which is not its own. */
START_TEST(the_disk_serves_one_after_the_other) {
  reopen(fault(_i, "rate=100"), 1, 0, 4, 2, 4 * MIB);
  char *const buf = aligned(5 * MIB);
  struct part large = {.context = 0, .n = 4 * MIB, .buf = buf};
  struct part small = {.context = 1, .n = MIB, .buf = buf + 4 * MIB};
  pthread_t thread;
  ck_assert_int_eq(pthread_create(&thread, NULL, move_part, &large), 0);
  move_part(&small);
  ck_assert_int_eq(pthread_join(thread, NULL), 0);
  free(buf);
  const uint64_t begin = large.begin < small.begin ? large.begin : small.begin;
  const uint64_t end = large.end > small.end ? large.end : small.end;
  const uint64_t all = 5 * MIB * 1000 / SLOW_MB; /* ns */
  ck_assert_uint_le(large.served_ns + small.served_ns, end - begin);
  ck_assert_uint_ge(large.served_ns + small.served_ns, all * 9 / 10);
  ck_assert_uint_gt(large.served_ns, small.served_ns);
}
END_TEST

START_TEST(what_one_carries_out_itself_is_served_too) {
  reopen(fault(_i, "rate=100"), 1, 0, 4, 1, MIB);
  char *const buf = aligned(MIB);
  const uint64_t served = disks_served_ns(), begin = clock_ns();
  ck_assert_int_eq(disks_write(d, 0, buf, MIB, 0), 0);
  const uint64_t took = disks_served_ns() - served;
  ck_assert_uint_ge(took, MIB * 1000 / SLOW_MB * 9 / 10);
  ck_assert_uint_le(took, clock_ns() - begin);
  free(buf);
}
END_TEST

/* --- threads and processes --- */

/* Threads of pems-disk in this process; *blocking: those that block all
   signals that can be blocked. */
static int disk_threads(int *blocking) {
  int n = 0;
  *blocking = 0;
  DIR *const tasks = opendir("/proc/self/task");
  for (const struct dirent *e; (e = readdir(tasks));) {
    char path[300], line[256];
    unsigned long long blocked = 0;
    bool ours = false;
    snprintf(path, sizeof(path), "/proc/self/task/%s/status", e->d_name);
    FILE *const f = fopen(path, "r");
    while (f && fgets(line, sizeof(line), f)) {
      ours |= strncmp(line, "Name:\tpems-disk", 15) == 0;
      sscanf(line, "SigBlk: %llx", &blocked);
    }
    if (f) {
      fclose(f);
    }
    const unsigned long long wanted = (1ull << 9) | (1ull << 14) | (1ull << 1);
    n += ours;
    *blocking += ours && (blocked & wanted) == wanted;
  }
  closedir(tasks);
  return n;
}

START_TEST(threads_block_signals_and_end) {
  int blocking;
  reopen(kinds[_i], 2, 0, 3, 4, BLOCK);
  const int own = !strcmp(kinds[_i], "aio") || !strcmp(kinds[_i], "uring");
  const int wanted = own ? 2 : strcmp(kinds[_i], "mem") ? 6 : 0;
  ck_assert_int_eq(disk_threads(&blocking), wanted);
  ck_assert_int_eq(blocking, wanted);
  disks_close(d);
  d = NULL;
  /* The system lists a thread for a moment after it was joined. */
  while (disk_threads(&blocking) > 0) {
    usleep(1000);
  }
}
END_TEST

START_TEST(a_forked_child_leaves_queues_alone) {
  reopen(kinds[_i], 2, 0, 4, 2, 4 * MIB);
  char *const buf = aligned(4 * MIB), *const back = aligned(4 * MIB);
  struct disk_batch b;
  memset(buf, 3, 4 * MIB);
  disk_batch_begin(&b);
  disks_start_write(d, &b, 0, buf, 4 * MIB, 0);
  const pid_t child = fork();
  if (child == 0) {
    struct disk_batch own;
    int blocking;
    disk_batch_begin(&own);
    disks_start_write(d, &own, 1, buf, 4 * MIB, 0);
    bool bad = own.pending != 0 || disk_batch_wait(&own) != 0;
    bad |= disks_read(d, 1, back, 4 * MIB, 0) != 0;
    bad |= memcmp(buf, back, 4 * MIB) != 0;
    bad |= disk_threads(&blocking) != 0;
    disks_close(d);
    _exit(bad);
  }
  int status;
  ck_assert_int_eq(waitpid(child, &status, 0), child);
  ck_assert_int_eq(status, 0);
  ck_assert_int_eq(disk_batch_wait(&b), 0);
  disks_start_read(d, &b, 0, back, 4 * MIB, 0);
  ck_assert_int_eq(disk_batch_wait(&b), 0);
  ck_assert_int_eq(memcmp(buf, back, 4 * MIB), 0);
  memset(back, 0, 4 * MIB);
  disks_start_read(d, &b, 1, back, 4 * MIB, 0);
  ck_assert_int_eq(disk_batch_wait(&b), 0);
  /* Of memory, each has its own. */
  ck_assert_int_eq(memcmp(buf, back, 4 * MIB) == 0, !!strcmp(kinds[_i], "mem"));
  free(buf);
  free(back);
}
END_TEST

/* --- lazy mappings --- */

START_TEST(lazy_mappings_show_what_was_written) {
  const size_t size = MIB;
  const uint64_t stripe = _i / KINDS ? 128 * 1024 : 0;
  const int kind = _i % KINDS;
  reopen(_i % 2 ? kinds[kind] : fault(kind, "delay=0"), 3, stripe, 4, 3, size);
  char *const range =
      mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (!strcmp(kinds[kind], "mem")) {
    ck_assert(!disks_lazy(d));
    ck_assert_int_eq(disks_map_lazy(d, 1, range, size, 0, 1), ENOTSUP);
    return;
  }
  ck_assert(disks_lazy(d));
  char *const buf = aligned(size), *const back = aligned(size);
  uint64_t seed = 99;
  for (size_t i = 0; i < size; i += 8) {
    *(uint64_t *)(void *)(buf + i) = rnd(&seed);
  }
  for (int round = 0; round < 2; round++) {
    buf[5] = (char)round;
    ck_assert_int_eq(disks_write(d, 1, buf, size, 0), 0);
    ck_assert_int_eq(disks_map_lazy(d, 1, range, size, 0, round), 0);
    ck_assert_int_eq(memcmp(range, buf, size), 0);
    /* What is stored there does not reach the disk. */
    memset(range, 1, size);
    ck_assert_int_eq(disks_read(d, 1, back, size, 0), 0);
    ck_assert_int_eq(memcmp(back, buf, size), 0);
    ck_assert_ptr_eq(mmap(range, size, PROT_NONE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
                     range);
    disks_forget(d, 1, size, 0);
  }
  ck_assert_int_eq(disks_map_lazy(d, 3, range, size, 0, 1), EINVAL);
  ck_assert_int_eq(disks_map_lazy(d, 1, range, size, BLOCK, 1), EINVAL);
  munmap(range, size);
  free(buf);
  free(back);
}
END_TEST

START_TEST(small_stripes_are_not_mapped) {
  reopen("unix", 2, 32 * 1024, 4, 3, MIB);
  char *const buf = aligned(BLOCK);
  ck_assert(!disks_lazy(d));
  ck_assert_int_eq(disks_map_lazy(d, 0, buf, BLOCK, 0, 0), ENOTSUP);
  free(buf);
}
END_TEST

/* --- a system that forbids --- */

/* From now on `call` fails with `error` in this process. */
static void forbid(int call, int error) {
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)call, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)error),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const struct sock_fprog program = {sizeof(filter) / sizeof(*filter), filter};
  ck_assert_int_eq(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
  ck_assert_int_eq(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

static const struct {
  const char *io;
  int call, error;
} forbidden[] = {
#ifdef HAVE_LIBAIO
    {"aio", SYS_io_setup, EPERM},
    {"aio", SYS_io_setup, ENOSYS},
    {"aio", SYS_io_setup, EAGAIN},
#endif
#ifdef HAVE_LIBURING
    {"uring", SYS_io_uring_setup, EPERM},
    {"uring", SYS_io_uring_setup, ENOSYS},
#endif
    {"", 0, 0},
};
enum { FORBIDDEN = sizeof(forbidden) / sizeof(*forbidden) - 1 };

START_TEST(forbidden_drivers_become_unix_with_one_warning) {
  int ends[2];
  char text[1024], want[512];
  forbid(forbidden[_i].call, forbidden[_i].error);
  ck_assert_int_eq(try_open(forbidden[_i].io, 2, 0, 4, 2, MIB, true), ENOSYS);
  snprintf(want, sizeof(want),
           "I/O driver: %s: this system does not offer it, or not to this "
           "process: use --pems-io=unix",
           forbidden[_i].io);
  ck_assert_str_eq(error.text, want);
  ck_assert_int_eq(pipe(ends), 0);
  const int stderr_was = dup(STDERR_FILENO);
  dup2(ends[1], STDERR_FILENO);
  const int first = try_open(forbidden[_i].io, 2, 0, 4, 2, MIB, false);
  const int second = try_open(forbidden[_i].io, 2, 0, 4, 2, MIB, false);
  dup2(stderr_was, STDERR_FILENO);
  close(stderr_was);
  close(ends[1]);
  const ssize_t n = read(ends[0], text, sizeof(text) - 1);
  close(ends[0]);
  ck_assert_int_eq(first, 0);
  ck_assert_int_eq(second, 0);
  ck_assert_int_gt(n, 0);
  text[n] = '\0';
  snprintf(
      want, sizeof(want),
      "pems: I/O driver: %s: this system does not offer it, or not to this "
      "process: unix is used instead\n",
      forbidden[_i].io);
  ck_assert_str_eq(text, want);
  char *const buf = aligned(MIB);
  ck_assert_int_eq(disks_write(d, 1, buf, MIB, 0), 0);
  free(buf);
}
END_TEST

int main(void) {
  Suite *const s = suite_create("batch");
  TCase *const t = tcase_create("batch");
  const bool few = getenv("PEMS_TEST_FEW") != NULL;
  tcase_set_timeout(t, 600);
  tcase_add_checked_fixture(t, make_dirs, remove_dirs);
  tcase_add_loop_test(t, batches_equal_the_model, 0,
                      few ? SHAPES : DRIVERS * SHAPES);
  tcase_add_loop_test(t, an_error_in_the_middle, 0, KINDS);
  tcase_add_loop_test(t, who_waits_helps, 0, KINDS);
  tcase_add_loop_test(t, a_disk_that_gets_full, 0, KINDS);
  tcase_add_loop_test(t, a_torn_write, 0, KINDS);
  tcase_add_loop_test(t, wrong_arguments_fail_their_batch_only, 0, KINDS);
  tcase_add_loop_test(t, tiny_and_huge, 0, KINDS);
  tcase_add_loop_test(t, depth_requests_are_under_way, 0, KINDS);
  tcase_add_loop_test(t, all_disks_work_at_once, 0, KINDS);
  tcase_add_loop_test(t, the_disk_serves_one_after_the_other, 0, KINDS);
  tcase_add_loop_test(t, what_one_carries_out_itself_is_served_too, 0, KINDS);
  tcase_add_loop_test(t, threads_block_signals_and_end, 0, KINDS);
  tcase_add_loop_test(t, a_forked_child_leaves_queues_alone, 0, KINDS);
  tcase_add_loop_test(t, lazy_mappings_show_what_was_written, 0, 2 * KINDS);
  tcase_add_test(t, small_stripes_are_not_mapped);
  tcase_add_loop_test(t, forbidden_drivers_become_unix_with_one_warning, 0,
                      FORBIDDEN);
  suite_add_tcase(s, t);
  return check_run(s);
}
