/* Time-forward processing: all modes against a loop over a graph in memory, and
   all ways to fail. */
#define _GNU_SOURCE
#include <pems/tfp.h>
#include <stdbool.h>

#include <check.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check_main.h"

#define MIB ((uint64_t)1 << 20)

enum { THREADS_MOST = 4 };

static struct pems_error error;

static uint64_t mixed(uint64_t x) {
  x += UINT64_C(0x9e3779b97f4a7c15);
  x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
  return x ^ x >> 31;
}

/* ck_assert writes to a file each time, and is not for threads. */
static void must(bool holds, const char *what) {
  if (!holds) {
    fprintf(stderr, "%s\n", what);
    abort();
  }
}

/* --- a graph in memory --- */

struct edge {
  uint64_t from, to;
  uint32_t weight, unused;
};

struct graph {
  uint64_t nodes, count;
  struct edge *edge; /* sorted by `from` */
  uint64_t width;    /* nodes per layer, but for the last */
  uint64_t *value;   /* what comes out */
  uint64_t read;     /* edges that the source gave */
  uint64_t piece;    /* edges that it gives at once, at most */
  /* What visits look at. */
  size_t message; /* bytes */
  uint64_t taken; /* results */
  atomic_int busy[THREADS_MOST];
};

/* Node v's value from the sum of what it is sent. */
static uint64_t value_of(uint64_t node, uint64_t sum) {
  return mixed(node * 3 + sum);
}

static uint64_t along(const struct edge *e, uint64_t value) {
  return mixed(value ^ e->weight);
}

static void solve(struct graph *g) {
  uint64_t *const sum = calloc(g->nodes + 1, sizeof(*sum));
  uint64_t done = 0;
  g->value = calloc(g->nodes + 1, sizeof(*g->value));
  for (uint64_t i = 0; i < g->count; i++) {
    const struct edge *const e = &g->edge[i];
    for (; done <= e->from; done++) {
      g->value[done] = value_of(done, sum[done]);
    }
    sum[e->to] += along(e, g->value[e->from]);
  }
  for (; done < g->nodes; done++) {
    g->value[done] = value_of(done, sum[done]);
  }
  free(sum);
}

/* Layers of `width` nodes, each with 0 to 2 * degree edges to any later one. */
static struct graph make_graph(uint64_t nodes, uint64_t width,
                               uint64_t degree) {
  struct graph g = {
      .nodes = nodes, .width = width, .piece = 1000, .message = 16};
  g.edge = calloc(nodes * 2 * degree + 1, sizeof(*g.edge));
  for (uint64_t v = 0; v < nodes; v++) {
    const uint64_t end = (v / width + 1) * width;
    const uint64_t edges = mixed(v) % (2 * degree + 1);
    for (uint64_t i = 0; i < edges && end < nodes; i++) {
      g.edge[g.count++] =
          (struct edge){v, end + mixed(v * 100 + i) % (nodes - end),
                        (uint32_t)mixed(v ^ i << 32), 0};
    }
  }
  solve(&g);
  return g;
}

static void free_graph(struct graph *g) {
  free(g->edge);
  free(g->value);
}

/* --- callbacks --- */

static int next_edges(void *arg, void *edges, size_t room, size_t *n,
                      struct pems_error *e) {
  struct graph *const g = arg;
  (void)e;
  *n = room < g->piece ? room : g->piece;
  if (*n > g->count - g->read) {
    *n = g->count - g->read;
  }
  memcpy(edges, g->edge + g->read, *n * sizeof(*g->edge));
  g->read += *n;
  return 0;
}

static int next_layer(void *arg, uint64_t first, uint64_t *next,
                      struct pems_error *e) {
  const struct graph *const g = arg;
  (void)e;
  must(first % g->width == 0, "not the first node of a layer");
  *next = g->nodes - first > g->width ? first + g->width : g->nodes;
  return 0;
}

