/* The kernel "compiled": loops of the program's own. Those of this test are the
   simplest that are right; <pems/sorter.hpp> has fast ones, see tests/em/cxx.
 */
#define _GNU_SOURCE
#include "em/kernel/kernels.h"

#include <errno.h>

#include "check_main.h"
#include "kernel_check.h"

/* Of how many records and pieces the loops were told. */
static _Atomic size_t sorted_records, merged_pieces;

static int by_first(const void *a, const void *b, void *context) {
  (void)context;
  return *(const unsigned char *)a - *(const unsigned char *)b;
}

static size_t size_now; /* of records, for these loops know no types */

static size_t half(size_t n, int stable) {
  return n / 2 + (stable ? 1 : 0);
}

/* Stays within its work memory, all of which it writes. */
static void soil(size_t n, int stable, void *work) {
  ck_assert_uint_eq((uintptr_t)work % 64, 0);
  memset(work, 0xaa, half(n, stable));
}

static void sort_moving(void *records, uint32_t *index, size_t n, int stable,
                        void *work, void *context) {
  char item[64], *const base = records;
  ck_assert_ptr_null(index);
  soil(n, stable, work);
  sorted_records += n;
  for (size_t i = 1; i < n; i++) {
    size_t to = i;
    memcpy(item, base + i * size_now, size_now);
    for (; to > 0 && by_first(item, base + (to - 1) * size_now, context) < 0;
         to--) {
      memcpy(base + to * size_now, base + (to - 1) * size_now, size_now);
    }
    memcpy(base + to * size_now, item, size_now);
  }
}

static void sort_index(void *records, uint32_t *index, size_t n, int stable,
                       void *work, void *context) {
  const char *const base = records;
  soil(n, stable, work);
  sorted_records += n;
  for (size_t i = 0; i < n; i++) {
    size_t to = i;
    for (; to > 0 && by_first(base + i * size_now,
                              base + index[to - 1] * size_now, context) < 0;
         to--) {
      index[to] = index[to - 1];
    }
    index[to] = (uint32_t)i;
  }
}

static const char *first_of(const struct pems_kernel_piece *p, size_t i) {
  return p->base
             ? (const char *)p->base + ((const uint32_t *)p->at)[i] * size_now
             : (const char *)p->at + i * size_now;
}

static void merge(const struct pems_kernel_piece *piece, int pieces,
                  size_t count, int stable, void *out, void *work,
                  void *context) {
  size_t *const used = work;
  char *to = out;
  (void)stable;
  ck_assert_uint_eq((uintptr_t)work % 16, 0);
  memset(work, 0, (size_t)pieces * PEMS_KERNEL_MERGE_WORK);
  merged_pieces += (size_t)pieces;
  for (; count > 0; count--, to += size_now) {
    int best = -1;
    for (int i = 0; i < pieces; i++) {
      if (used[i] < piece[i].n &&
          (best < 0 ||
           by_first(first_of(&piece[i], used[i]),
                    first_of(&piece[best], used[best]), context) < 0)) {
        best = i;
      }
    }
    memcpy(to, first_of(&piece[best], used[best]), size_now);
    used[best]++;
  }
}

static struct pems_kernel loops_for(size_t size, int indexed) {
  size_now = size;
  return (struct pems_kernel){
      .size = sizeof(struct pems_kernel),
      .record = size,
      .indexed = indexed,
      .sort_work = half,
      .sort = indexed ? sort_index : sort_moving,
      .merge = merge,
  };
}

static const size_t sizes[] = {1, 2, 3, 8, 12, 24, 33, 64};

START_TEST(sorts_by_the_program_s_loops) {
  const struct pems_kernel loops = loops_for(sizes[_i / 2], _i % 2);
  struct pems_record r = {
      .size = sizes[_i / 2], .compare = by_first, .kernel = &loops};
  ck_assert_ptr_eq(kernel_find(&r, NULL), &kernel_compiled);
  for (r.stable = 0; r.stable <= 1; r.stable++) {
    sorted_records = 0;
    check_sort(&kernel_compiled, &r, KEYS_RANDOM, 1, 700);
    ck_assert_uint_eq(sorted_records, 700);
  }
  check_sort(&kernel_compiled, &r, KEYS_RANDOM, 2, 4100);
  check_sort(&kernel_compiled, &r, KEYS_EQUAL, 2, 0);
  check_sort(&kernel_compiled, &r, KEYS_EQUAL, 2, 1);
}
END_TEST

