/* What thread_local data begin with, on each thread that a VP starts. */
#define _GNU_SOURCE
#include "context/image/opened_tls.h"

#include <pthread.h>

#include "opened_check.h"

static struct opened *handle[2];
static int *seen;

/* In libinner.so: __thread int *thread = &value. */
static void *look(void *arg) {
  const int i = *(const int *)arg;
  if (i >= 0) {
    opened_begin_thread(&img[i]);
  }
  seen = call(i < 0 ? 0 : i, handle[i < 0 ? 0 : i], "by_thread");
  return NULL;
}

static int *seen_by_thread(int i) {
  pthread_t thread;
  ck_assert_int_eq(pthread_create(&thread, NULL, look, &i), 0);
  ck_assert_int_eq(pthread_join(thread, NULL), 0);
  return seen;
}

static void open_both(void) {
  for (int i = 0; i < 2; i++) {
    handle[i] = open_it(i, "libouter.so", RTLD_NOW);
    ck_assert_msg(handle[i] != NULL, "%s", why.text);
  }
}

/* Each thread's points into the copy of the VP that has started it. */
START_TEST(a_thread_begins_with_its_own_copy) {
  open_both();
  for (int i = 0; i < 2; i++) {
    ck_assert_ptr_eq(seen_by_thread(i), call(i, handle[i], "where"));
  }
  ck_assert_ptr_ne(call(0, handle[0], "where"), call(1, handle[1], "where"));
}
END_TEST

/* Else it would point into the original, which nobody uses. */
START_TEST(without_that_it_is_the_originals) {
  open_both();
  ck_assert_ptr_ne(seen_by_thread(-1), call(0, handle[0], "where"));
}
END_TEST

START_TEST(a_copy_that_has_opened_nothing_begins_too) {
  opened_begin_thread(&img[0]);
  struct image none = img[0];
  none.opened = NULL;
  opened_begin_thread(&none);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {
      a_thread_begins_with_its_own_copy, without_that_it_is_the_originals,
      a_copy_that_has_opened_nothing_begins_too, NULL};
  return opened_check_main("opened_tls", tests);
}
