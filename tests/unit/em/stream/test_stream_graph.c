/* Graphs of streams that are wrong or fail, and how they are shared out. */
#define _GNU_SOURCE
#include "stream_check.h"

enum { N = 50000 };

static uint64_t in[N], out[2 * N];
static size_t made;
static struct pems_graph *g;
static struct pems_node *source, *sink;

static void begin(void) {
  for (size_t k = 0; k < N; k++) {
    in[k] = mixed(k);
  }
  g = graph_with(64 * MIB, 0, "mem");
  source = pems_node_memory_source(g, "source", in, N, U64);
  sink = pems_node_memory_sink(g, "sink", out, 2 * N, U64, &made);
}

static void end(void) {
  pems_graph_free(g);
}

static int look(void *arg, const void *records, size_t n,
                struct pems_error *e) {
  (void)records;
  (void)e;
  return burnt(arg, n);
}

static struct pems_node *map(const char *name) {
  return pems_node_map(g, name, twice, NULL, U64, U64);
}

static struct pems_node *drop(const char *name) {
  return pems_node_callback_sink(g, name, look, NULL, U64);
}

static struct pems_node *sorter(const char *name) {
  const struct pems_sort_options o = by_u64();
  return pems_node_sorter(g, name, &o);
}

static int scan_all(void *arg, struct pems_in *from, struct pems_out *to,
                    struct pems_error *e) {
  const size_t n = from->count < to->room ? from->count : to->room;
  memcpy(to->records, from->records, n * U64);
  from->used = to->made = n;
  if (burnt(arg, n) == 0) {
    return 0;
  }
  e->code = EPERM;
  strcpy(e->text, "what the callback says");
  return EPERM;
}

/* --- edges that are missing or wrong --- */

/* A graph without the source and the sink. */
static void begin_empty(void) {
  pems_graph_free(g);
  g = graph_with(64 * MIB, 0, "mem");
}

START_TEST(an_input_is_not_connected) {
  begin_empty();
  struct pems_node *const zip = pems_node_zip(g, "zip", 2);
  struct pems_node *const to = pems_node_callback_sink(g, "to", look, NULL, 16);
  pems_edge_pull(sorter("sort"), zip);
  pems_edge_pull(zip, to);
  expect_failure(g, to, EINVAL, "zip", "input 1 is not connected");
}
END_TEST

START_TEST(an_output_is_not_connected) {
  struct pems_node *const copy = pems_node_copy(g, "copy", 2);
  pems_edge_pull(source, copy);
  pems_edge_pull(copy, sink);
  expect_failure(g, sink, EINVAL, "copy", "output 1 is not connected");
}
END_TEST

START_TEST(too_many_edges) {
  struct pems_node *const other = drop("other");
  pems_edge_pull(source, sink);
  if (_i) {
    pems_edge_pull(source, other);
  } else {
    pems_edge_pull(sorter("sort"), sink);
  }
  expect_failure(g, sink, EINVAL, _i ? "source" : "sink", "all connected");
}
END_TEST

START_TEST(edges_between_graphs) {
  struct pems_graph *const g2 = graph_with(64 * MIB, 0, "mem");
  struct pems_node *const other =
      pems_node_callback_sink(g2, "other", look, NULL, U64);
  pems_edge_pull(source, other);
  expect_failure(g, sink, EINVAL, "other", "another graph");
  pems_graph_free(g2);
}
END_TEST

static void connect_to(int push, struct pems_node *a, struct pems_node *b) {
  if (push) {
    pems_edge_push(a, b);
  } else {
    pems_edge_pull(a, b);
  }
}

static struct pems_node *node_of(int kind) {
  switch (kind) {
  case 0:
    return pems_node_async_pull(g, "node", 0);
  case 1:
    return pems_node_async_push(g, "node", 0);
  case 2:
    return pems_node_push_pull(g, "node", 0);
  case 3:
    return pems_node_distribute(g, "node", 1, 0);
  case 4:
    return pems_node_collect(g, "node", 1, 0);
  default:
    return pems_node_connect(g, "node");
  }
}

