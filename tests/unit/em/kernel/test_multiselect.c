/* Where sorted pieces are cut: against a merge by brute force. */
#define _GNU_SOURCE
#include "em/kernel/multiselect.h"

#include <check.h>
#include <stdlib.h>

#include "check_main.h"
#include "em/kernel/kernels.h"
#include "os/native.h"

enum { MOST = 700 /* pieces */, LONG = 50 /* records of one, at most */ };

/* A record: its key, and where it came from. */
struct item {
  uint32_t key, piece;
};

static const struct pems_record record = {.size = sizeof(struct item),
                                          .key = PEMS_KEY_U32};
static struct item items[MOST][LONG];
static struct kernel_piece piece[MOST];
static struct item merged[MOST * LONG];
static size_t total;
static uint32_t state;

static uint32_t below(uint32_t n) {
  state = state * 1103515245 + 12345;
  return (state >> 8) % n;
}

static int by_key(const void *a, const void *b) {
  const struct item *const x = a, *const y = b;
  if (x->key != y->key) {
    return x->key < y->key ? -1 : 1;
  }
  return (x->piece > y->piece) - (x->piece < y->piece);
}

/* Random pieces with keys below `range`; one of five is empty. */
static void make_pieces(int pieces, uint32_t range) {
  total = 0;
  for (int i = 0; i < pieces; i++) {
    const size_t n = below(5) == 0 ? 0 : below(LONG + 1);
    for (size_t j = 0; j < n; j++) {
      items[i][j] = (struct item){below(range), (uint32_t)i};
    }
    qsort(items[i], n, sizeof(items[i][0]), by_key);
    piece[i] = (struct kernel_piece){(const char *)items[i], n};
    for (size_t j = 0; j < n; j++) {
      merged[total++] = items[i][j];
    }
  }
  qsort(merged, total, sizeof(*merged), by_key);
}

/* Of the first `rank` records in order, as many came from each piece. */
static void check_cut(int pieces, size_t rank) {
  size_t at[MOST], want[MOST] = {0};
  for (size_t i = 0; i < rank; i++) {
    want[merged[i].piece]++;
  }
  multiselect(&record, &kernel_tree, piece, pieces, rank, at);
  for (int i = 0; i < pieces; i++) {
    ck_assert_uint_eq(at[i], want[i]);
  }
}

static const uint32_t ranges[] = {1, 2, 10, 1000, 1000000};

START_TEST(every_rank_of_a_few_pieces) {
  for (int pieces = 1; pieces <= 6; pieces++) {
    make_pieces(pieces, ranges[_i]);
    for (size_t rank = 0; rank <= total; rank++) {
      check_cut(pieces, rank);
    }
  }
}
END_TEST

START_TEST(some_ranks_of_hundreds_of_pieces) {
  make_pieces(MOST, ranges[_i]);
  check_cut(MOST, 0);
  check_cut(MOST, total);
  for (int i = 0; i < 50; i++) {
    check_cut(MOST, below((uint32_t)total + 1));
  }
}
END_TEST

START_TEST(no_records_at_all) {
  for (int i = 0; i < 3; i++) {
    piece[i] = (struct kernel_piece){NULL, 0};
  }
  total = 0;
  check_cut(3, 0);
  multiselect(&record, &kernel_tree, piece, 0, 0, NULL);
}
END_TEST

/* Selection is by rank, not by position: one piece has nearly all. */
START_TEST(one_long_piece_among_short_ones) {
  enum { N = 1000000 };
  struct item *const many = native_zalloc(N, sizeof(*many));
  struct item few[2] = {{.key = N / 2}, {.key = 2 * N}};
  size_t at[3];
  for (uint32_t i = 0; i < N; i++) {
    many[i].key = i;
  }
  const struct kernel_piece p[] = {
      {(char *)&few[0], 1}, {(char *)many, N}, {(char *)&few[1], 1}};
  for (uint64_t rank = 0; rank <= N + 2; rank += rank == N / 2 ? 1 : N / 16) {
    multiselect(&record, &kernel_tree, p, 3, rank, at);
    ck_assert_uint_eq(at[0], rank > N / 2);
    ck_assert_uint_eq(at[2], rank > N + 1);
    ck_assert_uint_eq(at[0] + at[1] + at[2], rank);
  }
  native_free(many);
}
END_TEST

int main(void) {
  Suite *const s = suite_create("multiselect");
  TCase *const t = tcase_create("all");
  const int n = sizeof(ranges) / sizeof(*ranges);
  tcase_set_timeout(t, 60);
  tcase_add_loop_test(t, every_rank_of_a_few_pieces, 0, n);
  tcase_add_loop_test(t, some_ranks_of_hundreds_of_pieces, 0, n);
  tcase_add_test(t, no_records_at_all);
  tcase_add_test(t, one_long_piece_among_short_ones);
  suite_add_tcase(s, t);
  return check_run(s);
}
