/* MPI_Buffer_attach where memory is short. */
#include "../check_shortage.h"
#include "check_main.h"
#include "mpi_abi/functions.h"

static char buffer[64];

static int attach(void) {
  return pems_Buffer_attach(buffer, sizeof(buffer));
}

static void detach(void) {
  char *address;
  int size;
  ck_assert_int_eq(pems_Buffer_detach(&address, &size), MPI_SUCCESS);
  ck_assert_ptr_eq(address, buffer);
  ck_assert_int_eq(size, sizeof(buffer));
}

START_TEST(a_buffer_is_attached_or_not) {
  shortage_begin();
  shortage_everywhere(&(struct shortage_trial){attach, detach, NULL});
  ck_assert_int_eq(attach(), MPI_SUCCESS);
  ck_assert_int_eq(attach(), MPI_ERR_BUFFER);
  detach();
  shortage_end();
}
END_TEST

int main(void) {
  return check_main("buffered",
                    (const TTest *[]){a_buffer_is_attached_or_not, NULL});
}
