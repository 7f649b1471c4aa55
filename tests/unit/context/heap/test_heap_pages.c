/* Pages that a program maps, beside blocks, in one heap. */
#include "context/heap/heap_pages.h"

#include <check.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "check_main.h"

#define MIB ((size_t)1 << 20)
enum { PAGE = HEAP_SLAB_PAGE };

static char *base;
static struct heap *h;

static void make(size_t limit) {
  char *all = mmap(NULL, limit + 4 * MIB, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ck_assert(all != MAP_FAILED);
  base = (char *)(((uintptr_t)all + 2 * MIB) & -(2 * MIB));
  h = heap_create(base, limit);
  ck_assert_ptr_nonnull(h);
}

static void sound(void) {
  ck_assert_int_eq(heap_check(h), 0);
}

START_TEST(pages_are_given_back_one_by_one) {
  size_t old;
  make(4 * MIB);
  char *p = heap_map(h, 10 * PAGE, PAGE, &old);
  ck_assert_ptr_eq(p, base);
  ck_assert_uint_eq(old, 0);
  ck_assert_uint_eq(heap_live(h), 10 * PAGE);
  heap_unmap(h, p + 3 * PAGE, 2 * PAGE);
  sound();
  bool mapped;
  ck_assert_uint_eq(heap_mapped(h, p, p + 10 * PAGE, &mapped), 3 * PAGE);
  ck_assert(mapped);
  ck_assert_uint_eq(heap_mapped(h, p + 3 * PAGE, p + 10 * PAGE, &mapped),
                    2 * PAGE);
  ck_assert(!mapped);
  ck_assert_ptr_eq(heap_map(h, 2 * PAGE, PAGE, &old), p + 3 * PAGE);
  ck_assert_uint_eq(old, 2 * PAGE);
  heap_unmap(h, p, 4 * MIB); /* beyond the top, too */
  ck_assert_uint_eq(heap_live(h), 0);
  ck_assert_ptr_eq(heap_top(h), base);
  heap_unmap(h, p, PAGE); /* nothing is there */
  sound();
}
END_TEST

START_TEST(a_place_is_had_if_all_of_it_is_free) {
  size_t old;
  make(4 * MIB);
  char *block = heap_alloc(h, 3 * PAGE, 16);
  ck_assert(!heap_map_at(h, base, PAGE, &old));
  ck_assert(heap_map_at(h, base + 16 * PAGE, 4 * PAGE, &old));
  ck_assert(!heap_map_at(h, base + 15 * PAGE, 2 * PAGE, &old));
  ck_assert(!heap_map_at(h, base + 19 * PAGE, 2 * PAGE, &old));
  ck_assert(heap_map_at(h, base + 10 * PAGE, 6 * PAGE, &old));
  sound();
  ck_assert(!heap_map_at(h, base + 4 * MIB - PAGE, 2 * PAGE, &old));
  ck_assert_uint_eq(heap_lacks(h), 0);
  heap_limit(h, MIB, 4 * MIB);
  ck_assert(!heap_map_at(h, base + 2 * MIB, PAGE, &old));
  ck_assert_uint_eq(heap_lacks(h), 2 * MIB + PAGE);
  heap_unmap(h, base, 4 * MIB);
  ck_assert_int_eq(heap_free(h, block), 0);
  sound();
}
END_TEST

START_TEST(a_mapping_is_no_block) {
  size_t old, size;
  char *start;
  make(4 * MIB);
  char *p = heap_map(h, 4 * PAGE, PAGE, &old);
  memset(p, 0, 4 * PAGE);
  ck_assert_int_eq(mprotect(p, PAGE, PROT_NONE), 0); /* never looked at */
  char *block = heap_alloc(h, 2000, 16);
  ck_assert_int_eq(heap_free(h, p), -1);
  ck_assert_int_eq(heap_free(h, p + 16), -1);
  ck_assert_int_eq(heap_free(h, p + 4 * PAGE), -1);
  ck_assert_uint_eq(heap_usable_size(h, p + 16), 0);
  ck_assert_int_eq(heap_block(h, p + 5000, &start, &size), 1);
  ck_assert_ptr_eq(start, p);
  ck_assert_uint_eq(size, 4 * PAGE);
  ck_assert_int_eq(heap_block(h, block + 5, &start, &size), 1);
  ck_assert_ptr_eq(start, block);
  sound();
}
END_TEST

START_TEST(what_does_not_fit_is_refused) {
  size_t old;
  make(4 * MIB);
  ck_assert_ptr_null(heap_map(h, 5 * MIB, PAGE, &old));
  ck_assert_ptr_null(heap_map(h, (size_t)1 << 50, PAGE, &old));
  ck_assert_ptr_nonnull(heap_map(h, 2 * MIB, 2 * MIB, &old));
  ck_assert_ptr_nonnull(heap_map(h, 2 * MIB, 2 * MIB, &old));
  ck_assert_ptr_null(heap_map(h, PAGE, PAGE, &old));
  ck_assert_ptr_null(heap_alloc(h, 16, 16));
  heap_unmap(h, base + MIB, PAGE);
  ck_assert_ptr_nonnull(heap_alloc(h, 600, 16));
  sound();
}
END_TEST

START_TEST(random_calls_keep_the_heap_sound) {
  enum { N = 64, STEPS = 20000 };
  struct {
    char *p;
    size_t n;
    bool pages;
  } had[N] = {{0}};
  make(8 * MIB);
  unsigned x = 1;
  for (int i = 0; i < STEPS; i++) {
    x = x * 1103515245u + 12345u;
    const unsigned k = x >> 16 & (N - 1);
    size_t old;
    if (had[k].p && had[k].pages) {
      heap_unmap(h, had[k].p, had[k].n);
      had[k].p = NULL;
    } else if (had[k].p) {
      ck_assert_int_eq(heap_free(h, had[k].p), 0);
      had[k].p = NULL;
    } else {
      had[k].pages = x >> 10 & 1;
      had[k].n = had[k].pages ? (1 + (x >> 11) % 40) * PAGE : (x >> 11) % 9000;
      had[k].p = had[k].pages ? heap_map(h, had[k].n, PAGE, &old)
                              : heap_alloc(h, had[k].n, 16);
      ck_assert_ptr_nonnull(had[k].p);
      memset(had[k].p, 0xff, had[k].n);
    }
    if (i % 500 == 0) {
      sound();
    }
  }
  sound();
}
END_TEST

int main(void) {
  const TTest *const tests[] = {
      pages_are_given_back_one_by_one,
      a_place_is_had_if_all_of_it_is_free,
      a_mapping_is_no_block,
      what_does_not_fit_is_refused,
      random_calls_keep_the_heap_sound,
      NULL,
  };
  return check_main("heap_pages", tests);
}
