/* What goes wrong with spawned ranks, and how they end: the first argument says
   which. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char program[1000];

static int spawn(const char *command, const char *mode, int n, MPI_Info info,
                 MPI_Comm *inter) {
  char word[40];
  char *argv[] = {word, NULL};
  int codes[64];
  snprintf(word, sizeof(word), "%s", mode);
  for (int i = 0; i < n; i++) {
    codes[i] = -1;
  }
  const int code =
      MPI_Comm_spawn(command, argv, n, info, 0, MPI_COMM_WORLD, inter, codes);
  for (int i = 1; i < n; i++) {
    if (codes[i] != codes[0]) {
      printf("codes differ\n");
    }
  }
  if (codes[0] != code) {
    printf("code %d, not %d\n", codes[0], code);
  }
  return code;
}

/* What cannot be spawned; the job goes on. */
static int refused(const char *mode) {
  MPI_Comm inter;
  MPI_Info info;
  int class;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Info_create(&info);
  if (strcmp(mode, "wdir") == 0) {
    MPI_Info_set(info, "wdir", "/nowhere/at/all");
  }
  const char *command = strcmp(mode, "other") == 0     ? "/bin/sh"
                        : strcmp(mode, "missing") == 0 ? "./no-such-program"
                                                       : program;
  const int code =
      spawn(command, "idle", strcmp(mode, "room") == 0 ? 64 : 1, info, &inter);
  MPI_Info_free(&info);
  MPI_Error_class(code, &class);
  printf("%s\n", class == MPI_ERR_SPAWN && inter == MPI_COMM_NULL
                     ? "MPI_ERR_SPAWN"
                     : "another class");
  MPI_Finalize();
  return 0;
}

static void child(const char *mode, MPI_Comm parent) {
  int rank, number = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (strcmp(mode, "abort") == 0) {
    MPI_Abort(MPI_COMM_WORLD, 7);
  } else if (strcmp(mode, "crash") == 0 && rank == 1) {
    raise(SIGSEGV);
  } else if (strcmp(mode, "early") == 0 && rank == 1) {
    exit(5);
  } else if (strcmp(mode, "stuck") == 0) {
    MPI_Recv(&number, 1, MPI_INT, 0, 42, parent, MPI_STATUS_IGNORE);
  }
}

/* Each spawns the next and ends at once. */
static void chain(const char *mode) {
  const int left = atoi(mode + strlen("chain"));
  char next[40];
  MPI_Comm inter;
  printf("link %d\n", left);
  if (left > 0) {
    snprintf(next, sizeof(next), "chain%d", left - 1);
    spawn(program, next, 1, MPI_INFO_NULL, &inter);
    MPI_Comm_free(&inter);
  }
}

int main(int argc, char **argv) {
  const char *mode = argc > 1 ? argv[1] : "";
  MPI_Comm parent, inter;
  if (readlink("/proc/self/exe", program, sizeof(program) - 1) < 0) {
    return 1;
  }
  MPI_Init(&argc, &argv);
  MPI_Comm_get_parent(&parent);
  if (strncmp(mode, "chain", 5) == 0) {
    chain(mode);
  } else if (parent != MPI_COMM_NULL) {
    child(mode, parent);
  } else if (strcmp(mode, "room") == 0 || strcmp(mode, "other") == 0 ||
             strcmp(mode, "missing") == 0 || strcmp(mode, "wdir") == 0) {
    return refused(mode);
  } else {
    spawn(program, mode, 3, MPI_INFO_NULL, &inter);
  }
  MPI_Finalize();
  return strcmp(mode, "status") == 0 && parent != MPI_COMM_NULL ? 3 : 0;
}
