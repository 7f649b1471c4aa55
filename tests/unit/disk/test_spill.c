/* The file for what has no memory: against a model, its size, its errors. */
#define _GNU_SOURCE
#include "disk/spill.h"

#include <check.h>
#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/message.h"

#include "check_child.h"
#include "check_main.h"

enum { PIECES = 200, LARGEST = 5000, STEPS = 20000 };

struct piece {
  uint64_t at;
  size_t n; /* 0: none */
  unsigned seed;
};

static char dir[] = "/tmp/pems-spill-XXXXXX";

static unsigned below(unsigned *state, unsigned n) {
  *state = *state * 1103515245 + 12345;
  return (*state >> 8) % n;
}

static void fill(unsigned char *p, const struct piece *piece) {
  unsigned state = piece->seed;
  for (size_t i = 0; i < piece->n; i++) {
    p[i] = (unsigned char)below(&state, 256);
  }
}

static uint64_t place(struct spill *s, size_t n) {
  uint64_t at;
  ck_assert(spill_take(s, n, &at));
  return at;
}

static void take(struct spill *s, struct piece *p, unsigned *state) {
  unsigned char bytes[LARGEST];
  p->n = 1 + below(state, below(state, 4) ? 100 : LARGEST);
  p->seed = below(state, 1 << 20);
  p->at = place(s, p->n);
  fill(bytes, p);
  spill_write(s, p->at, bytes, p->n);
}

static void check(struct spill *s, const struct piece *p) {
  unsigned char expected[LARGEST], bytes[LARGEST];
  fill(expected, p);
  spill_read(s, p->at, bytes, p->n);
  ck_assert_mem_eq(bytes, expected, p->n);
}

static void give(struct spill *s, struct piece *p) {
  check(s, p);
  spill_give(s, p->at, p->n);
  p->n = 0;
}

/* Pieces come and go; each holds what was written, none overlaps another. */
static void churn(struct spill *s, unsigned seed, int steps) {
  static _Thread_local struct piece pieces[PIECES];
  unsigned state = seed;
  for (int i = 0; i < steps; i++) {
    struct piece *p = &pieces[below(&state, PIECES)];
    if (p->n) {
      give(s, p);
    } else {
      take(s, p, &state);
    }
  }
  for (int i = 0; i < PIECES; i++) {
    if (pieces[i].n) {
      give(s, &pieces[i]);
    }
  }
}

START_TEST(test_model) {
  struct spill *s = spill_open(dir);
  churn(s, 1, STEPS);
  ck_assert_uint_eq(spill_size(s), 0);
  churn(s, 2, STEPS / 10);
  ck_assert_uint_eq(spill_size(s), 0);
  spill_close(s);
}
END_TEST

static void *churn_thread(void *arg) {
  churn(arg, (unsigned)(uintptr_t)&arg, STEPS / 4);
  return NULL;
}

START_TEST(test_threads) {
  struct spill *s = spill_open(dir);
  pthread_t thread[4];
  for (int i = 0; i < 4; i++) {
    pthread_create(&thread[i], NULL, churn_thread, s);
  }
  for (int i = 0; i < 4; i++) {
    pthread_join(thread[i], NULL);
  }
  ck_assert_uint_eq(spill_size(s), 0);
  spill_close(s);
}
END_TEST

/* What was given back is used before the file grows. */
START_TEST(test_reuse) {
  struct spill *s = spill_open(dir);
  uint64_t at[64];
  for (int i = 0; i < 64; i++) {
    at[i] = place(s, 1000);
  }
  const uint64_t size = spill_size(s);
  for (int i = 0; i < 63; i++) {
    spill_give(s, at[i], 1000);
  }
  ck_assert_uint_eq(spill_size(s), size);
  (void)place(s, 30000); /* neighbours have merged */
  for (int i = 0; i < 20; i++) {
    (void)place(s, 1000);
  }
  ck_assert_uint_eq(spill_size(s), size);
  spill_close(s);
}
END_TEST

/* The file has no name, and is made only when something is kept. */
START_TEST(test_unnamed) {
  struct spill *s = spill_open(dir);
  const uint64_t at = place(s, 10);
  spill_write(s, at, "0123456789", 10);
  DIR *d = opendir(dir);
  const struct dirent *entry;
  while ((entry = readdir(d))) {
    ck_assert_int_eq(entry->d_name[0], '.');
  }
  closedir(d);
  spill_close(s);
  spill_close(NULL);
  s = spill_open("/nonexistent"); /* nobody asks for it */
  spill_close(s);
}
END_TEST

static void no_directory(void) {
  (void)place(spill_open("/nonexistent"), 10);
}

/* A file that may not grow is as good as a full disk. */
enum { NO_ROOM = 42 };
static void too_large(void) {
  const struct rlimit limit = {8192, 8192};
  signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &limit);
  struct spill *s = spill_open(dir);
  uint64_t at;
  exit(spill_take(s, 20000, &at) ? 0 : NO_ROOM);
}

static void cut_short(void) {
  struct spill *s = spill_open(dir);
  char byte;
  /* Beyond what is allocated at once. */
  spill_read(s, place(s, 1) + (2 << 20), &byte, 1);
}

