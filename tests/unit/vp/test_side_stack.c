/* A program's own stack lies in its context; calls go on elsewhere. */
#include "vp/side_stack.h"

#include "base/self.h"
#include "check_main.h"
#include "context/context.h"
#include "vp/vp.h"

#include <check.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

enum { STACK = 256 << 10 };

static char own[STACK], *memory; /* the VP's stack, and its context */
static struct context context;
static struct vp vp;
static ucontext_t test, coroutine;
static const char *inside_frame;
static long sum;

static void make(void) {
  memory = aligned_alloc(4096, STACK);
  context = (struct context){.range = memory, .range_len = STACK};
  vp = (struct vp){.context = &context, .stack = own, .stack_size = STACK};
  self = (struct self){.vp = &vp};
}

static void tidy(void) {
  side_stack_free(&vp);
  self = (struct self){0};
  free(memory);
}

/* The sanitizers follow stacks by themselves. */
static bool switches(void) {
#if (defined(__x86_64__) || defined(__aarch64__)) &&                           \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  return true;
#else
  return false;
#endif
}

/* As much of its stack as pems may use, and more arguments than registers. */
static __attribute__((noinline)) long work(long a, long b, long c, long d,
                                           long e, long f, long g, long h) {
  volatile char frames[100 << 10];
  for (size_t i = 0; i < sizeof(frames); i += 64) {
    frames[i] = (char)a;
  }
  inside_frame = (const char *)&frames[0];
  return a + b + c + d + e + f + g + h + frames[64];
}

/* As a call of MPI does. */
static __attribute__((noinline)) long call(long a, long b, long c, long d,
                                           long e, long f, long g, long h) {
  char *const aside = side_stack_for(&vp, __builtin_frame_address(0));
  void *const before =
      aside ? side_stack_switch(aside, __builtin_alloca(16)) : NULL;
  const long result = work(a, b, c, d, e, f, g, h);
  if (before) {
    side_stack_switch(before, NULL);
  }
  return result + h;
}

static void run(void) {
  sum = call(1, 2, 3, 4, 5, 6, 7, 8);
  sum += call(1, 2, 3, 4, 5, 6, 7, 8);
}

START_TEST(a_call_from_a_stack_in_the_context_runs_elsewhere) {
  make();
  getcontext(&coroutine);
  coroutine.uc_stack.ss_sp = memory;
  coroutine.uc_stack.ss_size = STACK;
  coroutine.uc_link = &test;
  makecontext(&coroutine, run, 0);
  ck_assert_int_eq(swapcontext(&test, &coroutine), 0);
  ck_assert_int_eq(sum, 2 * (36 + 1 + 8));
  ck_assert_int_eq(!context_covers(&context, inside_frame), switches());
  if (!switches()) {
    return;
  }
  ck_assert_ptr_nonnull(vp.side_stack);
  ck_assert(inside_frame > vp.side_stack);
  /* a call from there, of a callback, stays */
  ck_assert_ptr_null(side_stack_for(&vp, inside_frame));
  tidy();
}
END_TEST

START_TEST(it_is_made_once_and_given_back) {
  make();
  ck_assert_ptr_null(vp.side_stack);
  char *const top = side_stack_for(&vp, memory + 100);
  ck_assert_int_eq(top != NULL, switches());
  if (!top) {
    return;
  }
  ck_assert_uint_eq((uintptr_t)top % 16, 0);
  ck_assert_ptr_eq(side_stack_for(&vp, memory + STACK - 1), top);
  top[-1] = top[511] = 1;
  side_stack_free(&vp);
  ck_assert_ptr_null(vp.side_stack);
  tidy();
}
END_TEST

START_TEST(other_stacks_stay) {
  make();
  const char elsewhere = 0;
  ck_assert_ptr_null(side_stack_for(&vp, own + 100));
  ck_assert_ptr_null(side_stack_for(&vp, &elsewhere));
  self.helper = true; /* its stack is not the VP's affair */
  ck_assert_ptr_null(side_stack_for(&vp, memory + 100));
  self.helper = false;
  vp.context = NULL; /* all is in memory */
  ck_assert_ptr_null(side_stack_for(&vp, memory + 100));
  ck_assert_ptr_null(vp.side_stack);
  tidy();
}
END_TEST

int main(void) {
  const TTest *const tests[] = {
#if defined(__x86_64__) || defined(__aarch64__)
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    a_call_from_a_stack_in_the_context_runs_elsewhere,
    it_is_made_once_and_given_back,
#endif
#endif
    other_stacks_stay,
    NULL,
  };
  return check_main("side_stack", tests);
}
