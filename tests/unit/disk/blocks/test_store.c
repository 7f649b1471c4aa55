/* The disks of the external-memory library, with all drivers. */
#define _GNU_SOURCE
#include <pems/disk.h>
#include <stdbool.h>

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "config.h"

#include "check_drivers.h"
#include "check_main.h"

#include "os/clock.h"

#define UNIT PEMS_DISK_UNIT
#define MIB ((size_t)1 << 20)

static char dir[64];
static struct pems_disks *d;
static struct pems_error error;

static void make_dir(void) {
  strcpy(dir, "/var/tmp/test_store-XXXXXX");
  ck_assert_ptr_nonnull(mkdtemp(dir));
}

/* Nothing has a name in it any more. */
static void remove_dir(void) {
  pems_disks_close(d);
  d = NULL;
  ck_assert_int_eq(rmdir(dir), 0);
}

static int try_open(const char *io, int count, int depth, int strict) {
  const char *path[] = {dir, dir, dir, dir, dir, dir, dir, dir};
  const struct pems_disks_options o = {
      .path = path, .count = count, .io = io, .depth = depth, .strict = strict};
  pems_disks_close(d);
  error = (struct pems_error){0};
  return pems_disks_open(&d, &o, &error);
}

static void reopen(const char *io, int count, int depth) {
  ck_assert_msg(try_open(io, count, depth, 1) == 0, "%s", error.text);
}

static const char *fault(const char *kind, const char *plan) {
  static char io[128];
  snprintf(io, sizeof(io), "fault:%s,%s", kind, plan);
  return io;
}

static void *aligned(size_t n) {
  void *p;
  ck_assert_int_eq(posix_memalign(&p, UNIT, n), 0);
  return memset(p, 0, n);
}

static uint64_t rnd(uint64_t *state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state;
}

static struct pems_block block_of(struct pems_dealer *dealer, size_t n) {
  struct pems_block b;
  ck_assert_msg(pems_block_new(d, dealer, n, &b, &error) == 0, "%s",
                error.text);
  return b;
}

static void start(struct pems_request *r) {
  pems_disks_start(d, &r, 1);
}

static int move(int write, struct pems_block block, void *buf, size_t n) {
  struct pems_request r = {.block = block, .buf = buf, .n = n, .write = write};
  start(&r);
  return pems_request_wait(d, &r);
}

/* --- random requests against a model --- */

enum { THREADS = 3, BLOCKS = 24, ROUNDS = 40, MOST_UNITS = 20 };

struct worker {
  uint64_t seed;
  const char *wrong;
};

struct piece {
  struct pems_block block;
  size_t n;
  unsigned char fill;
  int written;
};

static bool all_are(const unsigned char *p, size_t n, unsigned char fill) {
  return p[0] == fill && memcmp(p, p + 1, n - 1) == 0;
}

/* New blocks for some pieces, then a write or a read of each, all at once. */
static void one_round(struct worker *w, struct piece *piece,
                      struct pems_dealer *dealer, unsigned char *buf) {
  struct pems_request request[BLOCKS] = {0}, *list[BLOCKS];
  for (int i = 0; i < BLOCKS; i++) {
    struct piece *const p = &piece[i];
    unsigned char *const at = buf + (size_t)i * MOST_UNITS * UNIT;
    if (rnd(&w->seed) % 3 == 0 && p->n) {
      pems_block_free(d, p->block, p->n);
      *p = (struct piece){0};
    }
    if (!p->n) {
      p->n = UNIT * (1 + rnd(&w->seed) % MOST_UNITS);
      if (pems_block_new(d, dealer, p->n, &p->block, NULL)) {
        w->wrong = "no block";
      }
    }
    const bool write = !p->written || rnd(&w->seed) % 2;
    if (write) {
      p->fill = (unsigned char)rnd(&w->seed);
    }
    p->written = 1;
    memset(at, write ? p->fill : ~p->fill, p->n);
    request[i] = (struct pems_request){
        .block = p->block, .buf = at, .n = p->n, .write = write};
    list[i] = &request[i];
  }
  pems_disks_start(d, list, BLOCKS);
  for (int i = 0; i < BLOCKS; i++) {
    if (pems_request_wait(d, &request[i]) || !pems_request_test(&request[i])) {
      w->wrong = "failed";
    }
    if (!all_are(request[i].buf, piece[i].n, piece[i].fill)) {
      w->wrong = "wrong data";
    }
  }
}

static void *work(void *arg) {
  struct worker *const w = arg;
  struct piece piece[BLOCKS] = {0};
  struct pems_dealer dealer;
  pems_dealer_begin(&dealer, (enum pems_deal)(w->seed % 3), w->seed);
  void *buf;
  if (posix_memalign(&buf, UNIT, (size_t)BLOCKS * MOST_UNITS * UNIT)) {
    abort();
  }
  for (int i = 0; i < ROUNDS && !w->wrong; i++) {
    one_round(w, piece, &dealer, buf);
  }
  for (int i = 0; i < BLOCKS; i++) {
    if (piece[i].n) {
      pems_block_free(d, piece[i].block, piece[i].n);
    }
  }
  free(buf);
  return NULL;
}

