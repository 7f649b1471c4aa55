/* Kills jobs at random moments, most of them while they start, and looks what
   is left of them:

     kills TRIALS SEED PEMSRUN MPIRUN PROGRAM FOLDER MILLISECONDS [WAY]

   PROGRAM is misbehave.c. $MPIRUN_OPTIONS are MPIRUN's, one space apart.
   Scratch files go to FOLDER/disk and all else that has a name to FOLDER/tmp,
   which is $TMPDIR. Prints a line for each trial that failed, and at last how
   many did. What is drawn follows from SEED, the moment too, up to MILLISECONDS
   after the start, but not what the job is doing then.

   A trial fails if a process is left LIMIT seconds after the signal, or a file.
   Open MPI 4.1's mpirun hangs at times when its processes are killed, those of
   programs without pems, too (in one of some dozens of trials: in
   PMIx_server_finalize, at a mutex): what such a trial leaves of mpirun alone
   is said and counted, and is no failure. All that a job started are children
   of this process in the end, for it is their reaper; so none is overlooked. */
#define _GNU_SOURCE
#include "reaper.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LIMIT = 60 };

static const char *const drivers[] = {"unix", "uring", "aio", "mmap", "mem"};
static const int signals[] = {SIGKILL, SIGTERM, SIGINT, SIGHUP, SIGQUIT};

/* Ways to start a job, with so many processes. */
enum way { DIRECT, PEMSRUN, PEMSRUN2, MPIRUN1, MPIRUN2 };
static const char *const ways[] = {"direct", "pemsrun", "pemsrun2", "mpirun",
                                   "mpirun2"};
enum { WAYS = 5, DRIVERS = 5, SIGNALS = 5 };

/* Which process gets the signal. */
enum target { FIRST, SECOND, ANY };
static const char *const targets[] = {"the first process", "mpirun",
                                      "a process"};

static const char *pemsrun, *mpirun, *program, *folder;

static uint64_t state;

/* SplitMix64. */
static uint64_t below(uint64_t n) {
  uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return (z ^ z >> 31) % n;
}

struct trial {
  enum way way;
  const char *driver;
  int signal;
  enum target target;
  long us; /* from the start to the signal */
};

/* --- processes ------------------------------------------------------------ */

static void print_stat(pid_t pid) {
  char path[64], text[400];
  snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
  FILE *const f = fopen(path, "re");
  if (f && fgets(text, sizeof(text), f)) {
    printf("  left: %s", text);
  }
  if (f) {
    fclose(f);
  }
}

/* The name of a process, and its parent. */
static pid_t look_at(pid_t pid, char name[64]) {
  char path[64];
  pid_t parent = 0;
  snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
  FILE *const f = fopen(path, "re");
  if (!f || fscanf(f, "%*d (%63[^)]) %*c %d", name, &parent) != 2) {
    name[0] = '\0';
  }
  if (f) {
    fclose(f);
  }
  return parent;
}

/* By its name, or before it has that: pemsrun and the program have no other
   child of their own name. */
static bool is_keeper(pid_t pid) {
  char name[64], above[64];
  look_at(look_at(pid, name), above);
  return strcmp(name, "pems-keeper") == 0 || strcmp(name, above) == 0;
}

/* Hydra's on each host, which ignores signals. */
static bool is_proxy(pid_t pid) {
  char name[64];
  look_at(pid, name);
  return strcmp(name, "hydra_pmi_proxy") == 0;
}

static bool has_ended(pid_t pid) {
  char path[64], state = 'Z';
  snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
  FILE *const f = fopen(path, "re");
  if (f && fscanf(f, "%*d (%*[^)]) %c", &state) != 1) {
    state = 'Z';
  }
  if (f) {
    fclose(f);
  }
  return state == 'Z';
}

/* Nothing is left but mpirun, what it does not reap, and the keeper, which
   waits for its end. */
