/* Locks, regions and requests of windows where memory is short. */
#include "../check_byte.h"
#include "../check_shortage.h"
#include "check_main.h"
#include "mpi/request/request.h"
#include "mpi/rma/win.h"
#include "mpi_abi/functions.h"
#include "os/native.h"

static struct win_member member;
static struct window window;
static struct win win;
static char memory[64];

static void start(void) {
  shortage_begin();
  member = (struct win_member){.vp = &shortage_vp};
  window = (struct window){.size = 4, .n = 1, .member = &member};
  win = (struct win){.handle = handle_make(HANDLE_WIN),
                     .window = &window,
                     .comm = shortage_rank.world,
                     .vp = &shortage_vp,
                     .me = &member,
                     .flavor = MPI_WIN_FLAVOR_DYNAMIC,
                     .errhandler = {.handle = MPI_ERRORS_RETURN}};
}

static void end(void) {
  shortage_end();
}

static int attach(void) {
  return pems_Win_attach(win_handle(&win), memory, sizeof(memory));
}

static void detach(void) {
  ck_assert_int_eq(pems_Win_detach(win_handle(&win), memory), MPI_SUCCESS);
}

START_TEST(a_region_is_attached_or_not) {
  shortage_everywhere(&(struct shortage_trial){attach, detach, NULL});
}
END_TEST

static int lock(void) {
  return pems_Win_lock(MPI_LOCK_SHARED, 2, MPI_MODE_NOCHECK, win_handle(&win));
}

/* As if the window went, which frees the notes. */
static void forget_locks(void) {
  native_free(win.locked);
  win.locked = NULL;
  win.locks = 0;
}

START_TEST(a_lock_is_noted_or_not) {
  shortage_everywhere(&(struct shortage_trial){lock, forget_locks, NULL});
}
END_TEST

static MPI_Request request;

static int rput(void) {
  return pems_Rput(memory, 0, MPI_BYTE, MPI_PROC_NULL, 0, 0, MPI_BYTE,
                   win_handle(&win), &request);
}

static void wait_request(void) {
  ck_assert_int_eq(pems_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
}

/* Memory of requests is kept for others. */
static void forget_requests(void) {
  requests_forget(&shortage_rank);
  shortage_rank.spares = 0;
}

START_TEST(a_request_is_made_or_not) {
  byte_only();
  shortage_everywhere(
      &(struct shortage_trial){rput, wait_request, forget_requests});
}
END_TEST

int main(void) {
  Suite *const suite = suite_create("shortage of memory for windows");
  TCase *const t = tcase_create("all");
  tcase_add_checked_fixture(t, start, end);
  tcase_add_test(t, a_region_is_attached_or_not);
  tcase_add_test(t, a_request_is_made_or_not);
  tcase_add_test(t, a_lock_is_noted_or_not);
  suite_add_tcase(suite, t);
  return check_run(suite);
}
