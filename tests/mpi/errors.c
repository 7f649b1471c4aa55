/* Bad arguments with MPI_ERRORS_RETURN, error handlers of the program. */
#include "test.h"

static int buffer[64], other[64], counts[64], displs[64];

static void say(const char *what, int code) {
  int class = -1, length = 0;
  char text[MPI_MAX_ERROR_STRING];
  MPI_Error_class(code, &class);
  MPI_Error_string(class, text, &length);
  printf("rank %d: %s: class %d, %s\n", rank, what, class, text);
}

static void roots(void) {
  const MPI_Comm w = MPI_COMM_WORLD;
  say("bcast, root -3", MPI_Bcast(buffer, 1, MPI_INT, -3, w));
  say("bcast, root = size", MPI_Bcast(buffer, 1, MPI_INT, size, w));
  say("gather, root = size",
      MPI_Gather(buffer, 1, MPI_INT, other, 1, MPI_INT, size, w));
  say("gatherv, root -3",
      MPI_Gatherv(buffer, 1, MPI_INT, other, counts, displs, MPI_INT, -3, w));
  say("scatter, root = size",
      MPI_Scatter(buffer, 1, MPI_INT, other, 1, MPI_INT, size, w));
  say("scatterv, root -3",
      MPI_Scatterv(buffer, counts, displs, MPI_INT, other, 1, MPI_INT, -3, w));
  say("reduce, root = size",
      MPI_Reduce(buffer, other, 1, MPI_INT, MPI_SUM, size, w));
}

static void counts_below_zero(void) {
  const MPI_Comm w = MPI_COMM_WORLD;
  say("bcast, count -1", MPI_Bcast(buffer, -1, MPI_INT, 0, w));
  say("gather, count -1",
      MPI_Gather(buffer, -1, MPI_INT, other, -1, MPI_INT, 0, w));
  say("scatter, count -1",
      MPI_Scatter(buffer, -1, MPI_INT, other, -1, MPI_INT, 0, w));
  say("allgather, count -1",
      MPI_Allgather(buffer, -1, MPI_INT, other, -1, MPI_INT, w));
  say("alltoall, count -1",
      MPI_Alltoall(buffer, -1, MPI_INT, other, -1, MPI_INT, w));
  say("reduce, count -1",
      MPI_Reduce(buffer, other, -1, MPI_INT, MPI_SUM, 0, w));
  say("allreduce, count -1",
      MPI_Allreduce(buffer, other, -1, MPI_INT, MPI_SUM, w));
  say("scan, count -1", MPI_Scan(buffer, other, -1, MPI_INT, MPI_SUM, w));
  say("exscan, count -1", MPI_Exscan(buffer, other, -1, MPI_INT, MPI_SUM, w));
  say("reduce_scatter_block, count -1",
      MPI_Reduce_scatter_block(buffer, other, -1, MPI_INT, MPI_SUM, w));
  say("allgatherv, count -1",
      MPI_Allgatherv(buffer, -1, MPI_INT, other, counts, displs, MPI_INT, w));
  for (int i = 0; i < 64; i++) {
    counts[i] = -1;
  }
  say("alltoallv, count -1", MPI_Alltoallv(buffer, counts, displs, MPI_INT,
                                           other, counts, displs, MPI_INT, w));
  say("reduce_scatter, count -1",
      MPI_Reduce_scatter(buffer, other, counts, MPI_INT, MPI_SUM, w));
  memset(counts, 0, sizeof(counts));
}

static void types_and_operations(void) {
  const MPI_Comm w = MPI_COMM_WORLD;
  MPI_Datatype raw;
  MPI_Type_contiguous(2, MPI_INT, &raw);
  say("bcast, null type", MPI_Bcast(buffer, 1, MPI_DATATYPE_NULL, 0, w));
  say("bcast, uncommitted type", MPI_Bcast(buffer, 1, raw, 0, w));
  say("allgather, null type",
      MPI_Allgather(buffer, 1, MPI_INT, other, 1, MPI_DATATYPE_NULL, w));
  say("alltoall, uncommitted type",
      MPI_Alltoall(buffer, 1, raw, other, 1, raw, w));
  say("allreduce, null type",
      MPI_Allreduce(buffer, other, 1, MPI_DATATYPE_NULL, MPI_SUM, w));
  say("allreduce, null operation",
      MPI_Allreduce(buffer, other, 1, MPI_INT, MPI_OP_NULL, w));
  say("reduce, null operation",
      MPI_Reduce(buffer, other, 1, MPI_INT, MPI_OP_NULL, 0, w));
  say("scan, null operation",
      MPI_Scan(buffer, other, 1, MPI_INT, MPI_OP_NULL, w));
  say("allreduce, bits of doubles",
      MPI_Allreduce(buffer, other, 1, MPI_DOUBLE, MPI_BAND, w));
  say("allreduce, sum of a derived type",
      MPI_Allreduce(buffer, other, 1, raw, MPI_SUM, w));
  MPI_Type_free(&raw);
  say("contiguous, count -1", MPI_Type_contiguous(-1, MPI_INT, &raw));
}