static bool is_alone(pid_t mpirun) {
  pid_t left[1000];
  const int n = add_descendants(getpid(), left, 0, 1000);
  for (int i = 0; i < n; i++) {
    char name[64];
    look_at(left[i], name);
    if (left[i] != mpirun && !has_ended(left[i]) &&
        strcmp(name, "pems-keeper") != 0) {
      return false;
    }
  }
  return true;
}

/* Children that have ended are reaped; true if there is none left. */
static bool all_ended(void) {
  for (;;) {
    const pid_t pid = waitpid(-1, NULL, WNOHANG);
    if (pid < 0) {
      return errno == ECHILD;
    }
    if (pid == 0) {
      return false;
    }
  }
}

static bool await_end(double seconds) {
  const double end = now() + seconds;
  while (!all_ended()) {
    if (now() > end) {
      return false;
    }
    pause_us(2000);
  }
  return true;
}

static void end_left(void) {
  pid_t left[1000];
  for (int n; (n = add_descendants(getpid(), left, 0, 1000)) > 0;) {
    for (int i = 0; i < n; i++) {
      kill(left[i], SIGKILL);
    }
    await_end(1);
  }
}

/* $KILLS_DEBUG is a command that is given the number of each. */
static void tell_left(void) {
  pid_t left[1000];
  const char *const debug = getenv("KILLS_DEBUG");
  const int n = add_descendants(getpid(), left, 0, 1000);
  for (int i = 0; i < n; i++) {
    char command[PATH_MAX];
    print_stat(left[i]);
    fflush(stdout);
    snprintf(command, sizeof(command), "%s %d", debug, (int)left[i]);
    if (debug && system(command)) {
      printf("  %s failed\n", debug);
    }
  }
}

/* --- files ---------------------------------------------------------------- */

static int files_left;
static bool says_files;

static int see_file(const char *path, const struct stat *st, int type,
                    struct FTW *where) {
  (void)st, (void)type;
  if (where->level > 0) {
    files_left++;
    if (says_files) {
      printf("  left: %s\n", path);
    }
    remove(path);
  }
  return 0;
}

/* Removes what a job has left in a folder; true if there was something. */
static bool left_in(const char *name, bool says) {
  char path[PATH_MAX];
  snprintf(path, sizeof(path), "%s/%s", folder, name);
  files_left = 0;
  says_files = says;
  nftw(path, see_file, 16, FTW_DEPTH | FTW_PHYS);
  return files_left > 0;
}

/* --- one trial ------------------------------------------------------------ */

static void run_mpirun(const char *const *rest) {
  enum { MOST = 40 };
  const char *argv[MOST] = {mpirun};
  const char *const given = getenv("MPIRUN_OPTIONS");
  char *const options = strdup(given ? given : "");
  int n = 1;
  for (char *o = strtok(options, " "); o && n < MOST - 1;
       o = strtok(NULL, " ")) {
    argv[n++] = o;
  }
  while (*rest && n < MOST - 1) {
    argv[n++] = *rest++;
  }
  execv(mpirun, (char **)argv);
}

