/* Moving records to where they belong, in place. */
#define _GNU_SOURCE
#include "em/kernel/permute.h"

#include <check.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "check_main.h"
#include "os/native.h"

static const size_t sizes[] = {1, 3, 8, 13, 16, 24, 100, 300, 5000, 70000};

enum kind { IDENTITY, REVERSE, ROTATE, PAIRS, BLOCKS, RANDOM, CYCLE, KINDS };

static uint64_t state = 1;

static size_t below(size_t n) {
  state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
  return (size_t)((state >> 33) % n);
}

/* The number of the record for place i. */
static void make(enum kind kind, uint64_t *from, size_t n) {
  for (size_t i = 0; i < n; i++) {
    const size_t block = i / 50 * 50, in = n - block < 50 ? n - block : 50;
    from[i] = kind == REVERSE                ? n - 1 - i
              : kind == ROTATE               ? (i + n / 3 + 1) % n
              : kind == PAIRS && (i ^ 1) < n ? i ^ 1
              : kind == BLOCKS               ? block + (i - block + 7) % in
                                             : i;
  }
  /* Sattolo: exchanging only with those before makes one cycle. */
  for (size_t i = n; kind >= RANDOM && i-- > 1;) {
    const size_t j = below(kind == CYCLE ? i : i + 1);
    const uint64_t x = from[i];
    from[i] = from[j];
    from[j] = x;
  }
}

static void number(char *record, size_t size, size_t i) {
  for (size_t j = 0; j < size; j++) {
    record[j] = (char)((i >> (8 * (j % 3))) + j / 3);
  }
}

static void check(enum kind kind, size_t size, size_t n, size_t width) {
  const size_t bytes = permute_work(size);
  uint64_t *const want = native_zalloc(n + 1, sizeof(*want));
  void *const from = native_zalloc(n + 1, width);
  char *const records = (char *)native_alloc(n * size + 2) + 1;
  char *const work = (char *)native_alloc(bytes + 2) + 1;
  char *const record = native_alloc(size);
  make(kind, want, n);
  for (size_t i = 0; i < n; i++) {
    number(records + i * size, size, i);
    if (width == 4) {
      ((uint32_t *)from)[i] = (uint32_t)want[i];
    } else {
      ((uint64_t *)from)[i] = want[i];
    }
  }
  records[-1] = records[n * size] = work[-1] = work[bytes] = 0x55;
  permute(records, size, n, from, width, work);
  for (size_t i = 0; i < n; i++) {
    number(record, size, want[i]);
    if (memcmp(records + i * size, record, size) != 0) {
      ck_abort_msg("kind %d, %zu of %zu records of %zu: wrong", (int)kind, i, n,
                   size);
    }
    ck_assert_uint_eq(
        width == 4 ? ((uint32_t *)from)[i] : ((uint64_t *)from)[i], i);
  }
  ck_assert(records[-1] == 0x55 && records[n * size] == 0x55);
  ck_assert(work[-1] == 0x55 && work[bytes] == 0x55);
  native_free(want);
  native_free(from);
  native_free(records - 1);
  native_free(work - 1);
  native_free(record);
}

START_TEST(every_kind) {
  static const size_t counts[] = {0, 1, 2, 3, 15, 16, 17, 33, 100, 1000, 20011};
  for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
    const size_t size = sizes[_i], n = counts[i];
    if (n * size > (4 << 20)) {
      continue;
    }
    for (int kind = 0; kind < KINDS; kind++) {
      check((enum kind)kind, size, n, 4);
      check((enum kind)kind, size, n, 8);
    }
  }
}
END_TEST

START_TEST(random_ones) {
  for (int i = 0; i < 3000; i++) {
    check((enum kind)below(KINDS), 1 + below(40), below(300), 4 + 4 * below(2));
  }
}
END_TEST

int main(void) {
  Suite *const s = suite_create("permute");
  TCase *const t = tcase_create("all");
  tcase_set_timeout(t, 60);
  tcase_add_loop_test(t, every_kind, 0, sizeof(sizes) / sizeof(*sizes));
  tcase_add_test(t, random_ones);
  suite_add_tcase(s, t);
  return check_run(s);
}
