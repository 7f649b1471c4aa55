/* A heap that another one takes over: the same blocks, and it goes on. */
#include "context/heap/heap.h"

#include <check.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "check_main.h"

#define MIB ((size_t)1 << 20)
enum { BLOCKS = 2000, EXTENTS = 4096, PAGE = 4096 };

static char *base;
static char *block[BLOCKS];

static void make_range(void) {
  char *const all = mmap(NULL, 20 * MIB, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ck_assert(all != MAP_FAILED);
  base = (char *)(((uintptr_t)all + 2 * MIB) & -(2 * MIB));
}

static size_t size_of(int i) {
  return i % 7 == 0 ? 600 + (size_t)i * 3 : 1 + (size_t)i % 500;
}

/* Blocks of all sizes, every third one freed, and pages. */
static struct heap *filled(void) {
  size_t old;
  struct heap *const h = heap_create(base, 16 * MIB);
  ck_assert_ptr_nonnull(heap_map(h, 3 * PAGE, PAGE, &old));
  for (int i = 0; i < BLOCKS; i++) {
    block[i] = heap_alloc(h, size_of(i), 16);
    memset(block[i], i, size_of(i));
  }
  for (int i = 0; i < BLOCKS; i += 3) {
    heap_free(h, block[i]);
    block[i] = NULL;
  }
  return h;
}

/* What is in the range afterwards is what its extents have. */
static void keep_extents(struct heap *h) {
  static struct heap_extent extent[EXTENTS];
  char *const copy = calloc(1, 16 * MIB);
  const size_t n = heap_extents(h, 0, extent, EXTENTS);
  for (size_t i = 0; i < n; i++) {
    memcpy(copy + (extent[i].start - base), extent[i].start, extent[i].len);
  }
  memcpy(base, copy, 16 * MIB);
  free(copy);
}

START_TEST(blocks_live_on_in_another_heap) {
  make_range();
  struct heap *const h = filled();
  const size_t n = heap_save_size(h), live = heap_live(h);
  void *const state = malloc(n);
  heap_save(h, state);
  keep_extents(h);
  const char *const top = heap_top(h);
  heap_destroy(h);
  struct heap *const other = heap_create(base, 12 * MIB);
  ck_assert_uint_eq(heap_saved_top(state, n), (size_t)(top - base));
  ck_assert_int_eq(heap_load(other, state, n), 0);
  ck_assert_int_eq(heap_check(other), 0);
  ck_assert_uint_eq(heap_live(other), live);
  for (int i = 0; i < BLOCKS; i++) {
    if (block[i]) {
      ck_assert_uint_ge(heap_usable_size(other, block[i]), size_of(i));
      ck_assert_int_eq(block[i][size_of(i) - 1], (char)i);
    } else {
      block[i] = heap_alloc(other, size_of(i), 16);
      ck_assert_ptr_nonnull(block[i]);
    }
  }
  for (int i = 0; i < BLOCKS; i++) {
    ck_assert_int_eq(heap_free(other, block[i]), 0);
  }
  heap_unmap(other, base, 3 * PAGE);
  ck_assert_uint_eq(heap_live(other), 0);
  ck_assert_int_eq(heap_check(other), 0);
  heap_destroy(other);
  free(state);
}
END_TEST

START_TEST(what_does_not_fit_is_refused) {
  make_range();
  struct heap *const h = filled();
  const size_t n = heap_save_size(h);
  void *const state = malloc(n);
  heap_save(h, state);
  heap_destroy(h);
  struct heap *const small = heap_create(base, MIB / 2);
  ck_assert_int_eq(heap_load(small, state, n), ENOSPC);
  heap_destroy(small);
  struct heap *const other = heap_create(base, 16 * MIB);
  ck_assert_int_eq(heap_load(other, state, n - 1), EINVAL);
  ck_assert_int_eq(heap_load(other, state, 8), EINVAL);
  ck_assert_uint_eq(heap_saved_top(state, n - 1), SIZE_MAX);
  heap_destroy(other);
  free(state);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {blocks_live_on_in_another_heap,
                                what_does_not_fit_is_refused, NULL};
  return check_main("heap_state", tests);
}
