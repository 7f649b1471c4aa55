/* Ways to end, by the first argument; by one rank, the last, unless it says all
   of them. The exit status must be that of plain MPI. */
#define _GNU_SOURCE
#include "test.h"

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

static volatile int *nowhere;

static void give_no_sign(void) {
  printf("rank %d: atexit, too\n", rank);
}

static void at_end(void) {
  printf("rank %d: atexit\n", rank);
}

static void at_quick_end(void) {
  printf("rank %d: at_quick_exit\n", rank);
  fflush(stdout);
}

/* One ends quickly, or by a system call, when others still have work to do. */
static void end_quickly(const char *how, int mine) {
  const int status = how[strlen(how) - 1] - '0';
  at_quick_exit(at_end);
  at_quick_exit(at_quick_end);
  MPI_Finalize();
  fflush(stdout);
  if (!mine) {
    usleep(300000);
    printf("rank %d: has done its work\n", rank);
    exit(0);
  }
  atexit(give_no_sign);
  if (strncmp(how, "quick", 5) == 0) {
    quick_exit(status);
  }
  syscall(SYS_exit_group, status);
}

static void give_up(void *in, void *inout, int *n, MPI_Datatype *type) {
  (void)in, (void)inout, (void)n, (void)type;
  MPI_Abort(MPI_COMM_WORLD, 7);
}

static void abort_in_operation(void) {
  MPI_Op op;
  int sum;
  MPI_Op_create(give_up, 1, &op);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, op, MPI_COMM_WORLD);
}

static void out_of_memory(void) {
  size_t total = 0, step = (size_t)1 << 44;
  errno = 0;
  void *p = malloc(step);
  for (; p; p = malloc(step)) {
    total += step;
  }
  printf("rank %d: %s, %d\n", rank, total ? "found memory" : "no memory",
         errno == ENOMEM);
}

/* Ends, or returns the status that main shall return after MPI_Finalize. */
static int finish(const char *how, int mine) {
  if (strcmp(how, "oom") == 0) {
    out_of_memory();
  } else if (strcmp(how, "atexit") == 0) {
    atexit(at_end);
  } else if (strcmp(how, "op-abort") == 0) {
    abort_in_operation();
  } else if (strcmp(how, "exit-0") == 0) {
    MPI_Finalize();
    exit(0);
  } else if (strncmp(how, "quick", 5) == 0 ||
             strncmp(how, "exit_group", 10) == 0) {
    end_quickly(how, mine);
  } else if (strcmp(how, "return-3-all") == 0) {
    return 3;
  } else if (!mine) {
    return 0;
  } else if (strcmp(how, "return-3") == 0) {
    return 3;
  } else if (strcmp(how, "exit-4") == 0) {
    exit(4);
  } else if (strcmp(how, "_exit-5") == 0) {
    _exit(5);
  } else if (strcmp(how, "abort") == 0) {
    abort();
  } else if (strcmp(how, "segv") == 0) {
    *nowhere = 1;
  } else if (strcmp(how, "kill") == 0) {
    raise(SIGKILL);
  } else if (strcmp(how, "mpi-abort") == 0) {
    MPI_Abort(MPI_COMM_WORLD, 6);
  } else if (strcmp(how, "fatal") == 0) {
    MPI_Bcast(&mine, 1, MPI_INT, size, MPI_COMM_SELF);
  }
  return 0;
}

int main(int argc, char **argv) {
  const char *how = argc > 1 ? argv[1] : "return-0";
  argc = 1;
  begin(&argc, &argv);
  fflush(stdout);
  MPI_Barrier(MPI_COMM_WORLD);
  const int status = finish(how, rank == size - 1);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return status;
}
