/* Boundary blocks against a model that knows every byte. */
#define _GNU_SOURCE
#include "context/boundary.h"

#include <check.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "check_main.h"
#include "disk/contexts/disk.h"

enum { BLOCK = DISK_BLOCK, BLOCKS = 12, SPACE = BLOCKS * BLOCK, STEPS = 4000 };
static const uintptr_t base = (uintptr_t)BLOCK << 20;

static struct boundary b;
static char bytes[SPACE]; /* what was put */
static bool known[SPACE]; /* and where */
static bool held[BLOCKS]; /* blocks that are kept */
static unsigned state;

static unsigned below(unsigned n) {
  state = state * 1103515245 + 12345;
  return (state >> 8) % n;
}

static void forget(size_t block) {
  memset(known + block * BLOCK, 0, BLOCK);
  held[block] = false;
}

static void clear(void) {
  memset(&b, 0, sizeof(b));
  state = 1;
  for (size_t i = 0; i < BLOCKS; i++) {
    forget(i);
  }
}

static void drop(void) {
  boundary_free(&b);
  ck_assert_uint_eq(b.n, 0);
  ck_assert_ptr_null(b.bucket);
  ck_assert_uint_eq(boundary_memory(), 0);
}

static bool complete(size_t block) {
  for (size_t i = 0; i < BLOCK; i++) {
    if (!known[block * BLOCK + i]) {
      return false;
    }
  }
  return true;
}

static void put(size_t at, size_t n) {
  for (size_t i = at; i < at + n; i++) {
    bytes[i] = (char)below(256);
    known[i] = true;
  }
  held[at / BLOCK] = true;
  ck_assert_int_eq(boundary_put(&b, base + at, bytes + at, n),
                   complete(at / BLOCK));
}

static void put_random(void) {
  static const unsigned longest[] = {1, 8, 63, 64, 65, 500, BLOCK};
  const unsigned skip = below(BLOCK);
  const unsigned most = longest[below(7)];
  const unsigned left = BLOCK - skip;
  put(below(BLOCKS) * (size_t)BLOCK + skip,
      1 + below(most < left ? most : left));
}

static void check_overlay(size_t at, size_t n) {
  char *const out = malloc(n + 2), *const want = malloc(n + 2);
  memset(out, 0x55, n + 2);
  memset(want, 0x55, n + 2);
  for (size_t i = 0; i < n; i++) {
    if (known[at + i]) {
      want[i + 1] = bytes[at + i];
    }
  }
  boundary_overlay(&b, base + at, out + 1, n);
  ck_assert_mem_eq(out, want, n + 2);
  bool any = false;
  for (size_t i = at / BLOCK; n && i <= (at + n - 1) / BLOCK; i++) {
    any |= held[i];
  }
  ck_assert_int_eq(boundary_any(&b, base + at, n), any);
  free(out);
  free(want);
}

static size_t count_held(void) {
  size_t n = 0;
  for (size_t i = 0; i < BLOCKS; i++) {
    n += held[i];
  }
  return n;
}

static bool seen[BLOCKS];
static uintptr_t last_seen;

static void visit(void *arg, uintptr_t p, const char *block,
                  const uint64_t *bits, int whole) {
  ck_assert_ptr_eq(arg, &b);
  ck_assert_uint_eq(p % BLOCK, 0);
  const size_t i = (p - base) / BLOCK;
  ck_assert_uint_lt(i, BLOCKS);
  ck_assert(!seen[i]);
  seen[i] = true;
  ck_assert_uint_gt(p, last_seen);
  last_seen = p;
  ck_assert_int_eq(whole, complete(i));
  char out[BLOCK], want[BLOCK];
  memset(out, 0x77, BLOCK);
  boundary_apply(block, bits, out);
  for (size_t j = 0; j < BLOCK; j++) {
    const size_t at = i * BLOCK + j;
    ck_assert_int_eq(bits[j / 64] >> (j % 64) & 1, known[at]);
    want[j] = known[at] ? bytes[at] : 0x77;
  }
  ck_assert_mem_eq(out, want, BLOCK);
}

static void flush(void) {
  memset(seen, 0, sizeof(seen));
  last_seen = 0;
  boundary_flush(&b, visit, &b);
  ck_assert_mem_eq(seen, held, sizeof(held));
  ck_assert_uint_eq(b.n, 0);
  for (size_t i = 0; i < BLOCKS; i++) {
    forget(i);
  }
}

START_TEST(random_pieces_equal_a_model) {
  state = (unsigned)_i;
  for (int step = 0; step < STEPS; step++) {
    put_random();
    const unsigned at = below(SPACE);
    check_overlay(at, below(SPACE - at + 1));
    if (below(10) == 0) {
      const unsigned from = below(BLOCKS);
      const unsigned n = below(BLOCKS - from + 1);
      boundary_drop(&b, base + from * (size_t)BLOCK, n * (size_t)BLOCK);
      for (size_t i = from; i < from + n; i++) {
        forget(i);
      }
    }
    ck_assert_uint_eq(b.n, count_held());
    if (below(500) == 0) {
      flush();
    }
  }
  flush();
}
END_TEST

