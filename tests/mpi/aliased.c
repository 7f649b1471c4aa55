/* Collective calls whose two buffers are the same memory, without MPI_IN_PLACE:
   some MPIs return an error, and others do what they can, so programs for these
   may live by that. Each rank calls on its own. */
#include "test.h"

enum { N = 4 };

static int data[N];
static const int one = 1, none;

static void say(const char *what, int code) {
  int class = -1;
  MPI_Error_class(code, &class);
  printf("rank %d: %s: %s\n", rank, what,
         class == MPI_SUCCESS      ? "done"
         : class == MPI_ERR_BUFFER ? "MPI_ERR_BUFFER"
         : class == MPI_ERR_ARG    ? "MPI_ERR_ARG"
                                   : "another error");
}

static void moving(MPI_Comm c) {
  const MPI_Datatype t = MPI_INT;
  int *const d = data;
  say("gather", MPI_Gather(d, 1, t, d, 1, t, 0, c));
  say("gatherv", MPI_Gatherv(d, 1, t, d, &one, &none, t, 0, c));
  say("scatter", MPI_Scatter(d, 1, t, d, 1, t, 0, c));
  say("scatterv", MPI_Scatterv(d, &one, &none, t, d, 1, t, 0, c));
  say("allgather", MPI_Allgather(d, 1, t, d, 1, t, c));
  say("allgatherv", MPI_Allgatherv(d, 1, t, d, &one, &none, t, c));
  say("alltoall", MPI_Alltoall(d, 1, t, d, 1, t, c));
  say("alltoallv", MPI_Alltoallv(d, &one, &none, t, d, &one, &none, t, c));
  say("alltoallw", MPI_Alltoallw(d, &one, &none, &t, d, &one, &none, &t, c));
}

static void computing(MPI_Comm c) {
  const MPI_Datatype t = MPI_INT;
  int *const d = data;
  say("reduce", MPI_Reduce(d, d, 1, t, MPI_SUM, 0, c));
  say("allreduce", MPI_Allreduce(d, d, 1, t, MPI_SUM, c));
  say("reduce_scatter", MPI_Reduce_scatter(d, d, &one, t, MPI_SUM, c));
  say("reduce_scatter_block", MPI_Reduce_scatter_block(d, d, 1, t, MPI_SUM, c));
  say("scan", MPI_Scan(d, d, 1, t, MPI_SUM, c));
  say("exscan", MPI_Exscan(d, d, 1, t, MPI_SUM, c));
}

static void started(const char *what, int code, MPI_Request *request) {
  say(what, code);
  if (code == MPI_SUCCESS) {
    MPI_Wait(request, MPI_STATUS_IGNORE);
  }
}

static void starting(MPI_Comm c) {
  const MPI_Datatype t = MPI_INT;
  int *const d = data;
  MPI_Request r = MPI_REQUEST_NULL;
  started("igather", MPI_Igather(d, 1, t, d, 1, t, 0, c, &r), &r);
  started("ialltoall", MPI_Ialltoall(d, 1, t, d, 1, t, c, &r), &r);
  started("iallreduce", MPI_Iallreduce(d, d, 1, t, MPI_SUM, c, &r), &r);
}

/* Where nothing is to be moved, or apart, or in place, nothing is wrong. */
static void right(MPI_Comm c) {
  const MPI_Datatype t = MPI_INT;
  int *const d = data;
  say("no elements", MPI_Allreduce(d, d, 0, t, MPI_SUM, c));
  say("no elements to all", MPI_Alltoall(d, 0, t, d, 0, t, c));
  say("apart", MPI_Allgather(d, 1, t, d + 1, 1, t, c));
  say("in place", MPI_Alltoall(MPI_IN_PLACE, 0, t, d, 1, t, c));
  say("sum in place", MPI_Allreduce(MPI_IN_PLACE, d, 1, t, MPI_SUM, c));
}

int main(int argc, char **argv) {
  begin(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  moving(MPI_COMM_SELF);
  computing(MPI_COMM_SELF);
  starting(MPI_COMM_SELF);
  right(MPI_COMM_SELF);
  return end();
}