/* Each kind with the wrong input, or the wrong output. */
START_TEST(edges_that_a_kind_refuses) {
  static const int pushed[] = {0, 1, 1, 1, 0, 0};
  static const int pushes[] = {0, 1, 0, 1, 0, 1};
  struct pems_node *const node = node_of(_i / 2);
  connect_to(pushed[_i / 2] ^ (_i & 1), source, node);
  connect_to(pushes[_i / 2] ^ !(_i & 1), node, sink);
  expect_failure(g, sink, EINVAL, "node node", "must be");
}
END_TEST

START_TEST(driven_twice) {
  struct pems_node *const m = map("middle");
  pems_edge_push(source, m);
  pems_edge_pull(m, sink);
  expect_failure(g, sink, EINVAL, "middle", "both source and sink");
}
END_TEST

START_TEST(the_wrong_primary_sink) {
  struct pems_graph *const g2 = graph_with(64 * MIB, 0, "mem");
  struct pems_node *const other = pems_node_connect(g2, "other");
  pems_edge_pull(source, sink);
  struct pems_node *const wrong[] = {source, NULL, other};
  expect_failure(g, wrong[_i], EINVAL, _i == 0 ? "source" : "primary sink",
                 _i == 0   ? "sink drives it"
                 : _i == 1 ? "NULL"
                           : "other");
  pems_graph_free(g2);
}
END_TEST

START_TEST(unreachable) {
  struct pems_node *const first =
      pems_node_memory_source(g, "alone", in, 1, U64);
  struct pems_node *const last = drop("lonely");
  pems_edge_pull(source, sink);
  pems_edge_pull(first, last);
  expect_failure(g, sink, EINVAL, "alone", "cannot be reached");
}
END_TEST

START_TEST(cycles) {
  struct pems_node *const zip = pems_node_copy(g, "round", 2);
  struct pems_node *const meet = pems_node_push_pull(g, "meet", 0);
  struct pems_node *const m = pems_node_zip(g, "join", 2);
  struct pems_node *const half = pems_node_map(g, "half", twice, NULL, 16, 8);
  pems_edge_pull(source, m);
  pems_edge_pull(meet, m);
  pems_edge_pull(m, half);
  pems_edge_pull(half, zip);
  pems_edge_push(zip, meet);
  pems_edge_pull(zip, sink);
  ck_assert_int_eq(pems_graph_start(g, sink, &error), EINVAL);
  ck_assert_ptr_nonnull(strstr(error.text, "cycle"));
  ck_assert_ptr_null(strstr(error.text, "node sink"));
  ck_assert_ptr_null(strstr(error.text, "node source"));
}
END_TEST

/* Round one sorter, and round the last of two. */
START_TEST(round_a_sorter) {
  struct pems_node *const branch = pems_node_copy(g, "branch", 2);
  struct pems_node *const join = pems_node_zip(g, "join", 2);
  struct pems_node *const add = pems_node_map(g, "add", twice, NULL, 16, U64);
  struct pems_node *const first = sorter("sort 1");
  struct pems_node *const second = _i ? sorter("sort 2") : map("map");
  struct pems_node *const wait = pems_node_push_pull(g, "wait", 0);
  pems_edge_pull(source, branch);
  pems_edge_pull(branch, first);
  pems_edge_pull(first, second);
  pems_edge_pull(second, join);
  pems_edge_push(branch, wait);
  pems_edge_pull(wait, join);
  pems_edge_pull(join, add);
  pems_edge_pull(add, sink);
  expect_failure(g, sink, EINVAL, "sort", "go round it");
}
END_TEST

START_TEST(sizes_and_types) {
  struct pems_node *const m =
      pems_node_map(g, "map", twice, NULL, _i == 0 ? 16 : 8, _i == 1 ? 4 : 8);
  if (_i == 2) {
    pems_node_types(source, NULL, "apple");
    pems_node_types(m, "pear", NULL);
  }
  pems_edge_pull(source, m);
  pems_edge_pull(m, sink);
  if (_i < 3) {
    expect_failure(g, sink, EINVAL, _i == 1 ? "node sink" : "node map",
                   _i == 2   ? "type pear, but node source makes such of type "
                               "apple"
                   : _i == 1 ? "8 bytes, but node map makes such of 4"
                             : "16 bytes, but node source makes such of 8");
  } else {
    expect_done(g, sink);
  }
}
END_TEST

