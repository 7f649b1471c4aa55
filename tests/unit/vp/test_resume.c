/* A VP that has stopped goes on from bytes: its frames, heap and place. */
#define _GNU_SOURCE
#include "vp/resume.h"

#include "base/self.h"
#include "context/calls/allocate.h"
#include "context/image/image_file.h"
#include "context/residency/residency.h"
#include "context/stack_part.h"
#include "vp/stack.h"
#include "vp/vp.h"

#include "../context/store/store_contexts.h"
#include "check_blocks.h"
#include "check_main.h"

#include <check.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>

enum { SIZE = 1 << 20 };

static struct context *c;
static struct vp vp;
static char *low;
static struct image_file file; /* of no libraries */
static ucontext_t outside, program;
static struct resume record;
static int code, begun;
static struct pems_error why;

/* vp/vp.c's, for which there would have to be a job. */
bool vp_in_job(void) {
  return true;
}
void vp_begin_data(const struct vp *of) {
  ck_assert_ptr_eq(of, &vp);
  begun++;
}

static void stopped(void) {
  code = resume_save(&vp, &record, &blocks_out, &why);
}

/* On the VP's stack. What it has is where it was, or it could not tell. */
static __attribute__((noinline)) long compute(int depth, const char *heap) {
  volatile char frame[1000];
  memset((char *)frame, depth, sizeof(frame));
  long sum;
  if (depth > 0) {
    sum = compute(depth - 1, heap);
  } else {
    sum = resume_stop(&record, stopped) ? 1000000 : 0;
    self.inside = 0;
  }
  for (size_t i = 0; i < sizeof(frame); i++) {
    sum += frame[i] == depth;
  }
  return sum + (heap[depth] == 'h');
}

static long result;

static void run_program(void) {
  char *const heap = context_alloc(c, 100, 16);
  memset(heap, 'h', 100);
  vp.superstep = 17;
  vp.initialized = true;
  self.calls = 55;
  result = compute(9, heap);
  setcontext(&outside);
}

static void begin(void) {
  make_dir();
  stack_choose_size(SIZE);
  stack_range_bytes = stack_range();
  create("unix", 2, 8 * MIB, 16 * MIB);
  c = context_get(0);
  context_acquire(c);
  c->image.file = &file;
  char *range;
  (void)context_stack_range(c, &range);
  stacks_start("/tmp", 2, false);
  low = stack_make(0, range);
  ck_assert_ptr_nonnull(low);
  vp = (struct vp){.context = c, .stack = low, .stack_size = SIZE};
  vp.stack_begin = low + SIZE - PAGE;
  self.vp = &vp;
  blocks_begin();
}

static void finish(void) {
  self.vp = NULL;
  c->image.file = NULL;
  stack_free(low);
  context_release(c);
  remove_all();
  stacks_end();
  unlink(blocks_path);
  rmdir(blocks_dir);
}

/* Runs until it has ended; what it stopped for is in the file. */
static void run(void) {
  volatile bool ran = false;
  getcontext(&outside);
  if (!ran) {
    ran = true;
    getcontext(&program);
    program.uc_stack.ss_sp = low;
    program.uc_stack.ss_size = SIZE - 2 * PAGE;
    program.uc_link = NULL;
    makecontext(&program, run_program, 0);
    setcontext(&program);
  }
}

static void go_on(void) {
  static struct resume at;
  struct checkpoint_block behind;
  volatile bool ran = false;
  code = resume_load(&vp, &at, &blocks_in, &behind, &why);
  code = code ? code : resume_load_memory(&vp, &at, &blocks_in, &behind, &why);
  ck_assert(code || behind.kind == CHECKPOINT_END);
  getcontext(&outside);
  if (!code && !ran) {
    ran = true;
    resume_go(&vp, &at);
  }
}

START_TEST(it_goes_on_where_it_was) {
  begin();
  run();
  ck_assert_msg(code == 0, "%s", why.text);
  const long straight = result;
  ck_assert_int_eq(straight, 10 * 1001);
  blocks_turn();
  /* Everything is another's. */
  memset(low, 'x', SIZE - PAGE);
  memset(c->range, 0, 4096);
  memset(data[0], 'x', data_len);
  result = 0;
  vp.superstep = 0;
  vp.initialized = false;
  self.calls = 0;
  go_on();
  ck_assert_msg(code == 0, "%s", why.text);
  ck_assert_int_eq(result, 1000000 + straight);
  ck_assert_int_eq(begun, 1);
  ck_assert_uint_eq(vp.superstep, 17);
  ck_assert(vp.initialized && !vp.resumes);
  ck_assert_uint_eq(self.calls, 55);
  ck_assert_int_eq(data[0][0], 'a');
  checkpoint_shut(&blocks_in);
  finish();
}
END_TEST

/* The process's own stack is none of the VP's. */
START_TEST(another_stack_is_refused) {
  begin();
  ck_assert(!resume_stop(&record, stopped));
  ck_assert_int_eq(code, ENOTSUP);
  ck_assert_ptr_nonnull(strstr(why.text, "a stack of its program's own"));
  checkpoint_close(&blocks_out);
  finish();
}
END_TEST

START_TEST(what_lies_elsewhere_is_refused) {
  begin();
  run();
  blocks_turn();
  vp.stack_begin += 64;
  go_on();
  ck_assert_int_eq(code, EILSEQ);
  ck_assert_ptr_nonnull(strstr(why.text, "stacks lie elsewhere here"));
  checkpoint_shut(&blocks_in);
  finish();
}
END_TEST

START_TEST(another_file_is_refused) {
  begin();
  ck_assert_int_eq(
      checkpoint_put(&blocks_out, CHECKPOINT_RANK, 0, "short", 5, NULL), 0);
  blocks_turn();
  go_on();
  ck_assert_int_eq(code, EILSEQ);
  ck_assert_ptr_nonnull(strstr(why.text, "it is not a rank's"));
  checkpoint_shut(&blocks_in);
  finish();
}
END_TEST

int main(void) {
  const TTest *const tests[] = {
      it_goes_on_where_it_was, another_stack_is_refused,
      what_lies_elsewhere_is_refused, another_file_is_refused, NULL};
  return check_main("resume", tests);
}
