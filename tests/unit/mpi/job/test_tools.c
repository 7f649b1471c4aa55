/* MPI_T below is begun once, by one thread, for threads at once; ranks of a
   process have begun it or not each for itself. */
#include "mpi/job/tools.h"

#include <check.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "check_main.h"
#include "mpi/object/rank.h"
#include "mpi_abi/functions.h"
#include "mpi_below/real.h"

enum { RANKS = 8 };
static struct vp vp[RANKS];
static struct rank rank[RANKS];

/* --- the real MPI's: has no T_finalize --- */

static atomic_int begun, inside;
static int level = MPI_THREAD_MULTIPLE, refusals;

static int begin(int required, int *provided) {
  const struct timespec pause = {0, 5000000};
  ck_assert_int_eq(atomic_fetch_add(&inside, 1), 0);
  ck_assert_int_eq(required, MPI_THREAD_MULTIPLE);
  nanosleep(&pause, NULL);
  if (refusals > 0) {
    refusals--;
    inside--;
    return MPI_T_ERR_MEMORY;
  }
  *provided = level;
  begun++;
  inside--;
  return MPI_SUCCESS;
}

static int control(int index, char *name, int *length, int *verbosity,
                   MPI_Datatype *type, MPI_T_enum *values, char *about,
                   int *about_length, int *bind, int *scope) {
  (void)name, (void)length, (void)about, (void)about_length;
  *verbosity = *scope = 0;
  *type = MPI_DATATYPE_NULL;
  *values = MPI_T_ENUM_NULL;
  *bind = index == 0 ? MPI_T_BIND_NO_OBJECT : MPI_T_BIND_MPI_COMM;
  return index > 1 ? MPI_T_ERR_INVALID_INDEX : MPI_SUCCESS;
}

static int allocate(int index, void *object, MPI_T_cvar_handle *handle,
                    int *count) {
  (void)handle;
  ck_assert_int_eq(index, 0);
  ck_assert_ptr_null(object);
  *count = 7;
  return MPI_SUCCESS;
}

/* --- */

static void act_for(int i) {
  rank[i].vp = &vp[i];
  vp[i].mpi = &rank[i];
  self.vp = &vp[i];
}

static void set_up(void) {
  real.T_init_thread = begin;
  real.T_cvar_get_info = control;
  real.T_cvar_handle_alloc = allocate;
  act_for(0);
}

START_TEST(each_rank_begins_for_itself) {
  int provided = -1;
  set_up();
  ck_assert(!tools_ready());
  ck_assert_int_eq(pems_T_init_thread(MPI_THREAD_SINGLE, &provided),
                   MPI_SUCCESS);
  ck_assert_int_eq(provided, MPI_THREAD_SINGLE);
  ck_assert(tools_ready());
  act_for(1);
  provided = -1;
  ck_assert(!tools_ready());
  ck_assert_int_eq(pems_T_finalize(), MPI_T_ERR_NOT_INITIALIZED);
  ck_assert_int_eq(pems_T_init_thread(MPI_THREAD_MULTIPLE, &provided),
                   MPI_SUCCESS);
  ck_assert_int_eq(provided, MPI_THREAD_MULTIPLE);
  act_for(0);
  ck_assert_int_eq(pems_T_finalize(), MPI_SUCCESS);
  ck_assert(!tools_ready());
  act_for(1);
  ck_assert(tools_ready());
  ck_assert_int_eq(begun, 1);
}
END_TEST

START_TEST(it_ends_as_often_as_it_was_begun) {
  set_up();
  ck_assert_int_eq(pems_T_init_thread(MPI_THREAD_SINGLE, NULL), MPI_SUCCESS);
  ck_assert_int_eq(pems_T_init_thread(MPI_THREAD_SINGLE, NULL), MPI_SUCCESS);
  ck_assert_int_eq(pems_T_finalize(), MPI_SUCCESS);
  ck_assert(tools_ready());
  ck_assert_int_eq(pems_T_finalize(), MPI_SUCCESS);
  ck_assert(!tools_ready());
  ck_assert_int_eq(pems_T_finalize(), MPI_T_ERR_NOT_INITIALIZED);
  /* And once more. */
  ck_assert_int_eq(pems_T_init_thread(MPI_THREAD_SINGLE, NULL), MPI_SUCCESS);
  ck_assert(tools_ready());
  ck_assert_int_eq(begun, 1);
}
END_TEST