/* Through nodes that only pass on. */
START_TEST(types_are_passed_on) {
  struct pems_node *const a = pems_node_async_pull(g, "async", 0);
  struct pems_node *const s = sorter("sort");
  pems_node_types(source, NULL, "apple");
  pems_node_types(sink, _i ? "apple" : "pear", NULL);
  pems_edge_pull(source, a);
  pems_edge_pull(a, s);
  pems_edge_pull(s, sink);
  if (_i) {
    expect_done(g, sink);
  } else {
    expect_failure(g, sink, EINVAL, "sink", "pear, but node sort");
  }
}
END_TEST

/* --- nodes that cannot be made --- */

START_TEST(nodes_that_cannot_be_made) {
  const struct pems_sort_options wrong = {.record = {.size = 0}};
  struct pems_node *n = source;
  switch (_i) {
  case 0:
    n = pems_node_map(g, "wrong", NULL, NULL, 8, 8);
    break;
  case 1:
    n = pems_node_filter(g, "wrong", NULL, NULL, 8, 8);
    break;
  case 2:
    n = pems_node_generator(g, "wrong", NULL, NULL, 8);
    break;
  case 3:
    n = pems_node_callback_sink(g, "wrong", NULL, NULL, 8);
    break;
  case 4:
    n = pems_node_tap(g, "wrong", NULL, NULL, 8);
    break;
  case 5:
    n = pems_node_scan(g, "wrong", NULL);
    break;
  case 6:
    n = pems_node_copy(g, "wrong", 0);
    break;
  case 7:
    n = pems_node_zip(g, "wrong", 0);
    break;
  case 8:
    n = pems_node_file_source(g, "wrong", NULL, 8);
    break;
  case 9:
    n = pems_node_file_sink(g, "wrong", NULL);
    break;
  case 10:
    n = pems_node_memory_source(g, "wrong", NULL, 1, 8);
    break;
  case 11:
    n = pems_node_sorter(g, "wrong", NULL);
    break;
  case 12:
    n = pems_node_sorter(g, "wrong", &wrong);
    break;
  case 13:
    n = pems_node_run_creator(g, "wrong", NULL, 8);
    break;
  case 14:
    n = pems_node_merger(g, "wrong", NULL, 8);
    break;
  case 15:
    n = pems_node_distribute(g, "wrong", 0, 0);
    break;
  case 16:
    n = pems_node_collect(g, "wrong", 0, 0);
    break;
  }
  ck_assert_ptr_null(n);
  /* All take NULL, and what came first is told. */
  pems_edge_pull(n, sink);
  pems_edge_push(source, n);
  pems_edge_start(sink, n);
  pems_node_types(n, "a", "b");
  ck_assert_ptr_null(pems_node_map(g, "later", NULL, NULL, 8, 8));
  expect_failure(g, sink, EINVAL, "wrong", "");
}
END_TEST

START_TEST(records_of_no_bytes) {
  struct pems_node *const m = pems_node_map(g, "empty", twice, NULL, 8, 0);
  pems_edge_pull(source, m);
  pems_edge_pull(m, sink);
  expect_failure(g, sink, EINVAL, "empty", "0 bytes");
}
END_TEST

START_TEST(records_of_too_many_bytes) {
  const struct pems_port small = {.size = U64};
  const struct pems_port large[] = {{.size = SIZE_MAX / 2},
                                    {.size = U64, .least = SIZE_MAX / 4}};
  struct pems_node *const n = pems_node_scan(
      g, "large",
      &(struct pems_scan){&small, 1, &large[_i], 1, scan_all, NULL});
  pems_edge_pull(source, n);
  pems_edge_pull(n, sink);
  expect_failure(g, sink, EINVAL, "large", "too much");
}
END_TEST

