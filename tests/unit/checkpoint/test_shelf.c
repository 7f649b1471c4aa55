/* A directory of checkpoints. */
#include "checkpoint/shelf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check_main.h"

static char dir[] = "/tmp/pems-shelf.XXXXXX";

static void make(struct shelf *s) {
  ck_assert_ptr_nonnull(mkdtemp(dir));
  ck_assert_int_eq(shelf_open(s, dir, true, NULL), 0);
}

static void drop(struct shelf *s) {
  char command[64];
  shelf_close(s);
  snprintf(command, sizeof(command), "rm -r %s", dir);
  ck_assert_int_eq(system(command), 0);
}

static void take(const struct shelf *s, uint64_t n, int keep) {
  char folder[PATH_MAX];
  ck_assert_int_eq(shelf_begin(s, n, folder, NULL), 0);
  ck_assert_int_eq(shelf_begin(s, n, folder, NULL), 0); /* by others */
  ck_assert_int_eq(shelf_put(folder, "manifest", "m", 1, NULL), 0);
  ck_assert_int_eq(shelf_commit(s, n, keep, NULL), 0);
}

static bool is_there(uint64_t n) {
  char path[PATH_MAX];
  snprintf(path, sizeof(path), "%s/checkpoint-%06d", dir, (int)n);
  return access(path, F_OK) == 0;
}

START_TEST(the_newest_is_found_and_the_oldest_goes) {
  struct shelf s;
  char path[PATH_MAX], own[PATH_MAX];
  make(&s);
  ck_assert_uint_eq(shelf_newest(&s), 0);
  ck_assert_int_eq(shelf_find(dir, path, NULL), ENOENT);
  for (uint64_t n = 8; n <= 11; n++) {
    take(&s, n, 2);
  }
  ck_assert(!is_there(8) && !is_there(9) && is_there(10) && is_there(11));
  ck_assert_uint_eq(shelf_newest(&s), 11);
  ck_assert_int_eq(shelf_find(dir, path, NULL), 0);
  ck_assert_ptr_nonnull(strstr(path, "/checkpoint-000011"));
  snprintf(own, sizeof(own), "%s/checkpoint-000010", dir);
  ck_assert_int_eq(shelf_find(own, path, NULL), 0);
  ck_assert_str_eq(path, own);
  take(&s, 12, 1);
  ck_assert(!is_there(10) && !is_there(11) && is_there(12));
  drop(&s);
}
END_TEST

START_TEST(another_directory_of_that_name_is_known) {
  struct shelf s, other;
  struct pems_error error;
  make(&s);
  ck_assert_int_eq(shelf_mark(&s, 4711, NULL), 0);
  ck_assert_int_eq(shelf_open(&other, dir, false, NULL), 0);
  ck_assert_int_eq(shelf_check_mark(&other, 4711, NULL), 0);
  ck_assert_int_eq(shelf_check_mark(&other, 4712, &error), EXDEV);
  ck_assert_ptr_nonnull(strstr(error.text, "that all hosts share"));
  strcat(other.dir, "/checkpoint-000001"); /* where there is no mark */
  ck_assert_int_eq(shelf_check_mark(&other, 4711, NULL), EXDEV);
  ck_assert_int_eq(shelf_mark(&s, 4713, NULL), 0);
  ck_assert_int_eq(shelf_check_mark(&s, 4713, NULL), 0);
  drop(&s);
}
END_TEST

START_TEST(what_is_not_complete_is_not_there) {
  struct shelf s, again;
  char folder[PATH_MAX], path[PATH_MAX];
  make(&s);
  take(&s, 1, 2);
  ck_assert_int_eq(shelf_begin(&s, 2, folder, NULL), 0);
  ck_assert_int_eq(shelf_put(folder, "rank-0", "r", 1, NULL), 0);
  ck_assert_uint_eq(shelf_newest(&s), 1);
  shelf_abandon(&s, 2);
  ck_assert_int_ne(access(folder, F_OK), 0);
  /* A job is killed; the next one finds what it has left. */
  ck_assert_int_eq(shelf_begin(&s, 3, folder, NULL), 0);
  ck_assert_int_eq(shelf_put(folder, "rank-0", "r", 1, NULL), 0);
  shelf_close(&s);
  ck_assert_int_eq(shelf_open(&again, dir, true, NULL), 0);
  ck_assert_int_ne(access(folder, F_OK), 0);
  ck_assert_int_eq(shelf_find(dir, path, NULL), 0);
  drop(&again);
}
END_TEST

START_TEST(one_job_has_it) {
  struct shelf s, other;
  struct pems_error error;
  make(&s);
  ck_assert_int_eq(shelf_open(&other, dir, false, NULL), 0);
  ck_assert_int_eq(shelf_open(&other, dir, true, &error), EBUSY);
  ck_assert_ptr_nonnull(strstr(error.text, "a job that runs"));
  shelf_close(&s);
  ck_assert_int_eq(shelf_open(&other, dir, true, NULL), 0);
  drop(&other);
}
END_TEST

START_TEST(a_small_file_is_what_it_was) {
  struct shelf s;
  char *bytes;
  const struct checkpoint_sum sum = manifest_sum("abc", 3);
  struct pems_error error;
  make(&s);
  ck_assert_int_eq(shelf_put(dir, "f", "abc", 3, NULL), 0);
  ck_assert_int_eq(shelf_get(dir, "f", &sum, &bytes, NULL), 0);
  ck_assert_str_eq(bytes, "abc");
  free(bytes);
  ck_assert_int_eq(shelf_put(dir, "f", "abd", 3, NULL), 0);
  ck_assert_int_eq(shelf_get(dir, "f", &sum, &bytes, &error), EILSEQ);
  ck_assert_int_eq(shelf_put(dir, "f", "abcd", 4, NULL), 0);
  ck_assert_int_eq(shelf_get(dir, "f", &sum, &bytes, &error), EILSEQ);
  ck_assert_int_eq(shelf_get(dir, "g", &sum, &bytes, &error), ENOENT);
  ck_assert_int_eq(shelf_put("/nowhere", "f", "a", 1, &error), ENOENT);
  drop(&s);
}
END_TEST

START_TEST(a_directory_that_cannot_be_written_is_refused) {
  struct shelf s;
  struct pems_error error;
  ck_assert_int_eq(shelf_open(&s, "/proc/nothing", true, &error), ENOENT);
  ck_assert_int_eq(shelf_open(&s, "/dev/null", true, &error), EACCES);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {the_newest_is_found_and_the_oldest_goes,
                                another_directory_of_that_name_is_known,
                                what_is_not_complete_is_not_there,
                                one_job_has_it,
                                a_small_file_is_what_it_was,
                                a_directory_that_cannot_be_written_is_refused,
                                NULL};
  return check_main("shelf", tests);
}
