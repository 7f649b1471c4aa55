/* Every kind of node of streams, with batches of odd sizes. */
#define _GNU_SOURCE
#include "stream_check.h"

enum { MOST = 30011, ROOM = 3 * MOST + 10 };

static uint64_t in[ROOM], out[ROOM], other[ROOM];
static size_t n, made;
static struct pems_graph *g;
static struct pems_node *source, *sink;

static const size_t counts[] = {0, 1, 2, 63, 64, 65, 1000, MOST};
static const size_t batches[] = {1, 24, 4096, 0};
enum { COUNTS = 8, CASES = COUNTS * 4 };

/* Case i: so many records, in batches of that size. */
static void begin_empty(int i) {
  n = counts[i % COUNTS];
  for (size_t k = 0; k < n; k++) {
    in[k] = mixed(k);
  }
  memset(out, 0xff, sizeof(out));
  made = SIZE_MAX;
  g = graph_with(8 * MIB, batches[i / COUNTS], "mem");
}

static struct pems_node *new_source(void) {
  return pems_node_memory_source(g, "source", in, n, U64);
}

static struct pems_node *new_sink(void) {
  return pems_node_memory_sink(g, "sink", out, ROOM, U64, &made);
}

static void begin(int i) {
  begin_empty(i);
  source = new_source();
  sink = new_sink();
}

static void finish(void) {
  expect_done(g, sink);
}

static void expect(const uint64_t *expected, size_t count) {
  ck_assert_uint_eq(made, count);
  ck_assert_int_eq(memcmp(out, expected, count * U64), 0);
  pems_graph_free(g);
}

START_TEST(memory_to_memory) {
  begin(_i);
  pems_edge_pull(source, sink);
  finish();
  expect(in, n);
}
END_TEST

START_TEST(maps) {
  begin(_i);
  struct pems_node *const map =
      pems_node_map(g, "twice", twice, NULL, U64, U64);
  struct pems_node *const again =
      pems_node_map(g, "again", twice, NULL, U64, U64);
  pems_edge_pull(source, map);
  pems_edge_pull(map, again);
  pems_edge_pull(again, sink);
  finish();
  for (size_t k = 0; k < n; k++) {
    in[k] *= 4;
  }
  expect(in, n);
}
END_TEST

static size_t keep_odd(uint64_t *list, size_t count) {
  size_t kept = 0;
  for (size_t k = 0; k < count; k++) {
    if (list[k] & 1) {
      list[kept++] = list[k];
    }
  }
  return kept;
}

START_TEST(filters) {
  begin(_i);
  struct pems_node *const filter =
      pems_node_filter(g, "odd", odd_only, NULL, U64, U64);
  pems_edge_pull(source, filter);
  pems_edge_pull(filter, sink);
  finish();
  const size_t kept = keep_odd(in, n);
  expect(in, kept);
}
END_TEST

/* k becomes k, k, k; the port counts on room for three. */
static int thrice(void *arg, struct pems_in *from, struct pems_out *to,
                  struct pems_error *e) {
  const uint64_t *const a = from->records;
  uint64_t *const b = to->records;
  (void)arg;
  (void)e;
  ck_assert_uint_ge(to->room, 3);
  while (from->used < from->count && to->made + 3 <= to->room) {
    b[to->made++] = a[from->used];
    b[to->made++] = a[from->used];
    b[to->made++] = a[from->used++];
  }
  return 0;
}

/* The sum of each record and the next; the last stays alone. It counts on
   seeing two. */
static int neighbours(void *arg, struct pems_in *from, struct pems_out *to,
                      struct pems_error *e) {
  const uint64_t *const a = from->records;
  uint64_t *const b = to->records;
  (void)arg;
  (void)e;
  for (; from->used + 1 < from->count && to->made < to->room; from->used++) {
    b[to->made++] = a[from->used] + a[from->used + 1];
  }
  if (from->count == 1) {
    b[to->made++] = a[0];
    from->used = 1;
  }
  return 0;
}

static struct pems_node *scan(const char *name, pems_scan_fn *fn,
                              size_t least_in, size_t least_out) {
  const struct pems_port from = {.size = U64, .least = least_in};
  const struct pems_port to = {.size = U64, .least = least_out};
  return pems_node_scan(
      g, name,
      &(struct pems_scan){
          .in = &from, .inputs = 1, .out = &to, .outputs = 1, .fn = fn});
}

static void expect_thrice_neighbours(void) {
  for (size_t k = 0; k < n; k++) {
    other[3 * k] = other[3 * k + 1] = other[3 * k + 2] =
        in[k] + (k + 1 < n ? in[k + 1] : 0);
  }
  expect(other, 3 * n);
}

