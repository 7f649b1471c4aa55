/* Files as sources and sinks of streams, and disks that fail. */
#define _GNU_SOURCE
#include "stream_check.h"

enum { BYTES = 300000, SIZES = 7, DRIVERS = 4 };

/* Records of these sizes straddle the blocks of 16 KiB of a graph with so
   little memory. */
static const size_t sizes[SIZES] = {1, 3, 8, 100, 4095, 4097, 70001};
static const char *const drivers[DRIVERS] = {"unix", "aio", "uring", "mem"};
#define MEMORY (4 * MIB)

static char in[BYTES];
static struct pems_graph *g;

static void begin(void) {
  for (size_t i = 0; i < BYTES; i++) {
    in[i] = (char)mixed(i);
  }
  make_dir();
}

static void end(void) {
  pems_graph_free(g);
  g = NULL;
  remove_dir();
}

static void new_graph(const char *io) {
  pems_graph_free(g);
  error = (struct pems_error){.code = 0};
  g = pems_graph_new(&(struct pems_graph_options){
      .memory = MEMORY, .threads = 2, .scratch = {.path = NULL, .io = io}});
}

/* From file to file, pulled or pushed. */
static struct pems_node *copy_file(size_t size, int push) {
  struct pems_node *const from =
      pems_node_file_source(g, "from", in_dir("in"), size);
  struct pems_node *const to = pems_node_file_sink(g, "to", in_dir("out"));
  if (!push) {
    pems_edge_pull(from, to);
    return to;
  }
  struct pems_node *const meet = pems_node_push_pull(g, "meet", 0);
  pems_edge_push(from, meet);
  pems_edge_pull(meet, to);
  pems_edge_start(to, from);
  return to;
}

START_TEST(copies) {
  const size_t size = sizes[_i % SIZES];
  const char *const io = drivers[_i / SIZES];
  const size_t counts[] = {0,
                           1,
                           2,
                           16384 / size,
                           16384 / size + 1,
                           2 * 16384 / size,
                           BYTES / size - 1,
                           BYTES / size};
  /* With the first driver both ways, with others in turns. */
  for (int k = 0; k < 16; k += _i < SIZES ? 1 : 3) {
    const size_t n = counts[k / 2] * size;
    write_file(in_dir("in"), in, n);
    new_graph(io);
    expect_done(g, copy_file(size, k & 1));
    expect_file(in_dir("out"), in, n);
  }
  ck_assert_int_eq(files(), 2);
}
END_TEST

/* More than memory holds. */
START_TEST(sorts) {
  enum { N = 1000003 };
  const struct pems_sort_options o = by_u64();
  static uint64_t list[N];
  for (size_t i = 0; i < N; i++) {
    list[i] = mixed(i);
  }
  write_file(in_dir("in"), list, sizeof(list));
  new_graph(drivers[_i]);
  struct pems_node *const from =
      pems_node_file_source(g, "from", in_dir("in"), U64);
  struct pems_node *const sort = pems_node_sorter(g, "sort", &o);
  struct pems_node *const to = pems_node_file_sink(g, "to", in_dir("out"));
  pems_edge_pull(from, sort);
  pems_edge_pull(sort, to);
  expect_done(g, to);
  qsort(list, N, U64, u64_order);
  expect_file(in_dir("out"), list, sizeof(list));
}
END_TEST

/* --- what fails --- */

static void expect_old(void) {
  expect_file(in_dir("out"), "old", 3);
  ck_assert_int_eq(files(), 2);
}

static void begin_failing(size_t n) {
  write_file(in_dir("in"), in, n);
  write_file(in_dir("out"), "old", 3);
  new_graph("unix");
}

START_TEST(a_truncated_input) {
  begin_failing(799);
  expect_failure(g, copy_file(8, _i), EINVAL, "node from", "799 bytes");
  expect_old();
}
END_TEST

START_TEST(no_input) {
  begin_failing(8);
  unlink(in_dir("in"));
  expect_failure(g, copy_file(8, 0), ENOENT, "node from", "/in");
  write_file(in_dir("in"), in, 1);
  expect_old();
}
END_TEST

START_TEST(nowhere_to_write) {
  begin_failing(8);
  struct pems_node *const from =
      pems_node_file_source(g, "from", in_dir("in"), 8);
  struct pems_node *const to =
      pems_node_file_sink(g, "to", _i ? dir : in_dir("none/out"));
  pems_edge_pull(from, to);
  expect_failure(g, to, _i ? EISDIR : ENOENT, "node to", dir);
  expect_old();
}
END_TEST

