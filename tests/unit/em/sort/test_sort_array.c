/* Sorting arrays in memory, of all kinds of records, against qsort. */
#define _GNU_SOURCE
#include <errno.h>

#include "check_main.h"
#include "kernel_check.h"
#include "pems/sort.h"

/* Random, or in an order that is recognised. */
enum shape { AS_MADE, FORWARD, BACKWARD, ALMOST, SHAPES };

static size_t below(size_t n) {
  return (size_t)(key_random() >> 33) % n;
}

static void turn(char *records, size_t n, size_t size) {
  for (size_t i = 0; i < n / 2; i++) {
    char *const a = records + i * size, *const b = records + (n - 1 - i) * size;
    for (size_t j = 0; j < size; j++) {
      const char c = a[j];
      a[j] = b[j];
      b[j] = c;
    }
  }
}

static char *make_shaped(const struct pems_record *r, enum keys keys,
                         enum shape shape, size_t n) {
  char *records = make_records(r, keys, n);
  if (shape == AS_MADE) {
    return records;
  }
  char *const sorted = reference_sorted(r, records, n);
  native_free(records);
  if (shape == BACKWARD) {
    turn(sorted, n, r->size);
  }
  if (shape == ALMOST && n > 1) {
    turn(sorted + below(n - 1) * r->size, 2, r->size);
  }
  return sorted;
}

static struct pems_sort_check sums(const struct pems_record *r,
                                   const char *records, size_t n) {
  struct pems_sort_check check = {.sorted = 1};
  char *const last = native_alloc(r->size);
  pems_sort_check_piece(&check, r, records, n, last);
  native_free(last);
  return check;
}

static void check_same_records(const struct pems_record *r, const char *got,
                               const char *want, size_t n) {
  const struct pems_sort_check a = sums(r, got, n), b = sums(r, want, n);
  check_same(r, got, want, n);
  ck_assert(a.sorted);
  ck_assert_uint_eq(a.sum[0], b.sum[0]);
  ck_assert_uint_eq(a.sum[1], b.sum[1]);
}

/* `askew`: bytes by which the records miss their alignment. */
static void check_array(const struct pems_record *r, enum keys keys,
                        enum shape shape, size_t n, size_t askew) {
  const size_t bytes = n * r->size, work_bytes = pems_sort_array_work(n, r);
  char *const from = make_shaped(r, keys, shape, n);
  char *const want = reference_sorted(r, from, n);
  char *const memory = native_aligned(64, (bytes + 191) / 64 * 64);
  char *const work = native_aligned(64, (work_bytes + 127) / 64 * 64);
  char *const records = memory + 64 + askew;
  struct pems_error error = {0};
  memset(memory, 0x55, bytes + 128);
  memset(work, 0x55, work_bytes + 64);
  memcpy(records, from, bytes);
  ck_assert_int_eq(
      pems_sort_array(records, n, r, work_bytes ? work : NULL, &error), 0);
  check_same_records(r, records, want, n);
  for (const char *c = memory; c < records; c++) {
    ck_assert_int_eq(*c, 0x55);
  }
  for (const char *c = records + bytes; c < memory + bytes + 128; c++) {
    ck_assert_int_eq(*c, 0x55);
  }
  check_end(work + work_bytes);
  native_free(from);
  native_free(want);
  native_free(memory);
  native_free(work);
}

static int by_last_bytes(const void *a, const void *b, void *context) {
  const size_t size = *(const size_t *)context, n = size < 3 ? size : 3;
  return memcmp((const char *)a + size - n, (const char *)b + size - n, n);
}

/* Any record that is allowed. */
static struct pems_record random_record(size_t *context) {
  static const size_t small[] = {1, 2, 4, 8, 12, 16, 24, 32};
  struct pems_record r = {0};
  do {
    r.size = below(2) ? small[below(8)] : 1 + below(below(10) ? 70 : 700);
    r.key = (enum pems_key)(1 + below(PEMS_KEY_BYTES));
    r.key_size = r.key == PEMS_KEY_BYTES ? 1 + below(r.size) : 0;
    r.key_offset = below(r.size);
    r.descending = (int)below(2);
    r.stable = (int)below(2);
    r.compare = below(8) ? NULL : by_last_bytes;
    r.context = r.compare ? context : NULL;
    *context = r.size;
    if (r.compare) {
      r.key_offset = 0;
    }
  } while (pems_record_check(&r, NULL));
  return r;
}

