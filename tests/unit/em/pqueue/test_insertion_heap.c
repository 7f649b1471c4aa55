/* The heap of records against sorting, for all kinds of keys and sizes. */
#include "em/pqueue/insertion_heap.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "check_main.h"

enum { MOST = 600 /* records */, LARGEST = 700 /* bytes */ };

static const struct pems_record shapes[] = {
    {.size = 1, .key = PEMS_KEY_U8},
    {.size = 3, .key = PEMS_KEY_I8, .key_offset = 1, .descending = 1},
    {.size = 2, .key = PEMS_KEY_U16},
    {.size = 4, .key = PEMS_KEY_U32},
    {.size = 12, .key = PEMS_KEY_I32, .key_offset = 5},
    {.size = 8, .key = PEMS_KEY_U64},
    {.size = 8, .key = PEMS_KEY_I64, .descending = 1},
    {.size = 16, .key = PEMS_KEY_U64, .key_offset = 8},
    {.size = 24, .key = PEMS_KEY_U64},
    {.size = 24, .key = PEMS_KEY_U64, .descending = 1},
    {.size = 40, .key = PEMS_KEY_U64, .key_offset = 3},
    {.size = 16, .key = PEMS_KEY_U128},
    {.size = 33, .key = PEMS_KEY_U128, .key_offset = 1, .descending = 1},
    {.size = 4, .key = PEMS_KEY_F32},
    {.size = 8, .key = PEMS_KEY_F64, .descending = 1},
    {.size = 7, .key = PEMS_KEY_BYTES, .key_size = 5, .key_offset = 1},
    {.size = 100, .key = PEMS_KEY_BYTES, .key_size = 20},
    {.size = 256, .key = PEMS_KEY_U64},
    {.size = 257, .key = PEMS_KEY_U64, .key_offset = 200},
    {.size = LARGEST, .key = PEMS_KEY_BYTES, .key_size = 600},
    {.size = 24}, /* the last two with a comparison function */
    {.size = LARGEST},
};
enum { SHAPES = sizeof(shapes) / sizeof(*shapes) };

static struct pems_record record;
static struct record_order order;
static char heap[(MOST + 1) * LARGEST], want[MOST * LARGEST];
static uint32_t state = 1;

static uint32_t below(uint32_t n) {
  state = state * 1103515245 + 12345;
  return (state >> 8) % n;
}

static int by_last_byte(const void *a, const void *b, void *context) {
  const size_t last = ((const struct pems_record *)context)->size - 1;
  return ((const unsigned char *)a)[last] - ((const unsigned char *)b)[last];
}

static int compare(const void *a, const void *b) {
  return record_compare(&record, a, b);
}

static void choose(int shape) {
  record = shapes[shape];
  if (shape >= SHAPES - 2) {
    record.compare = by_last_byte;
    record.context = &record;
  }
  record_order(&record, &order);
}

/* Few different bytes, so that many keys are equal, or equal at first. */
static void fill(char *at, size_t n, int range) {
  for (size_t i = 0; i < n * record.size; i++) {
    at[i] = (char)(below(3) ? 0 : below((uint32_t)range));
  }
}

static void check_heap(size_t n) {
  const size_t least = n ? insertion_heap_least(&order, heap, n) : 0;
  int wrong = 0;
  for (size_t i = 0; i < n; i++) {
    wrong += compare(heap, heap + i * record.size) > 0 ||
             compare(heap + least * record.size, heap + i * record.size) > 0;
  }
  ck_assert_int_eq(wrong, 0);
}

static int by_bytes(const void *a, const void *b) {
  return memcmp(a, b, record.size);
}

/* The records in the heap and those in `want` are the same. */
static void check_same(char *a, char *b, size_t n) {
  qsort(a, n, record.size, by_bytes);
  qsort(b, n, record.size, by_bytes);
  ck_assert_int_eq(memcmp(a, b, n * record.size), 0);
}

/* Grows a heap by `step` records at a time, then pops all. */
static void check_sorting(size_t n, size_t step, int range) {
  static char got[MOST * LARGEST];
  const size_t size = record.size;
  fill(heap, n, range);
  memcpy(want, heap, n * size);
  memset(heap + n * size, 0x55, size);
  for (size_t done = 0; done < n;) {
    const size_t now = n - done < step ? n : done + step;
    insertion_heap_grow(&order, heap, done, now);
    done = now;
    check_heap(done);
  }
  for (size_t left = n; left > 0; left--) {
    memcpy(got + (n - left) * size, heap, size);
    insertion_heap_pop(&order, heap, left);
  }
  int wrong = 0;
  for (size_t i = 1; i < n; i++) {
    wrong += compare(got + (i - 1) * size, got + i * size) > 0;
  }
  ck_assert_int_eq(wrong, 0);
  check_same(got, want, n);
  ck_assert_int_eq(heap[n * size], 0x55);
  ck_assert_int_eq(memcmp(heap + n * size, heap + n * size + 1, size - 1), 0);
}

