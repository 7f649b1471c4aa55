/* MPI_Comm_join: ranks 0 and 1, 2 and 3, ... meet by sockets, twice, and talk
   across the inter-communicator; who is left alone waits for the others. */
#include "test.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

static int bad(const char *what) {
  printf("rank %d: %s failed\n", rank, what);
  MPI_Abort(MPI_COMM_WORLD, 1);
  return -1;
}

static struct sockaddr_in address_of(in_port_t port) {
  struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = port};
  a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return a;
}

/* The peer is connected before it is accepted: nobody waits outside MPI. */
static int serve(int peer) {
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in a = address_of(0);
  socklen_t n = sizeof(a);
  if (bind(listener, (struct sockaddr *)&a, n) || listen(listener, 1) ||
      getsockname(listener, (struct sockaddr *)&a, &n)) {
    return bad("listen");
  }
  int port = a.sin_port;
  MPI_Send(&port, 1, MPI_INT, peer, 1, MPI_COMM_WORLD);
  MPI_Recv(&port, 1, MPI_INT, peer, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  const int fd = accept(listener, NULL, NULL);
  close(listener);
  return fd < 0 ? bad("accept") : fd;
}

static int visit(int peer) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  int port;
  MPI_Recv(&port, 1, MPI_INT, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  struct sockaddr_in a = address_of((in_port_t)port);
  if (fd < 0 || connect(fd, (struct sockaddr *)&a, sizeof(a))) {
    return bad("connect");
  }
  MPI_Send(&port, 1, MPI_INT, peer, 2, MPI_COMM_WORLD);
  return fd;
}

static void talk(MPI_Comm inter) {
  enum { N = 50000 };
  int n, here, there, sum = -1, *out = malloc(N * sizeof(int)),
                      *in = malloc(N * sizeof(int)), wrong = 0;
  MPI_Comm both;
  MPI_Comm_size(inter, &here);
  MPI_Comm_remote_size(inter, &there);
  for (int i = 0; i < N; i++) {
    out[i] = i ^ rank;
  }
  MPI_Sendrecv(out, N, MPI_INT, 0, 7, in, N, MPI_INT, 0, 7, inter,
               MPI_STATUS_IGNORE);
  for (int i = 0; i < N; i++) {
    wrong += in[i] != (i ^ rank ^ 1);
  }
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, inter);
  MPI_Intercomm_merge(inter, rank % 2, &both);
  MPI_Comm_size(both, &n);
  printf("rank %d: %d and %d: %d wrong, sum %d, merged %d\n", rank, here, there,
         wrong, sum, n);
  MPI_Comm_free(&both);
  free(out);
  free(in);
}

/* What is sent by one is not received by the other. */
static void cross(const MPI_Comm inter[2]) {
  int out[2] = {10 + rank, 20 + rank}, in[2];
  MPI_Request request[2];
  for (int i = 0; i < 2; i++) {
    MPI_Isend(&out[i], 1, MPI_INT, 0, 8, inter[i], &request[i]);
  }
  for (int i = 1; i >= 0; i--) {
    MPI_Recv(&in[i], 1, MPI_INT, 0, 8, inter[i], MPI_STATUS_IGNORE);
  }
  MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
  printf("rank %d: %d by one, %d by the other\n", rank, in[0], in[1]);
}

int main(int argc, char **argv) {
  MPI_Comm inter[2];
  begin(&argc, &argv);
  const int peer = rank ^ 1;
  if (peer < size) {
    const int fd = rank % 2 ? visit(peer) : serve(peer);
    /* Two at a time are two. */
    for (int i = 0; i < 2; i++) {
      MPI_Comm_join(fd, &inter[i]);
    }
    for (int i = 0; i < 4; i++) {
      talk(inter[i % 2]);
    }
    cross(inter);
    for (int i = 0; i < 2; i++) {
      MPI_Comm_disconnect(&inter[i]);
    }
    close(fd);
  } else {
    printf("rank %d: alone\n", rank);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  return end();
}
