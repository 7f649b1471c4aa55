/* Preloaded: how long a VP that wakes waits for the scheduler's lock, as one
   RESULT line of each process. pems itself has no code for it: the scheduler's
   lock is the only mutex that spins before it sleeps, and a VP has slept on a
   futex just before. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Bins of an eighth of a factor of 2 each. */
enum { FINE = 8, BINS = 64 * FINE };

static _Atomic uint64_t bin[BINS], most;
static __thread int woken;
static int (*next_lock)(pthread_mutex_t *);
static long (*next_syscall)(long, ...);

static uint64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static int bin_of(uint64_t ns) {
  if (ns < FINE) {
    return (int)ns;
  }
  const int power = 63 - __builtin_clzll(ns);
  return (power - 2) * FINE + (int)((ns >> (power - 3)) & (FINE - 1));
}

static uint64_t least_of(int i) {
  return i < FINE ? (uint64_t)i
                  : (uint64_t)(FINE + i % FINE) << (i / FINE + 2 - 3);
}

static void note(uint64_t ns) {
  uint64_t before = most;
  bin[bin_of(ns)]++;
  while (before < ns && !atomic_compare_exchange_weak(&most, &before, ns)) {
  }
}

__attribute__((constructor)) static void begin(void) {
  next_lock = dlsym(RTLD_NEXT, "pthread_mutex_lock");
  next_syscall = dlsym(RTLD_NEXT, "syscall");
}

int pthread_mutex_lock(pthread_mutex_t *m) {
  if (!woken || m->__data.__kind != PTHREAD_MUTEX_ADAPTIVE_NP) {
    return next_lock ? next_lock(m) : 0;
  }
  woken = 0;
  const uint64_t start = now();
  const int error = next_lock(m);
  note(now() - start);
  return error;
}

static void tell(void);

long syscall(long number, ...) {
  long a[6];
  va_list args;
  va_start(args, number);
  for (int i = 0; i < 6; i++) {
    a[i] = va_arg(args, long);
  }
  va_end(args);
  if (number == SYS_exit_group) {
    tell();
  }
  const long result = next_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
  if (number == SYS_futex && (a[1] & FUTEX_CMD_MASK) == FUTEX_WAIT) {
    woken = 1;
  }
  return result;
}

/* What a part of all waits took at most, to an eighth of a factor of 2. */
static uint64_t part(uint64_t n, double share) {
  uint64_t seen = 0;
  int i = 0;
  while (i + 1 < BINS && (double)(seen += bin[i]) < share * (double)n) {
    i++;
  }
  return least_of(i + 1);
}

static void tell(void) {
  uint64_t n = 0;
  for (int i = 0; i < BINS; i++) {
    n += bin[i];
  }
  if (n) {
    dprintf(STDOUT_FILENO,
            "RESULT bench=lock_wait wakes=%llu p50_ns=%llu p99_ns=%llu "
            "p999_ns=%llu max_ns=%llu\n",
            (unsigned long long)n, (unsigned long long)part(n, 0.5),
            (unsigned long long)part(n, 0.99),
            (unsigned long long)part(n, 0.999), (unsigned long long)most);
  }
}

__attribute__((destructor)) static void end(void) {
  tell();
}
