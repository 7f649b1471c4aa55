/* Stacks that grow when they are touched. */
#define _GNU_SOURCE
#include "vp/stack_growth.h"

#include "base/self.h"
#include "context/calls/allocate.h"
#include "context/calls/stack_chunks.h"
#include "context/residency/residency.h"
#include "context/stack_part.h"
#include "os/bits.h"
#include "vp/stack.h"
#include "vp/vp.h"

#include "../context/store/store_contexts.h"
#include "check_main.h"

#include <check.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

enum { SIZE = 4 << 20, FIRST = 128 << 10 };

static struct context *c;
static struct vp vp;
static char *low, *end; /* of c's stack */
static int faults, refused;

/* vp/vp.c's, for which there would have to be a job. */
bool vp_in_job(void) {
  return true;
}

/* Stands for the program's code. */
static __attribute__((noinline, aligned(4096))) void touch(char *p) {
  *(volatile char *)p = 1;
}

static __attribute__((noinline, aligned(4096))) void touch_elsewhere(char *p) {
  *(volatile char *)p = 1;
}

static const void *instruction; /* of whom: the program's, or anybody's */

static void on_fault(int number, siginfo_t *info, void *frame) {
  (void)frame;
  faults++;
  if (!stack_growth_fault(info->si_addr, instruction)) {
    refused++;
    signal(number, SIG_DFL);
  }
}

static void begin(void) {
  const struct sigaction action = {.sa_sigaction = on_fault,
                                   .sa_flags = SA_SIGINFO};
  make_dir();
  stack_choose_size(SIZE);
  stack_range_bytes = stack_range();
  create("unix", 2, 8 * MIB, 8 * MIB);
  c = context_get(0);
  context_acquire(c);
  char *range;
  (void)context_stack_range(c, &range);
  stacks_start("/tmp", 2, true);
  low = stack_make(0, range);
  ck_assert_ptr_nonnull(low);
  end = low + SIZE;
  c->image.text = (char *)touch;
  c->image.text_len = PAGE;
  context_stack_begin(c, low, end - PAGE);
  vp = (struct vp){.context = c};
  self.vp = &vp;
  sigaction(SIGSEGV, &action, NULL);
}

static void finish(void) {
  signal(SIGSEGV, SIG_DFL);
  self.vp = NULL;
  context_stack_end(c);
  context_release(c);
  stack_free(low);
  stacks_end();
  remove_all();
}

static void program_touches(char *p) {
  instruction = (const void *)touch;
  atomic_signal_fence(memory_order_seq_cst); /* with the handler */
  touch(p);
  atomic_signal_fence(memory_order_seq_cst);
}

static void library_touches(char *p) {
  instruction = (const void *)touch_elsewhere;
  atomic_signal_fence(memory_order_seq_cst);
  touch_elsewhere(p);
  atomic_signal_fence(memory_order_seq_cst);
}

START_TEST(what_the_program_touches_is_the_contexts) {
  const uint64_t before = residency_need(c);
  char *const p = end - 1 * MIB;
  program_touches(end - FIRST);
  ck_assert_int_eq(faults, 0);
  program_touches(p);
  ck_assert_int_eq(faults, 1);
  ck_assert(c->stack.counted <= p);
  ck_assert_ptr_eq(stack_shut_to(0), c->stack.counted);
  ck_assert(!c->stack.owes);
  ck_assert_uint_ge(residency_need(c), before + MIB - FIRST);
  program_touches(p + 5 * PAGE);
  ck_assert_int_eq(faults, 1);
  ck_assert_int_eq(self.inside, 0);
}
END_TEST

START_TEST(others_get_memory_that_is_counted_later) {
  char *const p = end - 1 * MIB;
  library_touches(p);
  ck_assert_ptr_eq(c->stack.counted, end - FIRST);
  ck_assert(c->stack.owes);
  ck_assert(context_stack_uneven(c, p));
  stack_growth_settle(&vp, p);
  ck_assert(!c->stack.owes);
  ck_assert(c->stack.counted <= p);
  ck_assert_int_eq(*p, 1);
}
END_TEST

START_TEST(who_is_in_pems_does_not_wait) {
  self_enter();
  program_touches(end - 1 * MIB);
  self.inside = 0;
  ck_assert(c->stack.owes);
  program_touches(end - 2 * MIB); /* the program counts what others owe, too */
  ck_assert(c->stack.counted <= end - 2 * MIB);
}
END_TEST

START_TEST(a_callback_does_not_wait) {
  program_touches(end - 1 * MIB);
  ck_assert(context_stack_leave(c, end - MIB / 2));
  program_touches(end - 2 * MIB);
  ck_assert(c->stack.owes);
  context_stack_back(c);
}
END_TEST

START_TEST(what_the_context_has_no_room_for_is_a_file) {
  char *const p = end - 1 * MIB;
  program_touches(p);
  char *const block = context_alloc(c, 6 * MIB, 16);
  ck_assert_ptr_nonnull(block);
  program_touches(low);
  ck_assert(stack_is_file(low));
  ck_assert(!stack_is_file(p));
  ck_assert(!stack_is_shut(0, low));
  ck_assert_int_eq(*p, 1);
  context_free(c, block);
}
END_TEST

START_TEST(what_is_not_needed_is_given_back_where_memory_is_short) {
  struct context *const other = context_get(1);
  program_touches(end - 1 * MIB);
  program_touches(end - 3 * MIB);
  char *const counted = c->stack.counted;
  stack_growth_settle(&vp, end - 2 * PAGE);
  ck_assert_ptr_eq(c->stack.counted, counted);
  context_release(c);
  context_acquire(other);
  char *const p = context_alloc(other, 7 * MIB, 16);
  memset(p, 1, 7 * MIB);
  context_free(other, p);
  context_release(other);
  context_acquire(c);
  char *const q = context_alloc(c, 4 * MIB, 16); /* the other has to go */
  ck_assert(contexts_crowded());
  stack_growth_settle(&vp, end - 2 * PAGE);
  ck_assert_ptr_eq(c->stack.counted, end - FIRST);
  ck_assert_ptr_eq(stack_shut_to(0), end - FIRST);
  context_free(c, q);
}
END_TEST

START_TEST(nothing_else_is_its_affair) {
  const char local = 0;
  ck_assert(!stack_growth_fault(&local, NULL));
  ck_assert(!stack_growth_fault(NULL, NULL));
  ck_assert(!stack_growth_fault(low - 1, NULL));
  ck_assert(!stack_growth_fault(end - 1, NULL));
  ck_assert(!stack_growth_fault(c->range, NULL));
}
END_TEST

int main(void) {
  Suite *s = suite_create("stack_growth");
  TCase *t = tcase_create("stack_growth");
  tcase_add_checked_fixture(t, begin, finish);
  tcase_add_test(t, what_the_program_touches_is_the_contexts);
  tcase_add_test(t, others_get_memory_that_is_counted_later);
  tcase_add_test(t, who_is_in_pems_does_not_wait);
  tcase_add_test(t, a_callback_does_not_wait);
  tcase_add_test(t, what_the_context_has_no_room_for_is_a_file);
  tcase_add_test(t, what_is_not_needed_is_given_back_where_memory_is_short);
  tcase_add_test(t, nothing_else_is_its_affair);
  suite_add_tcase(s, t);
  return check_run(s);
}