START_TEST(requests_equal_the_model) {
  static const struct {
    int disks, depth;
  } shapes[] = {{1, 1}, {3, 4}, {2, 32}};
  const char *const kind = driver_names[_i % DRIVER_COUNT];
  const int shape = _i / DRIVER_COUNT;
  struct worker w[THREADS] = {0};
  pthread_t thread[THREADS];
  reopen(kind, shapes[shape].disks, shapes[shape].depth);
  ck_assert_str_eq(pems_disks_driver(d), kind);
  ck_assert_int_eq(pems_disks_count(d), shapes[shape].disks);
  ck_assert_str_eq(pems_disks_path(d, 0), dir);
  for (int i = 0; i < THREADS; i++) {
    w[i].seed = (uint64_t)(_i * THREADS + i + 1) * 0x9e3779b97f4a7c15u;
    ck_assert_int_eq(pthread_create(&thread[i], NULL, work, &w[i]), 0);
  }
  for (int i = 0; i < THREADS; i++) {
    pthread_join(thread[i], NULL);
    ck_assert_msg(!w[i].wrong, "%s: %s", kind, w[i].wrong);
  }
  struct pems_disk_counts c;
  pems_disks_counts(d, &c);
  ck_assert_uint_eq(c.reads + c.writes, THREADS * ROUNDS * BLOCKS);
  ck_assert_uint_gt(c.reads, 0);
  ck_assert_uint_gt(c.bytes_written, c.writes * UNIT);
}
END_TEST

/* --- blocks --- */

START_TEST(blocks_are_reused_and_do_not_overlap) {
  struct pems_dealer dealer;
  reopen("unix", 2, 0);
  pems_dealer_begin(&dealer, PEMS_DEAL_STRIPE, 0);
  const struct pems_block a = block_of(&dealer, MIB);
  const struct pems_block b = block_of(&dealer, MIB);
  const struct pems_block c = block_of(&dealer, MIB);
  ck_assert_int_eq(a.disk, 0);
  ck_assert_int_eq(b.disk, 1);
  ck_assert_int_eq(c.disk, 0);
  ck_assert_uint_eq(a.at, 0);
  ck_assert_uint_eq(c.at, MIB);
  pems_block_free(d, a, MIB);
  block_of(&dealer, UNIT); /* on disk 1 */
  const struct pems_block e = block_of(&dealer, MIB / 2);
  ck_assert_int_eq(e.disk, 0);
  ck_assert_uint_eq(e.at, 0);
}
END_TEST

START_TEST(bad_sizes_of_blocks) {
  static const size_t bad[] = {0, 1, UNIT - 1, UNIT + 1};
  struct pems_dealer dealer;
  struct pems_block b;
  reopen("unix", 1, 0);
  pems_dealer_begin(&dealer, PEMS_DEAL_CYCLIC, 0);
  for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
    ck_assert_int_eq(pems_block_new(d, &dealer, bad[i], &b, &error), EINVAL);
    ck_assert_int_eq(error.code, EINVAL);
    ck_assert_ptr_nonnull(strstr(error.text, "give a multiple of 4096"));
    ck_assert_int_eq(pems_block_new(d, &dealer, bad[i], &b, NULL), EINVAL);
  }
}
END_TEST

START_TEST(what_is_not_written_takes_no_space) {
  struct stat st;
  struct pems_dealer dealer;
  char path[96];
  snprintf(path, sizeof(path), "%s/disk", dir);
  const int fd = open(path, O_CREAT | O_RDWR, 0600);
  ck_assert_int_eq(ftruncate(fd, 3 * UNIT), 0);
  const char *const paths[] = {path};
  const struct pems_disks_options o = {.path = paths, .count = 1};
  ck_assert_int_eq(pems_disks_open(&d, &o, &error), 0);
  pems_dealer_begin(&dealer, PEMS_DEAL_CYCLIC, 0);
  for (int i = 0; i < 100; i++) {
    block_of(&dealer, MIB);
  }
  fstat(fd, &st);
  ck_assert_int_gt(st.st_size, (off_t)(100 * MIB));
  ck_assert_int_le(st.st_blocks, 64);
  /* It is ours alone, and in the end what it was. */
  struct pems_disks *other;
  ck_assert_int_eq(pems_disks_open(&other, &o, &error), EBUSY);
  ck_assert_ptr_nonnull(strstr(error.text, "is in use"));
  ck_assert_ptr_null(other);
  pems_disks_close(d);
  d = NULL;
  fstat(fd, &st);
  ck_assert_int_eq(st.st_size, 3 * UNIT);
  close(fd);
  unlink(path);
}
END_TEST

