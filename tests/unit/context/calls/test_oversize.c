/* Blocks that do not fit in memory: what is touched of them counts, leaves
   memory and comes back, whoever asked for them. */
#define _GNU_SOURCE
#include "context/calls/oversize.h"

#include "context/calls/allocate.h"
#include "context/calls/discard.h"
#include "context/calls/fork.h"
#include "context/calls/mapping.h"
#include "context/internal.h"
#include "context/residency/residency.h"
#include "os/bits.h"

#include "../store/store_contexts.h"
#include "check_main.h"

#include <check.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

#define LARGE (32 * MIB)

static struct context *c;
static bool tells; /* the system tells what of a file is in memory */

/* Two contexts, of which one fits into memory. */
static void begin(void) {
  make_dir();
  oversize_start("/var/tmp");
  create("unix", 2, 8 * MIB, 8 * MIB);
  c = context_get(0);
  context_acquire(c);
}

static void finish(void) {
  context_release(c);
  oversize_start(NULL);
  remove_all();
}

static char *take(void) {
  char *const p = context_alloc(c, LARGE, 16);
  ck_assert_ptr_nonnull(p);
  ck_assert(oversize_has(c, p, LARGE));
  oversize_settle(c, true);
  tells = c->shared == 0;
  return p;
}

static void put(char *p, size_t n) {
  for (size_t at = 0; at < n; at += PAGE) {
    p[at] = (char)(at / PAGE % 100 + 1);
  }
}

static bool is_put(const char *p, size_t n) {
  size_t at = 0;
  while (at < n && p[at] == (char)(at / PAGE % 100 + 1)) {
    at += PAGE;
  }
  return at >= n;
}

static bool is_zero(const char *p, size_t n) {
  size_t at = 0;
  while (at < n && !p[at]) {
    at += PAGE;
  }
  return at >= n;
}

static uint64_t counted(void) {
  oversize_settle(c, true);
  return c->shared;
}

static void away_and_back(void) {
  context_release(c);
  struct context *const other = context_get(1);
  context_acquire(other);
  char *const block = context_alloc(other, 7 * MIB, PAGE);
  ck_assert_ptr_nonnull(block);
  memset(block, 1, 7 * MIB);
  ck_assert(!context_resident(c));
  context_free(other, block);
  context_release(other);
  context_acquire(c);
}

START_TEST(what_is_touched_counts) {
  char *const p = take();
  put(p + 4 * MIB, MIB);
  const uint64_t one = counted();
  ck_assert(!tells || (one >= MIB && one < 2 * MIB));
  oversize_settle(c, false);
  put(p + 8 * MIB, MIB);
  oversize_settle(c, false); /* there were page faults */
  ck_assert(!tells || c->shared >= one + MIB);
  ck_assert_uint_le(contexts_resident_bytes(), contexts.budget);
  context_free(c, p);
  ck_assert_uint_eq(c->shared, 0);
  ck_assert(!oversize_has(c, p, 1));
}
END_TEST

START_TEST(it_leaves_and_comes_back) {
  char *const p = take();
  put(p, MIB);
  put(p + LARGE - MIB, MIB);
  const uint64_t before = counted();
  away_and_back();
  ck_assert_uint_ge(contexts_resident_bytes(), bits_min(before, 4 * MIB));
  ck_assert(is_put(p, MIB) && is_put(p + LARGE - MIB, MIB));
  ck_assert(is_zero(p + MIB, LARGE - 2 * MIB));
  context_free(c, p);
}
END_TEST

/* More than all of the memory: the system pages it. */
START_TEST(all_can_be_touched) {
  char *const p = take();
  put(p, LARGE);
  (void)counted();
  ck_assert_uint_le(contexts_resident_bytes(), contexts.budget);
  away_and_back();
  ck_assert(is_put(p, LARGE));
  context_free(c, p);
}
END_TEST

START_TEST(who_gets_none) {
  ck_assert_ptr_null(context_alloc(c, (size_t)1 << 60, 16));
  ck_assert_ptr_null(oversize_alloc(c, OVERSIZE_LEAST - 1, 16));
  contexts.mu_chosen = true;
  ck_assert_ptr_null(context_alloc(c, LARGE, 16));
  contexts.mu_chosen = false;
  oversize_start(NULL);
  ck_assert_ptr_null(context_alloc(c, LARGE, 16));
  oversize_start("/nonexistent");
  ck_assert_ptr_null(context_alloc(c, LARGE, 16));
}
END_TEST