START_TEST(merges_by_the_program_s_loops) {
  const struct pems_kernel loops = loops_for(sizes[_i / 2], _i % 2);
  const struct pems_record r = {.size = sizes[_i / 2],
                                .stable = 1,
                                .compare = by_first,
                                .kernel = &loops};
  merged_pieces = 0;
  check_merge(&kernel_compiled, &r, KEYS_RANDOM, 40, 100, 1);
  ck_assert_uint_ge(merged_pieces, 40);
  check_merge(&kernel_compiled, &r, KEYS_EQUAL, 3, 10, 0);
}
END_TEST

START_TEST(sorts_arrays) {
  enum { N = 1000 };
  const size_t size = sizes[_i / 2];
  const struct pems_kernel loops = loops_for(size, _i % 2);
  const struct pems_record r = {
      .size = size, .stable = 1, .compare = by_first, .kernel = &loops};
  char *const records = make_records(&r, KEYS_RANDOM, N);
  char *const want = reference_sorted(&r, records, N);
  const size_t bytes = kernel_compiled.array_work(&r, N);
  /* Aligned as by malloc, no better. */
  char *const work = (char *)native_aligned(64, bytes + 128) + 16;
  memset(work, 0x55, bytes + 64);
  kernel_compiled.array(&r, records, N, work);
  check_end(work + bytes);
  ck_assert_mem_eq(records, want, N * size);
  ck_assert(!loops.indexed ||
            kernel_compiled.array_work(&r, (size_t)1 << 33) == SIZE_MAX);
  native_free(work - 16);
  native_free(records);
  native_free(want);
}
END_TEST

START_TEST(refuses_loops_that_are_not_whole) {
  struct pems_kernel loops = loops_for(8, 0);
  struct pems_record r = {.size = 8, .compare = by_first, .kernel = &loops};
  struct pems_error e;
  ck_assert_int_eq(pems_record_check(&r, &e), 0);
  loops.record = 16;
  ck_assert_int_eq(pems_record_check(&r, &e), EINVAL);
  ck_assert_ptr_nonnull(strstr(e.text, "records of 16 bytes, not 8"));
  ck_assert(!kernel_compiled.fits(&r));
  loops = loops_for(8, 0);
  loops.size--;
  ck_assert_int_eq(pems_record_check(&r, &e), EINVAL);
  loops = loops_for(8, 0);
  loops.merge = NULL;
  ck_assert_int_eq(pems_record_check(&r, &e), EINVAL);
  loops = loops_for(8, 0);
  loops.heap_least = (size_t(*)(const void *, size_t, void *))abort;
  ck_assert_int_eq(pems_record_check(&r, &e), EINVAL);
  ck_assert_ptr_nonnull(strstr(e.text, "all three, or none"));
  r.kernel = NULL;
  ck_assert(!kernel_compiled.fits(&r));
  r = (struct pems_record){
      .size = 8, .key = PEMS_KEY_U64, .kernel = &loops}; /* ignored */
  ck_assert(!kernel_compiled.fits(&r));
  ck_assert_ptr_eq(kernel_find(&r, NULL), &kernel_word);
}
END_TEST

int main(void) {
  Suite *const s = suite_create("kernel_compiled");
  TCase *const t = tcase_create("all");
  const int n = 2 * sizeof(sizes) / sizeof(*sizes);
  tcase_set_timeout(t, 120);
  tcase_add_loop_test(t, sorts_by_the_program_s_loops, 0, n);
  tcase_add_loop_test(t, merges_by_the_program_s_loops, 0, n);
  tcase_add_loop_test(t, sorts_arrays, 0, n);
  tcase_add_test(t, refuses_loops_that_are_not_whole);
  suite_add_tcase(s, t);
  return check_run(s);
}
