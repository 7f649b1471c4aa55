/* A directory of checkpoints. */
#include "checkpoint/shelf.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
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

START_TEST(other_names_are_none) {
  static const char *const names[] = {"checkpoint-000009.old", "checkpoint-",
                                      "checkpoint-x", "old-checkpoint-000009"};
  struct shelf s;
  make(&s);
  take(&s, 8, 2);
  for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
    char path[PATH_MAX];
    snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
    ck_assert_int_eq(mkdir(path, 0700), 0);
  }
  ck_assert_uint_eq(shelf_newest(&s), 8);
  drop(&s);
}
END_TEST

/* Whatever fails, no older one goes for one that is not there; one that should
   have gone and is still there is no error. */
START_TEST(what_fails_leaves_the_older_ones) {
  struct shelf s;
  char folder[PATH_MAX];
  struct pems_error error;
  make(&s);
  take(&s, 1, 1);
  ck_assert_int_eq(shelf_commit(&s, 2, 1, &error), ENOENT);
  ck_assert_ptr_nonnull(strstr(error.text, "checkpoint-000002"));
  ck_assert(is_there(1) && !is_there(2));
  setenv("PEMS_TEST_CHECKPOINT", "eio:2", 1);
  ck_assert_int_eq(shelf_begin(&s, 2, folder, NULL), 0);
  ck_assert_int_eq(shelf_commit(&s, 2, 1, &error), EIO);
  ck_assert(is_there(1) && !is_there(2));
  setenv("PEMS_TEST_CHECKPOINT", "eio:4", 1);
  ck_assert_int_eq(shelf_commit(&s, 2, 1, &error), 0);
  ck_assert(is_there(1) && is_there(2));
  drop(&s);
}
END_TEST

/* "d": a file is synced; "b", "c": the folder of one that is begun or complete;
   "s": the shelf; "r": the name is given. */
static char order[32];

static void note(char what) {
  const size_t n = strlen(order);
  ck_assert_uint_lt(n + 1, sizeof(order));
  order[n] = what;
}

int __wrap_fdatasync(int fd) {
  (void)fd;
  note('d');
  return 0;
}

int __wrap_fsync(int fd) {
  char link[64], path[PATH_MAX] = "";
  snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
  ck_assert_int_gt(readlink(link, path, sizeof(path) - 1), 0);
  note(strstr(path, "/.new-") ? 'b' : strstr(path, "/checkpoint-") ? 'c' : 's');
  return 0;
}

int __wrap_rename(const char *from, const char *to) {
  note('r');
  return renameat(AT_FDCWD, from, AT_FDCWD, to);
}

