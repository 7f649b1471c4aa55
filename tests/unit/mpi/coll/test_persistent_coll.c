/* Persistent collective calls: made and freed, also where memory is short; none
   of it leaves anything behind, nor counts where it fails. */
#include "mpi/coll/persistent_coll.h"

#include "../check_byte.h"
#include "../check_shortage.h"
#include "check_main.h"
#include "mpi/coll/barrier.h"
#include "mpi/request/composite.h"
#include "mpi_abi/functions.h"

static MPI_Request made;
static char in[8], out[8];

static void settle(void) {
  ck_assert_ptr_null(shortage_rank.requests);
  requests_forget(&shortage_rank);
  shortage_rank.spares = 0;
}

static void start(void) {
  byte_only();
  shortage_begin();
}

static void end(void) {
  settle();
  shortage_end();
}

static void free_made(void) {
  const struct request *r = request_of(made);
  ck_assert(r->persistent && !r->active);
  ck_assert_int_eq(pems_Request_free(&made), MPI_SUCCESS);
}

static int barrier_init(void) {
  const struct collective c =
      collective_make_init(MPI_COMM_WORLD, "MPI_Barrier_init", &made);
  return persistent_coll_plain(&c, coll_ibarrier);
}

static int move_init(void) {
  const struct collective c =
      collective_make_init(MPI_COMM_WORLD, "MPI_Alltoall_init", &made);
  struct coll_side send = coll_side_make(c.comm, SIDE_BLOCKS, in, 2, MPI_BYTE);
  struct coll_side receive =
      coll_side_make(c.comm, SIDE_BLOCKS, out, 2, MPI_BYTE);
  return persistent_coll_move(&c, -1, &send, &receive);
}

static void everywhere(int (*call)(void)) {
  shortage_everywhere(&(struct shortage_trial){call, free_made, settle});
}

START_TEST(made_or_not) {
  everywhere(barrier_init);
  everywhere(move_init);
}
END_TEST

START_TEST(a_call_counts_where_it_succeeds) {
  const struct comm *comm = shortage_rank.world;
  const uint64_t before = comm->collectives;
  for (long left = 0; left < 2; left++) {
    memory_but(left);
    ck_assert_int_eq(barrier_init(), MPI_ERR_NO_MEM);
    ck_assert_uint_eq(comm->collectives, before);
  }
  memory_again();
  ck_assert_int_eq(barrier_init(), MPI_SUCCESS);
  ck_assert_uint_eq(comm->collectives, before + 1);
  ck_assert(request_of(made)->comm == comm);
  free_made();
}
END_TEST

START_TEST(without_a_place_for_the_handle_there_is_none) {
  const struct collective c =
      collective_make_init(MPI_COMM_WORLD, "MPI_Barrier_init", NULL);
  ck_assert_int_eq(persistent_coll_plain(&c, coll_ibarrier), MPI_ERR_REQUEST);
  ck_assert_ptr_null(shortage_rank.requests);
}
END_TEST

/* Messages to and from nobody are done as soon as they begin. */
START_TEST(a_composite_begins_and_ends_with_its_parts) {
  MPI_Request part[2];
  ck_assert_int_eq(pems_Send_init(in, 8, MPI_BYTE, MPI_PROC_NULL, 0,
                                  MPI_COMM_WORLD, &part[0]),
                   MPI_SUCCESS);
  ck_assert_int_eq(pems_Recv_init(out, 8, MPI_BYTE, MPI_PROC_NULL, 0,
                                  MPI_COMM_WORLD, &part[1]),
                   MPI_SUCCESS);
  struct request *parts[] = {request_of(part[0]), request_of(part[1])};
  struct request *r =
      composite_persistent(shortage_rank.world, parts, 2, "MPI_X_init");
  made = request_handle(r);
  for (int round = 0; round < 3; round++) {
    ck_assert(!r->active && !parts[0]->active && !parts[1]->active);
    request_restart(r);
    ck_assert(r->active && request_is_done(r));
    request_finish(r);
    r->active = false;
    ck_assert_int_eq(r->result.error, MPI_SUCCESS);
  }
  free_made();
}
END_TEST

int main(void) {
  Suite *const suite = suite_create("persistent collective calls");
  TCase *const t = tcase_create("all");
  tcase_add_checked_fixture(t, start, end);
  tcase_add_test(t, made_or_not);
  tcase_add_test(t, a_call_counts_where_it_succeeds);
  tcase_add_test(t, without_a_place_for_the_handle_there_is_none);
  tcase_add_test(t, a_composite_begins_and_ends_with_its_parts);
  suite_add_tcase(suite, t);
  return check_run(suite);
}