START_TEST(a_level_is_not_above_what_there_is) {
  int provided = -1;
  set_up();
  level = MPI_THREAD_FUNNELED;
  ck_assert_int_eq(pems_T_init_thread(MPI_THREAD_MULTIPLE, &provided),
                   MPI_SUCCESS);
  ck_assert_int_eq(provided, MPI_THREAD_FUNNELED);
  ck_assert_int_eq(pems_T_init_thread(MPI_THREAD_MULTIPLE + 1, &provided),
                   MPI_T_ERR_INVALID);
  ck_assert_int_eq(pems_T_init_thread(MPI_THREAD_SINGLE - 1, &provided),
                   MPI_T_ERR_INVALID);
  ck_assert_int_eq(rank[0].tools, 1);
}
END_TEST

START_TEST(what_failed_is_tried_again) {
  set_up();
  refusals = 1;
  ck_assert_int_eq(pems_T_init_thread(MPI_THREAD_SINGLE, NULL),
                   MPI_T_ERR_MEMORY);
  ck_assert(!tools_ready());
  ck_assert_int_eq(pems_T_init_thread(MPI_THREAD_SINGLE, NULL), MPI_SUCCESS);
  ck_assert(tools_ready());
}
END_TEST

static pthread_barrier_t together;

static void *begin_and_end(void *arg) {
  act_for((int)((struct rank *)arg - rank));
  pthread_barrier_wait(&together);
  for (int i = 0; i < 100; i++) {
    ck_assert_int_eq(pems_T_init_thread(MPI_THREAD_SINGLE, NULL), MPI_SUCCESS);
    ck_assert(tools_ready());
    ck_assert_int_eq(pems_T_finalize(), MPI_SUCCESS);
    ck_assert(!tools_ready());
  }
  return NULL;
}

START_TEST(ranks_at_once_begin_it_once) {
  pthread_t thread[RANKS];
  set_up();
  pthread_barrier_init(&together, NULL, RANKS);
  for (int i = 0; i < RANKS; i++) {
    ck_assert_int_eq(pthread_create(&thread[i], NULL, begin_and_end, &rank[i]),
                     0);
  }
  for (int i = 0; i < RANKS; i++) {
    pthread_join(thread[i], NULL);
  }
  pthread_barrier_destroy(&together);
  ck_assert_int_eq(begun, 1);
}
END_TEST

START_TEST(handles_of_variables) {
  MPI_T_cvar_handle handle;
  MPI_T_pvar_handle other;
  MPI_Comm comm = MPI_COMM_NULL;
  int n = 0;
  set_up();
  ck_assert_int_eq(pems_T_cvar_handle_alloc(0, NULL, &handle, &n),
                   MPI_T_ERR_NOT_INITIALIZED);
  ck_assert_int_eq(
      pems_T_pvar_handle_alloc(MPI_T_PVAR_SESSION_NULL, 0, NULL, &other, &n),
      MPI_T_ERR_NOT_INITIALIZED);
  ck_assert_int_eq(pems_T_init_thread(MPI_THREAD_SINGLE, NULL), MPI_SUCCESS);
  ck_assert_int_eq(pems_T_cvar_handle_alloc(0, NULL, &handle, &n), MPI_SUCCESS);
  ck_assert_int_eq(n, 7);
  ck_assert_int_eq(pems_T_cvar_handle_alloc(1, &comm, &handle, &n),
                   MPI_T_ERR_INVALID_HANDLE);
  ck_assert_int_eq(pems_T_cvar_handle_alloc(2, NULL, &handle, &n),
                   MPI_T_ERR_INVALID_INDEX);
}
END_TEST

int main(void) {
  return check_main(
      "tools",
      (const TTest *[]){
          each_rank_begins_for_itself, it_ends_as_often_as_it_was_begun,
          a_level_is_not_above_what_there_is, what_failed_is_tried_again,
          ranks_at_once_begin_it_once, handles_of_variables, NULL});
}