START_TEST(no_graph) {
  ck_assert_int_eq(pems_graph_start(NULL, NULL, NULL), ENOMEM);
  ck_assert_int_eq(pems_graph_check(NULL, NULL, NULL), ENOMEM);
  ck_assert_int_eq(pems_graph_dot(NULL, stdout), EINVAL);
  ck_assert_ptr_null(pems_node_connect(NULL, "none"));
  pems_graph_free(NULL);
}
END_TEST

START_TEST(a_graph_runs_once) {
  pems_edge_pull(source, sink);
  expect_done(g, sink);
  expect_failure(g, sink, EINVAL, "started already", "");
}
END_TEST

/* --- callbacks that fail --- */

enum { KINDS = 6 };

static int generate(void *arg, void *records, size_t room, size_t *n,
                    struct pems_error *e) {
  (void)e;
  memset(records, 1, room * U64);
  *n = room;
  return burnt(arg, room);
}

static struct pems_node *failing(int kind, struct fuse *fuse) {
  static const struct pems_port port = {.size = U64};
  switch (kind) {
  case 0:
    return pems_node_map(g, "bad", twice, fuse, U64, U64);
  case 1:
    return pems_node_filter(g, "bad", odd_only, fuse, U64, U64);
  case 2:
    return pems_node_tap(g, "bad", look, fuse, U64);
  case 3:
    return pems_node_scan(
        g, "bad", &(struct pems_scan){&port, 1, &port, 1, scan_all, fuse});
  case 4:
    return pems_node_generator(g, "bad", generate, fuse, U64);
  default:
    return pems_node_callback_sink(g, "bad", look, fuse, U64);
  }
}

/* Each kind, in threads or not, at once or later. */
START_TEST(callbacks_that_fail) {
  struct fuse fuse = {_i / KINDS % 2 ? N / 2 : 0};
  const int kind = _i % KINDS, threads = _i / KINDS / 2;
  begin_empty();
  struct pems_node *const bad = failing(kind, &fuse);
  struct pems_node *last =
      kind == 4 ? bad : pems_node_memory_source(g, "source", in, N, U64);
  if (kind < 4) {
    pems_edge_pull(last, bad);
    last = bad;
  }
  for (int i = 0; i < threads; i++) {
    struct pems_node *const a = pems_node_async_pull(g, "async", 100);
    pems_edge_pull(last, a);
    last = a;
  }
  struct pems_node *const s = sorter("sort");
  pems_edge_pull(last, s);
  sink = kind == 5 ? bad : drop("drop");
  pems_edge_pull(s, sink);
  expect_failure(g, sink, EPERM, "stream node bad",
                 kind == 3 ? "what the callback says" : "callback failed");
}
END_TEST

static int greedy(void *arg, struct pems_in *from, struct pems_out *to,
                  struct pems_error *e) {
  (void)e;
  from->used = *(int *)arg == 0 ? from->count + 1 : 0;
  to->made = *(int *)arg == 1 ? to->room + 1 : 0;
  return *(int *)arg == 3 ? -5 : 0;
}

START_TEST(callbacks_that_lie) {
  static const struct pems_port port = {.size = U64};
  int what = _i;
  struct pems_node *const bad = pems_node_scan(
      g, "bad", &(struct pems_scan){&port, 1, &port, 1, greedy, &what});
  pems_edge_pull(source, bad);
  pems_edge_pull(bad, sink);
  const char *const text[] = {"used more", "made more", "neither used nor made",
                              "callback failed"};
  expect_failure(g, sink, EINVAL, "bad", text[_i]);
}
END_TEST

/* --- a callback that wants no more --- */

static int first_ten(void *arg, struct pems_in *from, struct pems_out *to,
                     struct pems_error *e) {
  (void)arg;
  (void)e;
  const uint64_t *const a = from->records;
  for (; from->used < 10; from->used++) {
    ((uint64_t *)to->records)[to->made++] = a[from->used];
  }
  return PEMS_SCAN_END;
}