static void communicators(void) {
  int n;
  say("rank, null communicator", MPI_Comm_rank(MPI_COMM_NULL, &n));
  say("size, null communicator", MPI_Comm_size(MPI_COMM_NULL, &n));
  say("barrier, null communicator", MPI_Barrier(MPI_COMM_NULL));
  say("bcast, null communicator",
      MPI_Bcast(buffer, 1, MPI_INT, 0, MPI_COMM_NULL));
  say("alltoall, null communicator",
      MPI_Alltoall(buffer, 1, MPI_INT, other, 1, MPI_INT, MPI_COMM_NULL));
  say("allreduce, null communicator",
      MPI_Allreduce(buffer, other, 1, MPI_INT, MPI_SUM, MPI_COMM_NULL));
  say("self: bcast, root 1", MPI_Bcast(buffer, 1, MPI_INT, 1, MPI_COMM_SELF));
  say("self: allreduce, null operation",
      MPI_Allreduce(buffer, other, 1, MPI_INT, MPI_OP_NULL, MPI_COMM_SELF));
}

static int calls, last_code, was_world, was_self;

static void handler(MPI_Comm *comm, int *code, ...) {
  calls++;
  last_code = *code;
  was_world = *comm == MPI_COMM_WORLD;
  was_self = *comm == MPI_COMM_SELF;
}

static void handlers(void) {
  MPI_Errhandler mine, got;
  MPI_Comm_create_errhandler(handler, &mine);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, mine);
  MPI_Comm_get_errhandler(MPI_COMM_WORLD, &got);
  if (got != mine) {
    fail("MPI_Comm_get_errhandler");
  }
  /* What was got is the program's to free, and stays in use. */
  for (int i = 0; i < 3; i++) {
    MPI_Errhandler_free(&got);
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &got);
  }
  MPI_Errhandler_free(&got);
  if (got != MPI_ERRHANDLER_NULL) {
    fail("MPI_Errhandler_free: not MPI_ERRHANDLER_NULL");
  }
  const int code = MPI_Bcast(buffer, 1, MPI_INT, size, MPI_COMM_WORLD);
  if (calls != 1 || !was_world || last_code != code) {
    fail("handler: %d calls, world %d", calls, was_world);
  }
  say("handler", last_code);
  MPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_OTHER);
  if (calls != 2 || last_code != MPI_ERR_OTHER) {
    fail("MPI_Comm_call_errhandler: %d calls", calls);
  }
  /* Freed, it works on as long as it is set. */
  MPI_Errhandler_free(&mine);
  if (mine != MPI_ERRHANDLER_NULL) {
    fail("MPI_Errhandler_free");
  }
  MPI_Bcast(buffer, -1, MPI_INT, 0, MPI_COMM_WORLD);
  if (calls != 3) {
    fail("freed handler: %d calls", calls);
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Bcast(buffer, -1, MPI_INT, 0, MPI_COMM_WORLD);
  if (calls != 3 || was_self) {
    fail("MPI_ERRORS_RETURN: %d calls", calls);
  }
  MPI_Comm_get_errhandler(MPI_COMM_WORLD, &got);
  if (got != MPI_ERRORS_RETURN) {
    fail("MPI_Comm_get_errhandler: not MPI_ERRORS_RETURN");
  }
}

/* Errors leave everything working. */
static void still_works(void) {
  int number = rank == size - 1 ? 77 : 0;
  MPI_Bcast(&number, 1, MPI_INT, size - 1, MPI_COMM_WORLD);
  if (number != 77) {
    fail("bcast after errors: %d", number);
  }
}

int main(int argc, char **argv) {
  begin(&argc, &argv);
  MPI_Errhandler first;
  MPI_Comm_get_errhandler(MPI_COMM_WORLD, &first);
  if (first != MPI_ERRORS_ARE_FATAL) {
    fail("the first handler is not MPI_ERRORS_ARE_FATAL");
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  roots();
  counts_below_zero();
  types_and_operations();
  communicators();
  still_works();
  handlers();
  still_works();
  return end();
}