START_TEST(a_file_is_free_again_at_once) {
  char path[96];
  snprintf(path, sizeof(path), "%s/disk", dir);
  close(open(path, O_CREAT | O_RDWR, 0600));
  const char *const paths[] = {path};
  const struct pems_disks_options o = {
      .path = paths, .count = 1, .io = driver_names[_i], .strict = 1};
  char *const buf = aligned(UNIT);
  for (int i = 0; i < 10; i++) {
    ck_assert_msg(pems_disks_open(&d, &o, &error) == 0, "%s", error.text);
    ck_assert_int_eq(move(1, (struct pems_block){0, 0}, buf, UNIT), 0);
    pems_disks_close(d);
    d = NULL;
  }
  free(buf);
  unlink(path);
}
END_TEST

START_TEST(a_limit_of_files_is_the_disk) {
  struct pems_dealer dealer;
  struct pems_block b;
  const struct rlimit limit = {MIB + 100, MIB + 100};
  ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
  reopen("unix", 2, 0);
  pems_dealer_begin(&dealer, PEMS_DEAL_RANDOM, 3);
  int on[2] = {0};
  for (int i = 0; i < 8; i++) {
    on[block_of(&dealer, MIB / 4).disk]++;
  }
  /* What is full passes its blocks on. */
  ck_assert_int_eq(on[0], 4);
  ck_assert_int_eq(on[1], 4);
  ck_assert_int_eq(pems_block_new(d, &dealer, UNIT, &b, &error), ENOSPC);
  ck_assert_int_eq(error.code, ENOSPC);
  ck_assert_ptr_nonnull(strstr(error.text, dir));
  ck_assert_ptr_nonnull(strstr(error.text, "no room for a block of 4.0 KiB"));
  char *const buf = aligned(MIB / 4);
  b = (struct pems_block){.disk = 1, .at = 3 * MIB / 4};
  ck_assert_int_eq(move(1, b, buf, MIB / 4), 0);
  b.at += UNIT;
  ck_assert_int_eq(move(1, b, buf, MIB / 4), EINVAL);
  free(buf);
}
END_TEST

/* --- requests --- */

START_TEST(wrong_requests) {
  reopen(driver_names[_i], 2, 0);
  char *const buf = aligned(2 * UNIT);
  const struct pems_request bad[] = {
      {.block = {0, 1}, .buf = buf, .n = UNIT},
      {.block = {0, 0}, .buf = buf + 1, .n = UNIT},
      {.block = {0, 0}, .buf = buf, .n = UNIT - 1},
      {.block = {-1, 0}, .buf = buf, .n = UNIT},
      {.block = {2, 0}, .buf = buf, .n = UNIT},
      {.block = {0, (uint64_t)1 << 60}, .buf = buf, .n = UNIT},
      {.block = {0, UINT64_MAX - UNIT + 1}, .buf = buf, .n = UNIT},
  };
  for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
    /* What is right beside them is carried out. */
    struct pems_request right = {.buf = buf, .n = UNIT, .write = 1};
    struct pems_request wrong[2] = {bad[i], bad[i]};
    wrong[1].write = 1;
    struct pems_request *list[] = {&wrong[0], &right, &wrong[1]};
    pems_disks_start(d, list, 3);
    ck_assert_int_eq(pems_request_wait(d, &wrong[0]), EINVAL);
    ck_assert_int_eq(pems_request_wait(d, &wrong[1]), EINVAL);
    ck_assert_int_eq(pems_request_wait(d, &right), 0);
  }
  free(buf);
}
END_TEST

/* Each done request starts the next. */
struct chain {
  struct pems_request r;
  int left;
  _Atomic int deepest;
  sem_t end;
};

static _Thread_local int depth; /* calls inside calls */

static void go_on(struct pems_request *r) {
  struct chain *const c = r->arg;
  depth++;
  if (depth > c->deepest) {
    c->deepest = depth;
  }
  if (--c->left > 0 && r->error == 0) {
    r->block.at += UNIT;
    start(r);
  } else {
    sem_post(&c->end);
  }
  depth--;
}

START_TEST(callbacks_start_requests) {
  enum { N = 2000 };
  const char *const io =
      _i < DRIVER_COUNT ? driver_names[_i]
                        : fault(driver_names[_i - DRIVER_COUNT], "short=7");
  reopen(io, 1, 2);
  struct chain c = {.left = N};
  c.r = (struct pems_request){
      .buf = aligned(UNIT), .n = UNIT, .write = 1, .done = go_on, .arg = &c};
  sem_init(&c.end, 0, 0);
  start(&c.r);
  if (strcmp(io, "mem") == 0) {
    ck_assert_int_eq(c.left, 0);
  }
  sem_wait(&c.end);
  ck_assert_int_eq(c.left, 0);
  ck_assert_int_eq(c.r.error, 0);
  /* In memory, too, none was called by another. */
  ck_assert_int_eq(c.deepest, 1);
  sem_destroy(&c.end);
  free(c.r.buf);
}
END_TEST

/* Callbacks note the order in which requests are done. */
enum { NOTED = 16 };
static _Atomic int noted;
static long order[NOTED];

static void note(struct pems_request *r) {
  order[noted] = (long)(intptr_t)r->arg;
  noted++;
}

