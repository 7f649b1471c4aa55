/* Bells of three processes, the first and the last of them on this host. The
   real MPI is played; the other process is a child. */
#define _GNU_SOURCE
#include "net/wakeup.h"

#include <check.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check_main.h"
#include "check_need.h"
#include "mpi_below/real.h"

enum { PROCESSES = 3, OTHER = 2, FAR = 1 };
static const int here[] = {0, OTHER};
#define FOREVER INT64_MAX

/* --- the real MPI --- */

static int me;
static char *memory; /* of this host */
static size_t part;  /* of it, for each process */
static bool shares;
static int windows, comms;
static int refusing; /* Comm_split_type: an error class */

static int comm_size(MPI_Comm comm, int *n) {
  (void)comm;
  *n = PROCESSES;
  return MPI_SUCCESS;
}

static int comm_rank(MPI_Comm comm, int *rank) {
  (void)comm;
  *rank = me;
  return MPI_SUCCESS;
}

static int split_type(MPI_Comm comm, int type, int key, MPI_Info info,
                      MPI_Comm *host) {
  (void)key, (void)info;
  ck_assert_int_eq(type, MPI_COMM_TYPE_SHARED);
  *host = comm;
  comms += !refusing;
  return refusing;
}

static int comm_free(MPI_Comm *comm) {
  *comm = MPI_COMM_NULL;
  comms--;
  return MPI_SUCCESS;
}

static int barrier(MPI_Comm comm) {
  (void)comm;
  return MPI_SUCCESS;
}

static int allocate(MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm,
                    void *own, MPI_Win *win) {
  (void)unit, (void)info, (void)comm;
  if (!shares) {
    return MPI_ERR_OTHER;
  }
  part = (size_t)size;
  *(char **)own = memory + (me ? part : 0);
  memset(win, 1, sizeof(*win));
  windows++;
  return MPI_SUCCESS;
}

static int query(MPI_Win win, int rank, MPI_Aint *size, int *unit, void *at) {
  (void)win;
  *size = (MPI_Aint)part;
  *unit = 1;
  *(char **)at = memory + (size_t)rank * part;
  return MPI_SUCCESS;
}

static int win_free(MPI_Win *win) {
  *win = MPI_WIN_NULL;
  windows--;
  return MPI_SUCCESS;
}

static int comm_group(MPI_Comm comm, MPI_Group *group) {
  (void)comm;
  *group = MPI_GROUP_EMPTY;
  return MPI_SUCCESS;
}

static int group_size(MPI_Group group, int *n) {
  (void)group;
  *n = sizeof(here) / sizeof(*here);
  return MPI_SUCCESS;
}

static int translate(MPI_Group from, int n, const int rank[], MPI_Group to,
                     int process[]) {
  (void)from, (void)to;
  for (int i = 0; i < n; i++) {
    process[i] = here[rank[i]];
  }
  return MPI_SUCCESS;
}

static int group_free(MPI_Group *group) {
  *group = MPI_GROUP_NULL;
  return MPI_SUCCESS;
}

static int error_string(int code, char *text, int *n) {
  *n = snprintf(text, MPI_MAX_ERROR_STRING, "class %d: no memory", code);
  return MPI_SUCCESS;
}

static void set_up(void) {
  real.Comm_size = comm_size;
  real.Comm_rank = comm_rank;
  real.Comm_split_type = split_type;
  real.Comm_free = comm_free;
  real.Comm_group = comm_group;
  real.Group_size = group_size;
  real.Group_translate_ranks = translate;
  real.Group_free = group_free;
  real.Barrier = barrier;
  real.Win_allocate_shared = allocate;
  real.Win_shared_query = query;
  real.Win_free = win_free;
  real.Error_string = error_string;
  me = windows = comms = refusing = 0;
  shares = true;
  memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                -1, 0);
  ck_assert_ptr_ne(memory, MAP_FAILED);
}

static void tear_down(void) {
  munmap(memory, 4096);
  ck_assert_int_eq(windows, 0);
  ck_assert_int_eq(comms, 0);
}

/* --- tests --- */

/* Sleeps until its bell rings: libcheck's limit ends a sleep in vain. */
static void sleep_once(int said) {
  const uint32_t heard = wakeup_sleeps();
  ck_assert_int_eq(write(said, "", 1), 1);
  while (wakeup_sleeps() == heard) {
    wakeup_wait(heard, FOREVER);
  }
  wakeup_wakes();
}

START_TEST(another_process_is_woken) {
  int said[2], status;
  char byte;
  ck_assert_int_eq(pipe(said), 0);
  wakeup_create_all(MPI_COMM_WORLD);
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    wakeup_destroy_all();
    me = OTHER;
    wakeup_create_all(MPI_COMM_WORLD);
    sleep_once(said[1]);
    wakeup_destroy_all();
    _exit(0);
  }
  ck_assert_int_eq(read(said[0], &byte, 1), 1);
  wakeup_ring(FAR);
  wakeup_ring(OTHER);
  ck_assert_int_eq(waitpid(child, &status, 0), child);
  ck_assert_int_eq(status, 0);
  wakeup_destroy_all();
}
END_TEST

/* It rings between the last look and the sleep; with and without memory that is
   shared. */
START_TEST(a_bell_before_the_sleep_is_heard) {
  shares = _i;
  wakeup_create_all(MPI_COMM_WORLD);
  ck_assert_int_eq(windows, _i);
  const uint32_t heard = wakeup_sleeps();
  wakeup_ring(0);
  wakeup_wait(heard, FOREVER);
  wakeup_wakes();
  wakeup_ring(OTHER);
  wakeup_destroy_all();
}
END_TEST

START_TEST(who_is_awake_hears_no_bell) {
  wakeup_create_all(MPI_COMM_WORLD);
  const uint32_t heard = wakeup_sleeps();
  wakeup_wakes();
  wakeup_ring(0);
  ck_assert_uint_eq(wakeup_sleeps(), heard);
  wakeup_wait(heard, 1000000); /* ends by itself */
  wakeup_destroy_all();
}
END_TEST

static void create_and_destroy(void) {
  wakeup_create_all(MPI_COMM_WORLD);
  wakeup_ring(OTHER);
  wakeup_destroy_all();
}

START_TEST(there_is_a_bell_or_the_job_ends) {
  ck_assert_int_ge(need_every(create_and_destroy), 1);
}
END_TEST

START_TEST(an_error_of_the_real_mpi_ends_the_job) {
  char said[4096];
  refusing = MPI_ERR_NO_MEM;
  ck_assert_int_eq(check_child_exit(create_and_destroy, said, sizeof(said)),
                   MSG_FAILED);
  ck_assert_ptr_nonnull(strstr(said, "no memory"));
}
END_TEST

int main(void) {
  Suite *const suite = suite_create("wakeup");
  TCase *const all = tcase_create("all");
  tcase_set_timeout(all, 120);
  tcase_add_checked_fixture(all, set_up, tear_down);
  tcase_add_test(all, another_process_is_woken);
  tcase_add_loop_test(all, a_bell_before_the_sleep_is_heard, 0, 2);
  tcase_add_test(all, who_is_awake_hears_no_bell);
  tcase_add_test(all, there_is_a_bell_or_the_job_ends);
  tcase_add_test(all, an_error_of_the_real_mpi_ends_the_job);
  suite_add_tcase(suite, all);
  return check_run(suite);
}