START_TEST(scans_with_windows) {
  begin(_i);
  struct pems_node *const a = scan("neighbours", neighbours, 2, 0);
  struct pems_node *const b = scan("thrice", thrice, 0, 3);
  pems_edge_pull(source, a);
  pems_edge_pull(a, b);
  pems_edge_pull(b, sink);
  finish();
  expect_thrice_neighbours();
}
END_TEST

/* The same along push edges, into a tap: nothing is where it lends. */
static int nothing(void *arg, const void *records, size_t count,
                   struct pems_error *e) {
  (void)arg;
  (void)records;
  (void)e;
  ck_assert_uint_gt(count, 0);
  return 0;
}

START_TEST(pushed_scans_with_windows) {
  begin(_i);
  struct pems_node *const copy = pems_node_copy(g, "copy", 2);
  struct pems_node *const drop =
      pems_node_callback_sink(g, "drop", nothing, NULL, U64);
  struct pems_node *const a = scan("neighbours", neighbours, 2, 0);
  struct pems_node *const b = scan("thrice", thrice, 0, 3);
  struct pems_node *const tap = pems_node_tap(g, "tap", nothing, NULL, U64);
  pems_edge_pull(source, copy);
  pems_edge_pull(copy, drop);
  pems_edge_push(copy, a);
  pems_edge_push(a, b);
  pems_edge_push(b, tap);
  pems_edge_push(tap, sink);
  expect_done(g, drop);
  expect_thrice_neighbours();
}
END_TEST

/* --- taps --- */

static int add_up(void *arg, const void *records, size_t count,
                  struct pems_error *e) {
  (void)e;
  for (size_t k = 0; k < count; k++) {
    *(uint64_t *)arg += ((const uint64_t *)records)[k];
  }
  return 0;
}

static uint64_t sum_of_in(void) {
  uint64_t sum = 0;
  for (size_t k = 0; k < n; k++) {
    sum += in[k];
  }
  return sum;
}

/* Between all pairs of what lends and writes, reads and offers. */
START_TEST(taps_that_are_pulled) {
  uint64_t sum[4] = {0};
  begin(_i);
  struct pems_node *const map =
      pems_node_map(g, "twice", twice, NULL, U64, U64);
  struct pems_node *last = source;
  for (int k = 0; k < 4; k++) {
    struct pems_node *const tap = pems_node_tap(g, "tap", add_up, &sum[k], U64);
    pems_edge_pull(last, tap);
    last = tap;
    if (k == 1) {
      pems_edge_pull(last, map);
      last = map;
    }
  }
  pems_edge_pull(last, sink);
  finish();
  for (int k = 0; k < 4; k++) {
    ck_assert_uint_eq(sum[k], k < 2 ? sum_of_in() : 2 * sum_of_in());
  }
  for (size_t k = 0; k < n; k++) {
    in[k] *= 2;
  }
  expect(in, n);
}
END_TEST

/* A source that pushes, started by the sink, and taps and maps on its way. */
START_TEST(taps_that_are_pushed) {
  uint64_t sum[4] = {0};
  begin(_i);
  struct pems_node *const map =
      pems_node_map(g, "twice", twice, NULL, U64, U64);
  struct pems_node *const meet = pems_node_push_pull(g, "meet", 100);
  struct pems_node *last = source;
  for (int k = 0; k < 4; k++) {
    struct pems_node *const tap = pems_node_tap(g, "tap", add_up, &sum[k], U64);
    pems_edge_push(last, tap);
    last = tap;
    if (k == 1) {
      pems_edge_push(last, map);
      last = map;
    }
  }
  pems_edge_push(last, meet);
  pems_edge_pull(meet, sink);
  pems_edge_start(sink, source);
  finish();
  for (int k = 0; k < 4; k++) {
    ck_assert_uint_eq(sum[k], k < 2 ? sum_of_in() : 2 * sum_of_in());
  }
  for (size_t k = 0; k < n; k++) {
    in[k] *= 2;
  }
  expect(in, n);
}
END_TEST

/* One that pulls and pushes. */
START_TEST(a_tap_that_pumps) {
  uint64_t sum = 0;
  begin(_i);
  struct pems_node *const tap = pems_node_tap(g, "tap", add_up, &sum, U64);
  pems_edge_pull(source, tap);
  pems_edge_push(tap, sink);
  expect_done(g, tap);
  ck_assert_uint_eq(sum, sum_of_in());
  expect(in, n);
}
END_TEST

/* --- generators and sinks --- */

struct counter {
  uint64_t next, end;
};