static void wait_for_notes(int n) {
  const uint64_t begin = clock_ns();
  while (noted < n) {
    ck_assert_uint_lt(clock_ns() - begin, 20000000000u);
    sched_yield();
  }
}

/* Behind a request that takes its time: reads 0, 1, 2 and writes 10, 11, 12,
   one after the other, in the order first come first served 0, 10, 1, .... */
static void mixed(enum pems_favour favour, const char *kind,
                  const long want[6]) {
  reopen(fault(kind, "delay=30000"), 1, 1);
  char *const buf = aligned(8 * UNIT);
  struct pems_request r[7] = {0}, *list[6];
  noted = 0;
  pems_disks_favour(d, favour);
  r[6] = (struct pems_request){.buf = buf, .n = UNIT};
  start(&r[6]);
  for (int i = 0; i < 6; i++) {
    r[i] = (struct pems_request){
        .block.at = (uint64_t)(20 - 2 * i) * UNIT,
        .buf = buf + (size_t)(i + 1) * UNIT,
        .n = UNIT,
        .write = i % 2,
        .done = note,
        .arg = (void *)(intptr_t)(i / 2 + i % 2 * 10),
    };
    list[i] = &r[i];
  }
  pems_disks_start(d, list, 6);
  ck_assert_int_eq(pems_request_wait(d, &r[6]), 0);
  wait_for_notes(6);
  for (int i = 0; i < 6; i++) {
    ck_assert_int_eq(order[i], want[i]);
  }
  free(buf);
}

START_TEST(one_direction_is_favoured) {
  mixed(PEMS_FAVOUR_NONE, driver_names[_i],
        (const long[]){0, 10, 1, 11, 2, 12});
  mixed(PEMS_FAVOUR_WRITES, driver_names[_i],
        (const long[]){10, 11, 12, 0, 1, 2});
  mixed(PEMS_FAVOUR_READS, driver_names[_i],
        (const long[]){0, 1, 2, 10, 11, 12});
}
END_TEST

/* Behind a request that takes its time: four neighbours, one that is not beside
   them in memory, one that is not on the disk. */
START_TEST(neighbours_are_merged) {
  reopen(fault(driver_names[_i], "delay=20000"), 1, 1);
  char *const buf = aligned(8 * UNIT), *const back = aligned(8 * UNIT);
  for (size_t i = 0; i < 8 * UNIT; i++) {
    buf[i] = (char)(i / UNIT + 1);
  }
  static const struct {
    int at, buf;
  } piece[] = {{4, 0}, {5, 1}, {6, 2}, {7, 3}, {8, 5}, {1, 6}};
  struct pems_request first = {.buf = buf, .n = UNIT, .write = 1};
  struct pems_request r[6] = {0}, *list[6];
  struct pems_disk_counts counts;
  for (int write = 1; write >= 0; write--) {
    start(&first);
    for (int i = 0; i < 6; i++) {
      r[i] = (struct pems_request){
          .block.at = (uint64_t)piece[i].at * UNIT,
          .buf = (write ? buf : back) + (size_t)piece[i].buf * UNIT,
          .n = UNIT,
          .write = write,
      };
      list[i] = &r[i];
    }
    pems_disks_start(d, list, 6);
    for (int i = 0; i < 6; i++) {
      ck_assert_int_eq(pems_request_wait(d, &r[i]), 0);
    }
    ck_assert_int_eq(pems_request_wait(d, &first), 0);
    pems_disks_counts(d, &counts);
    ck_assert_uint_eq(counts.merged, write ? 3 : 6);
  }
  for (int i = 0; i < 6; i++) {
    const size_t at = (size_t)piece[i].buf * UNIT;
    ck_assert_int_eq(memcmp(buf + at, back + at, UNIT), 0);
  }
  ck_assert_uint_eq(counts.writes, 8);
  ck_assert_uint_eq(counts.reads, 6);
  ck_assert_uint_eq(counts.bytes_written, 8 * UNIT);
  ck_assert_uint_eq(counts.bytes_read, 6 * UNIT);
  /* Seven transfers of 20 ms at least, all but the first waited for. */
  ck_assert_uint_ge(counts.read_wait_ns, 60000000);
  ck_assert_uint_ge(counts.write_wait_ns, 60000000);
  free(buf);
  free(back);
}
END_TEST

START_TEST(merging_ends_at_its_limit) {
  enum { N = 24 };
  reopen(fault("unix", "delay=20000"), 1, 1);
  char *const buf = aligned(N * MIB);
  struct pems_request first = {.buf = buf, .n = UNIT}, r[N] = {0}, *list[N];
  struct pems_disk_counts counts;
  start(&first);
  for (int i = 0; i < N; i++) {
    r[i] = (struct pems_request){.block.at = (uint64_t)i * MIB,
                                 .buf = buf + (size_t)i * MIB,
                                 .n = MIB,
                                 .write = 1};
    list[i] = &r[i];
  }
  pems_disks_start(d, list, N);
  for (int i = 0; i < N; i++) {
    ck_assert_int_eq(pems_request_wait(d, &r[i]), 0);
  }
  ck_assert_int_eq(pems_request_wait(d, &first), 0);
  pems_disks_counts(d, &counts);
  ck_assert_uint_eq(counts.merged, 3 * 7);
  free(buf);
}
END_TEST

