#define _GNU_SOURCE
#include "config/machine.h"

#include <check.h>
#include <limits.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "check_main.h"

#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)

/* A directory of synthetic /proc and /sys files. */
static char root[64];
static struct machine m;

/* Writes a file below root, making its directories. */
static void put(const char *path, const char *text) {
  char full[PATH_MAX];
  snprintf(full, sizeof(full), "%s%s", root, path);
  for (char *c = full + strlen(root) + 1; *c; c++) {
    if (*c == '/') {
      *c = '\0';
      mkdir(full, 0700);
      *c = '/';
    }
  }
  FILE *const f = fopen(full, "w");
  ck_assert_ptr_nonnull(f);
  fputs(text, f);
  fclose(f);
}

static void make_root(void) {
  strcpy(root, "/tmp/test_machine-XXXXXX");
  ck_assert_ptr_nonnull(mkdtemp(root));
  put("/proc/meminfo", "MemTotal:        8388608 kB\n"
                       "MemFree:         1048576 kB\n"
                       "MemAvailable:    4194304 kB\n");
}

static void remove_root(void) {
  char command[128];
  snprintf(command, sizeof(command), "rm -r '%s'", root);
  ck_assert_int_eq(system(command), 0);
}

/* The mounts of a machine with both versions, as systemd's hybrid mode. */
static void put_mounts(void) {
  put("/proc/self/mountinfo",
      "22 1 254:1 / / rw,relatime shared:1 - ext4 /dev/vda1 rw\n"
      "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755\n"
      "34 31 0:31 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
      "35 31 0:32 / /sys/fs/cgroup/memory rw shared:9 master:3 - cgroup "
      "cgroup rw,memory\n"
      "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
}

static void put_v2_mount(const char *mount_root, const char *point) {
  char line[PATH_MAX];
  snprintf(line, sizeof(line),
           "22 1 254:1 / / rw,relatime - ext4 /dev/vda1 rw\n"
           "30 23 0:26 %s %s rw,nosuid shared:4 - cgroup2 cgroup2 "
           "rw,nsdelegate,memory_recursiveprot\n",
           mount_root, point);
  put("/proc/self/mountinfo", line);
}

START_TEST(memory_is_read) {
  ck_assert_int_eq(machine_find(&m, root), 0);
  ck_assert_uint_eq(m.memory, 8 * GIB);
  ck_assert_uint_eq(m.available, 4 * GIB);
  ck_assert_uint_eq(m.limit, UINT64_MAX);
  ck_assert_uint_eq(m.limit_used, 0);
  ck_assert_int_ge(m.cores, 1);
}
END_TEST

START_TEST(old_kernels_tell_only_free_memory) {
  put("/proc/meminfo", "MemTotal: 2048 kB\nMemFree: 1024 kB\n");
  ck_assert_int_eq(machine_find(&m, root), 0);
  ck_assert_uint_eq(m.memory, 2 * MIB);
  ck_assert_uint_eq(m.available, MIB);
}
END_TEST

START_TEST(without_meminfo_values_are_safe) {
  char path[128];
  snprintf(path, sizeof(path), "%s/proc/meminfo", root);
  unlink(path);
  ck_assert_int_eq(machine_find(&m, root), -1);
  ck_assert_uint_gt(m.memory, 0);
  ck_assert_uint_le(m.available, m.memory);
  ck_assert_uint_eq(m.limit, UINT64_MAX);
  ck_assert_int_ge(m.cores, 1);
  put("/proc/meminfo", "nothing that is known\n");
  ck_assert_int_eq(machine_find(&m, root), -1);
  ck_assert_uint_gt(m.memory, 0);
}
END_TEST

START_TEST(v1_limit_less_page_cache) {
  put_mounts();
  put("/proc/self/cgroup", "4:cpuset:/other\n9:memory:/job/1\n0::/\n");
  put("/sys/fs/cgroup/memory/job/1/memory.limit_in_bytes", "536870912\n");
  put("/sys/fs/cgroup/memory/job/1/memory.usage_in_bytes", "209715200\n");
  put("/sys/fs/cgroup/memory/job/1/memory.stat",
      "inactive_file 1\nactive_file 1\n"
      "hierarchical_memory_limit 9223372036854771712\n"
      "total_inactive_file 52428800\ntotal_active_file 10485760\n");
  ck_assert_int_eq(machine_find(&m, root), 0);
  ck_assert_uint_eq(m.limit, 512 * MIB);
  ck_assert_uint_eq(m.limit_used, 140 * MIB);
}
END_TEST

START_TEST(v1_huge_is_no_limit) {
  put_mounts();
  put("/proc/self/cgroup", "9:memory:/job\n");
  put("/sys/fs/cgroup/memory/job/memory.limit_in_bytes",
      "9223372036854771712\n");
  put("/sys/fs/cgroup/memory/job/memory.usage_in_bytes", "209715200\n");
  ck_assert_int_eq(machine_find(&m, root), 0);
  ck_assert_uint_eq(m.limit, UINT64_MAX);
  ck_assert_uint_eq(m.limit_used, 0);
}
END_TEST

START_TEST(v1_controllers_may_share_a_hierarchy) {
  put("/proc/self/mountinfo",
      "34 31 0:31 / /sys/fs/cgroup/mem\\040ory rw - cgroup none "
      "rw,cpuset,memory,pids\n");
  put("/proc/self/cgroup", "9:cpuset,memory,pids:/a\n");
  put("/sys/fs/cgroup/mem ory/a/memory.limit_in_bytes", "104857600\n");
  ck_assert_int_eq(machine_find(&m, root), 0);
  ck_assert_uint_eq(m.limit, 100 * MIB);
  ck_assert_uint_eq(m.limit_used, 0);
}
END_TEST

START_TEST(v1_unseen_ancestors_count) {
  put_mounts();
  put("/proc/self/cgroup", "9:memory:/docker/abc\n");
  put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  put("/sys/fs/cgroup/memory/memory.usage_in_bytes", "10485760\n");
  put("/sys/fs/cgroup/memory/memory.stat",
      "hierarchical_memory_limit 1073741824\n");
  ck_assert_int_eq(machine_find(&m, root), 0);
  ck_assert_uint_eq(m.limit, GIB);
  ck_assert_uint_eq(m.limit_used, 10 * MIB);
}
END_TEST

START_TEST(v2_limit_less_page_cache) {
  put_v2_mount("/", "/sys/fs/cgroup");
  put("/proc/self/cgroup", "0::/user.slice/job\n");
  put("/sys/fs/cgroup/user.slice/job/memory.max", "536870912\n");
  put("/sys/fs/cgroup/user.slice/job/memory.current", "209715200\n");
  put("/sys/fs/cgroup/user.slice/job/memory.stat",
      "anon 5\ninactive_file 52428800\nactive_file 10485760\n");
  put("/sys/fs/cgroup/user.slice/memory.max", "max\n");
  ck_assert_int_eq(machine_find(&m, root), 0);
  ck_assert_uint_eq(m.limit, 512 * MIB);
  ck_assert_uint_eq(m.limit_used, 140 * MIB);
}
END_TEST

START_TEST(v2_max_is_no_limit) {
  put_v2_mount("/", "/sys/fs/cgroup");
  put("/proc/self/cgroup", "0::/job\n");
  put("/sys/fs/cgroup/job/memory.max", "max\n");
  put("/sys/fs/cgroup/job/memory.high", "max\n");
  ck_assert_int_eq(machine_find(&m, root), 0);
  ck_assert_uint_eq(m.limit, UINT64_MAX);
}
END_TEST

START_TEST(v2_high_limits_too) {
  put_v2_mount("/", "/sys/fs/cgroup");
  put("/proc/self/cgroup", "0::/job\n");
  put("/sys/fs/cgroup/job/memory.max", "536870912\n");
  put("/sys/fs/cgroup/job/memory.high", "268435456\n");
  ck_assert_int_eq(machine_find(&m, root), 0);
  ck_assert_uint_eq(m.limit, 256 * MIB);
}
END_TEST

/* The parent's limit is larger, but its other children leave less of it. */
START_TEST(the_least_room_of_all_ancestors_counts) {
  put_v2_mount("/", "/sys/fs/cgroup");
  put("/proc/self/cgroup", "0::/a/b/c\n");
  put("/sys/fs/cgroup/a/b/c/memory.max", "536870912\n");
  put("/sys/fs/cgroup/a/b/c/memory.current", "104857600\n");
  put("/sys/fs/cgroup/a/b/memory.max", "max\n");
  put("/sys/fs/cgroup/a/memory.max", "1073741824\n");
  put("/sys/fs/cgroup/a/memory.current", "968884224\n"); /* 924 MiB */
  ck_assert_int_eq(machine_find(&m, root), 0);
  ck_assert_uint_eq(m.limit, 512 * MIB);
  ck_assert_uint_eq(m.limit - m.limit_used, 100 * MIB);
}
END_TEST

START_TEST(a_cgroup_over_its_limit_has_no_room) {
  put_v2_mount("/", "/sys/fs/cgroup");
  put("/proc/self/cgroup", "0::/\n");
  put("/sys/fs/cgroup/memory.max", "104857600\n");
  put("/sys/fs/cgroup/memory.current", "204857600\n");
  ck_assert_int_eq(machine_find(&m, root), 0);
  ck_assert_uint_eq(m.limit, 100 * MIB);
  ck_assert_uint_eq(m.limit_used, 100 * MIB);
}
END_TEST

START_TEST(hybrid_takes_the_smaller_of_both) {
  put_mounts();
  put("/proc/self/cgroup", "9:memory:/x\n0::/y\n");
  put("/sys/fs/cgroup/memory/x/memory.limit_in_bytes", "209715200\n");
  put("/sys/fs/cgroup/unified/y/memory.max", "104857600\n");
  ck_assert_int_eq(machine_find(&m, root), 0);
  ck_assert_uint_eq(m.limit, 100 * MIB);
}
END_TEST

/* Without a cgroup namespace, a container sees the host's path, and only its
   own cgroup is mounted. */
START_TEST(the_mounts_root_is_taken_off) {
  put_v2_mount("/docker/abc", "/sys/fs/cgroup");
  put("/proc/self/cgroup", "0::/docker/abc/inner\n");
  put("/sys/fs/cgroup/inner/memory.max", "104857600\n");
  put("/sys/fs/cgroup/memory.max", "209715200\n");
  ck_assert_int_eq(machine_find(&m, root), 0);
  ck_assert_uint_eq(m.limit, 100 * MIB);
}
END_TEST

START_TEST(a_path_that_is_not_there_means_the_mount) {
  put("/sys/fs/cgroup/memory.max", "209715200\n");
  put_v2_mount("/", "/sys/fs/cgroup");
  put("/proc/self/cgroup", "0::/kubepods/pod1/c\n");
  ck_assert_int_eq(machine_find(&m, root), 0);
  ck_assert_uint_eq(m.limit, 200 * MIB);
  put("/proc/self/cgroup", "0::/../sibling\n");
  ck_assert_int_eq(machine_find(&m, root), 0);
  ck_assert_uint_eq(m.limit, 200 * MIB);
}
END_TEST

START_TEST(without_mountinfo_the_usual_places_are_tried) {
  put("/proc/self/cgroup", "9:memory:/x\n0::/y\n");
  put("/sys/fs/cgroup/memory/x/memory.limit_in_bytes", "209715200\n");
  ck_assert_int_eq(machine_find(&m, root), 0);
  ck_assert_uint_eq(m.limit, 200 * MIB);
}
END_TEST

START_TEST(rubbish_is_survived) {
  put("/proc/self/mountinfo", "\n - \n1 2 3 - cgroup2\n - cgroup2 a b\n"
                              "35 31 0:32 / /sys/fs/cgroup - cgroup2 x rw\n");
  put("/proc/self/cgroup", "\n::\n0\n0:\nmemory\n0::/z");
  put("/sys/fs/cgroup/z/memory.max", "many");
  put("/sys/fs/cgroup/z/memory.stat", "inactive_file");
  ck_assert_int_eq(machine_find(&m, root), 0);
  ck_assert_uint_eq(m.limit, UINT64_MAX);
}
END_TEST

START_TEST(this_machine_is_sensible) {
  ck_assert_int_eq(machine_find(&m, ""), 0);
  ck_assert_int_ge(m.cores, 1);
  ck_assert_uint_gt(m.memory, 16 * MIB);
  ck_assert_uint_le(m.available, m.memory);
  ck_assert_uint_le(m.limit_used, m.limit);
}
END_TEST

START_TEST(cores_follow_the_binding) {
  cpu_set_t all, one;
  ck_assert_int_eq(sched_getaffinity(0, sizeof(all), &all), 0);
  CPU_ZERO(&one);
  for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; i++) {
    if (CPU_ISSET(i, &all)) {
      CPU_SET(i, &one);
    }
  }
  ck_assert_int_eq(machine_find(&m, ""), 0);
  ck_assert_int_le(m.cores, CPU_COUNT(&all));
  ck_assert_int_eq(sched_setaffinity(0, sizeof(one), &one), 0);
  ck_assert_int_eq(machine_find(&m, ""), 0);
  ck_assert_int_eq(m.cores, 1);
}
END_TEST

