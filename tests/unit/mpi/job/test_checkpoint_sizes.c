/* Files of ranks are cut to the length that they had, unless something is
 * wrong.
 */
#define _GNU_SOURCE
#include "mpi/job/checkpoint_sizes.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/self.h"
#include "check_blocks.h"
#include "check_main.h"
#include "interpose/descriptor.h"
#include "interpose/file_mapping.h"
#include "mpi/io/file.h"
#include "vp/vp.h"

static struct vp vp[2];
static struct rank rank[2];
static struct files files_of_mpi;
static struct file file_of_mpi;
static char path_of_mpi[128];
static char dir[] = "/tmp/pems-sizes.XXXXXX", folder[64];
static struct pems_error error;

static int open_file(int rank, const char *name, int flags) {
  self.vp = &vp[rank];
  const int fd = descriptor_take(open(name, flags | O_CREAT, 0600));
  self.vp = NULL;
  ck_assert_int_ge(fd, 256);
  return fd;
}

static void add(const char *name, const char *text) {
  const int fd = open(name, O_WRONLY | O_CREAT | O_APPEND, 0600);
  ck_assert_int_eq(write(fd, text, strlen(text)), strlen(text));
  close(fd);
}

static long long size(const char *name) {
  struct stat st;
  return stat(name, &st) == 0 ? (long long)st.st_size : -1;
}

/* Rank 0 writes to "d" by MPI, */
static void open_by_mpi(void) {
  snprintf(path_of_mpi, sizeof(path_of_mpi), "%s/d", dir);
  file_of_mpi = (struct file){.path = path_of_mpi, .amode = MPI_MODE_RDWR};
  files_of_mpi.first = &file_of_mpi;
  rank[0].files = &files_of_mpi;
  add("d", "12345");
}

/* and to "a", rank 1 to "a" and "b" and reads "c"; 5 bytes each. */
static void begin(void) {
  ck_assert_ptr_nonnull(mkdtemp(dir));
  snprintf(folder, sizeof(folder), "%s/shelf", dir);
  ck_assert_int_eq(chdir(dir), 0);
  ck_assert_int_eq(mkdir("shelf", 0700), 0);
  vp[1].rank = vp[1].index = 1;
  vp[0].mpi = &rank[0];
  vp[1].mpi = &rank[1];
  vps.item = vp;
  vps.n = vps.plan.v = 2;
  descriptors_start(2);
  add("a", "12345");
  add("b", "12345");
  add("c", "12345");
  open_by_mpi();
  (void)open_file(0, "a", O_WRONLY);
  (void)open_file(1, "a", O_RDWR);
  (void)open_file(1, "b", O_WRONLY | O_APPEND);
  (void)open_file(1, "c", O_RDONLY);
  ck_assert_int_eq(checkpoint_sizes_save(folder, 7, NULL), 0);
}

static void finish(void) {
  char command[64];
  snprintf(command, sizeof(command), "rm -r %s", dir);
  ck_assert_int_eq(system(command), 0);
}

START_TEST(what_was_added_is_cut_off) {
  begin();
  add("a", "more");
  add("b", "more");
  add("c", "more");
  add("d", "more");
  ck_assert_int_eq(checkpoint_sizes_check(folder, 7, NULL), 0);
  ck_assert_int_eq(size("a"), 9);
  ck_assert_int_eq(checkpoint_sizes_cut(folder, 7, NULL), 0);
  ck_assert_int_eq(size("d"), 5);
  ck_assert_int_eq(size("a"), 5);
  ck_assert_int_eq(size("b"), 5);
  ck_assert_int_eq(size("c"), 9);
  finish();
}
END_TEST

START_TEST(those_of_other_processes_ranks_are_left_to_them) {
  begin();
  add("a", "more");
  add("b", "more");
  vps.n = 1; /* rank 0 */
  unlink("c");
  ck_assert_int_eq(checkpoint_sizes_check(folder, 7, NULL), 0);
  ck_assert_int_eq(checkpoint_sizes_cut(folder, 7, NULL), 0);
  ck_assert_int_eq(size("a"), 5);
  ck_assert_int_eq(size("b"), 9);
  finish();
}
END_TEST

START_TEST(what_is_lost_is_said) {
  begin();
  ck_assert_int_eq(truncate("b", 4), 0);
  ck_assert_int_eq(checkpoint_sizes_check(folder, 7, &error), EINVAL);
  ck_assert_ptr_nonnull(strstr(error.text, "rank 1: "));
  ck_assert_ptr_nonnull(
      strstr(error.text, "/b: it has 4 bytes now, and had 5"));
  unlink("b");
  ck_assert_int_eq(checkpoint_sizes_check(folder, 7, &error), ENOENT);
  finish();
}
END_TEST

/* Rank 0 has it mapped, and wrote nothing to it. */
START_TEST(what_was_mapped_is_as_it_was) {
  begin();
  void *const place =
      mmap(NULL, 1 << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ck_assert_int_eq(munmap(place, 1 << 20), 0);
  file_mappings_start((uintptr_t)place, 1 << 20, 2);
  self.vp = &vp[0];
  for (const char *name = "ce"; *name; name++) {
    const char file[] = {*name, '\0'};
    add(file, "12345");
    const int fd = open(file, O_RDWR);
    const int kind = *name == 'c' ? MAP_PRIVATE : MAP_SHARED;
    const int prot = *name == 'c' ? PROT_READ : PROT_READ | PROT_WRITE;
    ck_assert_ptr_nonnull(file_mapping_make(5, prot, kind, fd, 0));
    close(fd);
  }
  self.vp = NULL;
  ck_assert_int_eq(checkpoint_sizes_save(folder, 7, NULL), 0);
  add("e", "more");
  ck_assert_int_eq(checkpoint_sizes_check(folder, 7, &error), 0);
  ck_assert_int_eq(checkpoint_sizes_cut(folder, 7, NULL), 0);
  ck_assert_int_eq(size("e"), 5);
  add("c", "more");
  ck_assert_int_eq(checkpoint_sizes_check(folder, 7, &error), EINVAL);
  ck_assert_ptr_nonnull(strstr(error.text, "/c: it was written to since"));
  unlink("c");
  ck_assert_int_eq(checkpoint_sizes_check(folder, 7, &error), ENOENT);
  file_mappings_end(&vp[0]);
  finish();
}
END_TEST

START_TEST(a_list_of_another_checkpoint_is_refused) {
  begin();
  ck_assert_int_eq(checkpoint_sizes_check(folder, 8, &error), EILSEQ);
  ck_assert_ptr_nonnull(strstr(error.text, "files-0"));
  ck_assert_int_eq(checkpoint_sizes_check(dir, 7, &error), ENOENT);
  finish();
}
END_TEST

int main(void) {
  const TTest *const tests[] = {what_was_added_is_cut_off,
                                those_of_other_processes_ranks_are_left_to_them,
                                what_is_lost_is_said,
                                what_was_mapped_is_as_it_was,
                                a_list_of_another_checkpoint_is_refused,
                                NULL};
  return check_main("checkpoint_sizes", tests);
}