/* --- cancelling --- */

/* Behind a request that takes its time there wait reads 0, 2, 4, 6 and writes
   1, 3, 5, 7, no two beside each other. */
enum { WAITING = 8 };

static void fill_requests(struct pems_request *r, char *buf) {
  for (int i = 0; i < WAITING; i++) {
    r[i] = (struct pems_request){.block.at = (uint64_t)(20 - 2 * i) * UNIT,
                                 .buf = buf + (size_t)i * UNIT,
                                 .n = UNIT,
                                 .write = i % 2};
  }
}

/* Those in `mask` are cancelled; what is left, and more, is done. True unless
   some of them had begun already. */
static bool cancel_some(const char *kind, unsigned mask) {
  struct pems_request first = {0}, more[2], r[WAITING], *list[WAITING];
  struct pems_disk_counts c;
  uint64_t done = 1 + 2;
  unsigned cancelled = 0;
  reopen(fault(kind, "delay=10000"), 1, 1);
  char *const buf = aligned(WAITING * UNIT), *const space = aligned(UNIT);
  first = (struct pems_request){.buf = space, .n = UNIT};
  start(&first);
  fill_requests(r, buf);
  for (int i = 0; i < WAITING; i++) {
    list[i] = &r[i];
  }
  pems_disks_start(d, list, WAITING);
  for (int i = WAITING; i-- > 0;) {
    if (mask & 1u << i && pems_request_cancel(d, &r[i])) {
      cancelled |= 1u << i;
      ck_assert_int_eq(pems_request_test(&r[i]), 1);
      ck_assert_int_eq(pems_request_wait(d, &r[i]), ECANCELED);
      ck_assert_int_eq(pems_request_cancel(d, &r[i]), 0);
    }
  }
  for (int i = 0; i < 2; i++) { /* the ends of the lanes are right */
    more[i] = (struct pems_request){.buf = space, .n = UNIT, .write = i};
    start(&more[i]);
  }
  for (int i = 0; i < WAITING; i++) {
    if (!(cancelled & 1u << i)) {
      ck_assert_int_eq(pems_request_wait(d, &r[i]), 0);
      done++;
    }
  }
  for (int i = 0; i < 2; i++) {
    ck_assert_int_eq(pems_request_wait(d, &more[i]), 0);
  }
  ck_assert_int_eq(pems_request_wait(d, &first), 0);
  ck_assert_int_eq(pems_request_cancel(d, &first), 0);
  pems_disks_counts(d, &c);
  ck_assert_uint_eq(c.reads + c.writes, done);
  free(buf);
  free(space);
  return cancelled == mask;
}

START_TEST(what_waits_can_be_cancelled) {
  static const unsigned masks[] = {0x00, 0x01, 0xc0, 0x3c, 0xfc, 0xff};
  for (size_t i = 0; i < sizeof(masks) / sizeof(*masks); i++) {
    int rounds = 0;
    while (!cancel_some(driver_names[_i], masks[i])) {
      ck_assert_int_lt(rounds++, 50);
    }
  }
}
END_TEST

START_TEST(what_has_begun_cannot_be_cancelled) {
  reopen(fault("unix", "delay=20000"), 1, 1);
  char *const buf = aligned(UNIT);
  struct pems_request r = {.buf = buf, .n = UNIT};
  int cancelled;
  do { /* until a thread was quicker */
    start(&r);
    sched_yield();
    cancelled = pems_request_cancel(d, &r);
    ck_assert_int_eq(pems_request_wait(d, &r), cancelled ? ECANCELED : 0);
  } while (cancelled);
  /* Wrong ones are done at once. */
  r.n = 1;
  start(&r);
  ck_assert_int_eq(pems_request_cancel(d, &r), 0);
  ck_assert_int_eq(pems_request_wait(d, &r), EINVAL);
  /* In memory nothing waits. */
  reopen("mem", 1, 1);
  r.n = UNIT;
  start(&r);
  ck_assert_int_eq(pems_request_cancel(d, &r), 0);
  ck_assert_int_eq(pems_request_wait(d, &r), 0);
  free(buf);
}
END_TEST

START_TEST(who_cancels_is_not_called) {
  reopen(fault("unix", "delay=200000"), 1, 1);
  char *const buf = aligned(2 * UNIT);
  struct pems_request first = {.buf = buf, .n = UNIT}, r[2];
  noted = 0;
  start(&first);
  for (int i = 0; i < 2; i++) {
    r[i] = (struct pems_request){.block.at = 8 * UNIT,
                                 .buf = buf + UNIT,
                                 .n = UNIT,
                                 .done = note,
                                 .arg = (void *)(intptr_t)i};
    start(&r[i]);
  }
  ck_assert_int_eq(pems_request_cancel(d, &r[0]), 1);
  ck_assert_int_eq(r[0].error, ECANCELED);
  wait_for_notes(1);
  ck_assert_int_eq(order[0], 1);
  ck_assert_int_eq(pems_request_wait(d, &first), 0);
  ck_assert_int_eq(noted, 1);
  free(buf);
}
END_TEST

