/* Accesses to files that give a request, where memory is short: MPI_ERR_NO_MEM,
   and nothing has been read or written. */
#include "mpi/io/file_access.h"

#include <check.h>

#include "../check_byte.h"
#include "../check_shortage.h"
#include "check_main.h"
#include "mpi/request/request.h"
#include "mpi_abi/functions.h"

static struct file file;
static MPI_Request made;
static int accesses;

static int count_elements(const MPI_Status *status, MPI_Datatype type,
                          MPI_Count *n) {
  (void)status, (void)type;
  *n = 8;
  return MPI_SUCCESS;
}

static int access_it(struct file *of, const struct file_transfer *a,
                     MPI_Status *status) {
  (void)a, (void)status;
  ck_assert_ptr_eq(of, &file);
  accesses++;
  return MPI_SUCCESS;
}

static int begin(void) {
  accesses = 0;
  const int code =
      file_request(file_handle(&file), access_it,
                   (struct file_transfer){.function = "MPI_File_iread"}, &made);
  ck_assert_int_eq(accesses, code == MPI_SUCCESS);
  return code;
}

static void end(void) {
  ck_assert_int_eq(pems_Wait(&made, MPI_STATUS_IGNORE), MPI_SUCCESS);
}

/* Memory of requests is kept for others. */
static void settle(void) {
  ck_assert_ptr_null(shortage_rank.requests);
  requests_forget(&shortage_rank);
  shortage_rank.spares = 0;
}

START_TEST(a_request_is_made_before_the_access) {
  byte_only();
  real.Get_elements_x = count_elements;
  shortage_begin();
  file = (struct file){.handle = handle_make(HANDLE_FILE),
                       .comm = shortage_rank.world,
                       .errhandler = {.handle = MPI_ERRORS_RETURN}};
  shortage_everywhere(
      &(struct shortage_trial){.call = begin, .undo = end, .settle = settle});
  handle_end(&file.handle);
  shortage_end();
}
END_TEST

int main(void) {
  const TTest *const tests[] = {a_request_is_made_before_the_access, NULL};
  return check_main("file_access", tests);
}