/* The other branch gets all, nevertheless. */
START_TEST(the_rest_is_read_and_lost) {
  static const struct pems_port port = {.size = U64};
  struct pems_node *const few = pems_node_scan(
      g, "few", &(struct pems_scan){&port, 1, &port, 1, first_ten, NULL});
  struct pems_node *const copy = pems_node_copy(g, "copy", 2);
  struct pems_node *const all = drop("all");
  pems_edge_pull(source, copy);
  if (_i) {
    pems_edge_pull(copy, all);
    pems_edge_push(copy, few);
    pems_edge_push(few, sink);
  } else {
    pems_edge_pull(copy, few);
    pems_edge_push(copy, all);
    pems_edge_pull(few, sink);
  }
  expect_done(g, _i ? all : sink);
  struct pems_node_counts c;
  pems_node_counts(all, &c);
  ck_assert_uint_eq(c.records_in, N);
  ck_assert_uint_eq(made, 10);
  ck_assert_int_eq(memcmp(out, in, 10 * U64), 0);
}
END_TEST

static int ten_pairs(void *arg, struct pems_in *from, struct pems_out *to,
                     struct pems_error *e) {
  (void)arg;
  (void)e;
  ck_assert_uint_gt(from[0].count, 0);
  ck_assert_uint_gt(from[1].count, 0);
  memcpy(to->records, from[1].records, U64);
  from[0].used = from[1].used = to->made = 1;
  return ++*(int *)arg == 10 ? PEMS_SCAN_END : 0;
}

/* Both of its inputs come from one branch. */
START_TEST(the_rest_of_a_diamond_is_lost) {
  static const struct pems_port port[] = {{.size = U64}, {.size = U64}};
  int calls = 0;
  struct pems_node *const few = pems_node_scan(
      g, "few", &(struct pems_scan){port, 2, port, 1, ten_pairs, &calls});
  struct pems_node *const copy = pems_node_copy(g, "copy", 3);
  struct pems_node *const meet = pems_node_push_pull(g, "meet", 64);
  struct pems_node *const all = drop("all");
  pems_edge_pull(source, copy);
  if (_i) {
    pems_edge_pull(meet, few);
  }
  pems_edge_pull(copy, few);
  pems_edge_push(copy, meet);
  pems_edge_push(copy, all);
  if (!_i) {
    pems_edge_pull(meet, few);
  }
  pems_edge_pull(few, sink);
  expect_done(g, sink);
  struct pems_node_counts c;
  pems_node_counts(all, &c);
  ck_assert_uint_eq(c.records_in, N);
  ck_assert_uint_eq(made, 10);
  ck_assert_int_eq(memcmp(out, in, 10 * U64), 0);
}
END_TEST

/* --- full, stuck, out of step, stopped --- */

START_TEST(a_full_array) {
  struct pems_node *const small =
      pems_node_memory_sink(g, "small", out, N - _i, U64, &made);
  struct pems_node *const copy = pems_node_copy(g, "copy", 2);
  pems_edge_pull(source, copy);
  pems_edge_pull(copy, small);
  pems_edge_push(copy, sink);
  if (_i == 0) {
    expect_done(g, small);
  } else {
    expect_failure(g, small, ENOSPC, "small", "49999");
  }
}
END_TEST

/* A filter that lets nothing through makes one branch run ahead. */
static int nothing(void *arg, const void *from, size_t n, void *to,
                   size_t *count, struct pems_error *e) {
  (void)from;
  (void)to;
  (void)count;
  (void)e;
  return burnt(arg, n);
}

START_TEST(deadlocks_are_found) {
  struct pems_node *const copy = pems_node_copy(g, "copy", 2);
  struct pems_node *const filter =
      pems_node_filter(g, "filter", nothing, NULL, U64, U64);
  struct pems_node *const join = pems_node_collect(g, "join", 2, 0);
  struct pems_node *const meet = pems_node_push_pull(g, "meet", 1000);
  struct pems_node *const async = pems_node_async_pull(g, "async", 1000);
  pems_edge_pull(source, copy);
  pems_edge_pull(copy, filter);
  pems_edge_push(copy, meet);
  pems_edge_pull(filter, async);
  pems_edge_pull(async, join);
  pems_edge_pull(meet, join);
  pems_edge_pull(join, sink);
  expect_failure(g, sink, EDEADLK, "meet", "larger buffer");
}
END_TEST

