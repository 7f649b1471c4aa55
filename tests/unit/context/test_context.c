/* Contexts without a program: their images are filled by hand. */
#define _GNU_SOURCE
#include "config.h"

#include "context/context.h"

#include "os/pages.h"

#include "disk/contexts/disk.h"

#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/counters.h"
#include "check_child.h"
#include "check_main.h"
#include "context/calls/allocate.h"
#include "context/calls/create.h"
#include "context/delivery/access.h"
#include "context/delivery/bounce.h"
#include "context/delivery/expect.h"
#include "context/residency/residency.h"
#include "context/residency/track.h"

#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)

enum { MOST = 16, DATA = 5 * PAGE, FIRST_RANK = 40 };

static char dir[64];
static struct disks *disks;
static char *data[MOST]; /* of the images */
static int count;        /* contexts */
static struct pems_error error;
static enum option_track track;

static unsigned long state;

static unsigned below_from(unsigned long *s, size_t n) {
  *s = *s * 6364136223846793005u + 1442695040888963407u;
  return (unsigned)(*s >> 33) % (unsigned)n;
}

static unsigned below(size_t n) {
  return below_from(&state, n);
}

/* What a byte of a pattern is. */
static char byte(unsigned seed, size_t i) {
  return (char)(seed * 131 + i * 7 + i / 251);
}

static void fill(char *p, size_t n, unsigned seed) {
  for (size_t i = 0; i < n; i++) {
    p[i] = byte(seed, i);
  }
}

static bool filled(const char *p, size_t n, unsigned seed) {
  for (size_t i = 0; i < n; i++) {
    if (p[i] != byte(seed, i)) {
      return false;
    }
  }
  return true;
}

static void before(void) {
  strcpy(dir, "/var/tmp/test_context-XXXXXX");
  ck_assert_ptr_nonnull(mkdtemp(dir));
  state = 1;
  count = 0;
  track = TRACK_OFF;
}

static void after(void) {
  contexts_destroy();
  disks_close(disks);
  disks = NULL;
  for (int i = 0; i < count; i++) {
    munmap(data[i], DATA);
  }
  ck_assert_int_eq(rmdir(dir), 0);
}

