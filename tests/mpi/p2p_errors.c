/* Point-to-point calls with bad arguments: the same error classes. */
#include "test.h"

static void say(const char *what, int code) {
  int class = -1;
  MPI_Error_class(code, &class);
  printf("rank %d: %s: class %d\n", rank, what, class);
}

/* Open MPI 5.0 does, where one of several requests is no handle. */
#if defined OPEN_MPI && OMPI_MAJOR_VERSION >= 5
static const int plain_crashes = 1;
#else
static const int plain_crashes = 0;
#endif

static int handled;
static void handler(MPI_Comm *comm, int *code, ...) {
  (void)comm, (void)code;
  handled++;
}

int main(int argc, char **argv) {
  begin(&argc, &argv);
  const MPI_Comm w = MPI_COMM_WORLD;
  int a[4] = {0}, b[4], flag, index;
  MPI_Request r = MPI_REQUEST_NULL, none = NULL;
  MPI_Status status;
  MPI_Message message = MPI_MESSAGE_NULL;
  MPI_Datatype raw;
  MPI_Type_contiguous(2, MPI_INT, &raw);
  MPI_Comm_set_errhandler(w, MPI_ERRORS_RETURN);
  say("send, rank", MPI_Send(a, 1, MPI_INT, size, 0, w));
  say("send, rank -1", MPI_Send(a, 1, MPI_INT, MPI_ANY_SOURCE, 0, w));
  say("send, tag", MPI_Send(a, 1, MPI_INT, 0, -1, w));
  say("send, any tag", MPI_Send(a, 1, MPI_INT, 0, MPI_ANY_TAG, w));
  say("send, count", MPI_Send(a, -1, MPI_INT, 0, 0, w));
  say("send, type", MPI_Send(a, 1, MPI_DATATYPE_NULL, 0, 0, w));
  say("send, uncommitted", MPI_Send(a, 1, raw, 0, 0, w));
  say("send, buffer", MPI_Send(NULL, 1, MPI_INT, 0, 0, w));
  say("send, communicator", MPI_Send(a, 1, MPI_INT, 0, 0, MPI_COMM_NULL));
  say("ssend, rank", MPI_Ssend(a, 1, MPI_INT, size, 0, w));
  say("rsend, tag", MPI_Rsend(a, 1, MPI_INT, 0, -1, w));
  say("isend, count", MPI_Isend(a, -1, MPI_INT, 0, 0, w, &r));
  say("issend, rank", MPI_Issend(a, 1, MPI_INT, size, 0, w, &r));
  say("send_init, tag", MPI_Send_init(a, 1, MPI_INT, 0, -1, w, &r));
  say("recv, rank", MPI_Recv(b, 1, MPI_INT, size, 0, w, &status));
  say("recv, tag", MPI_Recv(b, 1, MPI_INT, 0, -5, w, &status));
  say("recv, count", MPI_Recv(b, -1, MPI_INT, 0, 0, w, &status));
  say("recv, type", MPI_Recv(b, 1, MPI_DATATYPE_NULL, 0, 0, w, &status));
  say("irecv, rank", MPI_Irecv(b, 1, MPI_INT, size, 0, w, &r));
  say("irecv, communicator", MPI_Irecv(b, 1, MPI_INT, 0, 0, MPI_COMM_NULL, &r));
  say("recv_init, rank", MPI_Recv_init(b, 1, MPI_INT, -7, 0, w, &r));
  say("probe, rank", MPI_Probe(size, 0, w, &status));
  say("iprobe, tag", MPI_Iprobe(0, -9, w, &flag, &status));
  say("mprobe, rank", MPI_Mprobe(size, 0, w, &message, &status));
  say("sendrecv, rank",
      MPI_Sendrecv(a, 1, MPI_INT, size, 0, b, 1, MPI_INT, 0, 0, w, &status));
  say("sendrecv, tag",
      MPI_Sendrecv(a, 1, MPI_INT, 0, 0, b, 1, MPI_INT, 0, -8, w, &status));
  say("replace, count",
      MPI_Sendrecv_replace(a, -1, MPI_INT, 0, 0, 0, 0, w, &status));
  if (!plain_crashes) {
    say("waitall", MPI_Waitall(1, &none, &status));
    say("waitany", MPI_Waitany(1, &none, &index, &status));
    say("testany", MPI_Testany(1, &none, &index, &flag, &status));
  }
  say("waitall, count", MPI_Waitall(-1, &r, &status));
  r = MPI_REQUEST_NULL;
  say("start", MPI_Start(&r));
  say("free", MPI_Request_free(&r));
  say("cancel", MPI_Cancel(&r));
  say("start, not persistent", MPI_Irecv(b, 1, MPI_INT, rank, 3, w, &r));
  say("start, not persistent", MPI_Start(&r));
  MPI_Send(a, 1, MPI_INT, rank, 3, w);
  say("wait", MPI_Wait(&r, &status));
  char buffer[1000];
  say("attach, null", MPI_Buffer_attach(NULL, 10));
  MPI_Buffer_attach(buffer, sizeof(buffer));
  void *was;
  MPI_Buffer_detach(&was, &index);
  MPI_Errhandler own;
  MPI_Comm_create_errhandler(handler, &own);
  MPI_Comm_set_errhandler(w, own);
  MPI_Send(a, 1, MPI_INT, size, 0, w);
  MPI_Irecv(b, 1, MPI_INT, size, 0, w, &r);
  MPI_Errhandler_free(&own);
  printf("rank %d: handled: %d\n", rank, handled);
  MPI_Type_free(&raw);
  return end();
}
