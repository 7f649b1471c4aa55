/* MPI_Comm_join of what is no other rank: the first argument says which. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Sends back what the rank says, as another program would say it. */
static void mirror(int fd) {
  char said[256];
  const ssize_t n = read(fd, said, sizeof(said));
  if (n > 0) {
    said[0] ^= 1;
    (void)!write(fd, said, (size_t)n);
  }
  _exit(0);
}

static void pass_on(int from, int to) {
  enum { FIRST = 5, PAUSE = 50000 }; /* bytes, microseconds */
  char said[256];
  const ssize_t n = read(from, said, sizeof(said));
  if (n > FIRST) {
    (void)!write(to, said, FIRST);
    usleep(PAUSE);
    (void)!write(to, said + FIRST, (size_t)n - FIRST);
  }
}

/* Two ranks of a process have the ends of a line that cuts what they say. */
static int line_in_pieces(void) {
  int rank, mine[2], other[2];
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 1) {
    MPI_Recv(mine, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return mine[0];
  }
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, mine) != 0 ||
      socketpair(AF_UNIX, SOCK_STREAM, 0, other) != 0) {
    return -1;
  }
  if (fork() == 0) {
    pass_on(mine[1], other[1]);
    pass_on(other[1], mine[1]);
    _exit(0);
  }
  MPI_Send(other, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
  return mine[0];
}

int main(int argc, char **argv) {
  const char *mode = argc > 1 ? argv[1] : "";
  int ends[2] = {-1, -1}, class;
  char garbage[64];
  MPI_Comm inter = MPI_COMM_WORLD;
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Error_class(MPI_Comm_join(ends[0], NULL), &class);
  if (class != MPI_ERR_ARG) {
    return 8;
  }
  if (strcmp(mode, "none") != 0 &&
      socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) {
    return 9;
  }
  if (strcmp(mode, "closed") == 0) {
    close(ends[1]);
  }
  if (strcmp(mode, "half") == 0) { /* less than a rank says */
    (void)!write(ends[1], "pemsjoin", 8);
    shutdown(ends[1], SHUT_WR);
  }
  if (strcmp(mode, "other") == 0 || strcmp(mode, "foreign") == 0) {
    memset(garbage, 'x', sizeof(garbage));
    if (*mode == 'f') { /* a rank, but of no job that is known here */
      memcpy(garbage, "pemsjoin", 8);
    }
    (void)!write(ends[1], garbage, sizeof(garbage));
  }
  if (strcmp(mode, "mirror") == 0 && fork() == 0) {
    mirror(ends[1]);
  }
  if (strcmp(mode, "pieces") == 0) {
    ends[0] = line_in_pieces();
  }
  MPI_Error_class(MPI_Comm_join(ends[0], &inter), &class);
  printf("%s %s\n",
         class == MPI_SUCCESS     ? "MPI_SUCCESS"
         : class == MPI_ERR_OTHER ? "MPI_ERR_OTHER"
                                  : "another class",
         inter == MPI_COMM_NULL ? "MPI_COMM_NULL" : "a communicator");
  if (inter != MPI_COMM_NULL) {
    MPI_Comm_disconnect(&inter);
  }
  MPI_Finalize();
  return 0;
}