/* Messages: to, value, and bytes that follow from it. */
static int send(struct pems_tfp_visit *v, size_t size, const struct edge *out,
                uint64_t value, struct pems_error *e) {
  char message[PEMS_RECORD_MOST];
  memset(message, (int)(value % 251), size);
  memcpy(message, &out->to, sizeof(out->to));
  memcpy(message + sizeof(out->to), &value, sizeof(value));
  return pems_tfp_send(v, message, 1, e);
}

static uint64_t receive(const struct pems_tfp_visit *v, size_t size) {
  uint64_t sum = 0;
  for (size_t i = 0; i < v->received; i++) {
    const char *const message = (const char *)v->messages + i * size;
    uint64_t to, value;
    memcpy(&to, message, sizeof(to));
    memcpy(&value, message + sizeof(to), sizeof(value));
    must(to == v->node, "another node's message");
    for (size_t b = 16; b < size; b++) {
      must((unsigned char)message[b] == value % 251, "a message has changed");
    }
    sum += value;
  }
  return sum;
}

static int visit(void *arg, struct pems_tfp_visit *v, struct pems_error *e) {
  struct graph *const g = arg;
  const struct edge *const out = v->edges;
  must(v->thread >= 0 && v->thread < THREADS_MOST, "the thread's number");
  must(atomic_exchange(&g->busy[v->thread], 1) == 0, "two of one number");
  const uint64_t value = value_of(v->node, receive(v, g->message));
  int failed = 0;
  for (size_t i = 0; i < v->degree && !failed; i++) {
    must(out[i].from == v->node, "another node's edge");
    failed = send(v, g->message, &out[i], along(&out[i], value), e);
  }
  memcpy(v->result, &value, sizeof(value));
  atomic_store(&g->busy[v->thread], 0);
  return failed;
}

static int take(void *arg, uint64_t first, const void *results, size_t n,
                struct pems_error *e) {
  struct graph *const g = arg;
  (void)e;
  must(first == g->taken, "results out of order");
  must(n > 0, "no results");
  must(memcmp(results, g->value + first, n * sizeof(*g->value)) == 0,
       "a value is wrong");
  g->taken += n;
  return 0;
}

static struct pems_tfp_options options(struct graph *g,
                                       enum pems_tfp_mode mode) {
  return (struct pems_tfp_options){
      .mode = mode,
      .nodes = g->nodes,
      .message = g->message,
      .visit = visit,
      .result = sizeof(*g->value),
      .take = take,
      .arg = g,
      .edges = next_edges,
      .edges_arg = g,
      .edge = sizeof(*g->edge),
      .layer = next_layer,
      .layer_arg = g,
      .memory = 16 * MIB,
      .threads = 2,
      .scratch = {.io = "mem"},
  };
}

static struct pems_tfp_counts run(struct graph *g,
                                  const struct pems_tfp_options *o) {
  struct pems_tfp_counts c;
  g->read = g->taken = 0;
  error.text[0] = '\0';
  const int failed = pems_tfp_run(o, &c, &error);
  ck_assert_msg(failed == 0, "%s", error.text);
  ck_assert_uint_eq(c.nodes, g->nodes);
  ck_assert_uint_eq(c.edges, o->edges ? g->count : 0);
  ck_assert_uint_eq(c.queue.pushed, c.messages);
  ck_assert_uint_eq(c.queue.popped, c.messages);
  if (o->take == take) {
    ck_assert_uint_eq(g->taken, g->nodes);
  }
  return c;
}

/* Runs, and expects a failure that says `text`. */
static void refuse(struct graph *g, const struct pems_tfp_options *o, int code,
                   const char *text) {
  g->read = g->taken = 0;
  error = (struct pems_error){0};
  ck_assert_int_eq(pems_tfp_run(o, NULL, &error), code);
  ck_assert_int_eq(error.code, code);
  ck_assert_msg(strstr(error.text, text), "'%s' is not in '%s'", text,
                error.text);
  g->read = g->taken = 0;
  ck_assert_int_eq(pems_tfp_run(o, NULL, NULL), code);
}

