/* Ports and names: two halves of the world meet at a published name, twice, and
   talk across the inter-communicator. */
#include "test.h"

static void talk(MPI_Comm inter, int round) {
  int n, me, out, in = -1, sum = -1;
  MPI_Comm both;
  MPI_Comm_remote_size(inter, &n);
  MPI_Comm_rank(inter, &me);
  out = 1000 * round + rank;
  MPI_Sendrecv(&out, 1, MPI_INT, me < n ? me : MPI_PROC_NULL, 7, &in, 1,
               MPI_INT, me < n ? me : MPI_PROC_NULL, 7, inter,
               MPI_STATUS_IGNORE);
  MPI_Allreduce(&out, &sum, 1, MPI_INT, MPI_SUM, inter);
  printf("rank %d: %d of %d there: %d, sum %d\n", rank, me, n, in, sum);
  MPI_Intercomm_merge(inter, rank % 2, &both);
  MPI_Comm_size(both, &n);
  MPI_Comm_rank(both, &me);
  MPI_Bcast(&out, 1, MPI_INT, 0, both);
  printf("rank %d: merged: %d of %d, %d\n", rank, me, n, out);
  MPI_Comm_free(&both);
}

static void serve(MPI_Comm half, int root, int me) {
  char port[MPI_MAX_PORT_NAME] = "";
  MPI_Comm inter;
  if (me == root) {
    MPI_Open_port(MPI_INFO_NULL, port);
    MPI_Publish_name("pems ports test", MPI_INFO_NULL, port);
  }
  MPI_Barrier(MPI_COMM_WORLD); /* it is there */
  for (int round = 0; round < 2; round++) {
    MPI_Comm_accept(port, MPI_INFO_NULL, root, half, &inter);
    talk(inter, round);
    MPI_Comm_disconnect(&inter);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (me == root) {
    MPI_Unpublish_name("pems ports test", MPI_INFO_NULL, port);
    MPI_Close_port(port);
  }
}

static void visit(MPI_Comm half, int root, int me) {
  char port[MPI_MAX_PORT_NAME] = "";
  MPI_Comm inter;
  MPI_Barrier(MPI_COMM_WORLD);
  if (me == root) {
    MPI_Lookup_name("pems ports test", MPI_INFO_NULL, port);
  }
  for (int round = 0; round < 2; round++) {
    MPI_Comm_connect(port, MPI_INFO_NULL, root, half, &inter);
    talk(inter, round);
    MPI_Comm_disconnect(&inter);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

/* What is not there. */
static void errors(void) {
  char port[MPI_MAX_PORT_NAME];
#ifdef MPI_ABI_VERSION
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
#endif
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  printf("rank %d: no such name: %d\n", rank,
         MPI_Lookup_name("pems: nobody has this", MPI_INFO_NULL, port) !=
             MPI_SUCCESS);
}

int main(int argc, char **argv) {
  MPI_Comm half;
  int me, n;
  begin(&argc, &argv);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  MPI_Comm_rank(half, &me);
  MPI_Comm_size(half, &n);
  if (size == 1) {
    printf("nobody to meet\n");
  } else if (rank % 2) {
    serve(half, n - 1, me);
  } else {
    visit(half, 0, me);
  }
  errors();
  MPI_Comm_free(&half);
  return end();
}
