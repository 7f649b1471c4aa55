/* pemsrun: checks what can be known before any rank starts, then becomes the
   program (one process) or runs mpirun (several). */
#include "config.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/lifeline.h"
#include "base/limit.h"
#include "base/message.h"
#include "base/stop.h"
#include "checkpoint/wish.h"
#include "mpi_below/flavour.h"
#include "mpi_below/hooks.h"
#include "mpi_below/keeper.h"
#include "mpi_below/launcher.h"
#include "os/standard.h"
#include "wrappers/interpreter/interpreter.h"
#include "wrappers/launch.h"
#include "wrappers/monitor.h"
#include "wrappers/pemsrun_check.h"
#include "wrappers/pemsrun_command.h"
#include "wrappers/pemsrun_options.h"
#include "wrappers/site.h"

/* For a change of the environment that returned `result`. */
static void need_set(int result) {
  if (result) {
    msg_fail(MSG_FAILED, "pemsrun: out of memory");
  }
}

/* "memory=1G" -> PEMS_MEMORY=1G in the environment. */
static void export_option(const char *option) {
  char name[64];
  const int n = (int)strcspn(option, "=");
  snprintf(name, sizeof(name), "PEMS_%.*s", n, option);
  for (char *c = name; *c; c++) {
    *c = (char)toupper((unsigned char)*c);
  }
  need_set(setenv(name, option + n + 1, 1));
}

/* What is wrong there, processes say. */
static bool leaves_by_term(const struct pemsrun_job *j) {
  struct wish wish;
  struct pems_error ignored;
  const char *const text = j->options.checkpoint;
  return text && wish_parse(&wish, text, &ignored) == 0 && wish.on_term;
}

/* Becomes the program, unless there is a starter, which is looked after. */
static int run_directly(const struct pemsrun_job *j) {
  struct args command = {0};
  struct monitor monitor;
  struct pems_error error;
  unsetenv(LIFELINE_VARIABLE); /* of a job that runs this one */
  need_set(launcher_begin_alone(NULL));
  if (j->starter && !j->show) {
    if (monitor_open(&monitor, true, &error)) {
      msg_fail(MSG_FAILED, "%s", error.text);
    }
    need_set(setenv(LIFELINE_VARIABLE, monitor_variable(&monitor, true), true));
    const struct launch_job about = {.monitor = &monitor,
                                     .hosts = "",
                                     .starter = j->starter,
                                     .alone = true,
                                     .leaves = leaves_by_term(j)};
    pemsrun_command_program(j, &command);
    return launch(command.at, &about);
  }
  pemsrun_command_direct(j, &command);
  if (j->show) {
    return pemsrun_command_show(&command);
  }
  execvp(j->path, command.at);
  msg_fail(MSG_USAGE, "cannot run: %s: %s", j->path, strerror(errno));
}

/* Of mpirun, for a process: pipes, sockets, plug-ins. */
enum { LEAST_FILES = 64 };

/* mpirun shares files of some MiB with the processes; where it
   cannot write them, it says so in pages, and dies of SIGXFSZ. */
static void check_file_size(void) {
  enum { LEAST = 64 << 20 }; /* bytes */
  struct rlimit limit;
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < LEAST) {
    msg_fail(MSG_USAGE,
             "the limit of files' sizes: %llu KiB: too little for several "
             "processes: raise it to 64 MiB (ulimit -f) or give "
             "--pems-procs=1",
             (unsigned long long)limit.rlim_cur >> 10);
  }
}

/* Does the user say where mpirun keeps its files? */
static bool has_session(const struct pemsrun_job *j) {
  if (launcher_has_folder()) {
    return true;
  }
  for (int i = 0; launcher.folder_option && i < j->mpirun.n; i++) {
    if (strstr(j->mpirun.at[i], launcher.folder_option)) {
      return true;
    }
  }
  return false;
}

/* mpirun's files go to a folder of the job's own, unless it has daemons on
   other hosts, which would make that folder as well. */
static void make_session(const struct pemsrun_job *j) {
  struct pems_error error;
  const int swept = keeper_sweep();
  if (swept && j->options.stats) {
    msg_warn("jobs that were killed: removed what %d of them had left", swept);
  }
  const char *const folder = keeper_make(&error);
  if (!folder) {
    msg_fail(MSG_USAGE, "%s", error.text);
  }
  if (!j->hosts.n && !has_session(j)) {
    need_set(launcher_set_folder(folder));
  }
}

/* The launcher takes a blank for the end of its path. */
static void set_agent(void) {
  char path[PATH_MAX];
  if (!interpreter_find("pems_begin", path)) {
    msg_fail(MSG_USAGE, "no such program: %s: install pems again", path);
  }
  if (!strchr(path, ' ')) {
    need_set(launcher_set_agent(path));
  }
}

static int run_by_mpirun(struct pemsrun_job *j) {
  const bool local = !j->hosts.n;
  struct args command = {0};
  struct monitor monitor;
  struct pems_error error;
  if (geteuid() == 0) {
    need_set(launcher_allow_root());
  }
  if (!local) {
    need_set(launcher_watch_hosts());
  }
  if (j->show) {
    unsetenv(LIFELINE_VARIABLE);
    pemsrun_command_mpirun(j, &command);
    return pemsrun_command_show(&command);
  }
  check_file_size();
  limit_need_files(LEAST_FILES);
  make_session(j);
  set_agent();
  if (monitor_open(&monitor, local, &error)) {
    msg_fail(MSG_FAILED, "%s", error.text);
  }
  need_set(setenv(LIFELINE_VARIABLE, monitor_variable(&monitor, local), true));
  pemsrun_command_mpirun(j, &command);
  const struct launch_job about = {.monitor = &monitor,
                                   .hosts = hosts_format(&j->hosts, true),
                                   .wdir = j->wdir,
                                   .timeout = j->timeout,
                                   .starter = j->starter,
                                   .leaves = leaves_by_term(j)};
  return launch(command.at, &about);
}

int main(int argc, char **argv) {
  (void)argc;
  static struct pemsrun_job j;
  standard_occupy();
  stop_allow();
  site_clean_environment();
  pemsrun_options_read(&j, argv);
  pemsrun_check(&j);
  if (!j.show) {
    need_set(flavour_announce());
    /* Else each process runs itself once more, for this. */
    need_set(launcher.hooks_memory && !hooks_chosen() ? hooks_forbid() : 0);
  }
  for (int i = 0; i < j.pems.n; i++) {
    export_option(j.pems.at[i] + strlen("--pems-"));
  }
  if (pemsrun_job_processes(&j) == 1 && !j.mpirun.n && !j.hosts.n) {
    return run_directly(&j);
  }
  return run_by_mpirun(&j);
}
