/* Disks of contexts whose allocations fail, each in its turn. */
#define _GNU_SOURCE
#include "disk/contexts/disk.h"

#include <check.h>
#include <errno.h>

#include "config.h"

#include "check_drivers.h"
#include "check_main.h"
#include "check_memory.h"

enum { BYTES = 64 << 10 };

static _Alignas(DISK_BLOCK) char buffer[BYTES];

static int move(struct disks *d) {
  struct disk_batch b;
  int code = disks_grant(d, 1, 0, BYTES, NULL);
  code = code ? code : disks_write(d, 1, buffer, BYTES, 0);
  if (!code) {
    disk_batch_begin(&b);
    disks_start_read(d, &b, 1, buffer, BYTES / 2, 0);
    disks_start_read(d, &b, 1, buffer + BYTES / 2, BYTES / 2, BYTES / 2);
    code = disk_batch_wait(&b);
  }
  return code;
}

static int use(void *arg) {
  struct disks *d = NULL;
  int code = disks_open(&d, arg, 3, BYTES, NULL);
  if (code) {
    ck_assert_ptr_null(d);
    return code;
  }
  code = move(d);
  disks_close(d);
  return code;
}

static void try_disks(const char *io, uint64_t stripe) {
  const struct disks_options o = {.dirs = "/var/tmp,/var/tmp",
                                  .io = io,
                                  .stripe = stripe,
                                  .depth = 2,
                                  .strict = 1};
  memory_every(use, (void *)&o, ENOMEM, MEMORY_RETRIED);
}

START_TEST(whole_contexts) {
  try_disks(driver_names[_i], 0);
}
END_TEST

START_TEST(stripes) {
  try_disks(driver_names[_i], DISK_BLOCK);
}
END_TEST

START_TEST(below_another_driver) {
  try_disks("fault:unix", 0);
}
END_TEST

int main(void) {
  Suite *const suite = suite_create("disk_shortage");
  TCase *const all = tcase_create("all");
  tcase_set_timeout(all, 120);
  tcase_add_loop_test(all, whole_contexts, 0, DRIVER_COUNT);
  tcase_add_loop_test(all, stripes, 0, DRIVER_COUNT);
  tcase_add_test(all, below_another_driver);
  suite_add_tcase(suite, all);
  return check_run(suite);
}