START_TEST(a_block_completes_once_all_bytes_are_there) {
  for (size_t i = 0; i < BLOCK; i += 2) {
    put(i, 1);
  }
  for (size_t i = BLOCK - 1; i < BLOCK; i -= 2) { /* wraps past 1 */
    put(i, 1);
  }
  ck_assert(complete(0));
  /* It stays so when bytes come again, and tells. */
  put(100, 7);
  flush();
}
END_TEST

START_TEST(later_bytes_win) {
  put(10, 100);
  put(50, 10);
  check_overlay(0, BLOCK);
}
END_TEST

START_TEST(an_empty_one_is_silent) {
  check_overlay(0, SPACE);
  boundary_drop(&b, base, SPACE);
  flush();
}
END_TEST

START_TEST(memory_is_counted) {
  ck_assert_uint_eq(boundary_memory(), 0);
  put(5, 1);
  const size_t one = boundary_memory();
  ck_assert_uint_gt(one, BLOCK);
  put(6, 1);
  ck_assert_uint_eq(boundary_memory(), one);
  put(BLOCK, 1);
  ck_assert_uint_eq(boundary_memory(), 2 * one);
  struct boundary other = {0};
  ck_assert_int_eq(boundary_put(&other, 17, "x", 1), 0);
  ck_assert_uint_eq(boundary_memory(), 3 * one);
  boundary_free(&other);
  ck_assert_uint_eq(boundary_memory(), 2 * one);
  boundary_drop(&b, base, BLOCK);
  ck_assert_uint_eq(boundary_memory(), one);
}
END_TEST

START_TEST(blocks_are_taken_in_order) {
  enum { MANY = 777 };
  for (size_t i = 0; i < MANY; i++) {
    ck_assert_int_eq(
        boundary_put(&b, base + i * 389 % MANY * BLOCK + i % BLOCK, "x", 1), 0);
  }
  const size_t all = boundary_memory();
  struct boundary_block *k = boundary_take(&b);
  ck_assert_uint_eq(b.n, 0);
  ck_assert(!boundary_any(&b, base, MANY * (size_t)BLOCK));
  ck_assert_uint_eq(boundary_memory(), all);
  /* Meanwhile others may come. */
  ck_assert_int_eq(boundary_put(&b, base, "y", 1), 0);
  for (size_t i = 0; i < MANY; i++) {
    struct boundary_block *const next = k->next;
    ck_assert_uint_eq(k->address, base + i * BLOCK);
    ck_assert_int_eq(k->unknown, BLOCK - 1);
    boundary_release(k);
    k = next;
  }
  ck_assert_ptr_null(k);
  ck_assert_uint_eq(boundary_memory(), all / MANY);
  ck_assert_uint_eq(b.n, 1);
  ck_assert(boundary_any(&b, base, 1));
  ck_assert(!boundary_any(&b, base + BLOCK, 100));
}
END_TEST

static size_t visited;

static void check_number(void *arg, uintptr_t p, const char *block,
                         const uint64_t *bits, int whole) {
  (void)arg;
  ck_assert_int_eq(whole, 0);
  uintptr_t number;
  const size_t skip = p / BLOCK % (BLOCK - sizeof(number));
  memcpy(&number, block + skip, sizeof(number));
  ck_assert_uint_eq(number, p);
  ck_assert_uint_eq(bits[skip / 64] >> (skip % 64) & 1, 1);
  visited++;
}

START_TEST(many_blocks) {
  enum { MANY = 3000 };
  for (size_t i = 0; i < MANY; i++) {
    const uintptr_t address = base + i * 7 * BLOCK;
    const size_t skip = address / BLOCK % (BLOCK - sizeof(address));
    ck_assert_int_eq(
        boundary_put(&b, address + skip, &address, sizeof(address)), 0);
  }
  ck_assert_uint_eq(b.n, MANY);
  ck_assert_uint_eq(b.buckets & (b.buckets - 1), 0);
  for (size_t i = 0; i < MANY; i++) {
    const uintptr_t address = base + i * 7 * BLOCK;
    uintptr_t got = 0;
    boundary_overlay(&b, address + address / BLOCK % (BLOCK - sizeof(got)),
                     &got, sizeof(got));
    ck_assert_uint_eq(got, address);
  }
  boundary_flush(&b, check_number, NULL);
  ck_assert_uint_eq(visited, MANY);
}
END_TEST

int main(void) {
  Suite *const s = suite_create("boundary");
  TCase *const t = tcase_create("all");
  tcase_set_timeout(t, 60);
  tcase_add_checked_fixture(t, clear, drop);
  tcase_add_loop_test(t, random_pieces_equal_a_model, 0, 3);
  tcase_add_test(t, a_block_completes_once_all_bytes_are_there);
  tcase_add_test(t, later_bytes_win);
  tcase_add_test(t, an_empty_one_is_silent);
  tcase_add_test(t, memory_is_counted);
  tcase_add_test(t, blocks_are_taken_in_order);
  tcase_add_test(t, many_blocks);
  suite_add_tcase(s, t);
  return check_run(s);
}
