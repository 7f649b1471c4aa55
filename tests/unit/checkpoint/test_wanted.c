/* Who asks for a checkpoint from outside waits until the job has seen it. */
#include "checkpoint/wanted.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check_main.h"
#include "checkpoint/shelf.h"

static char dir[PATH_MAX];
static struct shelf job;

static void begin(void) {
  strcpy(dir, "/tmp/pems-wanted.XXXXXX");
  ck_assert_ptr_nonnull(mkdtemp(dir));
  ck_assert_int_eq(shelf_open(&job, dir, true, NULL), 0);
}

static void end(void) {
  char command[PATH_MAX + 8];
  snprintf(command, sizeof(command), "rm -r %s", dir);
  ck_assert_int_eq(system(command), 0);
}

/* The job looks until somebody has asked. */
static void *look(void *arg) {
  (void)arg;
  while (!wanted_take(dir)) {
    usleep(1000);
  }
  return NULL;
}

/* It does not, and ends when it is asked. */
static void *leave(void *arg) {
  char path[PATH_MAX + 8];
  (void)arg;
  snprintf(path, sizeof(path), "%s/wanted", dir);
  while (access(path, F_OK) != 0) {
    usleep(1000);
  }
  shelf_close(&job);
  return NULL;
}

static int ask_while(void *(*does)(void *), struct pems_error *error) {
  pthread_t thread;
  ck_assert_int_eq(pthread_create(&thread, NULL, does, NULL), 0);
  const int code = wanted_ask(dir, error);
  ck_assert_int_eq(pthread_join(thread, NULL), 0);
  return code;
}

START_TEST(the_job_sees_it_once) {
  begin();
  ck_assert(!wanted_take(dir));
  ck_assert_int_eq(ask_while(look, NULL), 0);
  ck_assert(!wanted_take(dir));
  shelf_close(&job);
  end();
}
END_TEST

START_TEST(where_no_job_writes_nothing_is_left) {
  struct pems_error error;
  begin();
  ck_assert_int_eq(ask_while(leave, &error), ESRCH);
  ck_assert_ptr_nonnull(strstr(error.text, "no job writes there"));
  ck_assert(!wanted_take(dir));
  ck_assert_int_eq(wanted_ask(dir, &error), ESRCH);
  ck_assert(!wanted_take(dir));
  end();
  ck_assert_int_eq(wanted_ask(dir, &error), ENOENT);
}
END_TEST

START_TEST(a_fifo_in_its_place_is_not_waited_for) {
  char path[PATH_MAX + 8];
  struct pems_error error;
  begin();
  snprintf(path, sizeof(path), "%s/wanted", dir);
  ck_assert_int_eq(mkfifo(path, 0600), 0);
  ck_assert_int_eq(wanted_ask(dir, &error), ENXIO);
  ck_assert_ptr_nonnull(strstr(error.text, path));
  shelf_close(&job);
  end();
}
END_TEST

START_TEST(a_directory_of_too_long_a_name_is_refused) {
  char longer[2 * PATH_MAX];
  struct pems_error error;
  memset(longer, 'x', sizeof(longer) - 1);
  longer[sizeof(longer) - 1] = '\0';
  ck_assert_int_eq(wanted_ask(longer, &error), ENAMETOOLONG);
}
END_TEST

int main(void) {
  return check_main(
      "wanted", (const TTest *[]){
                    the_job_sees_it_once, where_no_job_writes_nothing_is_left,
                    a_fifo_in_its_place_is_not_waited_for,
                    a_directory_of_too_long_a_name_is_refused, NULL});
}
