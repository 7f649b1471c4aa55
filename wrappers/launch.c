#define _GNU_SOURCE
#include "config.h"

#include "wrappers/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/limit.h"
#include "base/message.h"
#include "mpi_below/keeper.h"
#include "mpi_below/launcher.h"
#include "wrappers/plain.h"
#include "wrappers/typed.h"

/* How long mpirun has to end the job. For a host that is lost it would wait,
   and crash when told not to: its daemons end what is left as well. */
enum {
  LOST_MS = MONITOR_GATHER_MS + 100,
  DIED_MS = 12000,
  INTERRUPTED_MS = 12000
};
/* And then the processes, which see that pemsrun goes. */
enum { LEFT_MS = 8000 };
/* How often to look at what a starter does: MPI takes longer to start. */
enum { LOOK_MS = 100 };

struct launch {
  const struct launch_job *job;
  struct monitor *monitor;
  long long began; /* in ms */
  pid_t mpirun;
  int signals;          /* a signalfd */
  int status;           /* mpirun's, as waitpid says it */
  bool ended;           /* and there is one */
  bool killed;          /* by us */
  bool leaves;          /* its processes were told to */
  bool ends_waiting;    /* it was told to end, for it would wait for ever */
  int interrupted;      /* the signal that ends the job, or 0 */
  long long kill_at;    /* when mpirun is to be killed, in ms, or 0 */
  char plain[PATH_MAX]; /* a program of plain MPI that was started, or "" */
};

/* --- starting --- */

static sigset_t handled(void) {
  static const int signals[] = {SIGCHLD, SIGINT,  SIGTERM, SIGHUP,
                                SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT};
  sigset_t set;
  sigemptyset(&set);
  for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++) {
    sigaddset(&set, signals[i]);
  }
  return set;
}

/* Should pemsrun be killed, mpirun ends the job. */
_Noreturn static void become(char **argv, pid_t parent, int input, int report) {
  const sigset_t set = handled();
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  dup2(input, STDIN_FILENO);
  sigprocmask(SIG_UNBLOCK, &set, NULL);
  keeper_hand_on();
  if (getppid() == parent) {
    execvp(argv[0], argv);
  }
  const int error = errno;
  const ssize_t written = write(report, &error, sizeof(error));
  (void)written; /* the parent is gone, then */
  _exit(127);
}

static void start(struct launch *l, char **argv) {
  const sigset_t set = handled();
  const pid_t self = getpid();
  int report[2], input[2] = {STDIN_FILENO, -1}, error;
  const bool typed = !l->job->alone && isatty(STDIN_FILENO);
  sigprocmask(SIG_BLOCK, &set, NULL);
  l->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  if (l->signals < 0 || pipe2(report, O_CLOEXEC) ||
      (typed && pipe2(input, O_CLOEXEC)) || (l->mpirun = fork()) < 0) {
    char advice[LIMIT_TEXT];
    error = errno;
    msg_fail(MSG_FAILED, "cannot start %s: %s: %s", argv[0], strerror(error),
             limit_advice(advice, LIMIT_THREAD, error, 0,
                          "allow more processes and memory"));
  }
  if (l->mpirun == 0) {
    become(argv, self, input[0], report[1]);
  }
  close(report[1]);
  if (read(report[0], &error, sizeof(error)) == sizeof(error)) {
    msg_fail(MSG_USAGE, "cannot run: %s: %s", argv[0], strerror(error));
  }
  close(report[0]);
  if (typed) {
    close(input[0]);
    error = typed_start(input[1]);
    if (error) {
      char advice[LIMIT_TEXT];
      msg_warn(
          "standard input: %s: what is typed does not reach the program: "
          "%s",
          strerror(error),
          limit_advice(advice, LIMIT_THREAD, error, 0, "allow more processes"));
    }
  }
}

/* --- stopping --- */

/* From a terminal, mpirun gets it as well. Whether this process stops then, the
   system says: one that no shell could continue does not. */
static void stop(const struct launch *l, const struct signalfd_siginfo *s) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTSTP);
  if (s->ssi_code != SI_KERNEL) {
    kill(l->mpirun, SIGTSTP);
  }
  raise(SIGTSTP);
  sigprocmask(SIG_UNBLOCK, &set, NULL);
  sigprocmask(SIG_BLOCK, &set, NULL);
}

/* --- ending --- */

