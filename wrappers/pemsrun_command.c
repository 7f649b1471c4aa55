/* The command that pemsrun runs: mpirun with its options, or the program. */
#include "config.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi_below/launcher.h"
#include "wrappers/pemsrun_command.h"

extern char **environ;

/* Is the variable, as "NAME=VALUE", one that processes on other hosts are to
   have as well? pems's options, what programs with threads and R look at, and
   where libraries are. */
static bool is_for_all(const char *variable) {
  static const char *const starts[] = {"PEMS_", "OMP_", "GOMP_",
                                       "KMP_",  "R_",   "LD_LIBRARY_PATH="};
  for (size_t i = 0; i < sizeof(starts) / sizeof(*starts); i++) {
    if (strncmp(variable, starts[i], strlen(starts[i])) == 0) {
      return true;
    }
  }
  return false;
}

/* Does the user say -x NAME or -x NAME=VALUE? */
static bool is_forwarded(const struct pemsrun_job *j, const char *name) {
  const size_t n = strlen(name);
  for (int i = 0; launcher.forward && i + 1 < j->mpirun.n; i++) {
    if (strcmp(j->mpirun.at[i], launcher.forward) == 0 &&
        strncmp(j->mpirun.at[i + 1], name, n) == 0 &&
        strchr("=", j->mpirun.at[i + 1][n])) {
      return true;
    }
  }
  return false;
}

static void forward_variables(const struct pemsrun_job *j,
                              struct args *command) {
  for (char **e = environ; launcher.forward && *e; e++) {
    if (is_for_all(*e)) {
      char *const name = args_join(*e, "", "");
      name[strcspn(name, "=")] = '\0';
      if (is_forwarded(j, name)) {
        free(name);
      } else {
        args_add(command, launcher.forward);
        args_add(command, name);
      }
    }
  }
}

/* The host of each process, so that it is where it should be in Slurm's
   allocations, too; neighbouring ranks share one. Where the user maps
   processes, or names hosts by numbers of mpirun's, it is all mpirun's. */
static void place_processes(const struct pemsrun_job *j, struct args *command) {
  if (j->maps || j->hosts.relative) {
    for (int i = 0; i < j->places.n; i++) {
      args_add(command, j->places.at[i]);
    }
  } else if (j->hosts.n) {
    args_add_all(command, launcher.in_order);
    args_add(command, launcher.host_list);
    args_add(command, hosts_format(&j->hosts, false));
  }
}

void pemsrun_command_program(const struct pemsrun_job *j,
                             struct args *command) {
  for (char **a = j->wrapper; a && *a; a++) {
    args_add(command, *a);
  }
  args_add(command, j->path);
  for (char **a = j->program + 1; *a; a++) {
    args_add(command, *a);
  }
}

void pemsrun_command_mpirun(const struct pemsrun_job *j, struct args *command) {
  args_add(command, launcher.command);
  args_add_all(command, launcher.quiet);
  args_add(command, "-n");
  char count[16];
  snprintf(count, sizeof(count), "%d", pemsrun_job_processes(j));
  args_add(command, args_join(count, "", ""));
  if (!j->slots && pemsrun_job_processes(j) > 1) {
    args_add_all(command, launcher.oversubscribe);
  }
  if (!j->binds) {
    args_add_all(command, launcher.unbound);
  }
  args_add_all(command, launcher.yielding);
  if (j->starter) {
    args_add_all(command, launcher.by_name);
  }
  forward_variables(j, command);
  place_processes(j, command);
  for (int i = 0; i < j->mpirun.n; i++) {
    args_add(command, j->mpirun.at[i]);
  }
  pemsrun_command_program(j, command);
}

void pemsrun_command_direct(const struct pemsrun_job *j, struct args *command) {
  if (j->starter) {
    pemsrun_command_program(j, command);
    return;
  }
  for (char **a = j->program; *a; a++) {
    args_add(command, *a);
  }
}

static void show_word(const char *word) {
  if (*word && strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWX"
                            "YZ0123456789_./=:,+@%-") == strlen(word)) {
    fputs(word, stdout);
    return;
  }
  putchar('\'');
  for (; *word; word++) {
    if (*word == '\'') {
      fputs("'\\''", stdout);
    } else {
      putchar(*word);
    }
  }
  putchar('\'');
}

int pemsrun_command_show(const struct args *command) {
  for (char **e = environ; *e; e++) {
    if (strncmp(*e, "PEMS_", 5) == 0 || launcher_reads(*e)) {
      show_word(*e);
      putchar(' ');
    }
  }
  for (int i = 0; i < command->n; i++) {
    show_word(command->at[i]);
    putchar(i + 1 < command->n ? ' ' : '\n');
  }
  return fflush(stdout) ? 1 : 0;
}
