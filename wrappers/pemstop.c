/* pemstop: a running job, as htop is for processes. It asks pemsrun, which asks
   all processes, on this host or on another; or a process that pemsrun did not
   start, which knows itself. */
#define _GNU_SOURCE
#include "config.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>

#include "base/job_status.h"
#include "base/message.h"
#include "wrappers/pemstop_ask.h"
#include "wrappers/pemstop_view.h"

enum { MOST_JOBS = 256 };

struct options {
  bool once, list;
  int delay; /* ms */
  const char *what;
  char **all; /* as given, for another host */
  int n;
};

static void help(void) {
  puts(
      "usage: pemstop [options] [JOB | PID | HOST]\n"
      "\n"
      "Shows a running job of pems on all its hosts: ranks by state, the\n"
      "superstep, memory, disks, network. JOB is the process number of "
      "pemsrun,\n"
      "PID that of a process of the job; without either, the only job of this\n"
      "user. A name is a host, on which pemstop is run by ssh. q ends it.\n"
      "\n"
      "  -d, --delay=S    seconds between two looks (default 1)\n"
      "  -1, --once       look twice, print, and end; so it is where the "
      "output\n"
      "                   is no terminal\n"
      "  -l, --list       list the jobs on this host\n"
      "  -h, --help, -V, --version\n"
      "                   print this help or the version");
}

/* --- finding --- */

/* Jobs of pemsrun, then those that processes here tell of: started on another
   host, or by mpirun. */
static int find_jobs(struct pemstop_job *jobs, int most) {
  pid_t pids[MOST_JOBS];
  int n = 0;
  const int whole = job_status_find(true, pids, MOST_JOBS);
  for (int i = 0; i < whole && n < most; i++) {
    jobs[n++] = (struct pemstop_job){true, pids[i]};
  }
  const int processes = job_status_find(false, pids, MOST_JOBS);
  for (int i = 0; i < processes && n < most; i++) {
    int k = 0;
    while (k < n && !pemstop_has(&jobs[k], pids[i])) {
      k++;
    }
    if (k == n) {
      jobs[n++] = (struct pemstop_job){false, pids[i]};
    }
  }
  return n;
}

static void list(void) {
  struct pemstop_job jobs[MOST_JOBS];
  const int n = find_jobs(jobs, MOST_JOBS);
  printf("%8s %8s %10s  %s\n", "job", "ranks", "seconds", "program");
  for (int i = 0; i < n; i++) {
    struct view v;
    if (pemstop_look(&jobs[i], &v)) {
      const struct job_status *const s = view_speaker(&v);
      printf("%8ld %8llu %10llu  %s\n", (long)jobs[i].pid,
             (unsigned long long)s->v, (unsigned long long)s->ms / 1000,
             s->program);
    }
    view_free(&v);
  }
}

/* The job of pemsrun `pid`, or that process `pid` belongs to. */
static struct pemstop_job find_pid(pid_t pid) {
  struct pemstop_job jobs[MOST_JOBS];
  const int n = find_jobs(jobs, MOST_JOBS);
  for (int i = 0; i < n; i++) {
    if (jobs[i].pid == pid || pemstop_has(&jobs[i], pid)) {
      return jobs[i];
    }
  }
  msg_fail(MSG_USAGE,
           "pemstop: %ld: no job of pems that you may see has this process: "
           "see pemstop --list",
           (long)pid);
}

static struct pemstop_job find_only(void) {
  struct pemstop_job jobs[MOST_JOBS];
  const int n = find_jobs(jobs, MOST_JOBS);
  if (n == 1) {
    return jobs[0];
  }
  msg_fail(MSG_USAGE, "pemstop: %d jobs here: %s", n,
           n ? "give the number of one, of pemstop --list"
             : "start one with pemsrun, or name its host");
}

/* --- showing --- */

static volatile sig_atomic_t ended;

static void on_signal(int number) {
  (void)number;
  ended = 1;
}

static struct termios usual;

static void leave_screen(void) {
  tcsetattr(STDIN_FILENO, TCSANOW, &usual);
  fputs("\033[?25h\033[?1049l", stdout);
  fflush(stdout);
}

static bool enter_screen(void) {
  if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO) ||
      tcgetattr(STDIN_FILENO, &usual)) {
    return false;
  }
  struct termios raw = usual;
  raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
  tcsetattr(STDIN_FILENO, TCSANOW, &raw);
  const struct sigaction act = {.sa_handler = on_signal};
  sigaction(SIGINT, &act, NULL);
  sigaction(SIGTERM, &act, NULL);
  sigaction(SIGHUP, &act, NULL);
  fputs("\033[?1049h\033[?25l", stdout);
  return true;
}