static void kill_after(struct launch *l, int ms) {
  const long long at = monitor_now_ms() + ms;
  if (!l->kill_at || at < l->kill_at) {
    l->kill_at = at;
  }
}

/* Milliseconds until mpirun is to be killed, -1: it is not. */
static int time_left(const struct launch *l) {
  if (!l->kill_at || l->killed) {
    return -1;
  }
  const long long ms = l->kill_at - monitor_now_ms();
  return ms > 0 ? (int)ms : 0;
}

/* --- a starter --- */

/* May it still start something else than a program of pems? */
static bool wants_look(const struct launch *l) {
  return l->job->starter && !l->monitor->joined && !*l->plain && !l->ended;
}

static void look(struct launch *l) {
  if (wants_look(l)) {
    (void)plain_find(l->mpirun, l->plain, sizeof(l->plain));
  }
}

/* Milliseconds until something is to be done, -1: nothing is. */
static int until_next(const struct launch *l) {
  const int left = time_left(l);
  return wants_look(l) && (left < 0 || left > LOOK_MS) ? LOOK_MS : left;
}

/* --- interruptions --- */

/* From a terminal, mpirun gets it as well; a debugger goes on. */
static void interrupt(struct launch *l, const struct signalfd_siginfo *s) {
  if (l->job->alone && s->ssi_code == SI_KERNEL) {
    return;
  }
  if (!l->monitor->told) {
    msg_warn("interrupted: SIG%s: the job ends, scratch space is freed",
             s->ssi_signo == SIGINT    ? "INT"
             : s->ssi_signo == SIGTERM ? "TERM"
                                       : "HUP");
  }
  l->monitor->told = true;
  if (!l->interrupted && s->ssi_code != SI_KERNEL) {
    kill(l->mpirun, SIGTERM);
  }
  l->interrupted = (int)s->ssi_signo;
  kill_after(l, INTERRUPTED_MS);
}

/* A second signal ends the job as it would without checkpoints. */
static bool leave(struct launch *l, const struct signalfd_siginfo *s) {
  if (!l->job->leaves || l->leaves || s->ssi_signo != SIGTERM) {
    return false;
  }
  l->leaves = true;
  return monitor_leave(l->monitor);
}

static void take_signals(struct launch *l) {
  struct signalfd_siginfo s;
  while (read(l->signals, &s, sizeof(s)) == sizeof(s)) {
    switch (s.ssi_signo) {
    case SIGCHLD:
      l->ended = l->ended || waitpid(l->mpirun, &l->status, WNOHANG) > 0;
      break;
    case SIGTSTP:
      stop(l, &s);
      break;
    case SIGUSR2:
      if (launcher.dies_of_usr2) {
        monitor_pass_on_usr2(l->monitor);
        break;
      }
      /* fall through */
    case SIGCONT:
    case SIGUSR1:
      kill(l->mpirun, (int)s.ssi_signo);
      break;
    default:
      if (!leave(l, &s)) {
        interrupt(l, &s);
      }
    }
  }
}

/* A launcher may leave the others of a job alone when one takes it down: one
   does if it has the exit status before it sees the connection end. */
static void see_to_end(struct launch *l) {
  if (l->monitor->waits && !l->ends_waiting) {
    l->ends_waiting = true;
    kill(l->mpirun, SIGTERM);
  }
  if (l->monitor->state != MONITOR_RUNS || l->monitor->down) {
    kill_after(l, l->monitor->state == MONITOR_LOST ? LOST_MS : DIED_MS);
  }
  if (time_left(l) == 0) {
    l->killed = true;
    kill(l->mpirun, SIGKILL);
  }
}

/* --- after the end --- */

/* The exit status then, whatever the command's own is. */
enum { TIMED_OUT = 110 };

static bool timed_out(const struct launch *l) {
  return l->job->timeout && WIFEXITED(l->status) &&
         WEXITSTATUS(l->status) == launcher.timed_out &&
         monitor_now_ms() - l->began >= l->job->timeout * 1000LL;
}

static void say_not_started(const struct launch *l) {
  const char *const hosts = l->job->hosts, *const wdir = l->job->wdir;
  msg_warn("mpirun: exit status %d: no process has started: see whether %s can "
           "be reached and %s the program%s%s",
           WEXITSTATUS(l->status), *hosts ? hosts : "this host",
           strchr(hosts, ',') ? "have" : "has",
           wdir ? " and the working directory " : "", wdir ? wdir : "");
}