static int refuse(void *arg, const void *records, size_t n,
                  struct pems_error *e) {
  const uint64_t *const last = (const uint64_t *)records + n - 1;
  (void)e;
  return *last == *(uint64_t *)arg ? EPERM : 0;
}

/* Two sinks, of which one has all when the other fails. */
START_TEST(all_files_or_none) {
  const struct pems_sort_options o = by_u64();
  uint64_t last = UINT64_MAX;
  begin_failing(80000);
  memset(in + 40000, 0xff, 8);
  write_file(in_dir("in"), in, 80000);
  struct pems_node *const from =
      pems_node_file_source(g, "from", in_dir("in"), 8);
  struct pems_node *const copy = pems_node_copy(g, "copy", 2);
  struct pems_node *const new = pems_node_file_sink(g, "new", in_dir("new"));
  struct pems_node *const sort = pems_node_sorter(g, "sort", &o);
  struct pems_node *const tap = pems_node_tap(g, "tap", refuse, &last, 8);
  struct pems_node *const to = pems_node_file_sink(g, "to", in_dir("out"));
  pems_edge_pull(from, copy);
  pems_edge_pull(copy, sort);
  pems_edge_push(copy, new);
  pems_edge_pull(sort, tap);
  pems_edge_pull(tap, to);
  expect_failure(g, to, EPERM, "node tap", "callback failed");
  expect_old();
}
END_TEST

/* The n-th read or write fails, for every n, until all goes well: of the files
   and of the sorter's disk. */
START_TEST(the_nth_request_fails) {
  enum { N = 300000 };
  static uint64_t list[N], sorted[N];
  const struct pems_sort_options o = by_u64();
  const char *const kind = _i & 1 ? "write" : "read";
  int n = 0, code;
  for (size_t i = 0; i < N; i++) {
    list[i] = sorted[i] = mixed(i);
  }
  qsort(sorted, N, U64, u64_order);
  write_file(in_dir("in"), list, sizeof(list));
  write_file(in_dir("out"), "old", 3);
  do {
    char io[80];
    /* All of the first, then fewer. */
    n += n < 20 ? 1 : 13;
    snprintf(io, sizeof(io), "fault:unix,%s=%d:EIO", kind, n);
    new_graph(io);
    struct pems_node *const from =
        pems_node_file_source(g, "from", in_dir("in"), U64);
    struct pems_node *const async =
        _i & 2 ? pems_node_async_pull(g, "async", 0)
               : pems_node_map(g, "map", twice, NULL, U64, U64);
    struct pems_node *const sort = pems_node_sorter(g, "sort", &o);
    struct pems_node *const to = pems_node_file_sink(g, "to", in_dir("out"));
    pems_edge_pull(from, async);
    pems_edge_pull(async, sort);
    pems_edge_pull(sort, to);
    code = pems_graph_start(g, to, &error);
    if (code) {
      ck_assert_int_eq(code, EIO);
      ck_assert_msg(strstr(error.text, "stream node ") != NULL, "%s",
                    error.text);
      expect_old();
    }
  } while (code);
  ck_assert_int_gt(n, 10);
  ck_assert_int_eq(files(), 2);
  if (_i & 2) {
    expect_file(in_dir("out"), sorted, sizeof(sorted));
  }
}
END_TEST

START_TEST(a_full_disk) {
  begin_failing(BYTES / 8 * 8);
  new_graph("fault:unix,after=100000:ENOSPC");
  expect_failure(g, copy_file(8, _i), ENOSPC, "node to", "/out");
  expect_old();
}
END_TEST

int main(void) {
  Suite *const s = suite_create("stream_file");
  TCase *const t = tcase_create("stream_file");
  tcase_set_timeout(t, 120);
  tcase_add_checked_fixture(t, begin, end);
  tcase_add_loop_test(t, copies, 0, SIZES * DRIVERS);
  tcase_add_loop_test(t, sorts, 0, DRIVERS);
  tcase_add_loop_test(t, a_truncated_input, 0, 2);
  tcase_add_test(t, no_input);
  tcase_add_loop_test(t, nowhere_to_write, 0, 2);
  tcase_add_test(t, all_files_or_none);
  tcase_add_loop_test(t, the_nth_request_fails, 0, 4);
  tcase_add_loop_test(t, a_full_disk, 0, 2);
  suite_add_tcase(s, t);
  return run_suite(s);
}
