/* Where a job is planned: disks or memory, and the room there. */
#include "mpi/job/job_site.h"

#include <check.h>
#include <stdlib.h>

#include "check_main.h"
#include "context/calls/create.h"
#include "disk/contexts/dirs.h"
#include "drivers/driver.h"

enum { AVAILABLE = 123 << 20 };

static struct job_setup with(char *io) {
  return (struct job_setup){.options = {.io = io, .disk = "/var/tmp"},
                            .machine = {.available = AVAILABLE},
                            .place_size = 3};
}

START_TEST(unix_is_the_default) {
  const struct job_setup job = with(NULL);
  ck_assert_str_eq(job_site_driver(&job), "unix");
  ck_assert_str_eq(job_site_driver_used(&job), "unix");
  ck_assert_str_eq(job_site_innermost(&job)->name, "unix");
  ck_assert(job_site_uses_disks(&job));
}
END_TEST

START_TEST(what_stands_before_a_driver_is_looked_through) {
  const struct job_setup job = with("fault:mem,read=2:EIO");
  ck_assert_str_eq(job_site_driver(&job), "fault:mem,read=2:EIO");
  ck_assert_str_eq(job_site_innermost(&job)->name, "mem");
  ck_assert(!job_site_uses_disks(&job));
}
END_TEST

START_TEST(an_unknown_driver_is_none) {
  const struct job_setup job = with("tape");
  ck_assert_ptr_null(job_site_innermost(&job));
  ck_assert(job_site_uses_disks(&job));
}
END_TEST

START_TEST(the_room_is_that_of_the_driver) {
  const struct job_setup disk = with("unix"), memory = with("mem");
  const uint64_t room = disks_free_for("/var/tmp", 2, 0);
  const struct plan_site on_disk = job_site_for(&disk, 2);
  /* Others use the disk, too. */
  ck_assert_uint_ge(on_disk.disk_free, room / 2);
  ck_assert_uint_le(on_disk.disk_free, room + room / 2 + (64 << 20));
  ck_assert_uint_eq(job_site_for(&memory, 2).disk_free, AVAILABLE);
  ck_assert_int_eq(on_disk.nprocs_cores, 3);
  ck_assert_uint_gt(on_disk.base_rss, 0);
}
END_TEST

START_TEST(contexts_may_lie_on_disk_though_all_fit) {
  const struct job_setup disk = with("unix"), mapped = with("mmap");
  unsetenv(CONTEXT_EVICT_ALWAYS);
  ck_assert(!job_site_for(&disk, 1).on_disk);
  ck_assert(job_site_for(&mapped, 1).on_disk);
  setenv(CONTEXT_EVICT_ALWAYS, "1", 1);
  ck_assert(job_site_for(&disk, 1).on_disk);
}
END_TEST

START_TEST(a_report_takes_memory) {
  struct job_setup job = with("mem");
  ck_assert_uint_eq(job_site_for(&job, 1000).report, 0);
  job.options.report = "/var/tmp";
  ck_assert_uint_gt(job_site_for(&job, 1000).report, 1 << 20);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {unix_is_the_default,
                                what_stands_before_a_driver_is_looked_through,
                                an_unknown_driver_is_none,
                                the_room_is_that_of_the_driver,
                                contexts_may_lie_on_disk_though_all_fit,
                                a_report_takes_memory,
                                NULL};
  return check_main("job_site", tests);
}