START_TEST(disk_free_is_what_statvfs_says) {
  struct statvfs fs;
  ck_assert_int_eq(statvfs(root, &fs), 0);
  const uint64_t now = (uint64_t)fs.f_bavail * fs.f_frsize;
  const uint64_t said = machine_disk_free(root);
  /* Others write to it, too. */
  ck_assert_uint_ge(said + 8 * GIB, now);
  ck_assert_uint_le(said, now + 8 * GIB);
  ck_assert_uint_gt(said, 0);
  ck_assert_uint_eq(machine_disk_free("/does/not/exist"), 0);
}
END_TEST

START_TEST(rss_and_peak_follow_memory) {
  const size_t n = 64 * MIB;
  const uint64_t before = machine_rss();
  ck_assert_uint_gt(before, 0);
  char *const p =
      mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ck_assert_ptr_ne(p, MAP_FAILED);
  memset(p, 1, n);
  ck_assert_uint_ge(machine_rss(), before + n - MIB);
  munmap(p, n);
  ck_assert_uint_lt(machine_rss(), before + n / 2);
  ck_assert_uint_ge(machine_peak_rss(), before + n - MIB);
}
END_TEST

START_TEST(pages_of_files_are_told_apart) {
  const size_t n = 16 * MIB;
  FILE *const f = tmpfile();
  ck_assert_ptr_nonnull(f);
  ck_assert_int_eq(ftruncate(fileno(f), (off_t)n), 0);
  const uint64_t before = machine_file_rss();
  char *const p =
      mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE, fileno(f), 0);
  ck_assert_ptr_ne(p, MAP_FAILED);
  volatile char sum = 0;
  for (size_t i = 0; i < n; i += 4096) {
    sum += p[i];
  }
  ck_assert_int_eq(sum, 0);
  ck_assert_uint_ge(machine_file_rss(), before + n / 2);
  memset(p, 1, n); /* now they are the process's own */
  ck_assert_uint_lt(machine_file_rss(), before + n / 2);
  munmap(p, n);
  fclose(f);
}
END_TEST

