/* Buffers for buffered sends: of the rank, and, since MPI 4.1, of communicators
   and sessions; flushing them. */
#include "test.h"

enum { N = 100 };

static int in[N], out[N];
static char space[3][sizeof(in) + MPI_BSEND_OVERHEAD];

/* A buffered message round the ring. */
static void ring(MPI_Comm comm, int tag, const char *what) {
  const int to = (rank + 1) % size, from = (rank + size - 1) % size;
  for (int i = 0; i < N; i++) {
    in[i] = rank + tag * i;
  }
  MPI_Bsend(in, N, MPI_INT, to, tag, comm);
  MPI_Recv(out, N, MPI_INT, from, tag, comm, MPI_STATUS_IGNORE);
  mix(out, sizeof(out));
  report(what);
}

static void of_rank(void) {
  void *address = NULL;
  int n = 0;
  MPI_Buffer_attach(space[0], sizeof(space[0]));
  ring(MPI_COMM_WORLD, 1, "the rank's");
  MPI_Buffer_detach(&address, &n);
  printf("rank %d: %d bytes, the same: %d\n", rank, n, address == space[0]);
}

#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
static void flush(MPI_Comm comm) {
  MPI_Request request;
  MPI_Status status;
  MPI_Comm_flush_buffer(comm);
  MPI_Comm_iflush_buffer(comm, &request);
  MPI_Wait(&request, &status);
}

static void of_comm(void) {
  void *address = NULL;
  MPI_Count n = 0;
  MPI_Request request;
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Buffer_attach(space[0], sizeof(space[0]));
  MPI_Comm_attach_buffer(comm, space[1], sizeof(space[1]));
  ring(comm, 2, "a communicator's");
  flush(comm);
  ring(MPI_COMM_WORLD, 3, "still the rank's");
  MPI_Buffer_flush();
  MPI_Buffer_iflush(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Comm_detach_buffer_c(comm, &address, &n);
  printf("rank %d: %d bytes, the same: %d\n", rank, (int)n,
         address == space[1]);
  MPI_Comm_attach_buffer_c(comm, space[2], sizeof(space[2]));
  ring(comm, 6, "by a large count");
  int small = 0;
  MPI_Comm_detach_buffer(comm, &address, &small);
  printf("rank %d: %d bytes, the same: %d\n", rank, small, address == space[2]);
  MPI_Comm_attach_buffer(comm, MPI_BUFFER_AUTOMATIC, 0);
  ring(comm, 4, "automatic");
  MPI_Comm_detach_buffer_c(comm, &address, &n);
  printf("rank %d: %d bytes, automatic: %d\n", rank, (int)n,
         address == MPI_BUFFER_AUTOMATIC);
  MPI_Comm_free(&comm);
  MPI_Buffer_detach_c(&address, &n);
}

static void of_session(void) {
  void *address = NULL;
  int n = 0;
  MPI_Session session;
  MPI_Group group;
  MPI_Comm comm;
  MPI_Request request;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, "buffers", MPI_INFO_NULL,
                             MPI_ERRORS_ARE_FATAL, &comm);
  MPI_Session_attach_buffer(session, space[2], sizeof(space[2]));
  ring(comm, 5, "a session's");
  MPI_Session_flush_buffer(session);
  MPI_Session_iflush_buffer(session, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Session_detach_buffer(session, &address, &n);
  printf("rank %d: %d bytes, the same: %d\n", rank, n, address == space[2]);
  MPI_Count large = 0;
  MPI_Session_attach_buffer_c(session, space[1], sizeof(space[1]));
  ring(comm, 7, "a session's, by a large count");
  MPI_Session_detach_buffer_c(session, &address, &large);
  printf("rank %d: %d bytes, the same: %d\n", rank, (int)large,
         address == space[1]);
  MPI_Comm_free(&comm);
  MPI_Group_free(&group);
  MPI_Session_finalize(&session);
}
#else
static void of_comm(void) {
}

static void of_session(void) {
}
#endif

int main(int argc, char **argv) {
  begin(&argc, &argv);
  of_rank();
  of_comm();
  of_session();
  return end();
}
