/* What a program's calls for threads and keys return where an allocation fails,
   each in its turn: the errors that the standards have for that. */
#define _GNU_SOURCE
#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <threads.h>

#include "base/self.h"
#include "check_main.h"
#include "check_memory.h"
#include "interpose/dlfcn.h"
#include "interpose/keys.h"
#include "interpose/malloc.h"
#include "vp/vp.h"

static struct context context; /* of no program */
static struct vp vp = {.context = &context};
static int ran, begun;

void dlfcn_begin_thread(const struct vp *of) {
  ck_assert_ptr_eq(of, &vp);
  begun++;
}

/* Keys are those of a library that ranks share. */
bool malloc_is_program(const void *caller) {
  ck_assert_ptr_nonnull(caller);
  return false;
}

bool malloc_is_pems(const void *caller) {
  ck_assert_ptr_nonnull(caller);
  return false;
}

static void *run(void *arg) {
  ck_assert_ptr_eq(self.vp, &vp);
  ck_assert(self.helper);
  ran++;
  return arg;
}

static int run_c11(void *arg) {
  (void)run(arg);
  return 7;
}

static int posix(void) {
  pthread_t thread;
  void *result = NULL;
  const int code = pthread_create(&thread, NULL, run, &ran);
  if (!code) {
    ck_assert_int_eq(pthread_join(thread, &result), 0);
    ck_assert_ptr_eq(result, &ran);
  }
  return code;
}

static int c11(void) {
  thrd_t thread;
  int result = 0;
  const int code = thrd_create(&thread, run_c11, NULL);
  if (code == thrd_success) {
    ck_assert_int_eq(thrd_join(thread, &result), thrd_success);
    ck_assert_int_eq(result, 7);
  }
  return code;
}

/* The VP has no threads yet, or (`later`) some that have ended. */
static void each_fails(int (*start)(void), int shortage) {
  enum { MOST = 6 };
  int failures = 0;
  for (int later = 0; later < 2; later++) {
    for (int n = 0; n < 2 * MOST; n++) {
      if (!later) {
        vp.helpers = NULL;
      }
      const int before = ran;
      (n % 2 ? memory_but : memory_for)(n / 2);
      const int code = start();
      const bool enough = !memory_was_out();
      memory_again();
      ck_assert_int_eq(code, enough ? 0 : shortage);
      ck_assert_int_eq(ran, before + (code == 0));
      ck_assert_int_eq(begun, ran);
      failures += code != 0;
      ck_assert_int_eq(start(), 0); /* the next time it works */
    }
  }
  ck_assert_int_ge(failures, 8);
}

START_TEST(pthread_create_says_try_again) {
  each_fails(posix, EAGAIN);
}
END_TEST

START_TEST(thrd_create_says_no_memory) {
  ck_assert_int_eq(thrd_success, 0);
  each_fails(c11, thrd_nomem);
}
END_TEST

static void destructor(void *value) {
  (void)value;
}

START_TEST(pthread_key_create_says_no_memory) {
  pthread_key_t key;
  const long live = atomic_load(&check_memory.live);
  memory_for(0);
  ck_assert_int_eq(pthread_key_create(&key, destructor), ENOMEM);
  ck_assert_int_eq(pthread_key_create(&key, NULL), 0); /* nothing to note */
  memory_again();
  pthread_key_delete(key);
  ck_assert_int_eq(atomic_load(&check_memory.live), live);
  ck_assert_int_eq(pthread_key_create(&key, destructor), 0);
  ck_assert_int_eq(pthread_setspecific(key, &key), 0);
  keys_forget(&vp);
  ck_assert_ptr_null(pthread_getspecific(key));
}
END_TEST

static void become_vp(void) {
  self = (struct self){.vp = &vp};
}

static void leave_vp(void) {
  self = (struct self){0};
}

int main(void) {
  Suite *const suite = suite_create("thread_shortage");
  TCase *const all = tcase_create("all");
  tcase_set_timeout(all, 60);
  tcase_add_checked_fixture(all, become_vp, leave_vp);
  tcase_add_test(all, pthread_create_says_try_again);
  tcase_add_test(all, thrd_create_says_no_memory);
  tcase_add_test(all, pthread_key_create_says_no_memory);
  suite_add_tcase(suite, all);
  return check_run(suite);
}