/* --- graphs of all shapes --- */

static const struct {
  uint64_t nodes, width, degree;
} shapes[] = {{0, 1, 1},        {1, 1, 0},      {2, 1, 1},
              {100, 1, 3},      {1000, 999, 3}, {5000, 5000, 2},
              {20000, 1000, 0}, {20000, 37, 4}, {30000, 7000, 5}};
enum { SHAPES = sizeof(shapes) / sizeof(*shapes) };

START_TEST(modes_agree_with_a_loop) {
  struct graph g =
      make_graph(shapes[_i].nodes, shapes[_i].width, shapes[_i].degree);
  for (int mode = 0; mode <= PEMS_TFP_BULK; mode++) {
    for (int threads = 1; threads <= THREADS_MOST; threads++) {
      struct pems_tfp_options o = options(&g, (enum pems_tfp_mode)mode);
      o.threads = threads;
      const struct pems_tfp_counts c = run(&g, &o);
      ck_assert_uint_eq(c.messages, g.count);
      ck_assert_uint_eq(c.layers, (g.nodes + g.width - 1) / g.width);
    }
  }
  free_graph(&g);
}
END_TEST

START_TEST(little_memory_will_do) {
  struct graph g = make_graph(60000, 9000, 3);
  struct pems_tfp_options o = options(&g, (enum pems_tfp_mode)_i);
  o.memory = pems_tfp_least_memory(&o);
  ck_assert_uint_gt(o.memory, 0);
  const struct pems_tfp_counts c = run(&g, &o);
  ck_assert_uint_le(c.memory, o.memory);
  if (_i == PEMS_TFP_BULK) {
    ck_assert_uint_gt(c.pieces, c.layers);
  }
  o.memory--;
  refuse(&g, &o, ENOMEM, "give ");
  o.memory = 1;
  refuse(&g, &o, ENOMEM, "too little memory");
  free_graph(&g);
}
END_TEST

START_TEST(messages_of_any_size) {
  static const size_t sizes[] = {16, 17, 24, 31, 100, 1000, PEMS_RECORD_MOST};
  struct graph g = make_graph(2000, 300, 2);
  for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
    g.message = sizes[i];
    const struct pems_tfp_options o = options(&g, (enum pems_tfp_mode)_i);
    run(&g, &o);
  }
  free_graph(&g);
}
END_TEST

/* The source gives one edge at a time, or as many as there is room for. */
START_TEST(edges_come_in_any_pieces) {
  static const uint64_t pieces[] = {1, 7, UINT64_MAX};
  struct graph g = make_graph(3000, 500, 3);
  for (size_t i = 0; i < 3; i++) {
    g.piece = pieces[i];
    const struct pems_tfp_options o = options(&g, (enum pems_tfp_mode)_i);
    run(&g, &o);
  }
  free_graph(&g);
}
END_TEST

START_TEST(no_layers_are_needed_one_by_one) {
  struct graph g = make_graph(5000, 1, 3);
  struct pems_tfp_options o = options(&g, PEMS_TFP_SEQUENTIAL);
  o.layer = NULL;
  const struct pems_tfp_counts c = run(&g, &o);
  ck_assert_uint_eq(c.layers, 0);
  free_graph(&g);
}
END_TEST

START_TEST(everything_else_may_be_left_out) {
  struct graph g = make_graph(100, 10, 2);
  struct pems_tfp_options o = options(&g, PEMS_TFP_BULK);
  o.memory = 0;
  o.threads = 0;
  o.scratch.io = NULL;
  for (int i = 0; i < THREADS_MOST; i++) {
    atomic_store(&g.busy[i], 0);
  }
  o.threads = 1;
  run(&g, &o);
  free_graph(&g);
}
END_TEST

/* --- a graph that is nowhere: paths through a grid of 8 x 8 --- */

struct paths {
  uint64_t to, count;
};

enum { SIDE = 8 };

