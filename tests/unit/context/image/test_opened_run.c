/* Constructors and destructors of what a VP has opened. */
#define _GNU_SOURCE
#include "context/image/opened_run.h"

#include "context/image/opened_set.h"
#include "opened_check.h"

#include <pthread.h>
#include <stdatomic.h>

/* Each function adds its letter to what `log` points to, which is set before
   constructors run. */
static void build_logging(void) {
  build("log", "char *log_at; void log_add(char c) { *log_at++ = c; }", "");
  build("runs",
        "void log_add(char c); int count; char *first;"
        "__attribute__((constructor(200))) static void b("
        "int n, char **words, char **more) {"
        "  log_add(98); count = n; first = n ? words[0] : 0; (void)more; }"
        "__attribute__((constructor(101))) static void a(void) { log_add(97); }"
        "__attribute__((destructor(200))) static void y(void) { log_add(121); }"
        "__attribute__((destructor(101))) static void z(void) { log_add(122); "
        "}",
        "-L. -llog -Wl,-rpath,\\$ORIGIN");
}

static char log_text[2][32];

/* Opens it without running anything of it. */
static struct opened *open_only(int i) {
  memset(log_text[i], 0, sizeof(log_text[i]));
  struct opened *const o =
      opened_open(&img[i], NULL, in_dir("libruns.so"), RTLD_NOW, &why);
  ck_assert_msg(o != NULL, "%s", why.text);
  *(char **)find(i, o, "log_at") = log_text[i];
  return o;
}

static struct opened *newest(int i) {
  struct opened *o, *last = NULL;
  while ((o = opened_next_new(&img[i]))) {
    last = o;
  }
  return last;
}

START_TEST(constructors_run_in_order_with_arguments) {
  char *words[] = {"program", NULL};
  build_logging();
  struct opened *const o = open_only(0);
  ck_assert_str_eq(log_text[0], "");
  ck_assert_ptr_eq(newest(0), o);
  opened_construct(o, 1, words, environ);
  ck_assert_str_eq(log_text[0], "ab");
  ck_assert_int_eq(*(int *)find(0, o, "count"), 1);
  ck_assert_ptr_eq(*(char **)find(0, o, "first"), words[0]);
}
END_TEST

START_TEST(destructors_run_once_in_the_other_order) {
  build_logging();
  struct opened *const o = open_only(0);
  opened_construct(o, 0, NULL, NULL);
  opened_destruct(o);
  ck_assert_str_eq(log_text[0], "abyz");
  opened_destruct(o);
  opened_destruct_all(&img[0]);
  ck_assert_str_eq(log_text[0], "abyz");
}
END_TEST

START_TEST(what_was_not_constructed_is_not_destructed) {
  build_logging();
  struct opened *const o = open_only(0);
  opened_destruct(o);
  opened_destruct_all(&img[0]);
  ck_assert_str_eq(log_text[0], "");
  opened_construct(o, 0, NULL, NULL);
  opened_destruct_all(&img[0]);
  ck_assert_str_eq(log_text[0], "abyz");
}
END_TEST

/* Each VP runs its own. */
START_TEST(others_are_left_alone) {
  build_logging();
  struct opened *const first = open_only(0), *const second = open_only(1);
  opened_construct(first, 0, NULL, NULL);
  ck_assert_str_eq(log_text[1], "");
  opened_construct(second, 0, NULL, NULL);
  opened_destruct_all(&img[1]);
  ck_assert_str_eq(log_text[0], "ab");
  ck_assert_str_eq(log_text[1], "abyz");
}
END_TEST

/* --- one thread at a time --- */

static _Atomic bool has_turn;

static void *take_turn(void *arg) {
  (void)arg;
  opened_take_turn(&img[0]);
  has_turn = true;
  opened_give_turn(&img[0]);
  return NULL;
}

/* It may open more meanwhile; another VP has a turn of its own. */
START_TEST(one_thread_waits_for_the_other) {
  pthread_t thread;
  has_turn = false;
  opened_take_turn(&img[0]);
  opened_take_turn(&img[0]);
  opened_take_turn(&img[1]);
  ck_assert_int_eq(pthread_create(&thread, NULL, take_turn, NULL), 0);
  usleep(100000);
  opened_give_turn(&img[0]);
  usleep(100000);
  ck_assert(!has_turn);
  opened_give_turn(&img[0]);
  ck_assert_int_eq(pthread_join(thread, NULL), 0);
  ck_assert(has_turn);
  opened_give_turn(&img[1]);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {constructors_run_in_order_with_arguments,
                                destructors_run_once_in_the_other_order,
                                what_was_not_constructed_is_not_destructed,
                                others_are_left_alone,
                                one_thread_waits_for_the_other,
                                NULL};
  return opened_check_main("opened_run", tests);
}