static int count_up(void *arg, void *records, size_t room, size_t *count,
                    struct pems_error *e) {
  struct counter *const c = arg;
  (void)e;
  ck_assert_uint_gt(room, 0);
  for (; *count < room && c->next < c->end; ++*count) {
    ((uint64_t *)records)[*count] = mixed(c->next++);
  }
  return 0;
}

START_TEST(generators) {
  begin_empty(_i);
  struct counter c = {0, n};
  struct pems_node *const make =
      pems_node_generator(g, "count", count_up, &c, U64);
  sink = new_sink();
  pems_edge_pull(make, sink);
  finish();
  expect(in, n);
}
END_TEST

START_TEST(callback_sinks) {
  uint64_t sum = 0;
  begin_empty(_i);
  struct counter c = {0, n};
  struct pems_node *const make =
      pems_node_generator(g, "count", count_up, &c, U64);
  sink = pems_node_callback_sink(g, "add", add_up, &sum, U64);
  pems_edge_push(make, sink);
  expect_done(g, make);
  ck_assert_uint_eq(sum, sum_of_in());
  pems_graph_free(g);
}
END_TEST

/* --- branches and joins --- */

/* A branch within one thread, joined again, with its inputs in both orders; and
   with a thread behind what one of them fills. */
START_TEST(copy_and_zip) {
  static uint64_t pair[2 * ROOM];
  for (int k = 0; k < 4; k++) {
    begin_empty(_i);
    source = new_source();
    struct pems_node *const copy = pems_node_copy(g, "copy", 2);
    struct pems_node *const map =
        pems_node_map(g, "twice", twice, NULL, U64, U64);
    struct pems_node *last = pems_node_push_pull(g, "meet", 1000);
    struct pems_node *const zip = pems_node_zip(g, "zip", 2);
    sink = pems_node_memory_sink(g, "sink", pair, ROOM, 2 * U64, &made);
    pems_edge_pull(source, copy);
    pems_edge_push(copy, map);
    pems_edge_push(map, last);
    if (k & 2) {
      struct pems_node *const async = pems_node_async_pull(g, "async", 1000);
      pems_edge_pull(last, async);
      last = async;
    }
    pems_edge_pull(k & 1 ? last : copy, zip);
    pems_edge_pull(k & 1 ? copy : last, zip);
    pems_edge_pull(zip, sink);
    expect_done(g, sink);
    ck_assert_uint_eq(made, n);
    for (size_t i = 0; i < n; i++) {
      ck_assert_uint_eq(pair[2 * i + (k & 1)], in[i]);
      ck_assert_uint_eq(pair[2 * i + !(k & 1)], 2 * in[i]);
    }
    pems_graph_free(g);
  }
}
END_TEST

START_TEST(zips_of_different_lengths) {
  begin_empty(6);
  struct pems_node *const a = pems_node_memory_source(g, "a", in, n, U64);
  struct pems_node *const b = pems_node_memory_source(g, "b", in, n - 1, U64);
  struct pems_node *const zip = pems_node_zip(g, "zip", 2);
  sink = pems_node_callback_sink(g, "drop", nothing, NULL, 2 * U64);
  pems_edge_pull(_i ? b : a, zip);
  pems_edge_pull(_i ? a : b, zip);
  pems_edge_pull(zip, sink);
  expect_failure(g, sink, EINVAL, "zip", "after 999 records");
  pems_graph_free(g);
}
END_TEST

/* --- sorters --- */

static void connect_to(int push, struct pems_node *a, struct pems_node *b) {
  if (push) {
    pems_edge_push(a, b);
  } else {
    pems_edge_pull(a, b);
  }
}

/* With pulled and pushed inputs and outputs. */
START_TEST(sorters) {
  for (int push = 0; push < 4; push++) {
    const struct pems_sort_options o = by_u64();
    begin(_i);
    struct pems_node *const sort = pems_node_sorter(g, "sort", &o);
    struct pems_node *const meet = pems_node_push_pull(g, "meet", 0);
    connect_to(push & 1, source, sort);
    connect_to(push & 2, sort, push & 2 ? meet : sink);
    if (push & 1) {
      pems_edge_start(sink, source);
    }
    pems_edge_start(sink, sort);
    if (push & 2) {
      pems_edge_pull(meet, sink);
    } else {
      struct pems_node *const none = pems_node_memory_source(g, "", in, 0, U64);
      struct pems_node *const nowhere =
          pems_node_callback_sink(g, "", nothing, NULL, U64);
      pems_edge_push(none, meet);
      pems_edge_pull(meet, nowhere);
      pems_edge_start(sink, none);
      pems_edge_start(sink, nowhere);
    }
    finish();
    qsort(in, n, U64, u64_order);
    expect(in, n);
  }
}
END_TEST

