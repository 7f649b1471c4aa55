/* Active messages between processes, without VPs: run by am.sh. Prints nothing
   if all is right; with "fail", fails in all processes; with another argument,
   figures. */
#define _GNU_SOURCE
#include "base/message.h"
#include "mpi_below/net.h"
#include "mpi_below/real.h"
#include "net/am.h"
#include "net/jobs.h"
#include "os/clock.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Each part of the test has a kind of its own. */
static const enum am_kind NUMBERED = AM_BOX, LATE = AM_P2P, CHAIN = AM_WIN,
                          STREAM = AM_FILE, ECHO = AM_STATE;

enum { MOST = 8, THREADS = 3 };

static int me, size;

static _Noreturn void fault(const char *what, long is, long expected) {
  fprintf(stderr, "FAIL process %d: %s: %ld instead of %ld\n", me, what, is,
          expected);
  fflush(stderr);
  _exit(1); /* mpirun ends the others */
}

static void expect(const char *what, long is, long expected) {
  if (is != expected) {
    fault(what, is, expected);
  }
}

static void wait_for(atomic_long *x, long value) {
  while (atomic_load(x) < value) {
    usleep(100);
  }
  expect("events", atomic_load(x), value);
}

/* --- order of small and large messages, from several threads --- */

static int per_thread = 10000;
static atomic_long numbered;

struct number {
  uint32_t thread, number, n, filler;
};

static size_t length_of(uint32_t i) {
  return i % 1000 == 999 ? AM_LARGEST - sizeof(struct number)
         : i % 50 == 49  ? 100 * (i % 300)
                         : i % 64;
}

static bool take_number(int process, uint64_t key, const char *bytes,
                        size_t n) {
  static uint32_t next[MOST][THREADS];
  struct number h;
  memcpy(&h, bytes, sizeof(h));
  expect("alignment", (uintptr_t)bytes % 16, 0);
  expect("key", (long)key, process * 10 + (int)h.thread);
  expect("number", h.number, next[process][h.thread]++);
  expect("length", (long)n, (long)(sizeof(h) + length_of(h.number)));
  for (size_t i = sizeof(h); i < n; i += 97) {
    expect("byte", bytes[i], (char)(h.number + h.thread));
  }
  atomic_fetch_add(&numbered, 1);
  return true;
}

static void *send_numbers(void *arg) {
  static _Thread_local char data[AM_LARGEST];
  const int thread = (int)(intptr_t)arg;
  for (int i = 0; i < per_thread; i++) {
    const size_t n = length_of(i);
    memset(data, i + thread, n);
    for (int q = 0; q < size; q++) {
      const struct number h = {.thread = thread, .number = i};
      if (q != me) {
        if (i % 100 == 0) {
          am_wait_room(q);
        }
        am_send(q, NUMBERED, me * 10 + thread, &h, sizeof(h), data, n);
      }
    }
    memset(data, 0x55, n); /* it was copied */
  }
  return NULL;
}

static void test_order(void) {
  pthread_t thread[THREADS];
  for (int i = 0; i < THREADS; i++) {
    pthread_create(&thread[i], NULL, send_numbers, (void *)(intptr_t)i);
  }
  for (int i = 0; i < THREADS; i++) {
    pthread_join(thread[i], NULL);
  }
  wait_for(&numbered, (long)(size - 1) * THREADS * per_thread);
}

/* --- messages that come before what they are for --- */

enum { KEYS = 40, PER_KEY = 200 };

static atomic_int is_open[KEYS];
static atomic_long taken;
static atomic_long refused;

static bool take_late(int process, uint64_t key, const char *bytes, size_t n) {
  static int next[MOST][KEYS];
  int number;
  if (!atomic_load(&is_open[key])) {
    atomic_fetch_add(&refused, 1);
    return false;
  }
  memcpy(&number, bytes, sizeof(number));
  expect("late alignment", (uintptr_t)bytes % 16, 0);
  expect("late length", (long)n, (long)(sizeof(number) + key));
  expect("late number", number, next[process][key]++);
  if (number % 50 == 10) {
    /* Closed for a moment: those behind it must stay there. */
    atomic_store(&is_open[key], 0);
  }
  atomic_fetch_add(&taken, 1);
  return true;
}

