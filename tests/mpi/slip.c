/* None of MPI's functions reaches the real library unasked. A pems program:
   every name of refused.h leads into libpems or libpems-mpi, and the refused
   ones end the job with their sentence, under both of their names. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct function {
  const char *name;
  int refused;
} functions[] = {
#define MPI_FUNCTION(name, refused) {#name, refused},
#include "mpi_abi/refused.h"
#undef MPI_FUNCTION
};

/* Zeroed arguments for any function: as many as the longest list has. */
typedef int any(void *, void *, void *, void *, void *, void *, void *, void *,
                void *, void *, void *, void *, void *, void *, void *, void *);

static any *find(const char *name) {
  void *address = dlsym(RTLD_DEFAULT, name);
  any *function;
  memcpy(&function, &address, sizeof(function));
  return function;
}

static bool is_ours(const char *name) {
  Dl_info where;
  void *address = dlsym(RTLD_DEFAULT, name);
  if (!address) {
    printf("FAIL: %s: not found\n", name);
    return false;
  }
  if (!dladdr(address, &where) || !strstr(where.dli_fname, "/libpems")) {
    printf("FAIL: %s: leads into %s\n", name, where.dli_fname);
    return false;
  }
  return true;
}

static void child(any *function, int to) {
  dup2(to, 2);
  function(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
  _exit(99);
}

/* Calls it in a child; what it says comes from a pipe. */
static bool is_refused(const char *called, const char *name) {
  char said[500], expected[200];
  int ends[2], status = 0;
  size_t n = 0;
  ssize_t got;
  any *function = find(called);
  fflush(NULL);
  if (pipe(ends)) {
    return false;
  }
  const pid_t pid = fork();
  if (pid == 0) {
    child(function, ends[1]);
  }
  close(ends[1]);
  while ((got = read(ends[0], said + n, sizeof(said) - 1 - n)) > 0) {
    n += (size_t)got;
  }
  close(ends[0]);
  said[n] = 0;
  if (pid < 0 || waitpid(pid, &status, 0) != pid) {
    return false;
  }
  snprintf(expected, sizeof(expected), "pems: %s is not supported yet\n", name);
  if (strcmp(said, expected) == 0 && WIFEXITED(status) &&
      WEXITSTATUS(status) == 1) {
    return true;
  }
  printf("FAIL: %s: status %x, said: %s\n", called, status, said);
  return false;
}

int main(int argc, char **argv) {
  int rank, failures = 0, refused = 0;
  const int n = (int)(sizeof(functions) / sizeof(functions[0]));
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < n && rank == 0; i++) {
    char profiled[100];
    snprintf(profiled, sizeof(profiled), "P%s", functions[i].name);
    if (!is_ours(functions[i].name) || !is_ours(profiled)) {
      failures++;
      continue;
    }
    if (!functions[i].refused) {
      continue;
    }
    refused++;
    failures += !is_refused(functions[i].name, functions[i].name);
    failures += !is_refused(profiled, functions[i].name);
  }
  if (rank == 0) {
    printf("%d functions, %d refused, %d failures\n", n, refused, failures);
  }
  MPI_Finalize();
  return failures > 0 || n < 300;
}
