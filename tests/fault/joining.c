/* MPI_Comm_join of what is no other rank: the first argument says which. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int main(int argc, char **argv) {
  const char *mode = argc > 1 ? argv[1] : "";
  int ends[2] = {-1, -1}, class;
  char garbage[64];
  MPI_Comm inter = MPI_COMM_WORLD;
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
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
  MPI_Error_class(MPI_Comm_join(ends[0], &inter), &class);
  printf("%s %s\n",
         class == MPI_SUCCESS     ? "MPI_SUCCESS"
         : class == MPI_ERR_OTHER ? "MPI_ERR_OTHER"
                                  : "another class",
         inter == MPI_COMM_NULL ? "MPI_COMM_NULL" : "a communicator");
  MPI_Finalize();
  return 0;
}
