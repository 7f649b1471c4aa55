/* Large thread-local data leave memory with the context of the thread, and come
   back. */
#define _GNU_SOURCE
#include "context/calls/thread_parts.h"

#include "context/calls/allocate.h"
#include "context/delivery/access.h"
#include "context/image/image_file.h"
#include "context/image/thread_data.h"
#include "context/residency/residency.h"
#include "context/stack_part.h"

#include "../store/store_contexts.h"
#include "check_main.h"

#include <check.h>
#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

enum { BYTES = 1 << 20, RANGE = 4 << 20 };

static __thread char large[BYTES];

static struct image_file *file;
static struct context *c;

/* Two contexts, of which one fits into memory. */
static void begin(void) {
  make_dir();
  ck_assert_msg(image_open_library(&file, "/proc/self/exe", &error) == 0, "%s",
                error.text);
  file->map = _r_debug.r_map;
  file->original = (char *)file->map->l_addr;
  file->shares_thread_data = true;
  stack_range_bytes = RANGE;
  stack_top_bytes = thread_data_span(file);
  create("unix", 2, 8 * MIB, 8 * MIB);
  c = context_get(0);
  c->image.file = file;
}

static void finish(void) {
  remove_all();
  image_close(file);
}

static char byte(size_t i) {
  return (char)(i / PAGE * 31 + i % PAGE + 1);
}

static void leave(void) {
  context_release(c);
  struct context *const other = context_get(1);
  context_acquire(other);
  char *const p = context_alloc(other, 7 * MIB, 16);
  ck_assert_ptr_nonnull(p);
  memset(p, 1, 7 * MIB);
  context_free(other, p);
  context_release(other);
  ck_assert_int_eq(c->state, CONTEXT_OUT);
}

/* A thread whose stack is in c's range runs f. */
static void run(void *f(void *)) {
  char *low;
  pthread_t thread;
  pthread_attr_t attr;
  ck_assert_uint_eq(context_stack_range(c, &low), RANGE);
  ck_assert_ptr_ne(mmap(low, RANGE, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
                   MAP_FAILED);
  pthread_attr_init(&attr);
  ck_assert_int_eq(pthread_attr_setstack(&attr, low, RANGE), 0);
  ck_assert_int_eq(pthread_create(&thread, &attr, f, NULL), 0);
  pthread_attr_destroy(&attr);
  pthread_join(thread, NULL);
}

/* Messages to bytes that stay, that leave, and that stay again. */
static void write_across(void) {
  static char in[BYTES], out[BYTES];
  for (size_t i = 0; i < BYTES; i++) {
    in[i] = byte(i);
  }
  ck_assert_uint_lt(context_stack_alike(c, large, BYTES), PAGE);
  context_write(c, large, in, BYTES);
  context_read(c, large, out, BYTES);
  ck_assert_int_eq(memcmp(in, out, BYTES), 0);
}

static void *leave_and_come_back(void *arg) {
  (void)arg;
  context_acquire(c);
  const uint64_t before = residency_need(c);
  ck_assert_uint_eq(thread_parts_add(c), 0);
  ck_assert_uint_ge(residency_need(c), before + BYTES - 2 * PAGE);
  for (size_t i = 0; i < BYTES; i++) {
    large[i] = (char)~byte(i);
  }
  for (int round = 0; round < 3; round++) {
    leave();
    ck_assert(!context_in_memory(c, large + BYTES / 2));
    ck_assert(context_owns(c, large + BYTES / 2));
    write_across();
    context_acquire(c);
    for (size_t i = 0; i < BYTES; i++) {
      if (large[i] != byte(i)) {
        ck_abort_msg("round %d: byte %zu differs", round, i);
      }
    }
  }
  context_release(c);
  return NULL;
}

START_TEST(data_leave_and_come_back) {
  begin();
  run(leave_and_come_back);
  finish();
}
END_TEST

static void *find_no_room(void *arg) {
  (void)arg;
  context_acquire(c);
  char *const p = context_alloc(c, 7 * MIB + MIB / 2, 16);
  ck_assert_ptr_nonnull(p);
  const int parts = image_parts(&c->image);
  ck_assert_uint_ge(thread_parts_add(c), BYTES - 2 * PAGE);
  ck_assert_int_eq(image_parts(&c->image), parts);
  context_free(c, p);
  ck_assert_uint_eq(thread_parts_add(c), 0);
  context_release(c);
  return NULL;
}

START_TEST(more_than_the_context_may_have_is_told) {
  begin();
  run(find_no_room);
  finish();
}
END_TEST

START_TEST(data_of_a_thread_elsewhere_stay) {
  begin();
  context_acquire(c);
  const int parts = image_parts(&c->image);
  ck_assert_uint_eq(thread_parts_add(c), 0);
  ck_assert_int_eq(image_parts(&c->image), parts);
  context_release(c);
  finish();
}
END_TEST

int main(void) {
  Suite *const suite = suite_create("thread_parts");
  TCase *const t = tcase_create("thread_parts");
  tcase_set_timeout(t, 60);
  tcase_add_test(t, data_leave_and_come_back);
  tcase_add_test(t, more_than_the_context_may_have_is_told);
  tcase_add_test(t, data_of_a_thread_elsewhere_stay);
  suite_add_tcase(suite, t);
  return check_run(suite);
}