/* Waits for a key; returns true if it ends. */
static bool wait_key(int ms) {
  struct pollfd p = {.fd = STDIN_FILENO, .events = POLLIN};
  char key = 0;
  if (poll(&p, 1, ms) > 0 && read(STDIN_FILENO, &key, 1) != 1) {
    return true;
  }
  return ended || key == 'q' || key == 'Q';
}

static void draw(const struct view *now, const struct view *before,
                 struct view_step *step) {
  struct winsize w = {0};
  ioctl(STDOUT_FILENO, TIOCGWINSZ, &w);
  fputs("\033[H", stdout);
  view_print(stdout, now, before, step, w.ws_col ? w.ws_col : 80,
             w.ws_row > 1 ? w.ws_row - 1 : 23, "\033[K\r\n");
  fputs("\033[J", stdout);
  fflush(stdout);
}

static void watch(const struct pemstop_job *t, int delay) {
  struct view before = {0}, now;
  struct view_step step = {0};
  while (pemstop_look(t, &now)) {
    draw(&now, &before, &step);
    view_free(&before);
    before = now;
    if (wait_key(delay)) {
      view_free(&before);
      leave_screen();
      return;
    }
  }
  view_free(&before);
  leave_screen();
  puts("the job has ended");
}

static void print_once(const struct pemstop_job *t, int delay) {
  struct view before, now;
  struct view_step step = {0};
  if (!pemstop_look(t, &before)) {
    msg_fail(MSG_FAILED, "pemstop: %ld: does not answer: it may have ended",
             (long)t->pid);
  }
  poll(NULL, 0, delay);
  if (!pemstop_look(t, &now)) { /* it has ended meanwhile */
    now = before;
    before = (struct view){0};
  }
  view_print(stdout, &now, &before, &step, 1000, 0, "\n");
  view_free(&now);
  view_free(&before);
}

/* --- the command line --- */

static _Noreturn void on_host(const struct options *o) {
  char **argv = calloc((size_t)o->n + 8, sizeof(*argv));
  int n = 0;
  if (!argv) {
    msg_fail(MSG_FAILED, "pemstop: out of memory");
  }
  argv[n++] = "ssh";
  if (isatty(STDOUT_FILENO) && !o->once && !o->list) {
    argv[n++] = "-t";
  }
  argv[n++] = "--";
  argv[n++] = (char *)o->what;
  argv[n++] = "pemstop";
  for (int i = 1; i < o->n; i++) {
    if (o->all[i] != o->what) {
      argv[n++] = o->all[i];
    }
  }
  execvp(argv[0], argv);
  msg_fail(MSG_FAILED, "pemstop: ssh: %s: install it, or run pemstop on %s",
           strerror(errno), o->what);
}

static int read_delay(const char *text) {
  char *end;
  const double s = strtod(text, &end);
  if (*end || end == text || !(s >= 0.1 && s <= 3600)) {
    msg_fail(MSG_USAGE, "pemstop: --delay: %s: give seconds from 0.1 to 3600",
             text);
  }
  return (int)(s * 1000);
}

static bool is(const char *arg, const char *one, const char *other) {
  return strcmp(arg, one) == 0 || strcmp(arg, other) == 0;
}

static void read_option(struct options *o, char **argv, int *i) {
  const char *const arg = argv[*i];
  if (is(arg, "-1", "--once")) {
    o->once = true;
  } else if (is(arg, "-l", "--list")) {
    o->list = true;
  } else if (strncmp(arg, "--delay=", 8) == 0) {
    o->delay = read_delay(arg + 8);
  } else if (is(arg, "-d", "--delay") && argv[*i + 1]) {
    o->delay = read_delay(argv[++*i]);
  } else if (*arg == '-' || o->what) {
    msg_fail(MSG_USAGE, "pemstop: %s: unexpected: see pemstop --help", arg);
  } else {
    o->what = arg;
  }
}

static struct options read_options(int argc, char **argv) {
  struct options o = {.delay = 1000, .all = argv, .n = argc};
  for (int i = 1; i < argc; i++) {
    if (is(argv[i], "-h", "--help")) {
      help();
      exit(0);
    }
    if (is(argv[i], "-V", "--version")) {
      puts("pemstop (pems) " PACKAGE_VERSION);
      exit(0);
    }
    read_option(&o, argv, &i);
  }
  return o;
}

int main(int argc, char **argv) {
  const struct options o = read_options(argc, argv);
  char *end = NULL;
  const long pid = o.what ? strtol(o.what, &end, 10) : 0;
  if (o.what && (*end || pid <= 0)) {
    on_host(&o);
  }
  if (o.list) {
    list();
    return fflush(stdout) ? MSG_FAILED : 0;
  }
  const struct pemstop_job t = o.what ? find_pid((pid_t)pid) : find_only();
  if (!o.once && enter_screen()) {
    watch(&t, o.delay);
  } else {
    print_once(&t, o.delay);
  }
  return fflush(stdout) ? MSG_FAILED : 0;
}