START_TEST(enough_room_is_no_deadlock) {
  struct pems_node *const copy = pems_node_copy(g, "copy", 2);
  struct pems_node *const filter =
      pems_node_filter(g, "filter", nothing, NULL, U64, U64);
  struct pems_node *const join = pems_node_collect(g, "join", 2, 0);
  struct pems_node *const meet = pems_node_push_pull(g, "meet", sizeof(in));
  pems_edge_pull(source, copy);
  pems_edge_pull(copy, filter);
  pems_edge_push(copy, meet);
  pems_edge_pull(filter, join);
  pems_edge_pull(meet, join);
  pems_edge_pull(join, sink);
  expect_done(g, sink);
  ck_assert_uint_eq(made, N);
  ck_assert_int_eq(memcmp(in, out, sizeof(in)), 0);
}
END_TEST

/* Dealt to workers of which one makes less; or in other chunks. */
START_TEST(out_of_step) {
  struct pems_node *const connect = pems_node_connect(g, "connect");
  struct pems_node *const deal = pems_node_distribute(g, "deal", 2, 10);
  struct pems_node *const join =
      pems_node_collect(g, "collect", 2, _i ? 10 : 20);
  pems_edge_pull(source, connect);
  pems_edge_push(connect, deal);
  pems_edge_start(join, connect);
  for (int i = 0; i < 2; i++) {
    struct pems_node *const meet = pems_node_push_pull(g, "meet", 0);
    struct pems_node *const filter =
        pems_node_filter(g, "odd", odd_only, NULL, U64, U64);
    pems_edge_push(deal, meet);
    pems_edge_pull(meet, filter);
    pems_edge_pull(filter, join);
  }
  pems_edge_pull(join, sink);
  expect_failure(g, sink, EINVAL, "collect",
                 _i ? "as many records" : "chunks of 20 records");
}
END_TEST

START_TEST(freed_while_it_runs) {
  begin_empty();
  struct pems_node *const hand = pems_node_hand_source(g, "hand", U64);
  struct pems_node *const async = pems_node_async_push(g, "async", 64);
  struct pems_node *const s = sorter("sort");
  struct pems_node *const to = drop("to");
  pems_edge_push(hand, async);
  pems_edge_push(async, s);
  pems_edge_pull(s, to);
  expect_done(g, to);
  ck_assert_int_eq(pems_node_push(hand, in, 1000, &error), 0);
}
END_TEST

/* What fails behind a node by hand is told there, once; then nothing is. */
START_TEST(failures_are_told_by_hand) {
  struct fuse fuse = {N / 2};
  begin_empty();
  struct pems_node *const hand = pems_node_hand_source(g, "hand", U64);
  struct pems_node *const async = pems_node_async_push(g, "async", 64);
  struct pems_node *const bad = pems_node_map(g, "bad", twice, &fuse, U64, U64);
  struct pems_node *const s = sorter("sort");
  struct pems_node *const to = pems_node_hand_sink(g, "to");
  int code = 0;
  pems_edge_push(hand, _i ? async : bad);
  if (_i) {
    pems_edge_push(async, bad);
  } else {
    pems_edge_push(bad, async);
  }
  pems_edge_push(_i ? bad : async, s);
  pems_edge_pull(s, to);
  expect_done(g, to);
  for (size_t k = 0; k <= N && !code; k += 1000) {
    code = pems_node_push(hand, in + k % N, k < N ? 1000 : 0, &error);
  }
  ck_assert_int_eq(code, EPERM);
  ck_assert_ptr_nonnull(strstr(error.text, "node bad"));
  ck_assert_int_eq(pems_node_push(hand, in, 1, &error), EINVAL);
}
END_TEST

/* --- plans --- */