/* Nodes by diagonals: v is cell (x, d - x) of diagonal d. */
static uint64_t cell(uint64_t x, uint64_t y) {
  uint64_t v = 0;
  for (uint64_t d = 0; d < x + y; d++) {
    v += d < SIDE ? d + 1 : 2 * SIDE - 1 - d;
  }
  return v + (x + y < SIDE ? x : x - (x + y - SIDE + 1));
}

static int visit_cell(void *arg, struct pems_tfp_visit *v,
                      struct pems_error *e) {
  const struct paths *const in = v->messages;
  struct paths out[2] = {{0, v->node == 0}};
  size_t n = 0;
  (void)arg;
  for (size_t i = 0; i < v->received; i++) {
    out[0].count += in[i].count;
  }
  memcpy(v->result, &out[0].count, sizeof(out[0].count));
  out[1] = out[0];
  for (uint64_t x = 0; x < SIDE; x++) {
    for (uint64_t y = 0; y < SIDE; y++) {
      if (cell(x, y) != v->node) {
        continue;
      }
      if (x + 1 < SIDE) {
        out[n++].to = cell(x + 1, y);
      }
      if (y + 1 < SIDE) {
        out[n++].to = cell(x, y + 1);
      }
    }
  }
  return pems_tfp_send(v, out, n, e);
}

static int next_diagonal(void *arg, uint64_t first, uint64_t *next,
                         struct pems_error *e) {
  (void)arg;
  (void)e;
  for (uint64_t d = 0, v = 0; v <= first; d++) {
    *next = v += d < SIDE ? d + 1 : 2 * SIDE - 1 - d;
  }
  return 0;
}

static int keep_last(void *arg, uint64_t first, const void *results, size_t n,
                     struct pems_error *e) {
  (void)first;
  (void)e;
  memcpy(arg, (const uint64_t *)results + n - 1, sizeof(uint64_t));
  return 0;
}

START_TEST(visits_may_know_the_graph) {
  uint64_t last = 0;
  struct pems_tfp_counts c;
  const struct pems_tfp_options o = {.mode = (enum pems_tfp_mode)_i,
                                     .nodes = SIDE * SIDE,
                                     .message = sizeof(struct paths),
                                     .visit = visit_cell,
                                     .result = sizeof(uint64_t),
                                     .take = keep_last,
                                     .arg = &last,
                                     .layer = next_diagonal,
                                     .memory = 8 * MIB,
                                     .threads = 2,
                                     .scratch = {.io = "mem"}};
  const int failed = pems_tfp_run(&o, &c, &error);
  ck_assert_msg(failed == 0, "%s", error.text);
  ck_assert_uint_eq(last, 3432); /* 14 over 7 */
  ck_assert_uint_eq(c.messages, 2 * SIDE * (SIDE - 1));
  ck_assert_uint_eq(c.layers, 2 * SIDE - 1);
  ck_assert_uint_eq(c.received, 2);
}
END_TEST

/* --- hubs --- */

/* All nodes have one edge to the last; or the first has edges to all. */
static struct graph make_star(uint64_t nodes, bool in) {
  struct graph g = {.nodes = nodes,
                    .count = nodes - 1,
                    .width = in ? nodes - 1 : 1,
                    .piece = UINT64_MAX,
                    .message = 16};
  g.edge = calloc(nodes, sizeof(*g.edge));
  for (uint64_t i = 0; i + 1 < nodes; i++) {
    g.edge[i] = in ? (struct edge){i, nodes - 1, (uint32_t)i, 0}
                   : (struct edge){0, i + 1, (uint32_t)i, 0};
  }
  solve(&g);
  return g;
}