START_TEST(random_records) {
  key_state = (uint64_t)_i;
  for (int i = 0; i < 600; i++) {
    size_t context;
    const struct pems_record r = random_record(&context);
    const size_t most = below(20) ? 400 : 3000;
    check_array(&r, (enum keys)below(KEYS_KINDS), (enum shape)below(SHAPES),
                below(most), below(3) ? 0 : below(17));
  }
}
END_TEST

/* So many that counting pays, in the caller's memory. */
START_TEST(many_small_numbers) {
  for (int i = 0; i < 4; i++) {
    const struct pems_record u8 = {.size = 1,
                                   .key = i % 2 ? PEMS_KEY_I8 : PEMS_KEY_U8,
                                   .descending = i / 2};
    const struct pems_record u16 = {.size = 2,
                                    .key = i % 2 ? PEMS_KEY_I16 : PEMS_KEY_U16,
                                    .descending = i / 2};
    ck_assert_uint_eq(pems_sort_array_work(4095, &u8), 0);
    ck_assert_uint_gt(pems_sort_array_work(4096, &u8), 0);
    ck_assert_uint_gt(pems_sort_array_work(600000, &u16), 0);
    check_array(&u8, KEYS_RANDOM, AS_MADE, 4095, 0);
    check_array(&u8, KEYS_RANDOM, AS_MADE, 4096, 0);
    check_array(&u16, KEYS_RANDOM, AS_MADE, 600000, 0);
  }
}
END_TEST

START_TEST(every_key_in_place) {
  static const size_t sizes[] = {4, 8, 16};
  for (int key = PEMS_KEY_U8; key < PEMS_KEY_BYTES; key++) {
    for (int i = 0; i < 3; i++) {
      const struct pems_record r = {.size = sizes[i],
                                    .key = (enum pems_key)key};
      if (pems_record_key_bytes(&r) > r.size) {
        continue;
      }
      ck_assert_uint_eq(pems_sort_array_work(10000, &r), 0);
      check_array(&r, KEYS_RANDOM, AS_MADE, 10000, 0);
      check_array(&r, KEYS_FEW, AS_MADE, 10000, 1);
    }
  }
}
END_TEST

/* Work memory is as the header says. */
START_TEST(modest_work) {
  struct pems_record r = {.size = 40, .key = PEMS_KEY_U64, .stable = 1};
  ck_assert_uint_eq(pems_sort_array_work(1000000, &r), 16000000);
  r.size = 8;
  r.key = PEMS_KEY_U32;
  ck_assert_uint_le(pems_sort_array_work(1000000, &r), 4000000);
  r.compare = by_last_bytes;
  r.size = 4000;
  ck_assert_uint_le(pems_sort_array_work(1000000, &r), 16000000);
}
END_TEST

START_TEST(refuses) {
  struct pems_error error = {0};
  struct pems_record r = {.size = 0};
  ck_assert_int_eq(pems_sort_array(NULL, 0, &r, NULL, &error), EINVAL);
  ck_assert_int_eq(error.code, EINVAL);
  ck_assert_uint_eq(pems_sort_array_work(1, &r), SIZE_MAX);
  r = (struct pems_record){.size = 33, .compare = by_last_bytes};
  ck_assert_uint_eq(pems_sort_array_work((size_t)1 << 32, &r), SIZE_MAX);
  ck_assert_int_eq(pems_sort_array(NULL, (size_t)1 << 32, &r, NULL, &error),
                   EINVAL);
  ck_assert_int_eq(pems_sort_array(NULL, 0, &r, NULL, NULL), 0);
}
END_TEST

int main(void) {
  Suite *const s = suite_create("sort_array");
  TCase *const t = tcase_create("all");
  tcase_set_timeout(t, 120);
  tcase_add_loop_test(t, random_records, 0, 6);
  tcase_add_test(t, many_small_numbers);
  tcase_add_test(t, every_key_in_place);
  tcase_add_test(t, modest_work);
  tcase_add_test(t, refuses);
  suite_add_tcase(s, t);
  return check_run(s);
}
