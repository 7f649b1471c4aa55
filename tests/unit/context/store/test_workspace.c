#include "context/store/workspace.h"

#include "check_main.h"
#include "check_memory.h"
#include "config.h"
#include "context/store/codec.h"
#include "os/pages.h"

#include <check.h>
#include <pthread.h>
#include <string.h>

static const enum option_compress how = HAVE_LZ4 ? COMPRESS_LZ4 : COMPRESS_ZSTD;

START_TEST(there_are_as_many_as_the_memory_allows) {
  static const struct {
    int most;
    size_t bytes;
    int least, n;
  } cases[] = {{3, 64 << 20, 3, 3}, {18, 5 << 20, 2, 7}, {5, 0, 1, 1}};
  for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
    ck_assert_int_eq(workspaces_create(how, 0, cases[i].most, cases[i].bytes),
                     0);
    ck_assert_int_ge(workspaces_count(), cases[i].least);
    ck_assert_int_le(workspaces_count(), cases[i].n);
    workspaces_destroy();
    ck_assert_int_eq(workspaces_count(), 0);
  }
}
END_TEST

START_TEST(each_buffer_is_one_of_its_own) {
  ck_assert_int_eq(workspaces_create(how, 0, 2, 64 << 20), 0);
  struct workspace *const w[2] = {workspace_take(), workspace_take()};
  for (int i = 0; i < 2; i++) {
    for (int j = 0; j < 2 * WORKSPACE_SLOTS; j++) {
      char *data =
          w[i]->half[j / WORKSPACE_SLOTS].slot[j % WORKSPACE_SLOTS].data;
      ck_assert_uint_eq((uintptr_t)data % PAGE, 0);
      memset(data, 16 * i + j, WORKSPACE_UNIT);
    }
    memset(w[i]->plain, 100 + i, WORKSPACE_UNIT);
  }
  for (int i = 0; i < 2; i++) {
    for (int j = 0; j < 2 * WORKSPACE_SLOTS; j++) {
      const char *data =
          w[i]->half[j / WORKSPACE_SLOTS].slot[j % WORKSPACE_SLOTS].data;
      ck_assert_int_eq(data[0], 16 * i + j);
      ck_assert_int_eq(data[WORKSPACE_UNIT - 1], 16 * i + j);
    }
    ck_assert_int_eq(w[i]->plain[WORKSPACE_UNIT - 1], 100 + i);
    workspace_give(w[i]);
  }
  workspaces_destroy();
}
END_TEST

static void *take_and_give(void *arg) {
  (void)arg;
  for (int i = 0; i < 1000; i++) {
    struct workspace *const w = workspace_take();
    const int n = w->half[0].n++;
    ck_assert_int_eq(n, 0); /* nobody else has it */
    w->half[0].n = 0;
    workspace_give(w);
  }
  return NULL;
}

START_TEST(threads_wait_for_one_another) {
  enum { THREADS = 4 };
  pthread_t thread[THREADS];
  ck_assert_int_eq(workspaces_create(how, 0, 1, 0), 0);
  for (int i = 0; i < THREADS; i++) {
    pthread_create(&thread[i], NULL, take_and_give, NULL);
  }
  for (int i = 0; i < THREADS; i++) {
    pthread_join(thread[i], NULL);
  }
  workspaces_destroy();
}
END_TEST

START_TEST(without_memory_there_are_none) {
  const long live = check_memory.live;
  for (long n = 0;; n++) {
    memory_for(n);
    const int code = workspaces_create(how, 0, 2, 64 << 20);
    memory_again();
    workspaces_destroy();
    ck_assert_int_eq(check_memory.live, live);
    if (code == 0) {
      break;
    }
    ck_assert_int_lt((int)n, 100);
  }
}
END_TEST

int main(void) {
  Suite *const suite = suite_create("workspace");
  TCase *const t = tcase_create("all");
  tcase_set_timeout(t, 60);
  if (HAVE_LZ4 || HAVE_ZSTD) {
    tcase_add_test(t, there_are_as_many_as_the_memory_allows);
    tcase_add_test(t, each_buffer_is_one_of_its_own);
    tcase_add_test(t, threads_wait_for_one_another);
    tcase_add_test(t, without_memory_there_are_none);
  }
  suite_add_tcase(suite, t);
  return check_run(suite);
}
