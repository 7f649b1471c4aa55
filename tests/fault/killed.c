/* Kills a job with SIGKILL, all of its processes, but for what passes its
   output on, at a moment that depends on its checkpoints:

     killed SHELF NUMBER MICROSECONDS SECONDS COMMAND [ARGUMENT...]

   so many microseconds after it has begun checkpoint NUMBER, or a later one, in
   the directory SHELF. All that the command starts are children of this process
   in the end, for it is their reaper; so none is overlooked.

   Exit status: 0, it was killed; 3, it ended before, with status 0; 4, with
   another one; 5, it is killed because it takes more than SECONDS. */
#define _GNU_SOURCE
#include "reaper.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 1000, EARLY = 3, FAILED = 4, LATE = 5 };

static pid_t first;
static bool ended; /* the command, with this: */
static int its_status;

/* --- its processes -------------------------------------------------------- */

/* Children that have ended are reaped; true if there is none left. */
static bool all_ended(void) {
  for (;;) {
    int status;
    const pid_t pid = waitpid(-1, &status, WNOHANG);
    if (pid <= 0) {
      return pid < 0 && errno == ECHILD;
    }
    if (pid == first) {
      ended = true;
      its_status = status;
    }
  }
}

/* Is it what passes the output of several processes on? */
static bool is_launcher(pid_t pid) {
  static const char *const names[] = {"mpirun", "mpiexec", "orterun", "prterun",
                                      "hydra_pmi_proxy"};
  char path[64], name[32] = "";
  snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
  FILE *const f = fopen(path, "r");
  bool is = false;
  if (f && fgets(name, sizeof(name), f)) {
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
      /* The kernel keeps 15 characters. */
      is |= strncmp(name, names[i], strnlen(names[i], 15)) == 0;
    }
  }
  if (f) {
    fclose(f);
  }
  return is;
}

/* Kills them; *spared: how many are left. */
static void kill_those(bool launchers, int *spared) {
  pid_t at[MOST];
  const int n = add_descendants(getpid(), at, 0, MOST);
  *spared = 0;
  for (int i = 0; i < n; i++) {
    if (!launchers && is_launcher(at[i])) {
      ++*spared;
    } else {
      kill(at[i], SIGKILL);
    }
  }
}

static void kill_all(void) {
  int spared;
  while (!all_ended()) {
    kill_those(true, &spared);
    pause_us(500);
  }
}

/* What a job has written before its checkpoint, but its launcher has not passed
   on, nobody could print again: the launcher ends by itself, after that. */
static void kill_all_but_output(double end) {
  int spared = 1;
  while (spared && !all_ended() && now() < end) {
    kill_those(false, &spared);
    pause_us(500);
  }
  kill_all();
}

/* --- the moment ----------------------------------------------------------- */

static bool has_begun(const char *shelf, long number) {
  static const char complete[] = "checkpoint-", begun[] = ".new-checkpoint-";
  DIR *const d = opendir(shelf);
  bool found = false;
  for (const struct dirent *e; d && !found && (e = readdir(d));) {
    const char *const prefix = e->d_name[0] == '.' ? begun : complete;
    const size_t n = strlen(prefix);
    found = strncmp(e->d_name, prefix, n) == 0 &&
            strtol(e->d_name + n, NULL, 10) >= number;
  }
  if (d) {
    closedir(d);
  }
  return found;
}

static int until_ended(double end) {
  while (!all_ended()) {
    if (now() > end) {
      kill_all();
      return LATE;
    }
    pause_us(1000);
  }
  return its_status == 0 ? EARLY : FAILED;
}

int main(int argc, char **argv) {
  if (argc < 6) {
    return 2;
  }
  const long number = strtol(argv[2], NULL, 10), us = strtol(argv[3], NULL, 10);
  const double end = now() + strtod(argv[4], NULL);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  first = fork();
  if (first == 0) {
    setsid();
    execvp(argv[5], argv + 5);
    _exit(127);
  }
  while (!has_begun(argv[1], number)) {
    (void)all_ended();
    if (ended || now() > end) {
      return until_ended(end);
    }
    pause_us(200);
  }
  pause_us(us);
  (void)all_ended();
  if (ended) {
    return until_ended(end);
  }
  kill_all_but_output(end);
  return 0;
}
