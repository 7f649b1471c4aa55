#define _GNU_SOURCE
#include "config.h"

#include <errno.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/failure.h"
#include "base/message.h"
#include "mpi_below/launcher.h"
#include "wrappers/measure.h"

enum { SMALL = 8, LARGE = 1 << 20, MANY = 2000, FEW = 200 };

static char buffer[LARGE];

/* Seconds of one message of n bytes, there and back half each. */
static double time_messages(int rank, int n, int times) {
  double start = 0;
  for (int i = -times / 10; i < times; i++) {
    if (i == 0) {
      start = MPI_Wtime();
    }
    if (rank == 0) {
      MPI_Send(buffer, n, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    }
    MPI_Recv(buffer, n, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    if (rank == 1) {
      MPI_Send(buffer, n, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
    }
  }
  return (MPI_Wtime() - start) / times / 2;
}

int measure_network_here(void) {
  int rank, size;
  MPI_Init(NULL, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size != 2) {
    if (rank == 0) {
      msg_warn("--measure=network: %d process%s: start it with mpirun -n 2, on "
               "two hosts to measure the network between these",
               size, size > 1 ? "es" : "");
    }
    MPI_Finalize();
    return MSG_USAGE;
  }
  const double l = time_messages(rank, SMALL, MANY);
  const double large = time_messages(rank, LARGE, FEW);
  if (rank == 0) {
    printf("g %.4g\nl %.4g\n", large > l ? (large - l) / LARGE : 0, l);
  }
  MPI_Finalize();
  return fflush(stdout) ? MSG_FAILED : 0;
}

static void append(char *words, size_t size, const char *const *list) {
  for (; *list; list++) {
    const size_t n = strlen(words);
    snprintf(words + n, size - n, " %s", *list);
  }
}

int measure_network(double *g, double *l, struct pems_error *error) {
  char self[4096], command[5000], words[256] = "";
  const ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
  self[n > 0 ? n : 0] = '\0';
  if (geteuid() == 0) {
    (void)launcher_allow_root(); /* in vain, the command says so */
  }
  append(words, sizeof(words), launcher.quiet);
  append(words, sizeof(words), launcher.oversubscribe);
  append(words, sizeof(words), launcher.unbound);
  append(words, sizeof(words), launcher.yielding);
  snprintf(command, sizeof(command),
           "%s -n 2%s '%s' --measure=network 2>/dev/null", launcher.command,
           words, self);
  FILE *const out = popen(command, "re");
  const bool found = out && fscanf(out, "g %lf l %lf", g, l) == 2;
  const int status = out ? pclose(out) : -1;
  if (found && status == 0) {
    return 0;
  }
  return failure(
      error, EIO,
      "measuring the network: %s -n 2 does not run: give --g and --l",
      launcher.command);
}
