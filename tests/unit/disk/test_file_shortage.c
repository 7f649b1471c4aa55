/* Files of the user, and their queues, whose allocations fail, each in its
   turn: nothing is left, also no half of a new file. */
#define _GNU_SOURCE
#include "disk/file.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "config.h"

#include "check_drivers.h"
#include "check_main.h"
#include "check_memory.h"

enum { BYTES = 64 << 10 };

static _Alignas(4096) char buffer[BYTES];
static char dir[] = "/var/tmp/pems-shortage-XXXXXX";
static char path[sizeof(dir) + 8];

static int move(struct disk_file *file, int write) {
  struct pems_request r = {0};
  r.write = write;
  r.buf = buffer;
  r.n = BYTES;
  struct pems_request *list[] = {&r};
  disk_file_start(file, list, 1);
  return disk_file_wait(file, &r);
}

static int create(const char *io) {
  struct disk_file *file = NULL;
  int code = disk_file_create(&file, path, io, 2, NULL);
  if (code) {
    ck_assert_ptr_null(file);
    return code;
  }
  code = disk_file_expect(file, BYTES, NULL);
  code = code ? code : move(file, 1);
  code = code ? code : disk_file_commit(file, BYTES, NULL);
  disk_file_close(file);
  if (code) {
    ck_assert_int_ne(access(path, F_OK), 0);
  }
  return code;
}

static int read_again(const char *io) {
  struct disk_file *file = NULL;
  int code = disk_file_open(&file, path, io, 2, NULL);
  if (code) {
    ck_assert_ptr_null(file);
    return code;
  }
  ck_assert_uint_eq(disk_file_size(file), BYTES);
  code = move(file, 0);
  disk_file_close(file);
  return code;
}

static int use(void *arg) {
  int code = create(arg);
  code = code ? code : read_again(arg);
  unlink(path);
  return code;
}

START_TEST(created_and_read) {
  ck_assert_ptr_nonnull(mkdtemp(dir));
  snprintf(path, sizeof(path), "%s/new", dir);
  memory_every(use, (void *)driver_names[_i], ENOMEM, MEMORY_RETRIED);
  ck_assert_int_eq(rmdir(dir), 0);
}
END_TEST

int main(void) {
  Suite *const suite = suite_create("file_shortage");
  TCase *const all = tcase_create("all");
  tcase_set_timeout(all, 120);
  tcase_add_loop_test(all, created_and_read, 0, DRIVER_COUNT);
  suite_add_tcase(suite, all);
  return check_run(suite);
}