START_TEST(all_is_on_disk_before_its_name_is) {
  struct shelf s;
  make(&s);
  take(&s, 1, 1);
  ck_assert_str_eq(order, "dbrs");
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
  /* Another process of the job. */
  ck_assert_int_eq(shelf_open(&again, dir, false, NULL), 0);
  ck_assert_int_eq(access(folder, F_OK), 0);
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

static struct shelf dying;

static void *die_slowly(void *arg) {
  usleep(100000);
  shelf_close(&dying);
  return arg;
}

START_TEST(one_that_dies_is_waited_for) {
  struct shelf next;
  pthread_t thread;
  char folder[128];
  make(&dying);
  snprintf(folder, sizeof(folder), "%s/checkpoint-000001", dir);
  ck_assert_int_eq(pthread_create(&thread, NULL, die_slowly, NULL), 0);
  ck_assert_int_eq(shelf_is_free(folder, true, NULL), 0);
  ck_assert_int_eq(pthread_join(thread, NULL), 0);
  ck_assert_int_eq(shelf_open(&dying, dir, true, NULL), 0);
  ck_assert_int_eq(pthread_create(&thread, NULL, die_slowly, NULL), 0);
  ck_assert_int_eq(shelf_open(&next, dir, true, NULL), 0);
  ck_assert_int_eq(pthread_join(thread, NULL), 0);
  drop(&next);
}
END_TEST

START_TEST(what_a_longer_name_left_is_cut) {
  struct shelf s;
  char path[128], text[512] = "";
  make(&s);
  shelf_close(&s);
  snprintf(path, sizeof(path), "%s/lock", dir);
  FILE *f = fopen(path, "w");
  fprintf(f, "%0300d\n", 0);
  fclose(f);
  ck_assert_int_eq(shelf_open(&s, dir, true, NULL), 0);
  f = fopen(path, "r");
  ck_assert_ptr_nonnull(fgets(text, sizeof(text), f));
  ck_assert_int_eq(fgetc(f), EOF);
  fclose(f);
  drop(&s);
}
END_TEST

START_TEST(files_of_all_ranks_are_looked_at) {
  struct shelf s;
  struct checkpoint_sum ranks[] = {{3, 0}, {4, 0}, {5, 0}};
  const struct manifest m = {.v = 3, .rank = ranks};
  struct pems_error error;
  make(&s);
  ck_assert_int_eq(shelf_put(dir, "rank-0", "abc", 3, NULL), 0);
  ck_assert_int_eq(shelf_put(dir, "rank-1", "abcd", 4, NULL), 0);
  ck_assert_int_eq(shelf_look(dir, &m, &error), ENOENT);
  ck_assert_int_eq(shelf_put(dir, "rank-2", "abcde", 5, NULL), 0);
  ck_assert_int_eq(shelf_look(dir, &m, NULL), 0);
  for (int i = 0; i < 3; i++) {
    char name[16];
    snprintf(name, sizeof(name), "rank-%d", i);
    ranks[i].bytes++;
    ck_assert_int_eq(shelf_look(dir, &m, &error), EILSEQ);
    ck_assert_ptr_nonnull(strstr(error.text, name));
    ranks[i].bytes--;
  }
  drop(&s);
}
END_TEST

/* A copy of the directory on another host is not the same. */
START_TEST(its_owner_is_known_to_all_that_have_it) {
  struct shelf s, other, again;
  char copy[128], command[256];
  make(&s);
  const uint64_t owner = shelf_owner(&s);
  ck_assert_uint_ne(owner, 0);
  ck_assert_int_eq(shelf_open(&other, dir, false, NULL), 0);
  ck_assert_uint_eq(shelf_owner(&other), owner);
  snprintf(copy, sizeof(copy), "%s/copy", dir);
  ck_assert_int_eq(shelf_open(&other, copy, false, NULL), ENOENT);
  ck_assert_int_eq(mkdir(copy, 0700), 0);
  ck_assert_int_eq(shelf_open(&other, copy, false, NULL), 0);
  ck_assert_uint_eq(shelf_owner(&other), 0);
  snprintf(command, sizeof(command), "cp %s/lock %s/lock", dir, copy);
  ck_assert_int_eq(system(command), 0);
  ck_assert_int_eq(shelf_open(&again, copy, true, NULL), 0);
  ck_assert_uint_ne(shelf_owner(&other), owner);
  shelf_close(&again);
  drop(&s);
}
END_TEST

START_TEST(it_is_free_when_no_job_has_it) {
  struct shelf s;
  struct pems_error error;
  char folder[128];
  make(&s);
  snprintf(folder, sizeof(folder), "%s/checkpoint-000001", dir);
  ck_assert_int_eq(shelf_is_free(folder, false, &error), EBUSY);
  ck_assert_ptr_nonnull(strstr(error.text, "a job that runs"));
  ck_assert_int_eq(
      shelf_is_free("/tmp/elsewhere/checkpoint-000001", false, NULL), 0);
  shelf_close(&s);
  ck_assert_int_eq(shelf_is_free(folder, false, NULL), 0);
  s.lock = -1;
  drop(&s);
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
  ck_assert_ptr_null(bytes);
  ck_assert_int_eq(shelf_put(dir, "f", "abcd", 4, NULL), 0);
  bytes = dir;
  ck_assert_int_eq(shelf_get(dir, "f", &sum, &bytes, &error), EILSEQ);
  ck_assert_ptr_null(bytes);
  ck_assert_int_eq(shelf_put(dir, "f", "abc", 3, NULL), 0);
  ck_assert_int_eq(shelf_get(dir, "f", &sum, &bytes, NULL), 0);
  free(bytes);
  bytes = dir;
  ck_assert_int_eq(shelf_get(dir, "g", &sum, &bytes, &error), ENOENT);
  ck_assert_ptr_null(bytes);
  ck_assert_int_eq(shelf_put("/nowhere", "f", "a", 1, &error), ENOENT);
  drop(&s);
}
END_TEST

/* Nobody ever writes to them. */
START_TEST(fifos_in_the_place_of_files_are_not_waited_for) {
  static const char *const names[] = {"lock", "manifest", "identity", "files-0",
                                      "rank-0"};
  struct shelf s;
  char path[128];
  char *bytes;
  const struct checkpoint_sum sum = manifest_sum("abc", 3);
  struct manifest m;
  struct pems_error error;
  make(&s);
  shelf_close(&s);
  for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
    snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
    unlink(path);
    ck_assert_int_eq(mkfifo(path, 0600), 0);
  }
  ck_assert_uint_eq(shelf_owner(&s), 0);
  ck_assert_int_eq(shelf_is_free(path, false, &error), 0);
  ck_assert_int_eq(shelf_get(dir, "identity", &sum, &bytes, &error), EILSEQ);
  ck_assert_ptr_nonnull(strstr(error.text, "identity: not a regular file"));
  ck_assert_int_eq(shelf_manifest(dir, &m, &error), EILSEQ);
  ck_assert_ptr_nonnull(strstr(error.text, "manifest: not a regular file"));
  manifest_free(&m);
  for (int i = 3; i < 5; i++) {
    snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
    ck_assert_int_eq(checkpoint_verify(path, NULL, &error), EILSEQ);
    ck_assert_ptr_nonnull(strstr(error.text, "-0: not a regular file"));
  }
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

/* Another user may have made the directory, or what is in it. */
START_TEST(the_lock_is_no_link_and_no_pipe) {
  struct shelf s;
  char path[128], victim[128], text[16] = "";
  struct pems_error error;
  make(&s);
  shelf_close(&s);
  snprintf(path, sizeof(path), "%s/lock", dir);
  snprintf(victim, sizeof(victim), "%s/victim", dir);
  ck_assert_int_eq(shelf_put(dir, "victim", "precious", 8, NULL), 0);
  ck_assert_int_eq(unlink(path), 0);
  ck_assert_int_eq(symlink("victim", path), 0);
  ck_assert_int_eq(shelf_open(&s, dir, true, &error), ELOOP);
  ck_assert_ptr_nonnull(strstr(error.text, path));
  FILE *const f = fopen(victim, "r");
  ck_assert_ptr_nonnull(fgets(text, sizeof(text), f));
  ck_assert_str_eq(text, "precious");
  fclose(f);
  ck_assert_int_eq(unlink(path), 0);
  ck_assert_int_eq(mkfifo(path, 0600), 0);
  ck_assert_int_eq(shelf_open(&s, dir, false, NULL), 0);
  ck_assert_uint_eq(shelf_owner(&s), 0);
  drop(&s);
}
END_TEST

START_TEST(a_directory_of_another_user_is_refused) {
  struct shelf s;
  struct pems_error error;
  if (geteuid() != 0) {
    printf("only root can give a directory away: not tested\n");
    return;
  }
  make(&s);
  shelf_close(&s);
  ck_assert_int_eq(chown(dir, 65534, 65534), 0);
  ck_assert_int_eq(shelf_open(&s, dir, true, &error), EPERM);
  ck_assert_ptr_nonnull(strstr(error.text, "another user"));
  drop(&s);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {the_newest_is_found_and_the_oldest_goes,
                                other_names_are_none,
                                what_fails_leaves_the_older_ones,
                                all_is_on_disk_before_its_name_is,
                                what_a_longer_name_left_is_cut,
                                files_of_all_ranks_are_looked_at,
                                what_is_not_complete_is_not_there,
                                one_job_has_it,
                                one_that_dies_is_waited_for,
                                its_owner_is_known_to_all_that_have_it,
                                it_is_free_when_no_job_has_it,
                                a_small_file_is_what_it_was,
                                fifos_in_the_place_of_files_are_not_waited_for,
                                a_directory_that_cannot_be_written_is_refused,
                                the_lock_is_no_link_and_no_pipe,
                                a_directory_of_another_user_is_refused,
                                NULL};
  return check_main("shelf", tests);
}