START_TEST(hubs_get_as_much_as_buffers_hold) {
  struct graph in = make_star(3000, true), out = make_star(3000, false);
  struct pems_tfp_options o = options(&in, (enum pems_tfp_mode)_i);
  struct pems_tfp_counts c = run(&in, &o);
  ck_assert_uint_eq(c.received, 2999);
  o.memory = pems_tfp_least_memory(&o);
  refuse(&in, &o, ENOMEM, "node 2999 is sent more messages");
  o = options(&out, (enum pems_tfp_mode)_i);
  c = run(&out, &o);
  ck_assert_uint_eq(c.degree, 2999);
  o.memory = pems_tfp_least_memory(&o);
  refuse(&out, &o, ENOMEM, "node 0 has more edges");
  free_graph(&in);
  free_graph(&out);
}
END_TEST

/* --- failures --- */

static int send_to(void *arg, struct pems_tfp_visit *v, struct pems_error *e) {
  const uint64_t *const wrong = arg;
  const uint64_t message[2] = {wrong[1], 0};
  if (v->node != wrong[0]) {
    return 0;
  }
  const int code = pems_tfp_send(v, message, 1, e);
  must(code == EINVAL && e->code == EINVAL && e->text[0], "sent");
  return wrong[2] ? 0 : code; /* whatever the visit returns */
}

START_TEST(messages_go_forward) {
  static const struct {
    uint64_t from, to;
    const char *text;
  } wrong[] = {
      {50, 50, "node 50 sends to node 50, which has had its turn"},
      {50, 7, "node 50 sends to node 7, which has had its turn"},
      {50, 51,
       "node 50 sends to node 51 in its own layer, which ends before "
       "node 60"},
      {50, 59, "in its own layer"},
      {50, 100, "node 50 sends to node 100: there are only 100"},
      {99, UINT64_MAX, "there are only 100"},
  };
  struct graph g = make_graph(100, 10, 0);
  struct pems_tfp_options o = options(&g, (enum pems_tfp_mode)_i);
  o.visit = send_to;
  o.take = NULL;
  o.result = 0;
  for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
    for (uint64_t ignored = 0; ignored < 2; ignored++) {
      uint64_t arg[] = {wrong[i].from, wrong[i].to, ignored};
      o.arg = arg;
      refuse(&g, &o, EINVAL, wrong[i].text);
    }
  }
  uint64_t right[] = {50, 60, 0};
  o.arg = right;
  o.visit = visit_cell; /* not called: there are no nodes */
  o.nodes = 0;
  ck_assert_int_eq(pems_tfp_run(&o, NULL, &error), 0);
  free_graph(&g);
}
END_TEST

static int fail_at(void *arg, struct pems_tfp_visit *v, struct pems_error *e) {
  const uint64_t *const at = arg;
  if (v->node < at[0]) {
    return 0;
  }
  if (at[1]) {
    snprintf(e->text, sizeof(e->text), "it is not well");
  }
  return ENOTTY;
}

START_TEST(visits_fail) {
  struct graph g = make_graph(1000, 200, 1);
  struct pems_tfp_options o = options(&g, (enum pems_tfp_mode)_i);
  uint64_t at[2] = {500, 0};
  o.visit = fail_at;
  o.arg = at;
  o.take = NULL;
  o.result = 0;
  refuse(&g, &o, ENOTTY, "failed: Inappropriate ioctl");
  at[0] = 999;
  at[1] = 1;
  refuse(&g, &o, ENOTTY, "node 999 failed: it is not well");
  at[0] = 0; /* all at once */
  o.threads = THREADS_MOST;
  refuse(&g, &o, ENOTTY, "failed: it is not well");
  free_graph(&g);
}
END_TEST

static int take_nothing(void *arg, uint64_t first, const void *results,
                        size_t n, struct pems_error *e) {
  (void)arg, (void)first, (void)results, (void)n;
  if (first > 0) {
    snprintf(e->text, sizeof(e->text), "no room for more");
  }
  return ENOSPC;
}

static int fail_edges(void *arg, void *edges, size_t room, size_t *n,
                      struct pems_error *e) {
  struct graph *const g = arg;
  if (g->read > 100) {
    return EIO;
  }
  return next_edges(arg, edges, room < 80 ? room : 80, n, e);
}