static void diamond(struct pems_node *sort[4]) {
  struct pems_node *const copy = pems_node_copy(g, "copy", 2);
  struct pems_node *const zip = pems_node_zip(g, "zip", 2);
  struct pems_node *const to = pems_node_callback_sink(g, "to", look, NULL, 16);
  for (int i = 0; i < 4; i++) {
    sort[i] = sorter("sort");
  }
  pems_edge_pull(source, copy);
  pems_edge_pull(copy, sort[0]);
  pems_edge_push(copy, sort[2]);
  for (int i = 0; i < 4; i += 2) {
    struct pems_node *const a = pems_node_async_pull(g, "async", 0);
    pems_edge_pull(sort[i], a);
    pems_edge_pull(a, sort[i + 1]);
    pems_edge_pull(sort[i + 1], zip);
  }
  pems_edge_pull(zip, to);
  sink = to;
}

START_TEST(memory_is_shared_out) {
  struct pems_node *sort[4];
  struct pems_node_counts c[4];
  begin_empty();
  source = pems_node_memory_source(g, "source", in, N, U64);
  diamond(sort);
  ck_assert_int_eq(pems_graph_check(g, sink, &error), 0);
  for (int i = 0; i < 4; i++) {
    pems_node_counts(sort[i], &c[i]);
  }
  for (int i = 0; i < 4; i++) {
    ck_assert_int_eq(c[i].phase, i % 2);
    ck_assert_int_eq(c[i].threads, 1);
    ck_assert_uint_eq(c[i].memory, c[(i + 2) % 4].memory);
    ck_assert_uint_eq(c[i].merge_memory, c[(i + 2) % 4].merge_memory);
  }
  /* Nearly all, by two; by three, three, one and one; by two. */
  ck_assert_uint_gt(c[0].memory, 30 * MIB);
  ck_assert_uint_le(c[0].memory, 32 * MIB);
  ck_assert_uint_gt(c[1].memory, 20 * MIB);
  ck_assert_uint_le(c[1].memory, 24 * MIB);
  ck_assert_uint_gt(c[0].merge_memory, 6 * MIB);
  ck_assert_uint_le(c[0].merge_memory, 8 * MIB);
  ck_assert_uint_gt(c[1].merge_memory, 30 * MIB);
  ck_assert_uint_le(c[1].merge_memory, 32 * MIB);
  expect_done(g, sink);
}
END_TEST

static void budget(uint64_t memory) {
  end();
  g = pems_graph_new(&(struct pems_graph_options){
      .memory = memory, .threads = 2, .scratch = {.io = "mem"}});
  source = pems_node_memory_source(g, "source", in, N, U64);
}

/* The least memory that is said to be enough is, and is less than if all ran
   together. */
START_TEST(the_least_memory) {
  struct pems_node *sort[4];
  char number[32], unit[8];
  budget(4096);
  diamond(sort);
  expect_failure(g, sink, ENOMEM, "stream graph: memory of 4.0 KiB",
                 "give it at least");
  ck_assert_int_eq(
      sscanf(strstr(error.text, "at least"), "at least %31s %7s", number, unit),
      2);
  const uint64_t least = (uint64_t)(atof(number) * 1024) * 1024 *
                         (unit[0] == 'K' ? 1 : 1024) / 1024;
  budget(least + (unit[0] == 'K' ? 1024 : 1024 * 1024));
  diamond(sort);
  const int code = pems_graph_start(g, sink, &error);
  if (code == ENOMEM) {
    /* Another step needs more: it says so. */
    ck_assert_ptr_nonnull(strstr(error.text, "give it at least"));
  } else {
    ck_assert_msg(code == 0, "%s", error.text);
  }
}
END_TEST

START_TEST(options_are_limits) {
  struct pems_sort_options o = by_u64();
  o.memory = 8 * MIB;
  o.merge_memory = 4 * MIB;
  o.threads = 1;
  struct pems_node *const s = pems_node_sorter(g, "sort", &o);
  struct pems_node_counts c;
  pems_edge_pull(source, s);
  pems_edge_pull(s, sink);
  expect_done(g, sink);
  pems_node_counts(s, &c);
  ck_assert_uint_eq(c.memory, 8 * MIB);
  ck_assert_uint_eq(c.merge_memory, 4 * MIB);
  ck_assert_int_eq(c.threads, 1);
  ck_assert_uint_eq(c.runs, 1);
  ck_assert_int_eq(c.passes, 0);
  ck_assert_uint_eq(c.records_in, N);
  ck_assert_uint_eq(c.bytes_out, N * U64);
  ck_assert(c.seconds > 0);
}
END_TEST

