/* Who shares a directory: the first of four members, whose others say what it
   says, but where the test wants it otherwise. */
#define _GNU_SOURCE
#include "mpi/comm/comm_directory.h"

#include "../check_shortage.h"
#include "check_main.h"
#include "mpi/coll/allgather.h"
#include "mpi_below/real.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MEMBERS = 4 };

static char directory[] = "/tmp/test_directory-XXXXXX";
static const char *hint; /* or NULL: there is none */
static int calls;
/* What member i says in call c is that of the first, with this bit turned. */
static struct {
  int call, member;
} other;

int __wrap_coll_allgather(struct comm *comm, const char *name, const void *mine,
                          size_t n, void *all);

int __wrap_coll_allgather(struct comm *comm, const char *name, const void *mine,
                          size_t n, void *all) {
  char *const bytes = all;
  ck_assert_str_eq(name, "MPI_Comm_split_type");
  ck_assert_int_eq(comm->group->n, MEMBERS);
  for (size_t i = 0; i < MEMBERS; i++) {
    memcpy(bytes + i * n, mine, n);
  }
  if (++calls == other.call) {
    bytes[(size_t)other.member * n] ^= 1;
  }
  return MPI_SUCCESS;
}

static int info_get(MPI_Info info, const char *key, int n, char *value,
                    int *found) {
  (void)info;
  ck_assert_str_eq(key, "nbhd_common_dirname");
  *found = hint != NULL;
  if (hint) {
    snprintf(value, (size_t)n + 1, "%s", hint);
  }
  return MPI_SUCCESS;
}

static void start(void) {
  shortage_begin();
  real.Info_get = info_get;
  strcpy(directory, "/tmp/test_directory-XXXXXX");
  ck_assert_ptr_nonnull(mkdtemp(directory));
  hint = directory;
  calls = other.call = 0;
}

/* Nothing is left in the directory. */
static void end(void) {
  ck_assert_int_eq(rmdir(directory), 0);
  shortage_end();
}

/* Some info that is not MPI_INFO_NULL. */
static MPI_Info some(void) {
  return MPI_INFO_ENV;
}

static int place(MPI_Info info) {
  int where = -1;
  ck_assert_int_eq(comm_directory_place(shortage_rank.world, info, &where),
                   MPI_SUCCESS);
  return where;
}

START_TEST(who_sees_the_file_is_of_the_first_place) {
  ck_assert_int_eq(place(some()), 0);
  ck_assert_int_eq(calls, 3);
}
END_TEST

START_TEST(who_does_not_see_it_is_of_its_process) {
  other.call = 2; /* the file's name */
  ck_assert_int_eq(place(some()), 1);
  ck_assert_int_eq(calls, 3);
}
END_TEST

START_TEST(without_one_name_there_is_no_place) {
  ck_assert_int_eq(place(MPI_INFO_NULL), MPI_UNDEFINED);
  hint = NULL;
  ck_assert_int_eq(place(some()), MPI_UNDEFINED);
  hint = directory;
  other.call = calls + 1;
  other.member = MEMBERS - 1;
  ck_assert_int_eq(place(some()), MPI_UNDEFINED);
  ck_assert_int_eq(calls, 3);
}
END_TEST

START_TEST(where_no_file_can_be_made_there_is_no_place) {
  hint = "/nowhere/at/all";
  ck_assert_int_eq(place(some()), MPI_UNDEFINED);
  ck_assert_int_eq(calls, 2);
}
END_TEST

int main(void) {
  Suite *const suite = suite_create("directories");
  TCase *const t = tcase_create("all");
  tcase_add_checked_fixture(t, start, end);
  tcase_add_test(t, who_sees_the_file_is_of_the_first_place);
  tcase_add_test(t, who_does_not_see_it_is_of_its_process);
  tcase_add_test(t, without_one_name_there_is_no_place);
  tcase_add_test(t, where_no_file_can_be_made_there_is_no_place);
  suite_add_tcase(suite, t);
  return check_run(suite);
}