START_TEST(sizes_change) {
  char *p = context_alloc(c, MIB, 16);
  put(p, MIB);
  p = context_realloc(c, p, LARGE);
  ck_assert(oversize_has(c, p, LARGE) && is_put(p, MIB));
  put(p, 2 * MIB);
  p = context_realloc(c, p, 2 * LARGE);
  ck_assert_uint_ge(context_usable(c, p), 2 * LARGE);
  ck_assert(is_put(p, 2 * MIB));
  ck_assert(!tells || counted() < 4 * MIB);
  p = context_realloc(c, p, MIB);
  ck_assert(!c->oversize.n && is_put(p, MIB));
  context_free(c, p);
}
END_TEST

START_TEST(alignments) {
  char *const p = context_alloc(c, LARGE, HUGE_PAGE);
  ck_assert_uint_eq((uintptr_t)p % HUGE_PAGE, 0);
  ck_assert(oversize_has(c, p, LARGE));
  char *const q = context_zalloc(c, LARGE);
  ck_assert(oversize_has(c, q, LARGE) && is_zero(q, LARGE));
  ck_assert_ptr_eq(context_of_block(c, q), c);
  ck_assert_ptr_null(context_of_block(context_get(1), q));
  ck_assert(!oversize_free(c, q + 1));
  context_free(c, q);
  oversize_end(c);
  ck_assert_int_eq(c->oversize.n, 0);
}
END_TEST

START_TEST(pages_are_mapped) {
  int code;
  const struct mapping_wish wish = {.n = LARGE, .align = PAGE};
  char *p = mapping_new(c, &wish, &code);
  ck_assert_int_eq(mapping_place(c, p, LARGE), MAPPING_HEAP);
  ck_assert(oversize_has(c, p, LARGE));
  put(p, 2 * MIB);
  ck_assert_int_eq(mapping_protect(c, p, PAGE, PROT_NONE), 0);
  ck_assert_int_eq(mapping_protect(c, p, PAGE, PROT_READ | PROT_WRITE), 0);
  ck_assert_int_eq(mapping_zero(c, p + MIB, PAGE), 0);
  ck_assert(p[MIB] == 0 && is_put(p, MIB));
  ck_assert_int_eq(context_discard_range(c, p + MIB, 3 * PAGE - 1), 0);
  ck_assert(p[MIB + PAGE] == 0 && p[MIB + 2 * PAGE] != 0);
  struct mapping_resize grown = {.p = p, .n = LARGE, .to = 2 * LARGE};
  ck_assert_ptr_null(mapping_resize(c, &grown, &code));
  ck_assert_int_eq(code, ENOMEM);
  grown.may_move = true;
  p = mapping_resize(c, &grown, &code);
  ck_assert(is_put(p, MIB) && oversize_has(c, p, 2 * LARGE));
  ck_assert_int_eq(c->oversize.n, 1);
  const struct mapping_wish fixed = {
      .at = p, .n = PAGE, .align = PAGE, .fixed = true};
  ck_assert_ptr_eq(mapping_new(c, &fixed, &code), p);
  ck_assert(p[0] == 0 && p[PAGE] != 0);
  ck_assert_int_eq(mapping_free(c, p + LARGE, LARGE), 0);
  ck_assert_int_eq(c->oversize.n, 1);
  ck_assert_int_eq(mapping_free(c, p, LARGE), 0);
  ck_assert_int_eq(c->oversize.n, 0);
}
END_TEST

/* Each has its own. */
START_TEST(a_child_has_a_copy) {
  char *const p = take();
  put(p, 2 * MIB);
  fork_prepare(c);
  const pid_t child = fork();
  if (child == 0) {
    fork_child(c);
    const bool right = is_put(p, 2 * MIB) && is_zero(p + 2 * MIB, MIB);
    memset(p, 0, 2 * MIB);
    _exit(right ? 0 : 1);
  }
  fork_parent();
  int status;
  ck_assert_int_eq(waitpid(child, &status, 0), child);
  ck_assert_int_eq(status, 0);
  ck_assert(is_put(p, 2 * MIB));
  ck_assert(!tells || counted() < 4 * MIB);
  context_free(c, p);
}
END_TEST

int main(void) {
  Suite *s = suite_create("oversize");
  TCase *t = tcase_create("oversize");
  tcase_add_checked_fixture(t, begin, finish);
  tcase_set_timeout(t, 120);
  tcase_add_test(t, what_is_touched_counts);
  tcase_add_test(t, it_leaves_and_comes_back);
  tcase_add_test(t, all_can_be_touched);
  tcase_add_test(t, who_gets_none);
  tcase_add_test(t, sizes_change);
  tcase_add_test(t, alignments);
  tcase_add_test(t, pages_are_mapped);
  tcase_add_test(t, a_child_has_a_copy);
  suite_add_tcase(s, t);
  return check_run(s);
}
