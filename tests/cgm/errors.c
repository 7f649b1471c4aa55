/* Mistakes: all ranks get an error class, and the handler a text; afterwards
   the machine works. With the argument "fatal" the first mistake ends the job.

   compare.sh: -D_GNU_SOURCE */
#include "cgm.h"

/* What the last call of the handler was about. */
static int class_seen;
static char text_seen[MPI_MAX_ERROR_STRING];

static void see(MPI_Comm *comm, int *code, ...) {
  int length;
  (void)comm;
  MPI_Error_class(*code, &class_seen);
  MPI_Error_string(*code, text_seen, &length);
}

/* The call must give this error class on all ranks, and a text. */
static void expect(int code, int wanted, const char *text) {
  int usable = 1;
  if (code != wanted || class_seen != wanted) {
    fail("error %d, handler %d, not %d", code, class_seen, wanted);
  }
  if (strstr(text_seen, text) == NULL) {
    fail("'%s' is not in '%s'", text, text_seen);
  }
  printf("rank %d: %s\n", rank, text_seen);
  class_seen = MPI_SUCCESS;
  text_seen[0] = '\0';
  MPI_Allreduce(MPI_IN_PLACE, &usable, 1, MPI_INT, MPI_SUM,
                pems_cgm_comm(machine));
  if (usable != size || pems_cgm_size(machine) != size) {
    fail("the machine is of no use any more");
  }
}

#define EXPECT_ARG(call, text) expect(call, MPI_ERR_ARG, text)

static struct pems_cgm_list make(uint64_t n) {
  struct pems_cgm_list list = {malloc(n * 8), n, 8};
  for (uint64_t i = 0; i < n; i++) {
    ((uint64_t *)list.at)[i] = i;
  }
  return list;
}

static void must_be_whole(const struct pems_cgm_list *list, uint64_t n) {
  if (list->n != n) {
    fail("a list has changed");
  }
  for (uint64_t i = 0; i < n; i++) {
    if (((uint64_t *)list->at)[i] != i) {
      fail("a list's element has changed");
    }
  }
}

static int wrong_owner(void *arg, const void *element) {
  const uint64_t i = *(const uint64_t *)element;
  return rank == size / 2 && i == 7 ? *(int *)arg : 0;
}

static void answer_none(void *arg, const void *request, void *reply) {
  (void)arg;
  (void)request;
  (void)reply;
}

static uint64_t wrong_bin(void *arg, const void *element) {
  return rank == size - 1 ? *(uint64_t *)arg : *(const uint64_t *)element % 5;
}

static uint64_t right_bin(void *arg, const void *element) {
  (void)arg;
  return *(const uint64_t *)element;
}

/* Relations. */
static void wrong_numbers(void) {
  struct pems_cgm_list list = make(10), replies = {.size = 8};
  uint64_t *const send = calloc((size_t)size, sizeof(*send));
  int behind = size, negative = -1;
  send[0] = rank == size - 1 ? 11 : 10;
  EXPECT_ARG(pems_cgm_h_relation(machine, &list, send, NULL),
             "11 elements to be sent of 10");
  must_be_whole(&list, 10);
  EXPECT_ARG(pems_cgm_send(machine, &list, wrong_owner, &behind), "owner");
  must_be_whole(&list, 10);
  const struct pems_cgm_routing routing = {wrong_owner, answer_none, &negative};
  EXPECT_ARG(pems_cgm_route(machine, &list, &routing, &replies), "owner -1");
  must_be_whole(&list, 10);
  EXPECT_ARG(pems_cgm_one_to_all_bcast(machine, size, &list), "rank");
  EXPECT_ARG(pems_cgm_all_to_one_gather(machine, -1, &list), "rank -1");
  EXPECT_ARG(pems_cgm_partition(machine, rank - 1), "group -1");
  EXPECT_ARG(pems_cgm_unpartition(machine), "whole");
  pems_cgm_list_free(&list);
  free(send);
}

static void wrong_lists(void) {
  const struct pems_record record = {.size = 8, .key = PEMS_KEY_U64};
  struct pems_cgm_list none = {NULL, rank == 0 ? 5 : 0, 8};
  struct pems_cgm_list empty = {NULL, 0, 0};
  EXPECT_ARG(pems_cgm_array_balancing(machine, &empty), "0 bytes");
  EXPECT_ARG(pems_cgm_sort(machine, &none, &record), "no address");
  EXPECT_ARG(pems_cgm_psrs(machine, &none, &record), "no address");
  EXPECT_ARG(pems_cgm_all_to_all_bcast(machine, &none), "no address");
  EXPECT_ARG(pems_cgm_one_to_all_bcast(machine, 0, &none), "no address");
}

static void wrong_records(void) {
  struct pems_cgm_list list = make(10);
  struct pems_record record = {.size = 4, .key = PEMS_KEY_U32};
  EXPECT_ARG(pems_cgm_sort(machine, &list, &record), "records of 4 bytes");
  record = (struct pems_record){.size = 8, .key = (enum pems_key)99};
  EXPECT_ARG(pems_cgm_psrs(machine, &list, &record), "99");
  record =
      (struct pems_record){.size = 8, .key = PEMS_KEY_U64, .key_offset = 1};
  EXPECT_ARG(pems_cgm_local_sort(machine, &list, &record), "inside");
  must_be_whole(&list, 10);
  pems_cgm_list_free(&list);
}

static void wrong_arrays(void) {
  struct pems_cgm_list list = make(10), counts = {0};
  uint64_t bins = 5;
  EXPECT_ARG(pems_cgm_transpose(machine, &list, (uint64_t)size, 9 + (rank > 0)),
             "10 elements on rank 0");
  must_be_whole(&list, 10);
  EXPECT_ARG(
      pems_cgm_histogram(machine, &list, bins, wrong_bin, &bins, &counts),
      "bin 5");
  bins = UINT64_MAX;
  EXPECT_ARG(
      pems_cgm_histogram(machine, &list, 1000000, wrong_bin, &bins, &counts),
      "bin 18446744073709551615");
  /* More memory than there can be. */
  expect(pems_cgm_histogram(machine, &list, UINT64_C(1) << 62, right_bin, NULL,
                            &counts),
         MPI_ERR_NO_MEM, "no memory");
  pems_cgm_list_free(&list);
}

/* The default handler: rank 0 says why. */
static void fatal(void) {
  struct pems_cgm_list list = make(10);
  const struct pems_record record = {.size = 7};
  pems_cgm_open(&machine, MPI_COMM_WORLD);
  pems_cgm_sort(machine, &list, &record);
  printf("rank %d: goes on\n", rank);
}

int main(int argc, char **argv) {
  MPI_Errhandler handler, got;
  MPI_Comm comm;
  begin(&argc, &argv);
  if (argc > 1 && strcmp(argv[1], "fatal") == 0) {
    fatal();
  }
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_create_errhandler(see, &handler);
  MPI_Comm_set_errhandler(comm, handler);
  DO(pems_cgm_open(&machine, comm));
  MPI_Comm_get_errhandler(pems_cgm_comm(machine), &got);
  if (got != handler) {
    fail("another error handler");
  }
  MPI_Errhandler_free(&got);
  MPI_Comm_free(&comm);
  wrong_numbers();
  wrong_lists();
  wrong_records();
  wrong_arrays();
  DO(pems_cgm_close(machine));
  DO(pems_cgm_close(NULL));
  MPI_Errhandler_free(&handler);
  return end();
}