/* --- drawing --- */

static void expect_in(const char *text, const char *part) {
  ck_assert_msg(strstr(text, part) != NULL, "no %s in %s", part, text);
}

START_TEST(drawing) {
  struct pems_node *sort[4];
  char *text;
  size_t n;
  begin_empty();
  source = pems_node_memory_source(g, "a \"source\"", in, N, U64);
  diamond(sort);
  for (int ran = 0; ran < 3; ran++) {
    if (ran == 1) {
      ck_assert_int_eq(pems_graph_check(g, sink, &error), 0);
    }
    if (ran == 2) {
      expect_done(g, sink);
    }
    FILE *const f = open_memstream(&text, &n);
    ck_assert_int_eq(pems_graph_dot(g, f), 0);
    fclose(f);
    expect_in(text, "digraph");
    expect_in(text, "a \\\"source\\\"");
    expect_in(text, "invtrapezium");
    expect_in(text, "octagon");
    expect_in(text, "circle");
    expect_in(text, "style=dashed");
    ck_assert_int_eq(strstr(text, "phase 2") != NULL, ran > 0);
    ck_assert_int_eq(strstr(text, "1 thread") != NULL, ran > 0);
    ck_assert_int_eq(strstr(text, "50000 records, 390.6 KiB") != NULL, ran > 1);
    free(text);
  }
}
END_TEST

int main(void) {
  Suite *const s = suite_create("stream_graph");
  TCase *const t = tcase_create("stream_graph");
  tcase_set_timeout(t, 60);
  tcase_add_checked_fixture(t, begin, end);
  tcase_add_test(t, an_input_is_not_connected);
  tcase_add_test(t, an_output_is_not_connected);
  tcase_add_loop_test(t, too_many_edges, 0, 2);
  tcase_add_test(t, edges_between_graphs);
  tcase_add_loop_test(t, edges_that_a_kind_refuses, 0, 12);
  tcase_add_test(t, driven_twice);
  tcase_add_loop_test(t, the_wrong_primary_sink, 0, 3);
  tcase_add_test(t, unreachable);
  tcase_add_test(t, cycles);
  tcase_add_loop_test(t, round_a_sorter, 0, 2);
  tcase_add_loop_test(t, sizes_and_types, 0, 4);
  tcase_add_loop_test(t, types_are_passed_on, 0, 2);
  tcase_add_loop_test(t, nodes_that_cannot_be_made, 0, 17);
  tcase_add_test(t, records_of_no_bytes);
  tcase_add_loop_test(t, records_of_too_many_bytes, 0, 2);
  tcase_add_test(t, no_graph);
  tcase_add_test(t, a_graph_runs_once);
  tcase_add_loop_test(t, callbacks_that_fail, 0, KINDS * 2 * 3);
  tcase_add_loop_test(t, callbacks_that_lie, 0, 4);
  tcase_add_loop_test(t, the_rest_is_read_and_lost, 0, 2);
  tcase_add_loop_test(t, the_rest_of_a_diamond_is_lost, 0, 2);
  tcase_add_loop_test(t, a_full_array, 0, 2);
  tcase_add_test(t, deadlocks_are_found);
  tcase_add_test(t, enough_room_is_no_deadlock);
  tcase_add_loop_test(t, out_of_step, 0, 2);
  tcase_add_test(t, freed_while_it_runs);
  tcase_add_loop_test(t, failures_are_told_by_hand, 0, 2);
  tcase_add_test(t, memory_is_shared_out);
  tcase_add_test(t, the_least_memory);
  tcase_add_test(t, options_are_limits);
  tcase_add_test(t, drawing);
  suite_add_tcase(s, t);
  return run_suite(s);
}