static atomic_bool opening;

static void *open_keys(void *arg) {
  unsigned seed = me;
  (void)arg;
  while (atomic_load(&opening)) {
    const int key = rand_r(&seed) % KEYS;
    if (!atomic_exchange(&is_open[key], 1)) {
      /* Meanwhile some come that must not overtake those that are kept. */
      if (rand_r(&seed) % 2 == 0) {
        usleep(500);
      }
      am_retry();
    }
    if (rand_r(&seed) % 64 == 0) {
      usleep(50);
    }
  }
  return NULL;
}

static void test_deferral(void) {
  static const char data[KEYS];
  pthread_t opener;
  const long all = (long)(size - 1) * KEYS * PER_KEY;
  for (int i = 0; i < PER_KEY; i++) {
    for (int key = 0; key < KEYS; key++) {
      for (int q = 0; q < size; q++) {
        if (q != me) {
          am_send(q, LATE, key, &i, sizeof(i), data, key);
        }
      }
    }
    if (i > PER_KEY / 4) {
      usleep(200);
    }
    if (i == PER_KEY / 4) {
      atomic_store(&opening, true);
      pthread_create(&opener, NULL, open_keys, NULL);
    }
  }
  wait_for(&taken, all);
  atomic_store(&opening, false);
  pthread_join(opener, NULL);
  if (atomic_load(&refused) == 0) {
    fault("messages that came early", 0, 1);
  }
}

/* --- streams --- */

enum { STREAMS = 4, STREAM_MIB = 6 };

struct source {
  struct am_stream stream;
  int number;
  size_t at, total, piece;
};

static atomic_long streamed, streams_ended;

static unsigned char byte_at(int process, uint64_t key, size_t at) {
  return (unsigned char)(process * 17 + key * 5 + at / 7);
}

static size_t next_piece(struct am_stream *stream, char *out) {
  struct source *const s = (struct source *)stream;
  size_t n = s->total - s->at;
  n = n < s->piece ? n : s->piece;
  if (n == 0) {
    memset(s, 0xee, sizeof(*s)); /* it is the caller's again */
    free(s);
    atomic_fetch_add(&streams_ended, 1);
    return 0;
  }
  for (size_t i = 0; i < n; i++) {
    out[i] = (char)byte_at(me, s->stream.key, s->at + i);
  }
  s->at += n;
  return n;
}

static bool take_piece(int process, uint64_t key, const char *bytes, size_t n) {
  static size_t at[MOST][STREAMS];
  for (size_t i = 0; i < n; i++) {
    if ((unsigned char)bytes[i] !=
        byte_at(process, key, at[process][key] + i)) {
      fault("stream at", (long)(at[process][key] + i), (unsigned char)bytes[i]);
    }
  }
  at[process][key] += n;
  atomic_fetch_add(&streamed, (long)n);
  return true;
}

static void test_streams(void) {
  static const size_t piece[STREAMS] = {AM_LARGEST, 100000, 5000, AM_LARGEST};
  for (int i = 0; i < STREAMS; i++) {
    for (int q = 0; q < size; q++) {
      if (q == me) {
        continue;
      }
      struct source *const s = malloc(sizeof(*s));
      *s = (struct source){.stream = {.process = q,
                                      .kind = STREAM,
                                      .key = i,
                                      .next = next_piece},
                           .total = (size_t)STREAM_MIB << 20,
                           .piece = piece[i]};
      am_stream_start(&s->stream);
    }
  }
  const long others = size - 1;
  wait_for(&streamed, others * STREAMS * ((long)STREAM_MIB << 20));
  wait_for(&streams_ended, others * STREAMS);
}

/* --- chains that are under way when am_stop is called --- */

enum { CHAINS = 20, HOPS = 100 };

static atomic_long hops, jobs_ran;

static void hop(int left) {
  if (left > 0) {
    am_send((me + 1 + left % (size - 1)) % size, CHAIN, left, &left,
            sizeof(left), NULL, 0);
  }
}

