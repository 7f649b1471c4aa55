/* Random graphs of streams, without, with some and with all asynchronous nodes,
   against arrays. */
#define _GNU_SOURCE
#include "stream_check.h"

#include <stdbool.h>

enum { STREAMS = 8, MOST = 60000, SINKS = 16, MAPS = 256 };

/* The end of a stream that goes on: what it has, and how. */
struct stream {
  struct pems_node *node; /* with a free output */
  int pushed;             /* along a push edge */
  uint64_t *list;
  size_t n;
};

/* A sink that was put in, and what must be there. */
struct outcome {
  uint64_t *expected, *got;
  size_t n, made;
};

static unsigned state;
static struct pems_graph *g;
static struct stream stream[STREAMS];
static int streams;
static struct outcome outcome[SINKS];
static int sinks;
static uint64_t factor[MAPS];
static int maps;
static unsigned
    async; /* of 4 places for an asynchronous node, so many have one */

static unsigned below(unsigned n) {
  state = state * 1103515245 + 12345;
  return (state >> 8) % n;
}

static uint64_t *list_of(size_t n) {
  uint64_t *const list = malloc(n * U64 + 1);
  ck_assert_ptr_nonnull(list);
  return list;
}

/* Of one record, a few, or some batches. */
static size_t buffer(void) {
  const size_t sizes[] = {1, 64, 1000, 0, 10000};
  return sizes[below(5)];
}

/* --- growing a stream --- */

static void join_on(struct stream *s, struct pems_node *node) {
  if (s->pushed) {
    pems_edge_push(s->node, node);
  } else {
    pems_edge_pull(s->node, node);
  }
  s->node = node;
}

static int multiply(void *arg, const void *in, void *out, size_t n,
                    struct pems_error *e) {
  const uint64_t by = *(const uint64_t *)arg;
  (void)e;
  for (size_t i = 0; i < n; i++) {
    ((uint64_t *)out)[i] = ((const uint64_t *)in)[i] * by;
  }
  return 0;
}

static void add_map(struct stream *s) {
  uint64_t *const by = &factor[maps++ % MAPS];
  *by = 2 * below(1000) + 1;
  join_on(s, pems_node_map(g, "map", multiply, by, U64, U64));
  for (size_t i = 0; i < s->n; i++) {
    s->list[i] *= *by;
  }
}

static void add_filter(struct stream *s) {
  size_t n = 0;
  join_on(s, pems_node_filter(g, "filter", odd_only, NULL, U64, U64));
  for (size_t i = 0; i < s->n; i++) {
    if (s->list[i] & 1) {
      s->list[n++] = s->list[i];
    }
  }
  s->n = n;
}

/* x becomes x, x + 1. */
static int expand(void *arg, struct pems_in *in, struct pems_out *out,
                  struct pems_error *e) {
  const uint64_t *const from = in->records;
  uint64_t *const to = out->records;
  (void)arg;
  (void)e;
  for (; in->used < in->count && out->made + 2 <= out->room; in->used++) {
    to[out->made++] = from[in->used];
    to[out->made++] = from[in->used] + 1;
  }
  return 0;
}

static void add_expand(struct stream *s) {
  static const struct pems_port in = {.size = U64},
                                out = {.size = U64, .least = 2};
  uint64_t *const list = list_of(2 * s->n);
  if (2 * s->n > MOST) {
    free(list);
    return;
  }
  join_on(s, pems_node_scan(g, "expand",
                            &(struct pems_scan){.in = &in,
                                                .inputs = 1,
                                                .out = &out,
                                                .outputs = 1,
                                                .fn = expand}));
  for (size_t i = 0; i < s->n; i++) {
    list[2 * i] = s->list[i];
    list[2 * i + 1] = s->list[i] + 1;
  }
  free(s->list);
  s->list = list;
  s->n *= 2;
}

static void add_sorter(struct stream *s) {
  const struct pems_sort_options o = by_u64();
  join_on(s, pems_node_sorter(g, "sort", &o));
  s->pushed = 0;
  qsort(s->list, s->n, U64, u64_order);
}

static int look(void *arg, const void *records, size_t n,
                struct pems_error *e) {
  (void)arg;
  (void)records;
  (void)e;
  ck_assert_uint_gt(n, 0);
  return 0;
}

static void add_tap(struct stream *s) {
  join_on(s, pems_node_tap(g, "tap", look, NULL, U64));
}