_Noreturn static void become(const struct trial *t) {
  char disk[PATH_MAX], io[64], log[PATH_MAX];
  sigset_t none;
  sigemptyset(&none);
  for (int i = 0; i < SIGNALS; i++) {
    signal(signals[i], SIG_DFL);
  }
  sigprocmask(SIG_SETMASK, &none, NULL);
  setsid();
  snprintf(disk, sizeof(disk), "--pems-disk=%s/disk", folder);
  snprintf(io, sizeof(io), "--pems-io=%s", t->driver);
  snprintf(log, sizeof(log), "%s/log", folder);
  const int fd = open(log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  dup2(open("/dev/null", O_RDONLY), 0);
  dup2(fd, 1);
  dup2(fd, 2);
  const char *const p = t->way == PEMSRUN2  ? "--pems-procs=2"
                        : t->way == MPIRUN2 ? "2"
                                            : "1";
#define PROGRAM program, "spin", "0", "4"
#define OPTIONS                                                                \
  disk, io, "--pems-context=8M", "--pems-memory=256M", "--pems-v=8"
  if (t->way == DIRECT) {
    execl(program, PROGRAM, OPTIONS, (char *)0);
  } else if (t->way == PEMSRUN) {
    execl(pemsrun, pemsrun, "-n", "8", PROGRAM, OPTIONS, (char *)0);
  } else if (t->way == PEMSRUN2) {
    execl(pemsrun, pemsrun, "-n", "8", p, PROGRAM, OPTIONS, (char *)0);
  } else {
    run_mpirun((const char *const[]){"-n", p, PROGRAM, OPTIONS, NULL});
  }
  _exit(99);
}

/* mpirun is a child of pemsrun, and so is pems's keeper, which nothing ends. */
static pid_t find(const struct trial *t, pid_t first) {
  pid_t all[200];
  int n = 0;
  const int found = add_descendants(first, all, 0, 200);
  for (int i = 0; i < found; i++) {
    if (!is_keeper(all[i]) && (t->signal == SIGKILL || !is_proxy(all[i]))) {
      all[n++] = all[i];
    }
  }
  if (t->target == FIRST || n == 0) {
    return first;
  }
  return t->target == SECOND ? all[0] : all[below((uint64_t)n)];
}

static void tell(const struct trial *t, const char *what) {
  printf("%s: %s, %s, SIG%s to %s after %ld us\n", what, ways[t->way],
         t->driver, sigabbrev_np(t->signal), targets[t->target], t->us);
}

/* Signals that come before the child's mask is open wait. */
static pid_t start(const struct trial *t) {
  sigset_t all, before;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, &before);
  const pid_t first = fork();
  if (first == 0) {
    become(t);
  }
  sigprocmask(SIG_SETMASK, &before, NULL);
  return first;
}

/* Hydra's mpirun may lose a signal while it starts, of programs without pems,
   too: a second one ends the job then. */
static bool was_lost(const struct trial *t, pid_t mpirun) {
  if (t->signal == SIGKILL || kill(mpirun, SIGTERM) || !await_end(LIMIT)) {
    return false;
  }
  tell(t, "mpirun lost it");
  return true;
}

/* What mpirun leaves that is killed before a process of pems knows of it is not
   pems's. */
static bool try_once(const struct trial *t) {
  const bool has_own = t->way == MPIRUN1 || t->way == MPIRUN2;
  const pid_t first = start(t);
  pause_us(t->us);
  kill(find(t, first), t->signal);
  if (!await_end(LIMIT) && !(has_own && was_lost(t, first))) {
    const bool own_hang = has_own && is_alone(first);
    tell(t, own_hang ? "mpirun hangs" : "PROCESSES LEFT");
    tell_left();
    end_left();
    const bool left = left_in("disk", own_hang);
    left_in("tmp", false);
    return own_hang && !left;
  }
  if (!left_in("disk", true) && (!left_in("tmp", !has_own) || has_own)) {
    return true;
  }
  tell(t, "FILES LEFT");
  return false;
}

/* A name, or whichever if there is none. */
static size_t draw(const char *name, const char *const *names, size_t n) {
  for (size_t i = 0; name && i < n; i++) {
    if (strcmp(names[i], name) == 0) {
      return i;
    }
  }
  return below(n);
}

int main(int argc, char **argv) {
  if (argc < 8) {
    return 2;
  }
  const int trials = atoi(argv[1]);
  state = strtoull(argv[2], NULL, 10);
  pemsrun = argv[3], mpirun = argv[4], program = argv[5], folder = argv[6];
  const uint64_t most_us = 1000 * strtoull(argv[7], NULL, 10);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  int failed = 0;
  for (int i = 0; i < trials; i++) {
    const struct trial t = {
        .way = (enum way)draw(argc > 8 ? argv[8] : NULL, ways, WAYS),
        .driver = drivers[below(DRIVERS)],
        .signal = signals[below(SIGNALS)],
        .target = (enum target)below(3),
        .us = (long)below(most_us),
    };
    failed += !try_once(&t);
    fflush(stdout);
  }
  printf("%d trials from seed %s, %d failed\n", trials, argv[2], failed);
  return failed > 0;
}
