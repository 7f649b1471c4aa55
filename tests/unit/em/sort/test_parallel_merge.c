/* Merging pieces by a team: against sorting, for parts of what there is. */
#include "em/sort/parallel_merge.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "check_main.h"

enum { PIECES = 40, MOST = 5000 };

struct numbered {
  uint32_t key, number;
};

static const struct pems_record record = {
    .size = sizeof(struct numbered), .key = PEMS_KEY_U32, .stable = 1};

static int by_key(const void *a, const void *b) {
  const struct numbered *const x = a, *const y = b;
  if (x->key != y->key) {
    return x->key < y->key ? -1 : 1;
  }
  return (x->number > y->number) - (x->number < y->number);
}

static uint32_t below(uint32_t *state, uint32_t n) {
  *state = *state * 1103515245u + 12345u;
  return (*state >> 8) % n;
}

/* Pieces of any length, some empty; numbers go up from piece to piece, so the
   stable order is that of by_key. Returns how many records there are. */
static size_t make(struct kernel_piece *piece, struct numbered *all,
                   uint32_t keys, uint32_t seed) {
  size_t n = 0;
  for (int i = 0; i < PIECES; i++) {
    const size_t length = below(&seed, 3) ? below(&seed, MOST) : 0;
    for (size_t k = 0; k < length; k++) {
      all[n + k] = (struct numbered){below(&seed, keys), (uint32_t)(n + k)};
    }
    qsort(all + n, length, sizeof(*all), by_key);
    piece[i] = (struct kernel_piece){(const char *)(all + n), length};
    n += length;
  }
  return n;
}

static void check(int threads, uint32_t keys, uint32_t seed, double part) {
  struct numbered *const all = malloc(PIECES * MOST * sizeof(*all));
  struct numbered *const out = malloc(PIECES * MOST * sizeof(*out));
  struct kernel_piece piece[PIECES];
  size_t end[PIECES], taken = 0;
  struct parallel_merge m = {
      .record = &record,
      .kernel = kernel_find(&record, "tree"),
      .piece = piece,
      .pieces = PIECES,
      .end = end,
      .work_each =
          parallel_merge_work(&record, kernel_find(&record, "tree"), PIECES),
      .last = 1,
  };
  ck_assert_int_eq(team_new(&m.team, threads), 0);
  m.work = aligned_alloc(4096, m.work_each * (size_t)threads);
  const size_t there = make(piece, all, keys, seed);
  const size_t n = (size_t)((double)there * part);
  parallel_merge(&m, there, n, (char *)out);
  for (int i = 0; i < PIECES; i++) {
    ck_assert_uint_le(end[i], piece[i].n);
    taken += end[i];
  }
  ck_assert_uint_eq(taken, n);
  qsort(all, there, sizeof(*all), by_key);
  ck_assert(memcmp(all, out, n * sizeof(*out)) == 0);
  team_free(m.team);
  free(m.work);
  free(all);
  free(out);
}

START_TEST(all_and_parts) {
  static const double parts[] = {1, 0.5, 0.001, 0};
  static const uint32_t keys[] = {1, 7, 100000};
  for (int threads = 1; threads <= 4; threads++) {
    for (int p = 0; p < 4; p++) {
      for (int k = 0; k < 3; k++) {
        check(threads, keys[k], (uint32_t)(threads * 100 + p * 10 + k),
              parts[p]);
      }
    }
  }
}
END_TEST

START_TEST(work_is_whole_pages) {
  const struct kernel *const kernel = kernel_find(&record, "tree");
  for (size_t pieces = 1; pieces < 2000; pieces += 333) {
    const size_t work = parallel_merge_work(&record, kernel, pieces);
    ck_assert_uint_eq(work % 4096, 0);
    ck_assert_uint_gt(work, kernel->merge_work(&record, (int)pieces));
  }
}
END_TEST

int main(void) {
  Suite *const suite = suite_create("parallel_merge");
  TCase *const c = tcase_create("parallel_merge");
  tcase_set_timeout(c, 60);
  tcase_add_test(c, all_and_parts);
  tcase_add_test(c, work_is_whole_pages);
  suite_add_tcase(suite, c);
  return check_run(suite);
}