static void adopt(int i) {
  data[i] = mmap(NULL, DATA, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ck_assert_ptr_ne(data[i], MAP_FAILED);
  count = i + 1;
  fill(data[i], DATA, (unsigned)i);
  const struct image image = {.data = data[i], .data_len = DATA};
  const int result =
      context_adopt(context_get(i), &image, FIRST_RANK + i, &error);
  ck_assert_msg(result == 0, "%s", error.text);
}

static int create(int n, size_t mu, uint64_t resident, struct disks *on,
                  size_t bounce_count, size_t bounce_bytes, size_t boundary) {
  const struct contexts_options o = {.n = n,
                                     .mu = mu,
                                     .resident = resident,
                                     .disks = on,
                                     .bounce_count = bounce_count,
                                     .bounce_bytes = bounce_bytes,
                                     .boundary_bytes = boundary,
                                     .swapin = SWAPIN_EAGER,
                                     .track = track};
  return contexts_create(&o, &error);
}

/* n contexts of mu bytes with `resident` bytes of memory. */
static void make(const char *io, int n, size_t mu, size_t resident,
                 size_t boundary) {
  if (io) {
    ck_assert_msg(
        disks_open(&disks,
                   &(struct disks_options){.dirs = dir, .io = io, .reserve = 1},
                   n, mu, &error) == 0,
        "%s", error.text);
  }
  ck_assert_msg(create(n, mu, resident, disks, 2, 2 * 64 * KIB, boundary) == 0,
                "%s", error.text);
  for (int i = 0; i < n; i++) {
    adopt(i);
  }
}

/* Room for `fit` of n contexts once each has taken its block. */
static char *block[MOST];

static void make_full(const char *io, int n, int fit, size_t mu,
                      size_t boundary) {
  make(io, n, mu, (size_t)fit * mu, boundary);
  for (int i = 0; i < n; i++) {
    struct context *const c = context_get(i);
    context_acquire(c);
    block[i] = context_alloc(c, mu - 128 * KIB, 16);
    ck_assert_ptr_nonnull(block[i]);
    context_release(c);
  }
}

static void visit(int i) {
  context_acquire(context_get(i));
  context_release(context_get(i));
}

/* '-': out, or it is still being written, which is waited for. */
static void expect_states(const char *in) {
  for (int i = 0; in[i]; i++) {
    struct context *const c = context_get(i);
    context_pin(c);
    ck_assert_msg(c->state == (in[i] == '-' ? CONTEXT_OUT : CONTEXT_IN),
                  "context %d is not as in %s", i, in);
    context_unpin(c);
  }
}

/* Makes 0 go to disk in a job of two contexts of which one fits. */
static void evict_first(void) {
  visit(1);
  expect_states("-I");
}

/* --- addresses --- */

START_TEST(addresses_tell_their_context) {
  int local;
  ck_assert_ptr_null(context_of(NULL));
  ck_assert_ptr_null(context_of(&local));
  make("mem", 3, 3 * MIB, 100 * MIB, MIB);
  for (int i = 0; i < 3; i++) {
    struct context *const c = context_get(i);
    ck_assert_int_eq(c->index, i);
    ck_assert_int_eq(c->rank, FIRST_RANK + i);
    ck_assert_uint_eq((uintptr_t)c->range % (2 * MIB), 0);
    ck_assert_uint_ge(c->range_len, 3 * MIB);
    ck_assert_ptr_eq(context_of(c->range), c);
    ck_assert_ptr_eq(context_of(c->range + c->range_len - 1), c);
    ck_assert(context_owns(c, c->range));
    ck_assert(context_owns(c, c->range + c->range_len - 1));
    ck_assert(context_owns(c, data[i]));
    ck_assert(context_owns(c, data[i] + DATA - 1));
    ck_assert(!context_owns(c, c->range - 1));
    ck_assert(!context_owns(c, c->range + c->range_len));
    ck_assert(!context_owns(c, &local));
    ck_assert(!context_owns(c, context_get((i + 1) % 3)->range));
    ck_assert(!context_owns(c, NULL));
  }
  ck_assert_ptr_null(context_of(&local));
  ck_assert_ptr_null(context_of(NULL));
  ck_assert_ptr_null(context_of(context_get(0)->range - 1));
  ck_assert_ptr_null(context_of((char *)UINTPTR_MAX));
}
END_TEST

START_TEST(too_many_addresses_are_refused) {
  ck_assert_int_eq(create(1000, (size_t)1 << 40, MIB, NULL, 1, MIB, MIB),
                   ENOMEM);
  ck_assert_msg(
      strncmp(error.text, "address space: ", 15) == 0 &&
          strstr(error.text, " for 1000 contexts: ") &&
          strstr(error.text, ": give smaller contexts with --pems-context"),
      "%s", error.text);
  /* What is freed on the way out lies in none. */
  ck_assert_ptr_null(context_of(&error));
}
END_TEST

START_TEST(a_program_with_too_much_data_is_refused) {
  ck_assert_int_eq(create(1, 256 * KIB, MIB, NULL, 1, MIB, MIB), 0);
  const struct image image = {.data_len = 200 * KIB};
  ck_assert_int_eq(context_adopt(context_get(0), &image, 0, &error), EINVAL);
  ck_assert_str_eq(error.text,
                   "context size: 262144 bytes: the program's own data "
                   "takes 204800: give more --pems-context or "
                   "--pems-memory");
}
END_TEST

/* --- residency --- */

START_TEST(all_stay_when_all_fit) {
  make_full("mem", 4, 4, MIB, MIB);
  for (int round = 0; round < 3; round++) {
    for (int i = 0; i < 4; i++) {
      visit(i);
    }
  }
  expect_states("IIII");
  ck_assert_uint_eq(counter_get(reads) + counter_get(writes), 0);
}
END_TEST

START_TEST(without_disks_the_budget_is_no_limit) {
  make_full(NULL, 4, 1, MIB, MIB);
  for (int i = 0; i < 4; i++) {
    visit(i);
  }
  expect_states("IIII");
  context_expect(context_get(0), block[0], 100 * KIB);
  ck_assert_uint_eq(context_get(0)->incoming.n, 0);
}
END_TEST

START_TEST(the_least_recently_released_goes_first) {
  make_full("mem", 5, 3, MIB, MIB);
  expect_states("--III");
  context_acquire(context_get(3));
  context_acquire(context_get(2));
  context_release(context_get(2));
  visit(4);
  context_release(context_get(3)); /* acquired first, released last */
  visit(0);
  expect_states("I--II");
  visit(1);
  expect_states("II-I-");
  visit(0); /* resident: nobody goes */
  expect_states("II-I-");
  visit(2);
  expect_states("III--");
}
END_TEST

START_TEST(the_wanted_go_last) {
  make_full("mem", 4, 3, MIB, MIB);
  expect_states("-III");
  ck_assert(context_want(context_get(1), 1));
  ck_assert(context_want(context_get(2), 2));
  visit(0);
  expect_states("III-");
  /* Only the wanted are left besides 0; now 0 goes although used last. */
  visit(3);
  expect_states("-III");
  ck_assert(context_want(context_get(3), 3));
  visit(0); /* all are wanted: the last in turn goes */
  expect_states("III-");
  /* An acquire takes the wish back. */
  ck_assert(context_try_acquire(context_get(2)));
  ck_assert(!context_get(2)->use.wanted);
  context_release(context_get(2));
}
END_TEST

static sem_t arrived;
static int arrivals[8], n_arrivals;

static void note_arrival(struct context *const *c, int n) {
  for (int i = 0; i < n; i++) {
    arrivals[n_arrivals++] = c[i]->index;
    sem_post(&arrived);
  }
}

START_TEST(the_wanted_come_in_turn) {
  make_full("mem", 6, 3, MIB, MIB);
  expect_states("---III");
  sem_init(&arrived, 0, 0);
  contexts_on_arrival(note_arrival);
  n_arrivals = 0;
  ck_assert(!context_try_acquire(context_get(0)));
  /* No more than two are read ahead of who takes them. */
  for (int i = 0; i < 3; i++) {
    ck_assert(!context_want(context_get(i), (uint64_t)(10 - i)));
  }
  sem_wait(&arrived);
  sem_wait(&arrived);
  usleep(20000);
  ck_assert_int_eq(n_arrivals, 2);
  const int first = arrivals[0], third = 3 - arrivals[0] - arrivals[1];
  ck_assert_int_eq(context_get(third)->state, CONTEXT_OUT);
  ck_assert(context_try_acquire(context_get(first)));
  sem_wait(&arrived);
  ck_assert_int_eq(arrivals[2], third);
  ck_assert_int_eq(context_get(third)->state, CONTEXT_IN);
  context_release(context_get(first));
  contexts_on_arrival(NULL);
  sem_destroy(&arrived);
}
END_TEST

START_TEST(the_held_and_the_pinned_stay) {
  make_full("mem", 4, 3, MIB, MIB);
  expect_states("-III");
  context_acquire(context_get(1));
  context_pin(context_get(2));
  visit(0);
  expect_states("III-");
  context_pin(context_get(2)); /* twice */
  context_unpin(context_get(2));
  visit(3);
  expect_states("-III");
  context_unpin(context_get(2));
  context_release(context_get(1));
  visit(0);
  expect_states("II-I");
}
END_TEST

static atomic_bool came;

static void *acquire_first(void *arg) {
  (void)arg;
  context_acquire(context_get(0));
  came = true;
  context_release(context_get(0));
  return NULL;
}

START_TEST(a_pinned_one_on_disk_comes_after_the_unpin) {
  pthread_t thread;
  make_full("mem", 2, 1, MIB, MIB);
  expect_states("-I");
  context_pin(context_get(0));
  pthread_create(&thread, NULL, acquire_first, NULL);
  usleep(50000);
  ck_assert(!came);
  ck_assert_int_eq(context_get(0)->state, CONTEXT_OUT);
  context_unpin(context_get(0));
  pthread_join(thread, NULL);
  expect_states("I-");
}
END_TEST

START_TEST(whoever_finds_no_room_waits) {
  pthread_t thread;
  make_full("mem", 2, 1, MIB, MIB);
  context_acquire(context_get(1));
  pthread_create(&thread, NULL, acquire_first, NULL);
  usleep(50000);
  ck_assert(!came);
  expect_states("-I");
  context_release(context_get(1));
  pthread_join(thread, NULL);
  expect_states("I-");
}
END_TEST

START_TEST(what_a_context_counts) {
  const size_t mu = 16 * MIB;
  make("mem", 2, mu, 2 * mu, MIB);
  struct context *const c = context_get(0);
  const uint64_t two = 2 * DATA;
  ck_assert_uint_eq(contexts_resident_bytes(), two);
  context_acquire(c);
  ck_assert_ptr_nonnull(context_alloc(c, 100, 16));
  ck_assert_uint_eq(contexts_resident_bytes(), two + 64 * KIB);
  ck_assert_ptr_nonnull(context_alloc(c, 100, 16));
  ck_assert_uint_eq(contexts_resident_bytes(), two + 64 * KIB);
  /* Small parts at first, huge pages later. */
  ck_assert_ptr_nonnull(context_alloc(c, 512 * KIB, 16));
  const uint64_t now = contexts_resident_bytes();
  ck_assert_uint_ge(now, two + 512 * KIB);
  ck_assert_uint_le(now, two + 704 * KIB);
  ck_assert_ptr_nonnull(context_alloc(c, 3 * MIB, 16));
  ck_assert_uint_eq(contexts_resident_bytes(), two + 4 * MIB);
  /* Never more than mu. */
  ck_assert_ptr_nonnull(context_alloc(c, 11 * MIB, 16));
  ck_assert_uint_le(contexts_resident_bytes(), mu + DATA);
  ck_assert_uint_ge(contexts_resident_bytes(), 14 * MIB);
  ck_assert_ptr_null(context_alloc(c, 3 * MIB, 16));
  context_release(c);
}
END_TEST

START_TEST(growth_evicts_others) {
  make_full("mem", 3, 2, MIB, MIB);
  struct context *const c = context_get(0);
  context_acquire(c);
  expect_states("I-I");
  context_free(c, block[0]);
  context_release(c);
  visit(1);
  visit(2);
  expect_states("-II");
  context_acquire(c); /* is small now: room for all */
  expect_states("III");
  const uint64_t small = contexts_resident_bytes();
  ck_assert_ptr_nonnull(context_alloc(c, 700 * KIB, 16));
  expect_states("I-I");
  ck_assert_uint_lt(contexts_resident_bytes(), small);
  ck_assert_uint_le(contexts_resident_bytes(), 2 * MIB);
  context_release(c);
}
END_TEST

/* Contexts that a mover writes are out afterwards. */
static void await_movers(int n) {
  for (int i = 0; i < n; i++) {
    context_pin(context_get(i));
    context_unpin(context_get(i));
  }
}

START_TEST(tests_may_evict_always) {
  setenv(CONTEXT_EVICT_ALWAYS, "1", 1);
  make_full("mem", 2, 2, MIB, MIB);
  unsetenv(CONTEXT_EVICT_ALWAYS);
  await_movers(2);
  expect_states("--");
  context_acquire(context_get(0));
  expect_states("I-");
  context_pin(context_get(0));
  context_release(context_get(0));
  expect_states("I-");
  context_unpin(context_get(0));
  visit(0);
  await_movers(2);
  expect_states("--");
  ck_assert_uint_eq(contexts_resident_bytes(), 0);
}
END_TEST

/* --- contents --- */

static const char *const io_names[] = {"mem", "unix"};

START_TEST(contents_survive_the_disk) {
  const size_t mu = 5 * MIB, n = mu - 128 * KIB;
  make_full(io_names[_i], 3, 1, mu, MIB);
  for (int round = 0; round < 3; round++) {
    for (int i = 0; i < 3; i++) {
      context_acquire(context_get(i));
      if (round > 0) {
        const unsigned last = (unsigned)(3 * round + i);
        ck_assert(filled(block[i], n, last));
        ck_assert(filled(data[i], DATA, last));
      } else {
        ck_assert(filled(data[i], DATA, (unsigned)i));
      }
      fill(block[i], n, (unsigned)(3 * (round + 1) + i));
      fill(data[i], DATA, (unsigned)(3 * (round + 1) + i));
      context_release(context_get(i));
    }
  }
  ck_assert_uint_ge(counter_get(swap_in), 6 * (n + DATA));
  ck_assert_uint_ge(counter_get(swap_out), 8 * (n + DATA));
  ck_assert_uint_ge(counter_get(swaps_in), 6);
  ck_assert_uint_ge(counter_get(swaps_out), 8);
}
END_TEST

/* The signal that ends a child which runs f, or 0; what it says in `said`. */
static char said[1000];
static int exit_status;

static void (*to_run)(void);

static void run_without_handlers(void) {
  signal(SIGSEGV, SIG_DFL);
  signal(SIGBUS, SIG_DFL);
  to_run();
}

static int child(void (*f)(void)) {
  to_run = f;
  const int status = check_child(run_without_handlers, said, sizeof(said));
  exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void read_block(void) {
  _exit(*(volatile char *)block[0] & 0);
}

static void write_block(void) {
  *(volatile char *)block[0] = 1;
}

static void read_data(void) {
  _exit(*(volatile char *)data[0] & 0);
}

START_TEST(a_context_on_disk_is_out_of_reach) {
  make_full("mem", 2, 1, MIB, MIB);
  visit(0);
  ck_assert_int_eq(child(read_block), 0);
  ck_assert_int_eq(child(write_block), 0);
  evict_first();
  ck_assert_int_eq(child(read_block), SIGSEGV);
  ck_assert_int_eq(child(write_block), SIGSEGV);
  ck_assert_int_eq(child(read_data), SIGSEGV);
  visit(0);
  ck_assert_int_eq(child(read_block), 0);
}
END_TEST

START_TEST(pages_that_were_never_written_stay_out) {
  const size_t mu = 24 * MIB;
  make_full("mem", 2, 1, mu, MIB);
  struct context *const c = context_get(0);
  context_acquire(c);
  char *const p = block[0] + 11 * MIB;
  fill(p, 5000, 1);
  context_release(c);
  const uint64_t out = counter_get(swap_out);
  evict_first();
  /* A huge page or two, a gap closed here and there, and the image. */
  const uint64_t n = counter_get(swap_out) - out;
  ck_assert_uint_ge(n, DATA + 5000);
  ck_assert_uint_le(n, 7 * MIB);
  const uint64_t in = counter_get(swap_in);
  visit(0);
  ck_assert_uint_eq(counter_get(swap_in) - in, n);
  ck_assert(filled(p, 5000, 1));
  ck_assert_int_eq(block[0][5 * MIB], 0);
  ck_assert_int_eq(block[0][20 * MIB], 0);
}
END_TEST

/* --- watching by protection --- */

static void fill_all(size_t n) {
  for (int i = 0; i < count; i++) {
    context_acquire(context_get(i));
    fill(block[i], n, (unsigned)i);
    context_release(context_get(i));
  }
}

START_TEST(watched_pages_move_to_others) {
  const size_t n = 8 * MIB - 128 * KIB;
  track = TRACK_FAULT;
  make_full("unix", 3, 1, 8 * MIB, MIB);
  fill_all(n);
  for (int round = 0; round < 2; round++) {
    for (int i = 0; i < 3; i++) {
      context_acquire(context_get(i));
      ck_assert(filled(block[i], n, (unsigned)i));
      context_release(context_get(i));
    }
  }
}
END_TEST

static void on_fault(int number, siginfo_t *info, void *context) {
  (void)number, (void)context;
  if (!track_fault(info->si_addr)) {
    _exit(3);
  }
}

static void notice_faults(void) {
  const struct sigaction action = {.sa_sigaction = on_fault,
                                   .sa_flags = SA_SIGINFO};
  ck_assert_int_eq(sigaction(SIGSEGV, &action, NULL), 0);
}

static pthread_barrier_t together;

static void *write_units(void *arg) {
  for (size_t at = 0; at < 24 * MIB; at += 2 * MIB) {
    pthread_barrier_wait(&together);
    ((volatile char *)arg)[at]++;
  }
  return NULL;
}

START_TEST(threads_may_open_one_unit_together) {
  enum { THREADS = 4, ROUNDS = 40 };
  pthread_t thread[THREADS];
  track = TRACK_FAULT;
  notice_faults();
  make_full("unix", 2, 1, 32 * MIB, MIB);
  fill_all(32 * MIB - 128 * KIB);
  pthread_barrier_init(&together, NULL, THREADS);
  for (int round = 0; round < ROUNDS; round++) {
    const int i = round % 2;
    context_acquire(context_get(i));
    for (int j = 0; j < THREADS; j++) {
      ck_assert_int_eq(
          pthread_create(&thread[j], NULL, write_units, block[i] + j), 0);
    }
    for (int j = 0; j < THREADS; j++) {
      pthread_join(thread[j], NULL);
    }
    context_release(context_get(i));
  }
  pthread_barrier_destroy(&together);
}
END_TEST

static void touch_unmapped(void) {
  notice_faults();
  *(volatile char *)(context_get(0)->range + 9 * MIB) = 1;
}

START_TEST(other_faults_are_not_taken_for_writes) {
  track = TRACK_FAULT;
  make_full("unix", 2, 1, 16 * MIB, MIB);
  fill_all(MIB);
  visit(0);
  visit(1);
  expect_states("-I");
  const pid_t child = fork();
  if (child == 0) {
    touch_unmapped();
    _exit(0);
  }
  int status;
  ck_assert_int_eq(waitpid(child, &status, 0), child);
  ck_assert(WIFEXITED(status));
  ck_assert_int_eq(WEXITSTATUS(status), 3);
}
END_TEST

START_TEST(freed_blocks_stay_out) {
  make_full("mem", 2, 1, MIB, MIB);
  struct context *const c = context_get(0);
  context_acquire(c);
  fill(block[0], 800 * KIB, 1);
  char *const kept = context_alloc(c, 1000, 16);
  fill(kept, 1000, 2);
  context_free(c, block[0]);
  context_release(c);
  const uint64_t out = counter_get(swap_out);
  evict_first();
  ck_assert_uint_le(counter_get(swap_out) - out, DATA + 128 * KIB);
  context_acquire(c);
  ck_assert(filled(kept, 1000, 2));
  /* Memory that comes again is zero where that was asked for. */
  char *const zeros = context_zalloc(c, 800 * KIB);
  ck_assert_ptr_nonnull(zeros);
  ck_assert_int_eq(zeros[0], 0);
  ck_assert_mem_eq(zeros, zeros + 1, 800 * KIB - 1);
  context_release(c);
}
END_TEST

/* --- messages to a context, and its pages that need not be swapped --- */

/* Bytes swapped out by an eviction of context 0. */
static size_t evicted_bytes(void) {
  const uint64_t out = counter_get(swap_out);
  evict_first();
  return counter_get(swap_out) - out;
}

static size_t inner(size_t at, size_t n) {
  const size_t from = ((uintptr_t)block[0] + at + PAGE - 1) / PAGE;
  return (((uintptr_t)block[0] + at + n) / PAGE - from) * PAGE;
}

enum { EXPECTED_AT = 33333, EXPECTED_N = 400000, BLOCK_N = 900 * 1024 };

/* Context 0 with a full block and a part of it expected. */
static struct context *expect_part(void) {
  make_full("mem", 2, 1, BLOCK_N + 128 * KIB, MIB);
  struct context *const c = context_get(0);
  context_acquire(c);
  fill(block[0], BLOCK_N, 1);
  context_expect(c, block[0] + EXPECTED_AT, EXPECTED_N);
  context_release(c);
  return c;
}

static char message[EXPECTED_N];

static void check_received(struct context *c) {
  context_acquire(c);
  context_expect_end(c);
  ck_assert(filled(block[0], EXPECTED_AT, 1));
  ck_assert(filled(block[0] + EXPECTED_AT, EXPECTED_N, 2));
  bool same = true;
  for (size_t i = EXPECTED_AT + EXPECTED_N; i < BLOCK_N; i++) {
    same &= block[0][i] == byte(1, i);
  }
  ck_assert(same);
  context_release(c);
}

START_TEST(what_is_expected_is_neither_written_nor_read) {
  struct context *const c = expect_part();
  const size_t all = BLOCK_N + DATA;
  const size_t n = evicted_bytes();
  ck_assert_uint_ge(n + inner(EXPECTED_AT, EXPECTED_N), all);
  ck_assert_uint_le(n, all - inner(EXPECTED_AT, EXPECTED_N) + 128 * KIB);
  /* Nothing came: nothing of it is read either, and still expected. */
  const uint64_t in = counter_get(swap_in);
  visit(0);
  ck_assert_uint_eq(counter_get(swap_in) - in, n);
  ck_assert_uint_eq(evicted_bytes(), n);
  fill(message, EXPECTED_N, 2);
  context_pin(c);
  context_write(c, block[0] + EXPECTED_AT, message, EXPECTED_N);
  context_unpin(c);
  check_received(c);
  ck_assert_uint_ge(evicted_bytes(), n + inner(EXPECTED_AT, EXPECTED_N));
}
END_TEST

START_TEST(what_came_in_memory_is_swapped_again) {
  struct context *const c = expect_part();
  fill(message, EXPECTED_N, 2);
  /* The first half by a copy, of the second pems is told. */
  const size_t half = EXPECTED_N / 2 + 77;
  context_pin(c);
  context_write(c, block[0] + EXPECTED_AT, message, half);
  memcpy(block[0] + EXPECTED_AT + half, message + half, EXPECTED_N - half);
  context_received(c, block[0] + EXPECTED_AT + half, EXPECTED_N - half);
  context_unpin(c);
  ck_assert_uint_ge(evicted_bytes(), BLOCK_N + DATA);
  check_received(c);
}
END_TEST

START_TEST(half_may_come_in_memory_and_half_on_disk) {
  struct context *const c = expect_part();
  fill(message, EXPECTED_N, 2);
  const size_t half = EXPECTED_N / 2 + 77;
  context_pin(c);
  context_write(c, block[0] + EXPECTED_AT, message, half);
  context_unpin(c);
  ck_assert_uint_lt(evicted_bytes(), BLOCK_N + DATA - EXPECTED_N / 3);
  context_pin(c);
  context_write(c, block[0] + EXPECTED_AT + half, message + half,
                EXPECTED_N - half);
  context_unpin(c);
  check_received(c);
}
END_TEST

START_TEST(pieces_of_one_page_may_come_at_different_times) {
  struct context *const c = expect_part();
  fill(message, EXPECTED_N, 2);
  (void)evicted_bytes();
  /* Every second piece on disk, the others after a swap in and out. */
  const size_t step = 1531;
  for (int round = 0; round < 2; round++) {
    context_pin(c);
    ck_assert_int_eq(c->state, CONTEXT_OUT);
    for (size_t at = (size_t)round * step; at < EXPECTED_N; at += 2 * step) {
      const size_t n = EXPECTED_N - at < step ? EXPECTED_N - at : step;
      context_write(c, block[0] + EXPECTED_AT + at, message + at, n);
    }
    context_unpin(c);
    visit(0);
    (void)evicted_bytes();
  }
  check_received(c);
}
END_TEST

START_TEST(an_end_to_expecting_keeps_what_is_there) {
  struct context *const c = expect_part();
  context_acquire(c);
  context_expect_end(c);
  context_release(c);
  ck_assert_uint_ge(evicted_bytes(), BLOCK_N + DATA);
  context_acquire(c);
  ck_assert(filled(block[0], BLOCK_N, 1));
  context_release(c);
}
END_TEST

START_TEST(small_or_foreign_memory_is_not_expected) {
  static char foreign[4 * PAGE];
  make_full("mem", 2, 1, MIB, MIB);
  struct context *const c = context_get(0);
  context_acquire(c);
  context_expect(c, block[0], 2 * PAGE - 1);
  context_expect(c, foreign, sizeof(foreign));
  context_expect(c, block[1], 100 * KIB);
  ck_assert_uint_eq(c->incoming.n, 0);
  context_received(c, block[0], 100);
  context_expect(c, data[0], DATA);
  ck_assert_uint_eq(ranges_total(&c->incoming), DATA);
  context_expect_end(c);
  ck_assert_uint_eq(c->incoming.n, 0);
  context_release(c);
}
END_TEST

/* Length of a message: tiny to large, often at a block's border. */
static size_t random_length(size_t most) {
  static const size_t longest[] = {3, 100, PAGE, 3 * PAGE, 70 * 1024};
  size_t n = 1 + below(longest[below(5)]);
  if (below(4) == 0) {
    n = (n + PAGE - 1) / PAGE * PAGE;
  }
  return n < most ? n : most;
}

static size_t random_place(size_t total) {
  const size_t at = below(total);
  return below(4) == 0 ? at / PAGE * PAGE : at;
}

struct memory_model {
  char *real, *copy;
  size_t n;
};

static void deliver(struct context *c, struct memory_model *m) {
  static char in[3 * 70 * 1024];
  const size_t at = random_place(m->n);
  const size_t n = random_length(m->n - at);
  char *const from = in + (below(2) ? PAGE - (uintptr_t)in % PAGE : below(99));
  fill(from, n, below(1000));
  context_write(c, m->real + at, from, n);
  memcpy(m->copy + at, from, n);
}

static void look(struct context *c, const struct memory_model *m) {
  static char out[3 * 70 * 1024];
  const size_t at = random_place(m->n);
  const size_t n = random_length(m->n - at);
  char *const to = out + (below(2) ? PAGE - (uintptr_t)out % PAGE : below(99));
  context_read(c, m->real + at, to, n);
  ck_assert_mem_eq(to, m->copy + at, n);
}

enum { DELIVERED = 700 * 1024 };

START_TEST(messages_reach_contexts_wherever_they_are) {
  static const size_t limits[] = {0, 3 * 5000, MIB};
  const size_t limit = limits[_i % 3];
  static char foreign[9000], copies[DELIVERED + DATA + sizeof(foreign)];
  make_full(io_names[_i / 3], 2, 1, MIB, limit);
  struct context *const c = context_get(0);
  struct memory_model m[] = {
      {block[0], copies, DELIVERED},
      {data[0], copies + DELIVERED, DATA},
      {foreign, copies + DELIVERED + DATA, sizeof(foreign)}};
  context_acquire(c);
  fill(block[0], DELIVERED, 9);
  for (int i = 0; i < 3; i++) {
    memcpy(m[i].copy, m[i].real, m[i].n);
  }
  context_release(c);
  state = (unsigned long)_i;
  for (int round = 0; round < 12; round++) {
    if (round % 3) {
      evict_first();
    }
    context_pin(c);
    for (int i = 0; i < 60; i++) {
      deliver(c, &m[below(3)]);
      look(c, &m[below(3)]);
    }
    context_unpin(c);
    context_acquire(c);
    for (int i = 0; i < 3; i++) {
      ck_assert_mem_eq(m[i].real, m[i].copy, m[i].n);
    }
    block[0][below(DELIVERED)]++;
    memcpy(m[0].copy, m[0].real, m[0].n);
    context_release(c);
  }
  ck_assert_uint_gt(counter_get(deliver_written), 0);
  ck_assert_uint_gt(counter_get(deliver_read), 0);
  ck_assert_uint_gt(counter_get(deliver_memory), 0);
  ck_assert_int_eq(counter_get(boundary) > 0, limit < MIB);
  ck_assert_uint_eq(boundary_memory(), 0);
}
END_TEST

START_TEST(boundary_blocks_stay_within_their_memory) {
  const size_t limit = 8 * 5000;
  make_full("mem", 2, 1, MIB, limit);
  evict_first();
  struct context *const c = context_get(0);
  context_pin(c);
  size_t most = 0;
  for (size_t i = 0; i < 200; i++) {
    context_write(c, block[0] + i * 4000, "x", 1);
    most = boundary_memory() > most ? boundary_memory() : most;
  }
  context_unpin(c);
  ck_assert_uint_le(most, limit);
  ck_assert_uint_gt(most, limit / 2);
  ck_assert_uint_gt(counter_get(boundary), 0);
  context_acquire(c);
  for (size_t i = 0; i < 200; i++) {
    ck_assert_int_eq(block[0][i * 4000], 'x');
  }
  context_release(c);
}
END_TEST

/* Neighbours go together, in order of address, and what is complete need not be
   read; those of the context that has most go first. */
START_TEST(boundary_blocks_are_written_together) {
  enum { PAGES = 32 };
  make_full("mem", 3, 1, MIB, PAGES * (size_t)5000);
  expect_states("--I");
  char *const at = block[0] + PAGE - (uintptr_t)block[0] % PAGE;
  char text[PAGE];
  fill(text, PAGE, 3);
  context_pin(context_get(0));
  context_pin(context_get(1));
  for (int i = PAGES - 1; i >= 0; i--) {
    context_write(context_get(0), at + i * PAGE, text, 1000);
    context_write(context_get(0), at + i * PAGE + 1000, text + 1000,
                  PAGE - 1000);
  }
  ck_assert_uint_eq(context_get(0)->boundary.n, PAGES);
  const uint64_t r = counter_get(reads), w = counter_get(writes);
  for (int i = 0; i < 5; i++) {
    context_write(context_get(1), block[1] + 2 * PAGE * (size_t)i, "x", 1);
  }
  ck_assert_uint_eq(context_get(0)->boundary.n, 0);
  ck_assert_uint_eq(context_get(1)->boundary.n, 5);
  ck_assert_uint_eq(counter_get(reads), r);
  /* Through a buffer of 64 KiB. */
  ck_assert_uint_eq(counter_get(writes) - w, PAGES * PAGE / (64 * KIB));
  context_unpin(context_get(0));
  context_unpin(context_get(1));
  visit(0);
  for (int i = 0; i < PAGES; i++) {
    ck_assert(filled(at + i * PAGE, PAGE, 3));
  }
  visit(1);
  for (size_t i = 0; i < 5; i++) {
    ck_assert_int_eq(block[1][2 * PAGE * i], 'x');
  }
}
END_TEST

START_TEST(whole_blocks_need_no_staging) {
  make_full("mem", 2, 1, MIB, MIB);
  evict_first();
  struct context *const c = context_get(0);
  char *const at = block[0] + PAGE - (uintptr_t)block[0] % PAGE;
  char *const in = aligned_alloc(PAGE, 10 * PAGE);
  fill(in, 10 * PAGE, 5);
  const uint64_t written = counter_get(bytes_written);
  const uint64_t requests = counter_get(writes);
  context_pin(c);
  context_write(c, at, in, 10 * PAGE);
  context_unpin(c);
  ck_assert_uint_eq(counter_get(bytes_written) - written, 10 * PAGE);
  ck_assert_uint_eq(counter_get(writes) - requests, 1);
  ck_assert_uint_eq(boundary_memory(), 0);
  free(in);
  visit(0);
  ck_assert(filled(at, 10 * PAGE, 5));
}
END_TEST

/* --- malloc and free on behalf of a context --- */

START_TEST(a_context_on_disk_gives_no_memory) {
  make_full("mem", 2, 1, MIB, MIB);
  evict_first();
  struct context *const c = context_get(0);
  ck_assert_ptr_null(context_alloc(c, 10, 16));
  ck_assert_ptr_null(context_zalloc(c, 10));
  ck_assert_ptr_null(context_realloc(c, block[0], 10));
  ck_assert_uint_eq(context_usable(c, block[0]), 0);
}
END_TEST

/* What a thread of the program asks for then must not be counted: nobody would
   take it back. */
START_TEST(a_context_on_disk_counts_nothing) {
  make_full("mem", 2, 1, 8 * MIB, MIB);
  evict_first();
  struct context *const c = context_get(0);
  const uint64_t before = contexts_resident_bytes();
  ck_assert_ptr_null(context_zalloc(c, 2 * MIB));
  ck_assert_ptr_null(context_realloc(c, block[0], 4 * MIB));
  ck_assert_uint_eq(c->charge, 0);
  expect_states("-I");
  ck_assert_uint_eq(contexts_resident_bytes(), before);
}
END_TEST

START_TEST(late_frees_happen_when_it_comes) {
  enum { N = 200 };
  char *p[N];
  make_full("mem", 2, 1, MIB, MIB);
  struct context *const c = context_get(0);
  context_acquire(c);
  context_free(c, block[0]);
  for (int i = 0; i < N; i++) {
    p[i] = context_alloc(c, 3000, 16);
  }
  fill(p[N / 2], 3000, 7);
  context_release(c);
  evict_first();
  for (int i = 0; i < N; i++) {
    if (i != N / 2) {
      context_free(c, p[i]);
    }
  }
  context_acquire(c);
  for (int i = 0; i < N; i++) {
    ck_assert_int_eq(context_usable(c, p[i]) >= 3000, i == N / 2);
  }
  ck_assert(filled(p[N / 2], 3000, 7));
  ck_assert_ptr_eq(context_alloc(c, 3000, 16), p[0]);
  context_release(c);
}
END_TEST

START_TEST(realloc_grows_and_keeps) {
  make("mem", 1, MIB, MIB, MIB);
  struct context *const c = context_get(0);
  context_acquire(c);
  char *p = context_alloc(c, 100, 16);
  fill(p, 100, 3);
  (void)context_alloc(c, 100, 16);
  p = context_realloc(c, p, 500 * KIB);
  ck_assert_ptr_nonnull(p);
  ck_assert(filled(p, 100, 3));
  ck_assert_uint_ge(context_usable(c, p), 500 * KIB);
  ck_assert_uint_ge(contexts_resident_bytes(), 500 * KIB);
  ck_assert_ptr_null(context_realloc(c, p, 2 * MIB));
  ck_assert(filled(p, 100, 3));
  for (size_t align = 16; align <= 64 * KIB; align *= 2) {
    ck_assert_uint_eq((uintptr_t)context_alloc(c, 10, align) % align, 0);
  }
  context_release(c);
}
END_TEST

static void free_twice(void) {
  void *const p = context_alloc(context_get(0), 1000, 16);
  context_free(context_get(0), p);
  context_free(context_get(0), p);
}

START_TEST(a_double_free_ends_the_job) {
  make("mem", 1, MIB, MIB, MIB);
  context_acquire(context_get(0));
  ck_assert_int_eq(child(free_twice), 0);
  ck_assert_int_eq(exit_status, 134);
  ck_assert_msg(strncmp(said, "pems: free: rank 40: 0x", 23) == 0 &&
                    strstr(said, ": not an allocated block, or freed twice\n"),
                "%s", said);
  context_release(context_get(0));
}
END_TEST

/* --- failing disks --- */

static const char *fault;

static void write_message(void) {
  context_pin(context_get(0));
  context_write(context_get(0), block[0] + 100, message, 20000);
}

static void read_message(void) {
  context_pin(context_get(0));
  context_read(context_get(0), block[0] + 100, message, 20000);
}

/* Context 0 with its block on disk: two requests to write, none to read. */
static void use_faulty_disk(void) {
  make(fault, 2, MIB, MIB, 0);
  for (int i = 0; i < 2; i++) {
    context_acquire(context_get(i));
    block[i] = context_alloc(context_get(i), 800 * KIB, 16);
    context_release(context_get(i));
  }
  expect_states("-I");
  ck_assert_uint_eq(counter_get(writes), 2);
  ck_assert_uint_eq(counter_get(reads), 0);
}

static void expect_failure(void (*f)(void), const char *what) {
  char want[200];
  ck_assert_int_eq(child(f), 0);
  ck_assert_int_eq(exit_status, 1);
  snprintf(want, sizeof(want),
           "pems: %s: context of rank 40 in %s: Input/output error\n", what,
           dir);
  ck_assert_str_eq(said, want);
}

START_TEST(a_failed_swap_out_ends_the_job) {
  fault = _i ? "fault:mem,torn=2" : "fault:mem,write=1:EIO";
  expect_failure(use_faulty_disk, "swapping out");
}
END_TEST

/* All in the child: one that is forked later moves nothing. */
static void fail_to_visit(void) {
  use_faulty_disk();
  visit(0);
}

static void fail_to_read(void) {
  use_faulty_disk();
  read_message();
}

static void fail_to_write(void) {
  use_faulty_disk();
  write_message();
}

START_TEST(a_failed_read_ends_the_job) {
  fault = "fault:mem,read=1:EIO";
  expect_failure(fail_to_visit, "swapping in");
  expect_failure(fail_to_read, "reading a message");
}
END_TEST

START_TEST(a_failed_delivery_ends_the_job) {
  fault = "fault:mem,write=3:EIO";
  expect_failure(fail_to_write, "writing a message");
}
END_TEST

/* --- mapped files --- */

static enum option_compress compress = COMPRESS_NONE;

static int create_strictly(const char *io, uint64_t stripe,
                           enum option_swapin swapin, enum option_track how) {
  const struct disks_options on = {.dirs = dir, .io = io, .stripe = stripe};
  ck_assert_int_eq(disks_open(&disks, &on, 2, MIB, &error), 0);
  const struct contexts_options o = {.n = 2,
                                     .mu = MIB,
                                     .resident = MIB,
                                     .disks = disks,
                                     .bounce_count = 1,
                                     .bounce_bytes = MIB,
                                     .swapin = swapin,
                                     .track = how,
                                     .compress = compress,
                                     .compress_bytes = MIB,
                                     .strict = true};
  const int result = contexts_create(&o, &error);
  contexts_destroy();
  disks_close(disks);
  disks = NULL;
  return result;
}

START_TEST(what_is_of_no_use_is_refused) {
  ck_assert_int_eq(create_strictly("mmap", 0, SWAPIN_EAGER, TRACK_AUTO), 0);
  const char text[] = "--pems-swapin, --pems-track: of no use with an I/O "
                      "driver that maps: leave them out";
  ck_assert_int_eq(create_strictly("mmap", 0, SWAPIN_LAZY, TRACK_AUTO), EINVAL);
  ck_assert_str_eq(error.text, text);
  ck_assert_int_eq(create_strictly("mmap", 0, SWAPIN_EAGER, TRACK_FAULT),
                   EINVAL);
  ck_assert_str_eq(error.text, text);
  ck_assert_int_eq(create_strictly("mem", 0, SWAPIN_AUTO, TRACK_OFF), 0);
  ck_assert_int_eq(create_strictly("mem", 0, SWAPIN_LAZY, TRACK_OFF), EINVAL);
  ck_assert_str_eq(error.text,
                   "--pems-swapin: contexts cannot be mapped: whole ones "
                   "are read: use --pems-io=unix, and a stripe of 64K or "
                   "more");
}
END_TEST

START_TEST(compression_is_refused_where_it_is_of_no_use) {
  compress = HAVE_LZ4    ? COMPRESS_LZ4
             : HAVE_ZSTD ? COMPRESS_ZSTD
                         : COMPRESS_NONE;
  if (compress == COMPRESS_NONE) {
    return;
  }
  ck_assert_int_eq(create_strictly("unix", 0, SWAPIN_EAGER, TRACK_AUTO), 0);
  ck_assert_int_eq(create_strictly("mmap", 0, SWAPIN_EAGER, TRACK_AUTO),
                   EINVAL);
  ck_assert_str_eq(error.text, "--pems-compress: of no use with an I/O driver "
                               "that maps: leave it out");
  ck_assert_int_eq(create_strictly("unix", 0, SWAPIN_AUTO, TRACK_AUTO), 0);
  ck_assert_int_eq(create_strictly("unix", 0, SWAPIN_LAZY, TRACK_AUTO), EINVAL);
  ck_assert_str_eq(error.text,
                   "--pems-swapin: compressed contexts cannot be mapped: whole "
                   "ones are read: leave out --pems-swapin or --pems-compress");
}
END_TEST

START_TEST(mapped_contexts_never_move) {
  make_full("mmap", 3, 1, MIB, MIB);
  for (int i = 0; i < 3; i++) {
    struct context *const c = context_get(i);
    context_acquire(c);
    ck_assert(filled(data[i], DATA, (unsigned)i));
    fill(block[i], 700 * KIB, (unsigned)i);
    context_release(c);
  }
  expect_states("III");
  for (int i = 0; i < 3; i++) {
    char out[PAGE];
    struct context *const c = context_get(i);
    ck_assert(filled(block[i], 700 * KIB, (unsigned)i));
    /* It is the file. */
    char *const first = c->range, *const page = aligned_alloc(PAGE, PAGE);
    ck_assert_int_eq(disks_read(disks, i, page, PAGE, DATA), 0);
    ck_assert_mem_eq(page, first, PAGE);
    free(page);
    context_pin(c);
    context_write(c, block[i] + 5, "hello", 5);
    context_read(c, block[i] + 5, out, 5);
    context_unpin(c);
    ck_assert_mem_eq(out, "hello", 5);
    context_expect(c, block[i], 100 * KIB);
    ck_assert_uint_eq(c->incoming.n, 0);
  }
  ck_assert_uint_eq(counter_get(swap_out), 0);
}
END_TEST

/* --- many threads --- */

enum { THREADS = 6, RUNNING = 3, LIVE = 12, SLOT = 9001, PARCEL = 30011 };

/* The thread of one context; its own blocks and its mailbox. */
struct worker {
  int index;
  unsigned long state;
  struct {
    char *p;
    size_t n;
    unsigned seed;
  } live[LIVE];
  char *mailbox; /* a slot for each sender */
  char *parcel;  /* expected anew in each round */
  const char *wrong;
};

static struct worker worker[THREADS];
static sem_t tokens;
static atomic_int working;
/* What the last message from one to another holds. */
static struct {
  pthread_mutex_t lock;
  unsigned seed; /* 0: none came */
} mail[THREADS][THREADS];

static int rounds(void) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return 30;
#else
  return getenv("PEMS_TEST_FEW") ? 10 : 150;
#endif
}

static void change_block(struct worker *w) {
  struct context *const c = context_get(w->index);
  const unsigned i = below_from(&w->state, LIVE);
  if (w->live[i].p) {
    if (!filled(w->live[i].p, w->live[i].n, w->live[i].seed)) {
      w->wrong = "a block has changed";
    }
    context_free(c, w->live[i].p);
    w->live[i].p = NULL;
    return;
  }
  w->live[i].n = 1 + below_from(&w->state, i % 2 ? 2000 : 120000);
  w->live[i].seed = below_from(&w->state, 1000);
  w->live[i].p = context_alloc(c, w->live[i].n, 16);
  if (w->live[i].p) {
    fill(w->live[i].p, w->live[i].n, w->live[i].seed);
  }
}

static void send_message(struct worker *w) {
  const unsigned to = below_from(&w->state, THREADS);
  struct context *const c = context_get((int)to);
  char text[SLOT];
  pthread_mutex_lock(&mail[w->index][to].lock);
  const unsigned seed = 1 + below_from(&w->state, 1000);
  mail[w->index][to].seed = seed;
  fill(text, SLOT, seed);
  context_pin(c);
  context_write(c, worker[to].mailbox + w->index * SLOT, text, SLOT);
  context_unpin(c);
  pthread_mutex_unlock(&mail[w->index][to].lock);
}

static void read_mail(struct worker *w) {
  for (int from = 0; from < THREADS; from++) {
    pthread_mutex_lock(&mail[from][w->index].lock);
    const unsigned seed = mail[from][w->index].seed;
    if (seed && !filled(w->mailbox + from * SLOT, SLOT, seed)) {
      w->wrong = "a message is wrong";
    }
    pthread_mutex_unlock(&mail[from][w->index].lock);
  }
}

/* The parcel comes in two parts, while others may move the context. */
static void post_parcel(struct worker *w, unsigned seed) {
  struct context *const c = context_get(w->index);
  char text[PARCEL];
  const size_t cut = below_from(&w->state, PARCEL);
  fill(text, PARCEL, seed);
  context_pin(c);
  context_write(c, w->parcel + cut, text + cut, PARCEL - cut);
  context_unpin(c);
  context_pin(c);
  context_write(c, w->parcel, text, cut);
  context_unpin(c);
}

static void *work(void *arg) {
  struct worker *const w = arg;
  struct context *const c = context_get(w->index);
  for (int round = 0; round < rounds() && !w->wrong; round++) {
    (void)context_want(c, (uint64_t)w->index);
    sem_wait(&tokens);
    context_acquire(c);
    if (round > 0 && !filled(w->parcel, PARCEL, (unsigned)round)) {
      w->wrong = "a parcel is wrong";
    }
    context_expect_end(c);
    for (int i = 0; i < 5; i++) {
      change_block(w);
    }
    if (!filled(data[w->index], DATA, (unsigned)w->index)) {
      w->wrong = "the image has changed";
    }
    read_mail(w);
    for (int i = 0; i < 4; i++) {
      send_message(w);
    }
    context_expect(c, w->parcel, PARCEL);
    context_release(c);
    sem_post(&tokens);
    post_parcel(w, (unsigned)round + 1);
  }
  working--;
  return NULL;
}

static void make_worker(int i) {
  struct context *const c = context_get(i);
  worker[i] = (struct worker){.index = i, .state = (unsigned long)i + 1};
  context_acquire(c);
  worker[i].mailbox = context_alloc(c, THREADS * SLOT, 16);
  worker[i].parcel = context_alloc(c, PARCEL, 16);
  context_release(c);
  for (int j = 0; j < THREADS; j++) {
    pthread_mutex_init(&mail[i][j].lock, NULL);
  }
}

START_TEST(threads_own_contexts) {
  static const size_t limits[] = {0, MIB};
  pthread_t thread[THREADS];
  const size_t mu = MIB, budget = RUNNING * mu;
  make(io_names[_i / 2], THREADS, mu, budget, limits[_i % 2]);
  sem_init(&tokens, 0, RUNNING);
  for (int i = 0; i < THREADS; i++) {
    make_worker(i);
  }
  working = THREADS;
  for (int i = 0; i < THREADS; i++) {
    ck_assert_int_eq(pthread_create(&thread[i], NULL, work, &worker[i]), 0);
  }
  uint64_t most = 0;
  while (working) {
    const uint64_t now = contexts_resident_bytes();
    most = now > most ? now : most;
    usleep(100);
  }
  for (int i = 0; i < THREADS; i++) {
    pthread_join(thread[i], NULL);
    ck_assert_msg(!worker[i].wrong, "context %d: %s", i, worker[i].wrong);
  }
  ck_assert_uint_le(most, budget);
  ck_assert_uint_gt(counter_get(swaps_out), 0);
  ck_assert_uint_gt(counter_get(deliver_written), 0);
}
END_TEST

int main(void) {
  Suite *const s = suite_create("context");
  TCase *const t = tcase_create("all");
  tcase_set_timeout(t, 60);
  tcase_add_checked_fixture(t, before, after);
  tcase_add_test(t, addresses_tell_their_context);
  tcase_add_test(t, too_many_addresses_are_refused);
  tcase_add_test(t, a_program_with_too_much_data_is_refused);
  tcase_add_test(t, all_stay_when_all_fit);
  tcase_add_test(t, without_disks_the_budget_is_no_limit);
  tcase_add_test(t, the_least_recently_released_goes_first);
  tcase_add_test(t, the_wanted_go_last);
  tcase_add_test(t, the_wanted_come_in_turn);
  tcase_add_test(t, the_held_and_the_pinned_stay);
  tcase_add_test(t, a_pinned_one_on_disk_comes_after_the_unpin);
  tcase_add_test(t, whoever_finds_no_room_waits);
  tcase_add_test(t, what_a_context_counts);
  tcase_add_test(t, growth_evicts_others);
  tcase_add_test(t, tests_may_evict_always);
  tcase_add_loop_test(t, contents_survive_the_disk, 0, 2);
  tcase_add_test(t, a_context_on_disk_is_out_of_reach);
  tcase_add_test(t, pages_that_were_never_written_stay_out);
  tcase_add_test(t, watched_pages_move_to_others);
  tcase_add_test(t, threads_may_open_one_unit_together);
  tcase_add_test(t, other_faults_are_not_taken_for_writes);
  tcase_add_test(t, freed_blocks_stay_out);
  tcase_add_test(t, what_is_expected_is_neither_written_nor_read);
  tcase_add_test(t, what_came_in_memory_is_swapped_again);
  tcase_add_test(t, half_may_come_in_memory_and_half_on_disk);
  tcase_add_test(t, pieces_of_one_page_may_come_at_different_times);
  tcase_add_test(t, an_end_to_expecting_keeps_what_is_there);
  tcase_add_test(t, small_or_foreign_memory_is_not_expected);
  tcase_add_loop_test(t, messages_reach_contexts_wherever_they_are, 0, 6);
  tcase_add_test(t, boundary_blocks_stay_within_their_memory);
  tcase_add_test(t, boundary_blocks_are_written_together);
  tcase_add_test(t, whole_blocks_need_no_staging);
  tcase_add_test(t, a_context_on_disk_gives_no_memory);
  tcase_add_test(t, a_context_on_disk_counts_nothing);
  tcase_add_test(t, late_frees_happen_when_it_comes);
  tcase_add_test(t, realloc_grows_and_keeps);
  tcase_add_test(t, a_double_free_ends_the_job);
  tcase_add_loop_test(t, a_failed_swap_out_ends_the_job, 0, 2);
  tcase_add_test(t, a_failed_read_ends_the_job);
  tcase_add_test(t, a_failed_delivery_ends_the_job);
  tcase_add_test(t, what_is_of_no_use_is_refused);
  tcase_add_test(t, compression_is_refused_where_it_is_of_no_use);
  tcase_add_test(t, mapped_contexts_never_move);
  tcase_add_loop_test(t, threads_own_contexts, 0, 4);
  suite_add_tcase(s, t);
  return check_run(s);
}