struct errand {
  int left;
};

static void inner_job(void *arg) {
  atomic_bool *const gate = arg;
  atomic_store(gate, true);
}

/* Waits for another job, which must have a thread of its own. */
static void outer_job(void *arg) {
  struct errand *const e = arg;
  atomic_bool gate = false;
  net_jobs_add(inner_job, &gate);
  while (!atomic_load(&gate)) {
    usleep(50);
  }
  atomic_fetch_add(&jobs_ran, 1);
  hop(e->left);
  free(e);
}

static bool take_hop(int process, uint64_t key, const char *bytes, size_t n) {
  int left;
  (void)process;
  (void)n;
  memcpy(&left, bytes, sizeof(left));
  expect("hop", left, (long)key);
  atomic_fetch_add(&hops, 1);
  if (left % 10 == 5) {
    struct errand *const e = malloc(sizeof(*e));
    e->left = left - 1;
    net_jobs_add(outer_job, e);
  } else {
    hop(left - 1);
  }
  return true;
}

static void test_quiescence(void) {
  const int never = 0;
  atomic_store(&is_open[1], 0);
  net_barrier();
  for (int i = 0; i < CHAINS; i++) {
    hop(HOPS);
  }
  if (me == 0) {
    usleep(3000); /* the others stop before */
  }
  /* Nobody will ever take this one. */
  am_send((me + 1) % size, LATE, 1, &never, sizeof(never), "x", 1);
  am_stop();
  uint64_t sum[4] = {atomic_load(&hops), atomic_load(&jobs_ran)};
  am_counts(&sum[2], &sum[3]);
  net_sum(sum, 4);
  expect("hops", (long)sum[0], (long)size * CHAINS * HOPS);
  expect("jobs", (long)sum[1], (long)size * CHAINS * HOPS / 10);
  expect("handled", (long)sum[3], (long)sum[2]);
}

/* --- figures --- */

static atomic_long echoes;
static bool answers;

static bool take_echo(int process, uint64_t key, const char *bytes, size_t n) {
  (void)bytes;
  if (key == 0) {
    am_send(process, ECHO, 1, bytes, n, NULL, 0);
  } else {
    atomic_fetch_add(&echoes, 1);
  }
  return true;
}