/* One thread waits for what another cancels. */
static void *wait_for_it(void *arg) {
  return (void *)(intptr_t)pems_request_wait(d, arg);
}

START_TEST(who_waits_wakes_up) {
  reopen(fault("unix", "delay=100000"), 1, 1);
  char *const buf = aligned(2 * UNIT);
  struct pems_request first = {.buf = buf, .n = UNIT};
  struct pems_request r = {
      .block.at = 8 * UNIT, .buf = buf + UNIT, .n = UNIT, .write = 1};
  pthread_t thread;
  void *result;
  start(&first);
  start(&r);
  ck_assert_int_eq(pthread_create(&thread, NULL, wait_for_it, &r), 0);
  usleep(20000);
  const int cancelled = pems_request_cancel(d, &r);
  pthread_join(thread, &result);
  ck_assert_int_eq((int)(intptr_t)result, cancelled ? ECANCELED : 0);
  ck_assert_int_eq(pems_request_wait(d, &first), 0);
  free(buf);
}
END_TEST

/* --- failures --- */

START_TEST(the_nth_request_fails) {
  enum { N = 12 };
  const char *const kind = driver_names[_i % DRIVER_COUNT];
  const int nth = 1 + _i / DRIVER_COUNT * 5;
  char plan[64];
  snprintf(plan, sizeof(plan), "write=%d:ENOSPC,read=%d:EIO", nth, nth);
  reopen(fault(kind, plan), 2, 1);
  char *const buf = aligned(UNIT);
  struct pems_disk_counts counts;
  for (int write = 1; write >= 0; write--) {
    for (int i = 1; i <= N; i++) {
      const struct pems_block b = {.disk = i % 2, .at = (uint64_t)i * UNIT};
      ck_assert_int_eq(move(write, b, buf, UNIT), i != nth ? 0
                                                  : write  ? ENOSPC
                                                           : EIO);
    }
  }
  pems_disks_counts(d, &counts);
  ck_assert_uint_eq(counts.writes, N);
  ck_assert_uint_eq(counts.bytes_written, (N - 1) * UNIT);
  ck_assert_uint_eq(counts.bytes_read, (N - 1) * UNIT);
  free(buf);
}
END_TEST

enum { PER_DISK = 5 };

/* ms in which all disks have served the requests. */
static uint64_t serve(int disks, size_t n) {
  char *const buf = aligned(4 * PER_DISK * n);
  struct pems_request r[4 * PER_DISK] = {0}, *list[4 * PER_DISK];
  for (int i = 0; i < disks * PER_DISK; i++) {
    r[i] = (struct pems_request){
        .block = {i % disks, (uint64_t)i / (uint64_t)disks * 2 * n},
        .buf = buf + (size_t)i * n,
        .n = n};
    list[i] = &r[i];
  }
  const uint64_t begin = clock_ns();
  pems_disks_start(d, list, disks * PER_DISK);
  for (int i = 0; i < disks * PER_DISK; i++) {
    ck_assert_int_eq(pems_request_wait(d, &r[i]), 0);
  }
  free(buf);
  return (clock_ns() - begin) / 1000000;
}

/* A slow disk: 10 ms and 10 MB/s, one request at a time, but all disks at
   once: four that took turns would always need 409 ms. On a busy machine some
   of the tries may. */
START_TEST(slow_disks_serve_one_after_the_other) {
  enum { TRIES = 20, SOME_AT_ONCE = 300 };
  const size_t n = 25 * UNIT; /* 10.24 ms */
  const char *const io = fault(driver_names[_i], "seek=10000,rate=10");
  for (int disks = 1; disks <= 4; disks += 3) {
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < TRIES && least >= SOME_AT_ONCE; i++) {
      reopen(io, disks, 4);
      const uint64_t ms = serve(disks, n);
      ck_assert_uint_ge(ms, 101);
      least = ms < least ? ms : least;
    }
    ck_assert_uint_lt(least, SOME_AT_ONCE);
  }
}
END_TEST

static const struct {
  const char *io, *want;
} unknown[] = {
    {"floppy", "unknown I/O driver: floppy: known are unix,"},
    {"unix:fast", "I/O driver: unix:fast: give unix"},
    {"mmap:fast", "I/O driver: mmap:fast: give mmap:sequential|random"},
    {"fault:", "I/O driver: fault:: give fault:DRIVER["},
    {"fault", "I/O driver: fault: give fault:DRIVER["},
    {"fault:unix,x=1", "I/O driver: fault:unix,x=1: give fault:DRIVER["},
    {"fault:unix,rate=0", "I/O driver: fault:unix,rate=0: give fault:DRIVER["},
    {"fault:mem,x=1", "I/O driver: fault:mem,x=1: give fault:DRIVER["},
};
enum { UNKNOWN = sizeof(unknown) / sizeof(*unknown) };

