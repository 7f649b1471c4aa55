/* Drivers whose allocations fail, each in its turn: nothing stays open. */
#define _GNU_SOURCE
#include "drivers/driver.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "config.h"

#include "check_drivers.h"
#include "check_main.h"
#include "check_memory.h"

enum { BLOCK = 4096, BYTES = 16 * BLOCK, DEPTH = 4, QUEUED = DRIVER_COUNT + 1 };

static _Alignas(BLOCK) char buffer[BYTES];

/* All drivers, and the one that wraps others. */
static const char *text_of(int i) {
  return i < DRIVER_COUNT ? driver_names[i] : "fault:unix";
}

/* The file with some requests under way. */
static int use_queue(struct driver_file *file) {
  const struct driver *const driver = file->driver;
  struct driver_queue *q = NULL;
  const int code = driver->queue_open(&q, file, DEPTH);
  if (code) {
    ck_assert_ptr_null(q);
    return code;
  }
  struct driver_request r[DEPTH];
  for (int i = 0; i < DEPTH; i++) {
    r[i] = (struct driver_request){.write = 1,
                                   .buf = buffer + i * BLOCK,
                                   .n = BLOCK,
                                   .offset = (uint64_t)i * BLOCK,
                                   .next = i ? &r[i - 1] : NULL};
  }
  driver->queue_submit(q, &r[DEPTH - 1]);
  int error = 0, done = 0;
  while (done < DEPTH) {
    for (struct driver_request *got = driver->queue_reap(q); got;
         got = got->next, done++) {
      error = error ? error : got->error;
    }
  }
  driver->queue_close(q);
  return error;
}

static int use(struct driver_file *file) {
  int code = file->driver->write(file, buffer, BYTES, 0);
  code = code ? code : file->driver->read(file, buffer, BYTES, 0);
  if (!code && file->driver->queue_open) {
    code = use_queue(file);
  }
  file->driver->close(file);
  return code;
}

static int open_and_use(void *arg) {
  const char *args;
  const struct driver *const driver = driver_find(arg, &args);
  struct driver_file *file = NULL;
  const int code = driver->open(&file, "/var/tmp", BYTES, 0, args);
  if (code) {
    ck_assert_ptr_null(file);
    return code;
  }
  return use(file);
}

static int attach_and_use(void *arg) {
  const char *args;
  const struct driver *const driver = driver_find(arg, &args);
  char path[] = "/var/tmp/pems-shortage-XXXXXX";
  const int fd = mkstemp(path);
  ck_assert_int_ge(fd, 0);
  unlink(path);
  ck_assert_int_eq(ftruncate(fd, BYTES), 0);
  struct driver_file *file = NULL;
  int code = driver->attach(&file, fd, BYTES, args);
  if (code) {
    ck_assert_ptr_null(file);
  } else {
    code = use(file);
  }
  close(fd);
  return code;
}

START_TEST(scratch_files) {
  memory_every(open_and_use, (void *)text_of(_i), ENOMEM, MEMORY_NEEDED);
}
END_TEST

START_TEST(files_of_the_user) {
  memory_every(attach_and_use, (void *)text_of(_i), ENOMEM, MEMORY_NEEDED);
}
END_TEST

int main(void) {
  Suite *const suite = suite_create("driver_shortage");
  TCase *const all = tcase_create("all");
  tcase_set_timeout(all, 120);
  tcase_add_loop_test(all, scratch_files, 0, QUEUED);
  tcase_add_loop_test(all, files_of_the_user, 0, QUEUED);
  suite_add_tcase(suite, all);
  return check_run(suite);
}
