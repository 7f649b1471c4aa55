/* Each rank opens so many files as the argument says, and says what it is told
   of how many there may be: first, after it has raised that, and by a child. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static long soft(void) {
  struct rlimit l;
  return getrlimit(RLIMIT_NOFILE, &l) == 0 &&
                 (long)l.rlim_cur == getdtablesize()
             ? (long)l.rlim_cur
             : -1;
}

static int open_all(int n) {
  int opened = 0;
  for (int i = 0; i < n; i++) {
    const int fd = i % 4 ? open("/dev/null", O_RDONLY) : -1;
    FILE *const f = i % 4 ? NULL : fopen("/dev/null", "r");
    opened += fd >= 0 || f;
    if (fd < 0 && !f && errno != EMFILE) {
      printf("open: %s\n", strerror(errno));
    }
  }
  return opened;
}

static int in_child(void) {
  int status = 0;
  fflush(stdout);
  const pid_t pid = fork();
  if (pid == 0) {
    _exit(soft() == 256);
  }
  waitpid(pid, &status, 0);
  return WEXITSTATUS(status);
}

int main(int argc, char **argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const long at_first = soft(), conf = sysconf(_SC_OPEN_MAX);
  const int child = in_child();
  MPI_Barrier(MPI_COMM_WORLD);
  const int opened = open_all(atoi(argv[1]));
  MPI_Barrier(MPI_COMM_WORLD);
  printf("rank %d: %d of %s, soft %ld %ld, child %d\n", rank, opened, argv[1],
         at_first, conf, child);
  fflush(stdout);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    struct rlimit l = {512, 4096};
    const int code = setrlimit(RLIMIT_NOFILE, &l);
    printf("raised: %d %ld\n", code, soft());
  }
  MPI_Finalize();
  return 0;
}