/* It may be right for it to fail before it has started a program. */
static void say_starter(const struct launch *l) {
  if (*l->plain) {
    msg_warn("%s: exit status %d: it has started a program of plain MPI, %s: "
             "build that with pemscc",
             l->job->starter, WEXITSTATUS(l->status), l->plain);
    return;
  }
  msg_warn("%s: exit status %d: it has started no program that pemscc built: "
           "see what it does, and build MPI programs of mpicc with pemscc",
           l->job->starter, WEXITSTATUS(l->status));
}

/* Processes have started, or may have and could not say so. */
static bool any_started(const struct monitor *m) {
  return m->joined || m->turned_away;
}

/* Says why, if nobody has and it is not the program's own status. */
static void say_end(const struct launch *l) {
  struct monitor *const m = l->monitor;
  const bool killed = WIFSIGNALED(l->status) && !l->killed;
  if ((killed || timed_out(l)) && m->say_at) { /* a process's follows from it */
    m->say_at = 0;
    m->told = false;
  }
  monitor_settle(m);
  if (m->told) {
    return;
  }
  if (killed && l->job->alone) {
    msg_warn("%s: killed by signal %d (%s)", l->job->starter,
             WTERMSIG(l->status), strsignal(WTERMSIG(l->status)));
  } else if (killed) {
    msg_warn("mpirun: killed by signal %d (%s): the job ends: see who did that",
             WTERMSIG(l->status), strsignal(WTERMSIG(l->status)));
  } else if (timed_out(l)) {
    msg_warn("time limit: %d s have passed: the job was ended: give more with "
             "--timeout",
             l->job->timeout);
  } else if (l->job->starter && !any_started(m)) {
    say_starter(l);
  } else if (WEXITSTATUS(l->status) && monitor_say_absent(m)) {
    return;
  } else if (WEXITSTATUS(l->status) && !any_started(m)) {
    say_not_started(l);
  }
}

/* Has the job lost a process, a daemon or a host? mpirun may end with 0 even
   so: one does at times, after its daemon has been killed. */
static bool broke(const struct monitor *m) {
  return m->state >= MONITOR_ORPHAN ||
         (m->state == MONITOR_DIED && !m->parting);
}

/* That of the program; 2 where there was none. */
static int status_of(const struct launch *l) {
  if (l->killed && l->monitor->down && l->monitor->status > 0) {
    return l->monitor->status;
  }
  if (WIFSIGNALED(l->status)) {
    return 128 + WTERMSIG(l->status);
  }
  if (WEXITSTATUS(l->status) == 0 && l->job->starter &&
      !any_started(l->monitor)) {
    return MSG_USAGE;
  }
  if (timed_out(l)) {
    return TIMED_OUT;
  }
  if (WEXITSTATUS(l->status) && launcher.status_of_any &&
      l->monitor->status > 0) {
    return l->monitor->status;
  }
  return WEXITSTATUS(l->status);
}

int launch(char **argv, const struct launch_job *job) {
  struct monitor *const m = job->monitor;
  struct launch l = {.job = job, .monitor = m, .began = monitor_now_ms()};
  m->passive = job->alone;
  m->limit_at = job->timeout ? l.began + job->timeout * 1000LL : 0;
  start(&l, argv);
  keeper_note_mpirun(l.mpirun);
  while (!l.ended) {
    if (monitor_serve(m, l.signals, until_next(&l))) {
      take_signals(&l);
    }
    look(&l);
    see_to_end(&l);
  }
  monitor_drain(m);
  if (WIFEXITED(l.status) && l.status) {
    monitor_explain(m);
  }
  say_end(&l);
  const bool lost = m->state == MONITOR_LOST || l.ends_waiting ||
                    (WIFEXITED(l.status) && l.status == 0 && broke(m));
  monitor_close(m, LEFT_MS);
  keeper_end();
  if (l.status) {
    /* A process makes a folder where the launcher has none, and may have been
       killed before that had a keeper. */
    (void)keeper_sweep();
  }
  if (l.interrupted) {
    const sigset_t set = handled();
    signal(l.interrupted, SIG_DFL);
    raise(l.interrupted);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
  }
  return lost ? MSG_FAILED : status_of(&l);
}
