/* What the tests of streams share: numbers, callbacks, and a directory. */
#ifndef PEMS_TESTS_STREAM_CHECK_H
#define PEMS_TESTS_STREAM_CHECK_H

#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pems/stream.h"

#include "check_main.h"

#define MIB ((uint64_t)1 << 20)
#define U64 sizeof(uint64_t)

static struct pems_error error;

static inline uint64_t mixed(uint64_t x) {
  x = (x + 0x9e3779b97f4a7c15) * 0xbf58476d1ce4e5b9;
  return x ^ x >> 29;
}

/* A graph whose sorters use memory as their disk. */
static inline struct pems_graph *graph_with(uint64_t memory, size_t batch,
                                            const char *io) {
  const struct pems_graph_options o = {
      .memory = memory,
      .threads = 2,
      .scratch = {.io = io},
      .batch = batch,
  };
  error = (struct pems_error){.code = 0};
  return pems_graph_new(&o);
}

static inline void expect_done(struct pems_graph *g, struct pems_node *sink) {
  const int code = pems_graph_start(g, sink, &error);
  ck_assert_msg(code == 0, "%d: %s", code, error.text);
}

/* The graph fails with that code, and a text that has all of these. */
static inline void expect_failure(struct pems_graph *g, struct pems_node *sink,
                                  int code, const char *a, const char *b) {
  ck_assert_int_eq(pems_graph_start(g, sink, &error), code);
  ck_assert_int_eq(error.code, code);
  ck_assert_msg(strstr(error.text, a) && strstr(error.text, b), "%s",
                error.text);
}

static inline struct pems_sort_options by_u64(void) {
  return (struct pems_sort_options){
      .record = {.size = U64, .key = PEMS_KEY_U64}};
}

static inline int u64_order(const void *a, const void *b) {
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

/* --- callbacks; their argument is a number to fail at, or NULL --- */

/* Counts records down, and fails with EPERM when there are no more. */
struct fuse {
  uint64_t left;
};

static inline int burnt(void *arg, size_t n) {
  struct fuse *const f = arg;
  if (!f) {
    return 0;
  }
  if (f->left < n) {
    return EPERM;
  }
  f->left -= n;
  return 0;
}

static inline int twice(void *arg, const void *in, void *out, size_t n,
                        struct pems_error *e) {
  (void)e;
  for (size_t i = 0; i < n; i++) {
    ((uint64_t *)out)[i] = ((const uint64_t *)in)[i] * 2;
  }
  return burnt(arg, n);
}

static inline int odd_only(void *arg, const void *in, size_t n, void *out,
                           size_t *made, struct pems_error *e) {
  const uint64_t *const from = in;
  uint64_t *const to = out;
  (void)e;
  for (size_t i = 0; i < n; i++) {
    if (from[i] & 1) {
      to[(*made)++] = from[i];
    }
  }
  return burnt(arg, n);
}

/* --- a directory --- */

static char dir[256];

static inline const char *in_dir(const char *name) {
  static char path[2][600];
  static int turn;
  turn = !turn;
  snprintf(path[turn], sizeof(path[turn]), "%s/%s", dir, name);
  return path[turn];
}

static inline void make_dir(void) {
  const char *const tmp = getenv("TMPDIR");
  snprintf(dir, sizeof(dir), "%s/pems-stream-XXXXXX", tmp ? tmp : "/var/tmp");
  ck_assert_ptr_nonnull(mkdtemp(dir));
}

/* How many files there are. */
static inline int files(void) {
  DIR *const d = opendir(dir);
  int n = 0;
  for (struct dirent *e = readdir(d); e; e = readdir(d)) {
    n += e->d_name[0] != '.' || strlen(e->d_name) > 2;
  }
  closedir(d);
  return n;
}

static inline void remove_dir(void) {
  char command[300];
  snprintf(command, sizeof(command), "rm -rf '%s'", dir);
  ck_assert_int_eq(system(command), 0);
}

static inline void write_file(const char *path, const void *data, size_t n) {
  FILE *const f = fopen(path, "w");
  ck_assert_ptr_nonnull(f);
  ck_assert_uint_eq(fwrite(data, 1, n, f), n);
  ck_assert_int_eq(fclose(f), 0);
}

/* The file has those n bytes, and no more. */
static inline void expect_file(const char *path, const void *data, size_t n) {
  FILE *const f = fopen(path, "r");
  ck_assert_msg(f != NULL, "%s", path);
  char *const buffer = malloc(n + 2);
  const size_t got = fread(buffer, 1, n + 1, f);
  ck_assert_uint_eq(got, n);
  ck_assert_int_eq(memcmp(buffer, data, n), 0);
  free(buffer);
  fclose(f);
}

static inline int run_suite(Suite *s) {
  return check_run(s);
}

#endif