int main(void) {
  Suite *const s = suite_create("machine");
  TCase *const t = tcase_create("machine");
  tcase_set_timeout(t, 30);
  tcase_add_checked_fixture(t, make_root, remove_root);
  tcase_add_test(t, memory_is_read);
  tcase_add_test(t, pages_of_files_are_told_apart);
  tcase_add_test(t, old_kernels_tell_only_free_memory);
  tcase_add_test(t, without_meminfo_values_are_safe);
  tcase_add_test(t, v1_limit_less_page_cache);
  tcase_add_test(t, v1_huge_is_no_limit);
  tcase_add_test(t, v1_controllers_may_share_a_hierarchy);
  tcase_add_test(t, v1_unseen_ancestors_count);
  tcase_add_test(t, v2_limit_less_page_cache);
  tcase_add_test(t, v2_max_is_no_limit);
  tcase_add_test(t, v2_high_limits_too);
  tcase_add_test(t, the_least_room_of_all_ancestors_counts);
  tcase_add_test(t, a_cgroup_over_its_limit_has_no_room);
  tcase_add_test(t, hybrid_takes_the_smaller_of_both);
  tcase_add_test(t, the_mounts_root_is_taken_off);
  tcase_add_test(t, a_path_that_is_not_there_means_the_mount);
  tcase_add_test(t, without_mountinfo_the_usual_places_are_tried);
  tcase_add_test(t, rubbish_is_survived);
  tcase_add_test(t, this_machine_is_sensible);
  tcase_add_test(t, cores_follow_the_binding);
  tcase_add_test(t, disk_free_is_what_statvfs_says);
  tcase_add_test(t, rss_and_peak_follow_memory);
  suite_add_tcase(s, t);
  return check_run(s);
}