START_TEST(unknown_drivers) {
  ck_assert_int_eq(try_open(unknown[_i].io, 2, 0, _i % 2), EINVAL);
  ck_assert_ptr_null(d);
  ck_assert_int_eq(error.code, EINVAL);
  ck_assert_msg(
      strncmp(error.text, unknown[_i].want, strlen(unknown[_i].want)) == 0,
      "%s", error.text);
}
END_TEST

START_TEST(wrong_counts) {
  const char *const path[] = {dir};
  struct pems_disks_options o = {.path = path, .count = 0};
  ck_assert_int_eq(pems_disks_open(&d, &o, &error), EINVAL);
  o.count = 1025;
  ck_assert_int_eq(pems_disks_open(&d, &o, &error), EINVAL);
  o = (struct pems_disks_options){.count = 1};
  ck_assert_int_eq(pems_disks_open(&d, &o, NULL), EINVAL);
  ck_assert_ptr_null(d);
  pems_disks_close(NULL);
}
END_TEST

START_TEST(by_default_there_is_one) {
  ck_assert_int_eq(setenv("TMPDIR", dir, 1), 0);
  ck_assert_int_eq(pems_disks_open(&d, NULL, &error), 0);
  ck_assert_int_eq(pems_disks_count(d), 1);
  ck_assert_str_eq(pems_disks_path(d, 0), dir);
  ck_assert_str_eq(pems_disks_driver(d), "unix");
}
END_TEST

static void expect_path_error(const char *path, int code, const char *what) {
  const char *const paths[] = {dir, path};
  const struct pems_disks_options o = {.path = paths, .count = 2};
  char want[256];
  ck_assert_int_eq(pems_disks_open(&d, &o, &error), code);
  ck_assert_ptr_null(d);
  ck_assert_int_eq(error.code, code);
  snprintf(want, sizeof(want), "scratch disk: %s: %s", path, what);
  ck_assert_msg(strncmp(error.text, want, strlen(want)) == 0, "%s", error.text);
}

START_TEST(paths_that_cannot_be_used) {
  char path[96];
  snprintf(path, sizeof(path), "%s/missing", dir);
  expect_path_error(path, ENOENT,
                    "No such file or directory: create it or name another "
                    "directory or file");
  expect_path_error("/dev/null", EINVAL, "is neither a directory, a file");
  ck_assert_int_eq(mkfifo(path, 0600), 0);
  expect_path_error(path, EINVAL, "is neither a directory, a file");
  unlink(path);
  /* Root may do anything. */
  ck_assert_int_eq(mkdir(path, 0500), 0);
  const int root = geteuid() == 0;
  if (root) {
    ck_assert(chmod(dir, 0777) == 0 && seteuid(65534) == 0);
  }
  expect_path_error(path, EACCES, "Permission denied");
  if (root) {
    ck_assert_int_eq(seteuid(0), 0);
  }
  rmdir(path);
}
END_TEST