static void add_async(struct stream *s) {
  if (below(4) >= async) {
    return;
  }
  join_on(s, s->pushed ? pems_node_async_push(g, "push", buffer())
                       : pems_node_async_pull(g, "pull", buffer()));
}

static void end_pushing(struct stream *s) {
  if (s->pushed) {
    join_on(s, pems_node_push_pull(g, "meet", buffer()));
  }
  s->pushed = 0;
}

/* --- several streams --- */

static uint64_t *copied(const struct stream *s) {
  uint64_t *const list = list_of(s->n);
  memcpy(list, s->list, s->n * U64);
  return list;
}

static struct pems_node *add_sink(const struct stream *s) {
  struct outcome *const o = &outcome[sinks++];
  o->expected = copied(s);
  o->n = s->n;
  o->got = list_of(s->n);
  struct pems_node *const sink =
      pems_node_memory_sink(g, "sink", o->got, o->n, U64, &o->made);
  struct stream end = *s;
  join_on(&end, sink);
  return sink;
}

/* The other branch is pushed; it ends in a sink, or goes on. */
static void branch(int i) {
  struct stream *const s = &stream[i];
  if (streams == STREAMS || sinks + STREAMS >= SINKS) {
    return;
  }
  join_on(s, pems_node_copy(g, "copy", 2));
  struct stream *const t = &stream[streams++];
  *t = *s;
  t->list = copied(s);
  t->pushed = 1;
}

static int sum(void *arg, const void *in, void *out, size_t n,
               struct pems_error *e) {
  const uint64_t *const from = in;
  (void)arg;
  (void)e;
  for (size_t i = 0; i < n; i++) {
    ((uint64_t *)out)[i] = from[2 * i] + 3 * from[2 * i + 1];
  }
  return 0;
}

/* Two branches that are joined again at once. */
static void diamond(struct stream *s) {
  uint64_t *const before = copied(s);
  end_pushing(s);
  join_on(s, pems_node_copy(g, "copy", 2));
  struct stream t = *s;
  t.pushed = 1;
  t.list = before;
  for (unsigned k = below(3); k > 0; k--) {
    add_map(s);
  }
  add_async(s);
  for (unsigned k = below(3); k > 0; k--) {
    add_map(&t);
  }
  add_async(&t);
  end_pushing(&t);
  struct pems_node *const zip = pems_node_zip(g, "zip", 2);
  struct pems_node *const add = pems_node_map(g, "sum", sum, NULL, 16, U64);
  const unsigned swap = below(2);
  pems_edge_pull(swap ? t.node : s->node, zip);
  pems_edge_pull(swap ? s->node : t.node, zip);
  pems_edge_pull(zip, add);
  for (size_t i = 0; i < s->n; i++) {
    s->list[i] = swap ? before[i] + 3 * s->list[i] : s->list[i] + 3 * before[i];
  }
  s->node = add;
  free(before);
}

/* Takes turns while both have records, then the rest. */
static int merge(void *arg, struct pems_in *in, struct pems_out *out,
                 struct pems_error *e) {
  const uint64_t *const a = in[0].records, *const b = in[1].records;
  uint64_t *const to = out->records;
  (void)arg;
  (void)e;
  while (out->made < out->room) {
    const bool has_a = in[0].used < in[0].count;
    const bool has_b = in[1].used < in[1].count;
    if ((!has_a && in[0].count > 0) || (!has_b && in[1].count > 0) ||
        (!has_a && !has_b)) {
      break;
    }
    if (!has_b || (has_a && a[in[0].used] < b[in[1].used])) {
      to[out->made++] = a[in[0].used++];
    } else {
      to[out->made++] = b[in[1].used++];
    }
  }
  return 0;
}

/* Two streams become one, both sorted before. */
static void merge_last(int i) {
  static const struct pems_port port[] = {{.size = U64}, {.size = U64}};
  struct stream *const s = &stream[i], *const t = &stream[streams - 1];
  struct pems_node *const node = pems_node_scan(
      g, "merge", &(struct pems_scan){port, 2, port, 1, merge, NULL});
  add_sorter(s);
  add_sorter(t);
  add_async(s);
  add_async(t);
  pems_edge_pull(s->node, node);
  pems_edge_pull(t->node, node);
  uint64_t *const list = list_of(s->n + t->n);
  memcpy(list, s->list, s->n * U64);
  memcpy(list + s->n, t->list, t->n * U64);
  qsort(list, s->n + t->n, U64, u64_order);
  free(s->list);
  free(t->list);
  s->list = list;
  s->n += t->n;
  s->node = node;
  streams--;
}

