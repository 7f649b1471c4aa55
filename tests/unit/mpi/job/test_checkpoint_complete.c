/* A checkpoint has its name when all of it is there. */
#define _GNU_SOURCE
#include "mpi/job/checkpoint_complete.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check_main.h"
#include "checkpoint/blocks.h"
#include "mpi/job/restart.h"

static struct identity identity = {"glibc 1", "x86-64-v2", NULL, 0};

/* mpi/job/restart.c's. */
const struct identity *restart_identity(void) {
  return &identity;
}

static char dir[] = "/tmp/pems-complete.XXXXXX", shelf_dir[64];
static struct shelf shelf;
static struct manifest m;
static struct pems_error error;

static void write_rank(const char *folder, int rank) {
  char path[PATH_MAX];
  struct checkpoint_out o;
  shelf_rank(folder, rank, path);
  ck_assert_int_eq(checkpoint_create(&o, path, &error), 0);
  ck_assert_int_eq(
      checkpoint_put(&o, CHECKPOINT_MEMORY, 4096, "bytes", 5, &error), 0);
  ck_assert_int_eq(checkpoint_finish(&o, &m.rank[rank], &error), 0);
  checkpoint_close(&o);
}

static void begin(void) {
  static char *arguments[] = {"program", NULL};
  static struct checkpoint_sum ranks[2];
  char folder[PATH_MAX];
  ck_assert_ptr_nonnull(mkdtemp(dir));
  snprintf(shelf_dir, sizeof(shelf_dir), "%s/shelf", dir);
  ck_assert_int_eq(shelf_open(&shelf, shelf_dir, true, &error), 0);
  m = (struct manifest){.program = "/bin/program",
                        .directory = "/",
                        .hosts = "here",
                        .argument = arguments,
                        .arguments = 1,
                        .v = 2,
                        .superstep = 7,
                        .sequence = 3,
                        .stack_limit = 8 << 20,
                        .context = 4 << 20,
                        .stack = 8 << 20,
                        .identity = {1, 0},
                        .rank = ranks};
  ck_assert_int_eq(shelf_begin(&shelf, m.sequence, folder, &error), 0);
  write_rank(folder, 0);
  write_rank(folder, 1);
}

static void end(void) {
  char command[64];
  shelf_close(&shelf);
  snprintf(command, sizeof(command), "rm -r %s", dir);
  ck_assert_int_eq(system(command), 0);
}

START_TEST(all_of_it_is_there_and_can_be_read) {
  char folder[PATH_MAX], *text = NULL;
  struct manifest read;
  begin();
  ck_assert_int_eq(checkpoint_complete(&shelf, &m, 2, &error), 0);
  ck_assert_uint_eq(shelf_newest(&shelf), 3);
  ck_assert_int_eq(shelf_find(shelf_dir, folder, &error), 0);
  ck_assert_int_eq(shelf_manifest(folder, &read, &error), 0);
  ck_assert_uint_eq(read.superstep, 7);
  ck_assert_uint_ne(read.time, 0);
  ck_assert_int_eq(shelf_look(folder, &read, &error), 0);
  ck_assert_int_eq(shelf_get(folder, "identity", &read.identity, &text, &error),
                   0);
  ck_assert_ptr_nonnull(strstr(text, "x86-64-v2"));
  free(text);
  manifest_free(&read);
  end();
}
END_TEST

START_TEST(without_the_file_of_a_rank_it_gets_no_name) {
  char folder[PATH_MAX], path[PATH_MAX];
  begin();
  ck_assert_int_eq(shelf_begin(&shelf, m.sequence, folder, &error), 0);
  shelf_rank(folder, 1, path);
  ck_assert_int_eq(truncate(path, 10), 0);
  ck_assert_int_eq(checkpoint_complete(&shelf, &m, 2, &error), EILSEQ);
  ck_assert_msg(strstr(error.text, "rank-1: 10 bytes instead of"), "%s",
                error.text);
  ck_assert_int_eq(unlink(path), 0);
  ck_assert_int_eq(checkpoint_complete(&shelf, &m, 2, &error), ENOENT);
  ck_assert_uint_eq(shelf_newest(&shelf), 0);
  end();
}
END_TEST

int main(void) {
  return check_main(
      "checkpoint_complete",
      (const TTest *[]){all_of_it_is_there_and_can_be_read,
                        without_the_file_of_a_rank_it_gets_no_name, NULL});
}
