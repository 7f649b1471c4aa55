/* Sessions of a rank: in another process they have the same handles, levels of
   threads and error handlers. */
#include "mpi/job/session.h"

#include <check.h>
#include <errno.h>
#include <string.h>

#include "check_main.h"
#include "checkpoint/parcel.h"
#include "mpi_abi/functions.h"

#if defined PEMS_MPI_HAS_Session_init
#include "../check_byte.h"
#include "../check_shortage.h"

static MPI_Session session[2];
static struct parcel p;

static void begin(void) {
  byte_only();
  handles_fix(4);
  shortage_begin();
  (void)shortage_end; /* what is left ends with the process of the test */
  for (int i = 0; i < 2; i++) {
    ck_assert_int_eq(
        pems_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session[i]), 0);
  }
  sessions_save(&shortage_rank, &p);
  ck_assert(!p.failed);
}

static void end(void) {
  ck_assert_int_eq(pems_Session_finalize(&session[0]), MPI_SUCCESS);
  ck_assert_int_eq(pems_Session_finalize(&session[1]), MPI_SUCCESS);
  parcel_free(&p);
}

START_TEST(those_of_another_process_are_there) {
  MPI_Session was[2];
  begin();
  memcpy(was, session, sizeof(was));
  ck_assert_ptr_null(sessions_obstacle(&shortage_rank));
  ck_assert_int_eq(pems_Session_finalize(&session[0]), MPI_SUCCESS);
  ck_assert_int_eq(pems_Session_finalize(&session[1]), MPI_SUCCESS);
  ck_assert_int_eq(sessions_load(&shortage_rank, &p), 0);
  ck_assert(p.at == p.n && !p.failed);
  memcpy(session, was, sizeof(was));
  /* Its error handler returns. */
  ck_assert_int_eq(pems_Session_call_errhandler(session[1], MPI_ERR_ARG),
                   MPI_SUCCESS);
  end();
}
END_TEST

START_TEST(a_handle_that_is_taken_is_refused) {
  begin();
  ck_assert_int_ne(sessions_load(&shortage_rank, &p), 0);
  end();
}
END_TEST

int main(void) {
  return check_main("session",
                    (const TTest *[]){those_of_another_process_are_there,
                                      a_handle_that_is_taken_is_refused, NULL});
}
#else
int main(void) {
  return 77; /* this MPI has none */
}
#endif