/* Dealt to some threads and collected again. */
static void round_robin(struct stream *s) {
  const int k = 1 + (int)below(4);
  const size_t chunk = 1 + below(100);
  uint64_t *const by = &factor[maps++ % MAPS];
  struct pems_node *deal = pems_node_distribute(g, "deal", k, chunk);
  struct pems_node *const collect = pems_node_collect(g, "collect", k, chunk);
  struct pems_node *const connect = pems_node_connect(g, "connect");
  *by = 2 * below(1000) + 1;
  end_pushing(s);
  pems_edge_pull(s->node, connect);
  pems_edge_push(connect, deal);
  pems_edge_start(collect, connect);
  for (int i = 0; i < k; i++) {
    struct stream t = {.node = deal, .pushed = 1};
    end_pushing(&t);
    join_on(&t, pems_node_map(g, "work", multiply, by, U64, U64));
    join_on(&t, pems_node_async_pull(g, "worker", buffer()));
    pems_edge_pull(t.node, collect);
  }
  for (size_t i = 0; i < s->n; i++) {
    s->list[i] *= *by;
  }
  s->node = collect;
}

/* --- whole graphs --- */

static void add_source(void) {
  struct stream *const s = &stream[streams++];
  const size_t sizes[] = {0, 1, 100, 3000, 20000};
  s->n = below((unsigned)sizes[below(5)] + 1);
  s->list = list_of(s->n);
  for (size_t i = 0; i < s->n; i++) {
    s->list[i] = mixed(state + i);
  }
  uint64_t *const data = copied(s);
  outcome[sinks++] = (struct outcome){.got = data};
  s->node = pems_node_memory_source(g, "source", data, s->n, U64);
  s->pushed = 0;
}

static void grow(void) {
  const int i = (int)below((unsigned)streams);
  struct stream *const s = &stream[i];
  switch (below(11)) {
  case 0:
    add_map(s);
    break;
  case 1:
    add_filter(s);
    break;
  case 2:
    add_expand(s);
    break;
  case 3:
    add_sorter(s);
    break;
  case 4:
    add_tap(s);
    break;
  case 5:
  case 6:
    add_async(s);
    break;
  case 7:
    branch(i);
    break;
  case 8:
    diamond(s);
    break;
  case 9:
    if (i < streams - 1 && s->n + stream[streams - 1].n <= MOST) {
      merge_last(i);
    }
    break;
  default:
    if (async) {
      round_robin(s);
    }
  }
}

/* Streams that are pushed may end in sinks; the others become one. */
static void end_all(void) {
  while (streams > 1) {
    struct stream *const last = &stream[streams - 1];
    if (last->pushed && below(2)) {
      add_sink(last);
      free(last->list);
      streams--;
    } else {
      merge_last(0);
    }
  }
  end_pushing(&stream[0]);
}

static void check(int i) {
  const struct outcome *const o = &outcome[i];
  if (o->expected) {
    ck_assert_uint_eq(o->made, o->n);
    ck_assert_int_eq(memcmp(o->got, o->expected, o->n * U64), 0);
  }
  free(o->expected);
  free(o->got);
}

/* Returns its primary sink. */
static struct pems_node *random_graph(unsigned seed) {
  const size_t batches[] = {0, 1, 100, 4096};
  state = seed;
  streams = sinks = maps = 0;
  memset(outcome, 0, sizeof(outcome));
  async = seed % 3 * 2;
  g = graph_with(12 * MIB, batches[below(4)], "mem");
  for (unsigned k = 1 + below(3); k > 0; k--) {
    add_source();
  }
  for (unsigned k = below(20); k > 0; k--) {
    grow();
  }
  end_all();
  struct pems_node *const sink = add_sink(&stream[0]);
  free(stream[0].list);
  return sink;
}

START_TEST(random_graphs) {
  for (unsigned k = 0; k < 12; k++) {
    struct pems_node *const sink = random_graph((unsigned)_i * 12 + k);
    expect_done(g, sink);
    pems_graph_free(g);
    for (int i = 0; i < sinks; i++) {
      check(i);
    }
  }
}
END_TEST

int main(void) {
  Suite *const s = suite_create("stream_random");
  TCase *const t = tcase_create("stream_random");
  tcase_set_timeout(t, 120);
  tcase_add_loop_test(t, random_graphs, 0, 25);
  suite_add_tcase(s, t);
  return run_suite(s);
}