START_TEST(test_errors) {
  char line[300];
  ck_assert_int_eq(check_child_exit(no_directory, line, sizeof(line)),
                   MSG_FAILED);
  ck_assert_ptr_nonnull(strstr(line, "/nonexistent: No such file"));
  ck_assert_int_eq(check_child_exit(too_large, line, sizeof(line)), NO_ROOM);
  ck_assert_int_eq(check_child_exit(cut_short, line, sizeof(line)), MSG_FAILED);
  ck_assert_ptr_nonnull(strstr(line, "reading messages"));
}
END_TEST

/* A full disk is said, not found by writing; what there is can be written. */
/* What has left is on the disk, and not in memory. */
START_TEST(test_leave) {
  enum { N = 1 << 20 };
  char *bytes = calloc(1, N);
  uint64_t cached = 1, dirty = 1;
  struct spill *s = spill_open("/var/tmp");
  const uint64_t at = place(s, N);
  spill_cached(s, at, N, &cached, &dirty);
  ck_assert(cached == 0 || cached == N); /* N: it cannot tell */
  const bool tells = cached == 0;
  memset(bytes, 7, N);
  spill_write(s, at, bytes, N);
  spill_cached(s, at, N, &cached, &dirty);
  ck_assert_uint_eq(cached, N);
  ck_assert_uint_le(dirty, N);
  ck_assert_int_eq(spill_leave(s, at, N), 0);
  spill_cached(s, at, N, &cached, &dirty);
  ck_assert(!tells || (cached == 0 && dirty == 0));
  memset(bytes, 0, N);
  spill_read(s, at, bytes, N);
  ck_assert_int_eq(bytes[N - 1], 7);
  spill_cached(s, at, N, &cached, &dirty);
  ck_assert(!tells || (cached == N && dirty == 0));
  spill_give(s, at, N);
  spill_close(s);
  free(bytes);
}
END_TEST

/* What was never written, or was cleared, is no data. */
START_TEST(test_clear) {
  enum { N = 1 << 20, PIECE = 256 << 10 };
  static char bytes[N];
  uint64_t start = 0;
  struct spill *s = spill_open("/var/tmp");
  const uint64_t at = place(s, N);
  memset(bytes, 7, N);
  spill_write(s, at + PIECE, bytes, PIECE);
  uint64_t end = spill_next(s, at, at + N, &start);
  ck_assert_uint_le(start, at + PIECE);
  ck_assert_uint_ge(end, at + 2 * PIECE);
  end = spill_next(s, at + PIECE, at + PIECE + 1, &start);
  ck_assert_uint_eq(start, at + PIECE);
  ck_assert_uint_eq(end, at + PIECE + 1);
  ck_assert_int_eq(spill_clear(s, at + PIECE, PIECE), 0);
  spill_read(s, at, bytes, N);
  for (int i = 0; i < N; i++) {
    ck_assert_int_eq(bytes[i], 0);
  }
  spill_give(s, at, N);
  spill_close(s);
}
END_TEST

START_TEST(test_full) {
  enum { N = 100000, MOST = 64 };
  static unsigned char bytes[N], got[N];
  uint64_t at[MOST], none;
  int n = 0;
  if (geteuid() != 0 || unshare(CLONE_NEWNS) ||
      mount("none", "/", "none", MS_REC | MS_PRIVATE, "") ||
      mount("tmpfs", dir, "tmpfs", 0, "size=2m")) {
    puts("skipped: test_full: cannot mount");
    return;
  }
  struct spill *s = spill_open(dir);
  while (n < MOST && spill_take(s, N, &at[n])) {
    n++;
  }
  ck_assert_int_ge(n, 18);
  ck_assert_int_le(n, 20);
  ck_assert(!spill_take(s, N, &none));
  for (int i = 0; i < n; i++) {
    memset(bytes, i + 1, N);
    spill_write(s, at[i], bytes, N);
  }
  for (int i = 0; i < n; i++) {
    memset(bytes, i + 1, N);
    spill_read(s, at[i], got, N);
    ck_assert_int_eq(memcmp(bytes, got, N), 0);
  }
  spill_give(s, at[3], N);
  ck_assert(spill_take(s, N, &none));
  ck_assert_uint_eq(none, at[3]);
  ck_assert(!spill_take(s, N, &none));
  for (int i = 0; i < n; i++) {
    spill_give(s, at[i], N);
  }
  ck_assert_uint_eq(spill_size(s), 0);
  ck_assert(spill_take(s, 15 * N, &at[0]));
  spill_close(s);
  ck_assert_int_eq(umount(dir), 0);
}
END_TEST

int main(void) {
  if (!mkdtemp(dir)) {
    return 1;
  }
  Suite *suite = suite_create("spill");
  TCase *tests = tcase_create("spill");
  tcase_add_test(tests, test_model);
  tcase_add_test(tests, test_threads);
  tcase_add_test(tests, test_reuse);
  tcase_add_test(tests, test_unnamed);
  tcase_add_test(tests, test_errors);
  tcase_add_test(tests, test_full);
  tcase_add_test(tests, test_leave);
  tcase_add_test(tests, test_clear);
  suite_add_tcase(suite, tests);
  const int status = check_run(suite);
  rmdir(dir);
  return status;
}