static int fail_layer(void *arg, uint64_t first, uint64_t *next,
                      struct pems_error *e) {
  if (first >= 400) {
    return ENODATA;
  }
  return next_layer(arg, first, next, e);
}

static int same_layer(void *arg, uint64_t first, uint64_t *next,
                      struct pems_error *e) {
  if (first < 400) {
    return next_layer(arg, first, next, e);
  }
  *next = 400;
  return 0;
}

static int far_layer(void *arg, uint64_t first, uint64_t *next,
                     struct pems_error *e) {
  (void)arg, (void)first, (void)e;
  *next = 1001;
  return 0;
}

START_TEST(other_callbacks_fail) {
  struct graph g = make_graph(1000, 200, 3);
  const struct pems_tfp_options right = options(&g, (enum pems_tfp_mode)_i);
  struct pems_tfp_options o = right;
  o.take = take_nothing;
  refuse(&g, &o, ENOSPC, "results of nodes were not taken");
  o = right;
  o.edges = fail_edges;
  refuse(&g, &o, EIO, "the source of edges failed");
  o = right;
  o.layer = fail_layer;
  refuse(&g, &o, ENODATA, "the source of layers failed");
  o.layer = same_layer;
  refuse(&g, &o, EINVAL, "a layer is wrong: nodes 400 to 400 of 1000");
  o.layer = far_layer;
  refuse(&g, &o, EINVAL, "a layer is wrong: nodes 0 to 1001 of 1000");
  free_graph(&g);
}
END_TEST

START_TEST(edges_must_be_sorted) {
  struct graph g = make_graph(1000, 200, 3);
  const struct pems_tfp_options o = options(&g, (enum pems_tfp_mode)_i);
  struct edge *const e = &g.edge[g.count / 2];
  const uint64_t from = e->from;
  e->from = 3;
  refuse(&g, &o, EINVAL, "edges are out of order: one from node 3 after");
  e->from = 1000;
  refuse(&g, &o, EINVAL, "one from node 1000 after");
  e->from = from;
  run(&g, &o);
  free_graph(&g);
}
END_TEST

START_TEST(options_are_checked) {
  struct graph g = make_graph(10, 5, 1);
  const struct pems_tfp_options right = options(&g, PEMS_TFP_BULK);
  struct pems_tfp_options o = right;
#define WRONG(field, value, text)                                              \
  o = right;                                                                   \
  o.field = value;                                                             \
  refuse(&g, &o, EINVAL, text);                                                \
  ck_assert_uint_eq(pems_tfp_least_memory(&o), 0)
  WRONG(mode, (enum pems_tfp_mode)3, "no mode 3");
  WRONG(message, 7, "cannot have 7 bytes");
  WRONG(message, PEMS_RECORD_MOST + 1, "cannot have 4097 bytes");
  WRONG(edge, 7, "cannot have 7 bytes");
  WRONG(result, PEMS_RECORD_MOST + 1, "cannot have 4097 bytes");
  WRONG(visit, NULL, "nothing visits");
  WRONG(layer, NULL, "no layers");
  WRONG(take, NULL, "nothing takes");
  WRONG(threads, -1, "-1 threads");
  WRONG(nodes, UINT64_MAX, "too many");
#undef WRONG
  o = right;
  o.kernel = "no such kernel";
  refuse(&g, &o, EINVAL, "");
  free_graph(&g);
}
END_TEST

START_TEST(disks_that_are_not_there) {
  static const char *const path[] = {"/nonexistent/directory"};
  struct graph g = make_graph(10, 5, 1);
  struct pems_tfp_options o = options(&g, (enum pems_tfp_mode)_i);
  o.scratch = (struct pems_disks_options){.path = path, .count = 1};
  refuse(&g, &o, ENOENT, "/nonexistent");
  free_graph(&g);
}
END_TEST

/* --- more than memory --- */

