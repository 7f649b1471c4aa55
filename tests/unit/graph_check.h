/* What the tests of graphs share: small files, and graphs compared. */
#ifndef TESTS_UNIT_GRAPH_CHECK_H
#define TESTS_UNIT_GRAPH_CHECK_H

#include <check.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "digraph/digraph_file.h"

#include "check_main.h"

static char directory[] = "/tmp/pems-graph-XXXXXX";

/* The name of a file in this test's directory. */
static inline const char *path_of(const char *name) {
  static char path[2][200];
  static int turn;
  turn ^= 1;
  snprintf(path[turn], sizeof(path[turn]), "%s/%s", directory, name);
  return path[turn];
}

static inline void put_bytes(const char *name, const void *bytes, size_t n) {
  FILE *const file = fopen(path_of(name), "wb");
  ck_assert_ptr_nonnull(file);
  ck_assert_uint_eq(fwrite(bytes, 1, n, file), n);
  ck_assert_int_eq(fclose(file), 0);
}

static inline void put(const char *name, const char *text) {
  put_bytes(name, text, strlen(text));
}

/* All of a file, to be freed. */
static inline char *get(const char *name, size_t *n) {
  FILE *const file = fopen(path_of(name), "rb");
  ck_assert_ptr_nonnull(file);
  fseek(file, 0, SEEK_END);
  *n = (size_t)ftell(file);
  rewind(file);
  char *const bytes = calloc(*n + 1, 1);
  ck_assert_uint_eq(fread(bytes, 1, *n, file), *n);
  fclose(file);
  return bytes;
}

/* The graph in words: "NODES: FROM>TO*WEIGHT ...", by node. */
static inline const char *words_of(const struct digraph *g) {
  static char text[4096];
  int n = snprintf(text, sizeof(text), "%d:", (int)g->nodes);
  for (uint64_t v = 0; v < g->nodes; v++) {
    for (uint64_t i = g->first[v]; i < g->first[v + 1]; i++) {
      n += snprintf(text + n, sizeof(text) - (size_t)n, " %u>%u*%u",
                    (unsigned)v, g->edge[i].to, g->edge[i].weight);
    }
  }
  return text;
}

static inline void same_graph(const struct digraph *a,
                              const struct digraph *b) {
  ck_assert_uint_eq(a->nodes, b->nodes);
  ck_assert_uint_eq(a->edges, b->edges);
  ck_assert_mem_eq(a->first, b->first, (a->nodes + 1) * sizeof(*a->first));
  if (a->edges) {
    ck_assert_mem_eq(a->edge, b->edge, a->edges * sizeof(*a->edge));
  }
  ck_assert_int_eq(a->place != NULL, b->place != NULL);
  if (a->place) {
    ck_assert_mem_eq(a->place, b->place, a->nodes * sizeof(*a->place));
  }
}

/* A file is read as this graph. */
static inline void reads(const char *name, const struct digraph_read_options *o,
                         const char *words) {
  struct pems_error error = {0};
  struct digraph g;
  ck_assert_msg(digraph_read(&g, path_of(name), o, &error) == 0, "%s",
                error.text);
  ck_assert_str_eq(words_of(&g), words);
  digraph_free(&g);
}

/* It is refused: "<path of `at`><why>...: ...", in one line, and there is no
   graph. */
static inline void refuses_at(const char *name, const char *at,
                              const struct digraph_read_options *o,
                              const char *why) {
  struct pems_error error = {0};
  struct digraph g;
  char wanted[400];
  ck_assert_msg(digraph_read(&g, path_of(name), o, &error) == EINVAL,
                "read, but should not: %s", why);
  ck_assert_int_eq(error.code, EINVAL);
  snprintf(wanted, sizeof(wanted), "%s%s", path_of(at), why);
  ck_assert_msg(strncmp(error.text, wanted, strlen(wanted)) == 0,
                "\"%s\" is not \"%s\"", error.text, wanted);
  ck_assert_ptr_nonnull(strstr(error.text + strlen(path_of(at)) + 2, ": "));
  ck_assert_ptr_null(strchr(error.text, '\n'));
  for (int i = 0; i < 3; i++) {
    ck_assert_ptr_null(g.memory[i]);
  }
  /* Who asks for no reason gets the same. */
  ck_assert_int_eq(digraph_read(&g, path_of(name), o, NULL), EINVAL);
}

static inline void refuses(const char *name,
                           const struct digraph_read_options *o,
                           const char *why) {
  refuses_at(name, name, o, why);
}

static inline void directory_begin(void) {
  strcpy(directory + strlen(directory) - 6, "XXXXXX");
  ck_assert_ptr_nonnull(mkdtemp(directory));
}

static inline void directory_end(void) {
  char command[100];
  snprintf(command, sizeof(command), "rm -rf '%s'", directory);
  ck_assert_int_eq(system(command), 0);
}

static inline int run_suite(Suite *s) {
  return check_run(s);
}

#endif