START_TEST(records_come_out_in_order) {
  static const int ranges[] = {1, 3, 256};
  choose(_i);
  for (int k = 0; k < 3; k++) {
    for (size_t n = 0; n < 23; n++) {
      for (size_t step = 1; step <= n; step++) {
        check_sorting(n, step, ranges[k]);
      }
    }
    check_sorting(MOST, MOST, ranges[k]);
    check_sorting(MOST, 1 + below(MOST), ranges[k]);
    check_sorting(MOST / 4, 1, ranges[k]);
  }
}
END_TEST

/* Pushes and pops as they come, against the least of an array. */
START_TEST(random_pushes_and_pops) {
  choose(_i);
  const size_t size = record.size;
  size_t n = 0;
  for (int i = 0; i < 3000; i++) {
    if (n > 0 && below(100) < (i / 500 % 2 ? 60 : 40)) {
      const size_t least = insertion_heap_least(&order, want, n);
      ck_assert_int_eq(compare(heap, want + least * size), 0);
      /* Of equal ones, the very one that was first. */
      size_t gone = 0;
      while (gone < n && memcmp(want + gone * size, heap, size) != 0) {
        gone++;
      }
      ck_assert_uint_lt(gone, n);
      insertion_heap_pop(&order, heap, n--);
      memmove(want + gone * size, want + n * size, size);
    } else if (n < MOST) {
      const size_t more = 1 + below(MOST - n < 5 ? 1 : 5);
      fill(heap + n * size, more, 256);
      memcpy(want + n * size, heap + n * size, more * size);
      insertion_heap_grow(&order, heap, n, n + more);
      n += more;
    }
  }
  check_heap(n);
  check_same(heap, want, n);
}
END_TEST

/* Wherever the least is, it is found; of equal ones the first. */
START_TEST(the_least_is_found) {
  choose(_i);
  for (size_t n = 1; n < MOST; n += 1 + n / 2) {
    fill(want, n, 256);
    const size_t least = insertion_heap_least(&order, want, n);
    ck_assert_uint_lt(least, n);
    int wrong = 0;
    for (size_t i = 0; i < n; i++) {
      wrong += compare(want + i * record.size, want + least * record.size) <
               (i < least);
    }
    ck_assert_int_eq(wrong, 0);
  }
}
END_TEST

/* What the program has compiled is called instead. */
static size_t called;

static void program_grow(void *records, size_t heap, size_t n, void *context) {
  (void)records;
  called += *(int *)context * (heap + n);
}

static void program_pop(void *records, size_t n, void *context) {
  (void)records;
  called += *(int *)context * n;
}

static size_t program_least(const void *records, size_t n, void *context) {
  (void)records;
  called += *(int *)context * n;
  return 3;
}

static int by_nothing(const void *a, const void *b, void *context) {
  (void)a, (void)b, (void)context;
  ck_abort();
}

START_TEST(loops_of_the_program_are_called) {
  int context = 100;
  const struct pems_kernel loops = {
      .size = sizeof(loops),
      .record = 8,
      .heap_grow = program_grow,
      .heap_pop = program_pop,
      .heap_least = program_least,
  };
  const struct pems_record r = {
      .size = 8, .compare = by_nothing, .context = &context, .kernel = &loops};
  char records[80] = {0};
  struct record_order o;
  record_order(&r, &o);
  insertion_heap_grow(&o, records, 2, 5);
  ck_assert_uint_eq(called, 700);
  insertion_heap_pop(&o, records, 9);
  ck_assert_uint_eq(called, 1600);
  ck_assert_uint_eq(insertion_heap_least(&o, records, 10), 3);
  ck_assert_uint_eq(called, 2600);
}
END_TEST

int main(void) {
  Suite *const s = suite_create("insertion_heap");
  TCase *const t = tcase_create("all");
  tcase_set_timeout(t, 60);
  tcase_add_loop_test(t, records_come_out_in_order, 0, SHAPES);
  tcase_add_loop_test(t, random_pushes_and_pops, 0, SHAPES);
  tcase_add_loop_test(t, the_least_is_found, 0, SHAPES);
  tcase_add_test(t, loops_of_the_program_are_called);
  suite_add_tcase(s, t);
  return check_run(s);
}
