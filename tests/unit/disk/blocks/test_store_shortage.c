/* Disks of blocks whose allocations fail, each in its turn. */
#include <pems/disk.h>

#include <check.h>
#include <errno.h>

#include "check_main.h"
#include "check_memory.h"
#include "config.h"

static const char *const kinds[] = {
#ifdef HAVE_LIBAIO
    "aio",
#endif
#ifdef HAVE_LIBURING
    "uring",
#endif
    "unix",  "mmap", "mem", "fault:unix",
};
enum { KINDS = sizeof(kinds) / sizeof(*kinds) };

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

START_TEST(disks) {
  const char *const path[] = {"/var/tmp", "/var/tmp"};
  const struct pems_disks_options o = {
      .path = path, .count = 2, .io = kinds[_i], .depth = 2, .strict = 1};
  memory_every(use, (void *)&o, ENOMEM, MEMORY_NEEDED);
}
END_TEST

int main(void) {
  Suite *const suite = suite_create("store_shortage");
  TCase *const all = tcase_create("all");
  tcase_set_timeout(all, 60);
  tcase_add_loop_test(all, disks, 0, KINDS);
  suite_add_tcase(suite, all);
  return check_run(suite);
}