START_TEST(messages_on_disk) {
  struct graph g = make_graph(400000, 40000, 4);
  struct pems_tfp_options o = options(&g, (enum pems_tfp_mode)_i);
  struct pems_disks *disks;
  ck_assert_int_eq(pems_disks_open(&disks,
                                   &(struct pems_disks_options){.io = "mem"},
                                   &error),
                   0);
  o.scratch.io = NULL;
  o.disks = disks;
  o.memory = 4 * MIB;
  if (o.memory < pems_tfp_least_memory(&o)) {
    o.memory = pems_tfp_least_memory(&o);
  }
  const struct pems_tfp_counts c = run(&g, &o);
  ck_assert_uint_gt(c.queue.most * g.message, 2 * o.memory);
  ck_assert_uint_le(c.memory + c.queue.memory, o.memory);
  ck_assert_uint_gt(c.queue.io.bytes_written, o.memory);
  pems_disks_close(disks);
  free_graph(&g);
}
END_TEST

/* The n-th request fails: the run ends with that; or all is right, for what was
   read in advance may be for nothing. */
START_TEST(disks_fail) {
  static const struct {
    const char *io;
    int code, certain;
  } faults[] = {{"fault:mem,write=1:EIO", EIO, 1},
                {"fault:mem,write=2:ENOSPC", ENOSPC, 1},
                {"fault:mem,write=100:EIO", EIO, 1},
                {"fault:mem,read=1:EIO", EIO, 1},
                {"fault:mem,read=7:EIO", EIO, 0},
                {"fault:mem,read=40:EIO", EIO, 0},
                {"fault:mem,read=1000000:EIO", 0, 1}};
  struct graph g = make_graph(200000, 20000, 4);
  struct pems_tfp_options o = options(&g, (enum pems_tfp_mode)_i);
  o.memory = pems_tfp_least_memory(&o) + MIB;
  for (size_t i = 0; i < sizeof(faults) / sizeof(*faults); i++) {
    g.read = g.taken = 0;
    o.scratch.io = faults[i].io;
    error = (struct pems_error){0};
    const int code = pems_tfp_run(&o, NULL, &error);
    ck_assert_msg(code == faults[i].code || (code == 0 && !faults[i].certain),
                  "%s: %d %s", faults[i].io, code, error.text);
    ck_assert_int_eq(code, error.code);
    if (code == 0) {
      ck_assert_uint_eq(g.taken, g.nodes);
    }
  }
  free_graph(&g);
}
END_TEST

int main(void) {
  Suite *const s = suite_create("tfp");
  TCase *const c = tcase_create("tfp");
  const int modes = PEMS_TFP_BULK + 1;
  tcase_set_timeout(c, 60);
  tcase_add_loop_test(c, modes_agree_with_a_loop, 0, SHAPES);
  tcase_add_loop_test(c, little_memory_will_do, 0, modes);
  tcase_add_loop_test(c, messages_of_any_size, 0, modes);
  tcase_add_loop_test(c, edges_come_in_any_pieces, 0, modes);
  tcase_add_test(c, no_layers_are_needed_one_by_one);
  tcase_add_test(c, everything_else_may_be_left_out);
  tcase_add_loop_test(c, visits_may_know_the_graph, 0, modes);
  tcase_add_loop_test(c, hubs_get_as_much_as_buffers_hold, 0, modes);
  tcase_add_loop_test(c, messages_go_forward, 0, modes);
  tcase_add_loop_test(c, visits_fail, 0, modes);
  tcase_add_loop_test(c, other_callbacks_fail, 0, modes);
  tcase_add_loop_test(c, edges_must_be_sorted, 0, modes);
  tcase_add_test(c, options_are_checked);
  tcase_add_loop_test(c, disks_that_are_not_there, 0, modes);
  tcase_add_loop_test(c, messages_on_disk, 0, modes);
  tcase_add_loop_test(c, disks_fail, 0, modes);
  suite_add_tcase(s, c);
  return check_run(s);
}