static int compare(const void *a, const void *b) {
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

/* Each after a pause of so many us. */
static void show_latency(int pause, int n) {
  enum { AT_MOST = 20000 };
  static uint64_t ns[AT_MOST];
  const long first = atomic_load(&echoes);
  for (int i = 0; i < n; i++) {
    if (pause) {
      usleep(pause);
    }
    const uint64_t start = clock_ns();
    am_send(1, ECHO, 0, &i, sizeof(i), NULL, 0);
    while (atomic_load(&echoes) == first + i) {
      if (answers) {
        sched_yield();
      } else {
        usleep(1);
      }
    }
    ns[i] = clock_ns() - start;
  }
  qsort(ns, n, sizeof(*ns), compare);
  printf("round trip, %6d us after the last: median %.1f us, 90%% %.1f us\n",
         pause, ns[n / 2] * 1e-3, ns[n * 9 / 10] * 1e-3);
}

struct plain {
  struct am_stream stream;
  size_t left;
};

static size_t next_plain(struct am_stream *stream, char *out) {
  struct plain *const s = (struct plain *)stream;
  const size_t n = s->left < AM_LARGEST ? s->left : AM_LARGEST;
  memset(out, 1, n);
  s->left -= n;
  return n;
}

static bool count_piece(int process, uint64_t key, const char *bytes,
                        size_t n) {
  (void)process, (void)key, (void)bytes;
  atomic_fetch_add(&streamed, (long)n);
  return true;
}

static void show_bandwidth(void) {
  enum { MIB = 1024 };
  net_barrier();
  const uint64_t start = clock_ns();
  if (me == 0) {
    static struct plain s = {
        .stream = {.process = 1, .kind = STREAM, .next = next_plain},
        .left = (size_t)MIB << 20};
    am_stream_start(&s.stream);
  }
  if (me == 1) {
    wait_for(&streamed, (long)MIB << 20);
    printf("a stream: %.2f GB/s\n", MIB * 1048576. / (clock_ns() - start));
  }
  net_barrier();
}

static atomic_long flood;

static bool take_flood(int process, uint64_t key, const char *bytes, size_t n) {
  (void)process, (void)key, (void)bytes, (void)n;
  atomic_fetch_add(&flood, 1);
  return true;
}

static void show_rate(void) {
  enum { N = 500000 };
  net_barrier();
  const uint64_t start = clock_ns();
  if (me == 0) {
    for (int i = 0; i < N; i++) {
      am_wait_room(1);
      am_send(1, NUMBERED, 0, &i, sizeof(i), NULL, 0);
    }
    printf("sending: %.2f us each\n", (clock_ns() - start) * 1e-3 / N);
  }
  if (me == 1) {
    wait_for(&flood, N);
    printf("small messages: %.2f us each\n", (clock_ns() - start) * 1e-3 / N);
  }
  net_barrier();
}

static void show(void) {
  am_register(ECHO, take_echo);
  am_register(STREAM, count_piece);
  am_register(NUMBERED, take_flood);
  am_start();
  for (answers = 0; me == 0; answers = true) {
    printf("waiting %s\n", answers ? "hard" : "in sleeps of 1 us");
    show_latency(0, 5000);
    show_latency(300, 2000);
    show_latency(3000, 500);
    show_latency(50000, 30);
    if (answers) {
      break;
    }
  }
  show_bandwidth();
  show_rate();
  am_stop();
}

/* --- two processes fail at once --- */

static void barrier(void) {
  uint64_t x = 0;
  net_min(&x);
}

/* The first to fail is slow to tell why: the others let it, and then only are
   quick to end the job. */
static _Noreturn void fail_at_once(void) {
  msg_set_end(net_abort);
  msg_set_first(net_first_to_fail, net_failure_told);
  if (me == 0) {
    expect("first", net_first_to_fail(), true);
    barrier();
    usleep(300000);
    msg_warn("told by the first");
    net_failure_told();
    pause();
  }
  barrier();
  msg_fail(3, "told by another");
}

/* --- probing --- */

/* Where messages are probed for, the core is not given away after one probe in
   vain: that may have brought the message which the next one finds. */

static __typeof__(real.Improbe) improbe;
static _Thread_local int in_vain; /* the latest probes of this thread */
static atomic_bool early;

static int count_probe(int source, int tag, MPI_Comm comm, int *there,
                       MPI_Message *message, MPI_Status *status) {
  const int code = improbe(source, tag, comm, there, message, status);
  in_vain = *there ? 0 : in_vain + 1;
  return code;
}

/* Instead of the C library's. The MPI may yield as it likes. */
int sched_yield(void) {
  Dl_info caller, own;
  if (in_vain == 1 && dladdr(__builtin_return_address(0), &caller) &&
      dladdr(&early, &own) && caller.dli_fbase == own.dli_fbase) {
    atomic_store(&early, true);
  }
  return (int)syscall(SYS_sched_yield);
}

static void watch_probes(void) {
  improbe = real.Improbe;
  real.Improbe = count_probe;
}

int main(int argc, char **argv) {
  net_start(&argc, &argv);
  me = net_rank();
  size = net_size();
  if (size > MOST || size < 2 || net_thread_level() != MPI_THREAD_MULTIPLE) {
    fault("processes", size, 3);
  }
  if (argc > 1 && strcmp(argv[1], "fail") == 0) {
    fail_at_once();
  }
  if (argc > 1) {
    show();
    net_finish();
    return 0;
  }
  am_register(NUMBERED, take_number);
  am_register(LATE, take_late);
  am_register(CHAIN, take_hop);
  am_register(STREAM, take_piece);
  watch_probes();
  am_start();
  test_order();
  test_deferral();
  test_streams();
  test_quiescence();
  /* Once more: all was given back. */
  am_start();
  hops = jobs_ran = 0;
  test_quiescence();
  expect("yields after one probe in vain", atomic_load(&early), false);
  net_finish();
  return 0;
}
