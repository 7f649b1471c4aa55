/* Requests where memory is short: the call that would give one fails, before
   anything has begun. */
#include "../check_byte.h"
#include "../check_shortage.h"
#include "check_main.h"
#include "mpi/request/request.h"
#include "mpi/request/requests.h"
#include "mpi_abi/functions.h"

static MPI_Request made;
static char in[8], out[8];

static void start(void) {
  byte_only();
  shortage_begin();
}

/* Memory of requests is kept for others. */
static void settle(void) {
  ck_assert_ptr_null(shortage_rank.requests);
  requests_forget(&shortage_rank);
  shortage_rank.spares = 0;
}

static void end(void) {
  settle();
  shortage_end();
}

static void finish(void) {
  ck_assert_int_eq(pems_Wait(&made, MPI_STATUS_IGNORE), MPI_SUCCESS);
}

static void nothing(void) {
}

static int isend(void) {
  return pems_Isend(out, 8, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &made);
}

static int issend(void) {
  return pems_Issend(out, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &made);
}

static int irecv(void) {
  return pems_Irecv(in, 8, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &made);
}

static int imrecv(void) {
  MPI_Message message = MPI_MESSAGE_NO_PROC;
  const int code = pems_Imrecv(in, 8, MPI_BYTE, &message, &made);
  ck_assert(message == (code ? MPI_MESSAGE_NO_PROC : MPI_MESSAGE_NULL));
  return code;
}

static void free_made(void) {
  ck_assert_int_eq(pems_Request_free(&made), MPI_SUCCESS);
}

static int send_init(void) {
  return pems_Ssend_init(out, 8, MPI_BYTE, 3, 0, MPI_COMM_WORLD, &made);
}

static int recv_init(void) {
  return pems_Recv_init(in, 8, MPI_BYTE, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD,
                        &made);
}

static int query(void *state, MPI_Status *status) {
  (void)state, (void)status;
  return MPI_SUCCESS;
}

static int free_state(void *state) {
  (void)state;
  return MPI_SUCCESS;
}

static int cancel(void *state, int done) {
  (void)state, (void)done;
  return MPI_SUCCESS;
}

static int grequest(void) {
  const int code = pems_Grequest_start(query, free_state, cancel, NULL, &made);
  return code ? code : pems_Grequest_complete(made);
}

START_TEST(requests_are_made_or_not) {
  static const struct shortage_trial trials[] = {
      {irecv, finish, settle},        {imrecv, finish, settle},
      {send_init, free_made, settle}, {recv_init, free_made, settle},
      {grequest, finish, settle},
  };
  struct shortage_trial t = trials[_i];
  shortage_everywhere(&t);
}
END_TEST

/* What is complete when the call returns has no request of its own. */
START_TEST(a_send_that_is_over_needs_no_memory) {
  memory_but(0);
  ck_assert_int_eq(_i ? issend() : isend(), MPI_SUCCESS);
  ck_assert(made != MPI_REQUEST_NULL);
  finish();
  memory_again();
  ck_assert(made == MPI_REQUEST_NULL);
}
END_TEST

/* --- calls that wait --- */

static int receive(void) {
  return pems_Recv(in, 8, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD,
                   MPI_STATUS_IGNORE);
}

static int exchange(void) {
  return pems_Sendrecv(out, 8, MPI_BYTE, MPI_PROC_NULL, 0, in, 8, MPI_BYTE,
                       MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static int replace(void) {
  return pems_Sendrecv_replace(in, 8, MPI_BYTE, MPI_PROC_NULL, 0, MPI_PROC_NULL,
                               0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

START_TEST(calls_wait_or_not) {
  static int (*const calls[])(void) = {receive, exchange, replace};
  shortage_everywhere(&(struct shortage_trial){calls[_i], nothing, settle});
}
END_TEST

/* --- calls that others wait for --- */

static int ibarrier(void) {
  return pems_Ibarrier(MPI_COMM_WORLD, &made);
}

static int ibcast(void) {
  return pems_Ibcast(out, 8, MPI_BYTE, 0, MPI_COMM_WORLD, &made);
}

static int ialltoall(void) {
  return pems_Ialltoall(out, 2, MPI_BYTE, in, 2, MPI_BYTE, MPI_COMM_WORLD,
                        &made);
}

static int iscan(void) {
  return pems_Iscan(out, in, 8, MPI_BYTE, MPI_BOR, MPI_COMM_WORLD, &made);
}

static int idup(void) {
  MPI_Comm comm = MPI_COMM_NULL;
  const int code = pems_Comm_idup(MPI_COMM_WORLD, &comm, &made);
  ck_assert(comm == MPI_COMM_NULL);
  return code;
}

/* Each begins with its request: without one the rank has not come, and may come
   later. */
START_TEST(a_collective_call_is_made_or_not) {
  static int (*const calls[])(void) = {ibarrier, ibcast, ialltoall, iscan,
                                       idup};
  const struct comm *comm = shortage_rank.world;
  const uint64_t before = comm->collectives;
  const long live = atomic_load(&check_memory.live);
  made = MPI_REQUEST_NULL;
  memory_but(0);
  ck_assert_int_eq(calls[_i](), MPI_ERR_NO_MEM);
  ck_assert(made == MPI_REQUEST_NULL);
  ck_assert_uint_eq(comm->collectives, before);
  ck_assert_int_eq(atomic_load(&check_memory.live), live);
  memory_again();
}
END_TEST

int main(void) {
  Suite *const suite = suite_create("shortage of memory for requests");
  TCase *const t = tcase_create("all");
  tcase_add_checked_fixture(t, start, end);
  tcase_add_loop_test(t, requests_are_made_or_not, 0, 5);
  tcase_add_loop_test(t, a_send_that_is_over_needs_no_memory, 0, 2);
  tcase_add_loop_test(t, calls_wait_or_not, 0, 3);
  tcase_add_loop_test(t, a_collective_call_is_made_or_not, 0, 5);
  suite_add_tcase(suite, t);
  return check_run(suite);
}