/* From now on `call` fails with `code` in this process. */
static void forbid(int call, int code) {
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)call, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)code),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const struct sock_fprog program = {sizeof(filter) / sizeof(*filter), filter};
  ck_assert_int_eq(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
  ck_assert_int_eq(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

static const struct {
  const char *io;
  int call;
} forbidden[] = {
#ifdef HAVE_LIBAIO
    {"aio", SYS_io_setup},
#endif
#ifdef HAVE_LIBURING
    {"uring", SYS_io_uring_setup},
#endif
    {"", 0},
};
enum { FORBIDDEN = sizeof(forbidden) / sizeof(*forbidden) - 1 };

START_TEST(drivers_that_are_not_offered) {
  const char *const io = forbidden[_i].io;
  char want[256], text[512];
  int ends[2];
  forbid(forbidden[_i].call, EPERM);
  ck_assert_int_eq(try_open(io, 2, 0, 1), ENOSYS);
  ck_assert_ptr_null(d);
  snprintf(want, sizeof(want),
           "I/O driver: %s: this system does not offer it, or not to this "
           "process: use unix",
           io);
  ck_assert_str_eq(error.text, want);
  ck_assert_int_eq(pipe(ends), 0);
  const int stderr_was = dup(STDERR_FILENO);
  dup2(ends[1], STDERR_FILENO);
  const int code = try_open(io, 2, 0, 0);
  dup2(stderr_was, STDERR_FILENO);
  close(stderr_was);
  close(ends[1]);
  const ssize_t n = read(ends[0], text, sizeof(text) - 1);
  close(ends[0]);
  ck_assert_int_eq(code, 0);
  ck_assert_int_gt(n, 0);
  text[n] = 0;
  ck_assert_ptr_nonnull(strstr(text, "unix is used instead\n"));
  ck_assert_str_eq(pems_disks_driver(d), "unix");
  char *const buf = aligned(UNIT);
  ck_assert_int_eq(move(1, (struct pems_block){1, 0}, buf, UNIT), 0);
  free(buf);
}
END_TEST

/* A file system of `mib` at dir, for this process only; 0 if that cannot be. */
static bool mount_small(int mib) {
  char option[32];
  snprintf(option, sizeof(option), "size=%dm", mib);
  if (unshare(CLONE_NEWNS) == 0 &&
      mount("none", "/", "none", MS_REC | MS_PRIVATE, "") == 0 &&
      mount("tmpfs", dir, "tmpfs", 0, option) == 0) {
    return true;
  }
  puts("skipped: a full disk: cannot mount");
  return false;
}

START_TEST(full_disks) {
  struct pems_dealer dealer;
  struct pems_block b;
  if (!mount_small(4)) {
    return;
  }
  reopen(driver_names[_i], 2, 0);
  char *const buf = aligned(MIB);
  pems_dealer_begin(&dealer, PEMS_DEAL_STRIPE, 0);
  if (strcmp(driver_names[_i], "mem") != 0) {
    /* Each disk thinks that all the space is its own. */
    int failed = 0;
    for (int i = 0; i < 8; i++) {
      b = block_of(&dealer, MIB);
      const int code = move(1, b, buf, MIB);
      ck_assert(code == 0 || code == ENOSPC);
      failed += code == ENOSPC;
    }
    ck_assert_int_eq(failed, 4);
    ck_assert_int_eq(pems_block_new(d, &dealer, MIB, &b, &error), ENOSPC);
    ck_assert_ptr_nonnull(strstr(error.text, "and all others"));
  }
  pems_disks_close(d);
  d = NULL;
  free(buf);
  ck_assert_int_eq(umount2(dir, MNT_DETACH), 0);
}
END_TEST

/* --- forks --- */

START_TEST(a_forked_child_moves_by_itself) {
  reopen(driver_names[_i], 2, 0);
  char *const buf = aligned(MIB);
  const struct pems_block b = {1, 0};
  memset(buf, 3, MIB);
  ck_assert_int_eq(move(1, b, buf, MIB), 0);
  const pid_t child = fork();
  if (child == 0) {
    memset(buf, 0, MIB);
    bool bad = move(0, b, buf, MIB) != 0;
    bad |= !all_are((unsigned char *)buf, MIB, 3);
    _exit(bad);
  }
  int status;
  ck_assert_int_eq(waitpid(child, &status, 0), child);
  ck_assert_int_eq(status, 0);
  ck_assert_int_eq(move(0, b, buf, MIB), 0);
  free(buf);
}
END_TEST

int main(void) {
  Suite *const s = suite_create("store");
  TCase *const t = tcase_create("store");
  tcase_set_timeout(t, 60);
  tcase_add_checked_fixture(t, make_dir, remove_dir);
  tcase_add_loop_test(t, requests_equal_the_model, 0, 3 * DRIVER_COUNT);
  tcase_add_test(t, blocks_are_reused_and_do_not_overlap);
  tcase_add_test(t, bad_sizes_of_blocks);
  tcase_add_test(t, what_is_not_written_takes_no_space);
  tcase_add_loop_test(t, a_file_is_free_again_at_once, 0, DRIVER_COUNT);
  tcase_add_test(t, a_limit_of_files_is_the_disk);
  tcase_add_loop_test(t, wrong_requests, 0, DRIVER_COUNT);
  tcase_add_loop_test(t, callbacks_start_requests, 0, 2 * DRIVER_COUNT);
  tcase_add_loop_test(t, one_direction_is_favoured, 0, DRIVER_COUNT);
  tcase_add_loop_test(t, neighbours_are_merged, 0, DRIVER_COUNT);
  tcase_add_test(t, merging_ends_at_its_limit);
  tcase_add_loop_test(t, what_waits_can_be_cancelled, 0, DRIVER_COUNT);
  tcase_add_test(t, what_has_begun_cannot_be_cancelled);
  tcase_add_test(t, who_cancels_is_not_called);
  tcase_add_test(t, who_waits_wakes_up);
  tcase_add_loop_test(t, the_nth_request_fails, 0, 3 * DRIVER_COUNT);
  tcase_add_loop_test(t, slow_disks_serve_one_after_the_other, 0, DRIVER_COUNT);
  tcase_add_loop_test(t, unknown_drivers, 0, UNKNOWN);
  tcase_add_test(t, wrong_counts);
  tcase_add_test(t, by_default_there_is_one);
  tcase_add_test(t, paths_that_cannot_be_used);
  tcase_add_loop_test(t, drivers_that_are_not_offered, 0, FORBIDDEN);
  tcase_add_loop_test(t, full_disks, 0, DRIVER_COUNT);
  tcase_add_loop_test(t, a_forked_child_moves_by_itself, 0, DRIVER_COUNT);
  suite_add_tcase(s, t);
  return check_run(s);
}
