/* Disks of blocks whose allocations fail, each in its turn. */
#include <pems/disk.h>

#include <check.h>
#include <errno.h>

#include "config.h"

#include "check_drivers.h"
#include "check_main.h"
#include "check_memory.h"

static int use(void *arg) {
  struct pems_disks *d = NULL;
  struct pems_block block;
  struct pems_dealer dealer;
  int code = pems_disks_open(&d, arg, NULL);
  if (code) {
    ck_assert_ptr_null(d);
    return code;
  }
  pems_dealer_begin(&dealer, PEMS_DEAL_STRIPE, 1);
  code = pems_block_new(d, &dealer, PEMS_DISK_UNIT, &block, NULL);
  if (!code) {
    pems_block_free(d, block, PEMS_DISK_UNIT);
  }
  pems_disks_close(d);
  return code;
}

static void try_disks(const char *io) {
  const char *const path[] = {"/var/tmp", "/var/tmp"};
  const struct pems_disks_options o = {
      .path = path, .count = 2, .io = io, .depth = 2, .strict = 1};
  memory_every(use, (void *)&o, ENOMEM, MEMORY_RETRIED);
}

START_TEST(disks) {
  try_disks(driver_names[_i]);
}
END_TEST

START_TEST(disks_below_another_driver) {
  try_disks("fault:unix");
}
END_TEST

int main(void) {
  Suite *const suite = suite_create("store_shortage");
  TCase *const all = tcase_create("all");
  tcase_set_timeout(all, 60);
  tcase_add_loop_test(all, disks, 0, DRIVER_COUNT);
  tcase_add_test(all, disks_below_another_driver);
  suite_add_tcase(suite, all);
  return check_run(suite);
}