START_TEST(halves_of_a_sorter) {
  struct pems_sort_options o = by_u64();
  struct pems_sorter *sorter;
  o.memory = 16 * MIB;
  o.scratch.io = "mem";
  begin_empty(_i);
  ck_assert_int_eq(pems_sorter_new(&sorter, &o, &error), 0);
  source = new_source();
  struct pems_node *const first = pems_node_run_creator(g, "runs", sorter, U64);
  pems_edge_pull(source, first);
  expect_done(g, first);
  pems_graph_free(g);

  begin_empty(_i);
  sink = new_sink();
  struct pems_node *const merger = pems_node_merger(g, "merge", sorter, U64);
  pems_edge_pull(merger, sink);
  expect_done(g, sink);
  qsort(in, n, U64, u64_order);
  expect(in, n);
  pems_sorter_free(sorter);
}
END_TEST

/* --- by hand --- */

static void push_all(struct pems_node *hand) {
  for (size_t at = 0; at < n;) {
    const size_t piece = at % 7 + 1 < n - at ? at % 7 + 1 : n - at;
    ck_assert_int_eq(pems_node_push(hand, in + at, piece, &error), 0);
    at += piece;
  }
  ck_assert_int_eq(pems_node_push(hand, NULL, 0, &error), 0);
}

static void pull_all(struct pems_node *hand) {
  const void *records;
  size_t count;
  made = 0;
  do {
    ck_assert_int_eq(pems_node_pull(hand, &records, &count, &error), 0);
    memcpy(out + made, records ? records : "", count * U64);
    made += count;
  } while (count > 0);
}

/* The graph as a sorter that maps first: push all, then pull all. */
START_TEST(hands_around_a_sorter) {
  const struct pems_sort_options o = by_u64();
  begin_empty(_i);
  struct pems_node *const from = pems_node_hand_source(g, "push", U64);
  struct pems_node *const map =
      pems_node_map(g, "twice", twice, NULL, U64, U64);
  struct pems_node *const sort = pems_node_sorter(g, "sort", &o);
  struct pems_node *const to = pems_node_hand_sink(g, "pull");
  pems_edge_push(from, map);
  pems_edge_push(map, sort);
  pems_edge_pull(sort, to);
  expect_done(g, to);
  const void *records;
  size_t count;
  ck_assert_int_eq(pems_node_pull(to, &records, &count, &error), EINVAL);
  push_all(from);
  ck_assert_int_eq(pems_node_push(from, in, 1, &error), EINVAL);
  pull_all(to);
  ck_assert_int_eq(pems_node_pull(to, &records, &count, &error), EINVAL);
  for (size_t k = 0; k < n; k++) {
    in[k] *= 2;
  }
  qsort(in, n, U64, u64_order);
  expect(in, n);
}
END_TEST

/* Pushed by hand to an asynchronous node, pulled by the primary sink. */
START_TEST(a_hand_and_threads) {
  begin_empty(_i);
  struct pems_node *const from = pems_node_hand_source(g, "push", U64);
  struct pems_node *const meet = pems_node_push_pull(g, "meet", 64);
  sink = new_sink();
  pems_edge_push(from, meet);
  pems_edge_pull(meet, sink);
  expect_done(g, sink);
  push_all(from);
  expect(in, n);
}
END_TEST

int main(void) {
  Suite *const s = suite_create("stream_node");
  TCase *const t = tcase_create("stream_node");
  tcase_set_timeout(t, 120);
  tcase_add_loop_test(t, memory_to_memory, 0, CASES);
  tcase_add_loop_test(t, maps, 0, CASES);
  tcase_add_loop_test(t, filters, 0, CASES);
  tcase_add_loop_test(t, scans_with_windows, 0, CASES);
  tcase_add_loop_test(t, pushed_scans_with_windows, 0, CASES);
  tcase_add_loop_test(t, taps_that_are_pulled, 0, CASES);
  tcase_add_loop_test(t, taps_that_are_pushed, 0, CASES);
  tcase_add_loop_test(t, a_tap_that_pumps, 0, CASES);
  tcase_add_loop_test(t, generators, 0, CASES);
  tcase_add_loop_test(t, callback_sinks, 0, CASES);
  tcase_add_loop_test(t, copy_and_zip, 0, CASES);
  tcase_add_loop_test(t, zips_of_different_lengths, 0, 2);
  tcase_add_loop_test(t, sorters, 0, CASES);
  tcase_add_loop_test(t, halves_of_a_sorter, 0, CASES);
  tcase_add_loop_test(t, hands_around_a_sorter, 0, CASES);
  tcase_add_loop_test(t, a_hand_and_threads, 0, CASES);
  suite_add_tcase(s, t);
  return run_suite(s);
}
