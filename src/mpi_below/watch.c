#define _GNU_SOURCE
#include "mpi_below/watch.h"

#include "base/job_status.h"
#include "base/lifeline.h"
#include "base/message.h"
#include "base/need.h"
#include "base/stop.h"
#include "base/threads.h"
#include "mpi_below/keeper.h"
#include "mpi_below/launcher.h"
#include "os/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
  CONNECT_MS = 3000,
  ANSWER_MS = 2000,
  DAEMON_MS = 4000,
  PRINT_MS = 300, /* how long pemsrun may take none of what it is to print */
  /* mpirun learns from the kernel that pemsrun has died, and ends the
     processes; when they end by themselves it sometimes hangs. */
  MPIRUN_MS = 2000,
  ALONE_SECONDS = 5
};

static struct {
  pthread_t thread;
  bool started;
  char *places; /* of the variable: "PORT,ADDRESS,...", or NULL: no pemsrun */
  int begun;    /* the connection by which the process began, or -1 */
  struct lifeline_hello hello;
  pid_t process; /* this one: a child that the program forks is not watched */
  pid_t first;   /* its parent when it began */
  pid_t parent;  /* mpirun or its daemon on this host */
  bool daemon;   /* the latter */
  int parent_fd; /* readable when it has ended; -1: the kernel is too old */
  int stop;      /* an eventfd: the thread is to end */
  atomic_int line_fd; /* the connection, or -1 */
  atomic_int answer;  /* to LIFELINE_MAY_I, or 0 */
  atomic_bool lost;
  atomic_bool leaves; /* pemsrun wants the job to take a checkpoint and end */
  bool (*_Atomic leave)(void); /* whom to tell, or NULL */
  atomic_bool tried;           /* there is a connection now, or none */
  struct lock lock;            /* for what follows */
  watch_answer *status;        /* or NULL */
} watch = {.begun = -1,
           .parent_fd = -1,
           .stop = -1,
           .line_fd = -1,
           .lock = LOCK_INITIALIZER(LOCK_WATCH)};

/* --- connecting --- */

enum event { READY, TIME, STOP, ORPHAN };

/* Waits for one of `events`, at most `ms` (-1: for ever). */
static enum event wait_for(int fd, short events, int ms) {
  struct pollfd p[] = {{.fd = fd, .events = events},
                       {.fd = watch.stop, .events = POLLIN},
                       {.fd = watch.parent_fd, .events = POLLIN}};
  int n;
  do {
    n = poll(p, 3, ms);
  } while (n < 0 && errno == EINTR);
  if (p[1].revents) {
    return STOP;
  }
  if (p[2].revents) {
    return ORPHAN;
  }
  return n > 0 ? READY : TIME;
}

static bool is_ready(int fd, short events, int ms) {
  return wait_for(fd, events, ms) == READY;
}

/* --- watching --- */

/* Reads "/proc/PID/FILE" as text; its length, or -1. */
static ssize_t read_process(pid_t pid, const char *file, char *out,
                            size_t size) {
  char path[64];
  snprintf(path, sizeof(path), "/proc/%ld/%s", (long)pid, file);
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  const ssize_t n = fd < 0 ? -1 : read(fd, out, size - 1);
  if (fd >= 0) {
    close(fd);
  }
  out[n > 0 ? n : 0] = '\0';
  return n;
}

/* "mpirun", or "mpirun.openmpi" as on Debian. */
static bool is_named(pid_t pid, const char *name) {
  char found[32];
  const size_t n = strlen(name);
  return read_process(pid, "comm", found, sizeof(found)) > 0 &&
         strncmp(found, name, n) == 0 && (found[n] == '\n' || found[n] == '.');
}

static pid_t parent_of(pid_t pid) {
  char line[512];
  long parent = 0;
  read_process(pid, "stat", line, sizeof(line));
  const char *const rest = strrchr(line, ')'); /* its name may hold anything */
  return rest && sscanf(rest + 1, " %*c %ld", &parent) == 1 ? (pid_t)parent : 0;
}

void watch_note_starter(void) {
  watch.first = getppid();
}

/* The process of mpirun on this host that started this one: its parent, or a
   debugger or script stands between. It may have ended, and another process has
   this one now. */
static pid_t find_starter(void) {
  for (pid_t pid = getppid(); pid > 1; pid = parent_of(pid)) {
    for (const char *const *name = launcher.starters; *name; name++) {
      if (is_named(pid, *name)) {
        return pid;
      }
    }
  }
  return watch.first;
}

static int descriptor_of(pid_t pid) {
  const int fd = (int)syscall(SYS_pidfd_open, pid, 0);
  return fd < 0 && errno == ESRCH ? eventfd(1, EFD_CLOEXEC) : fd;
}

/* Open MPI's daemon would wait for a quarter of an hour for its host to be
   connected again, with nothing left to do. */
static void end_daemon(void) {
  if (!watch.daemon) {
    return;
  }
  kill(watch.parent, SIGTERM);
  struct pollfd p = {.fd = watch.parent_fd, .events = POLLIN};
  if (poll(&p, 1, DAEMON_MS) == 0) {
    kill(watch.parent, SIGKILL);
    poll(&p, 1, DAEMON_MS);
  }
}

/* Why it was lost nobody could read here; pemsrun says it, or is dead. Another
   thread may be about to end the process, and hang. */
static _Noreturn void end_alone(void) {
  stop_after(ALONE_SECONDS);
  atomic_store(&watch.lost, true);
  msg_end(MSG_FAILED);
}

static bool tell_all(const char *what, size_t n) {
  const int fd = atomic_load(&watch.line_fd);
  return fd >= 0 && getpid() == watch.process &&
         send(fd, what, n, MSG_NOSIGNAL) == (ssize_t)n;
}

static void answer_question(void) {
  char line[JOB_STATUS_LINE + 1];
  lock_take(&watch.lock);
  const int n = watch.status ? watch.status(line + 1) : 0;
  lock_give(&watch.lock);
  if (n > 0) {
    line[0] = LIFELINE_ANSWER;
    tell_all(line, (size_t)n + 1);
  }
}

void watch_on_question(watch_answer *answer) {
  lock_take(&watch.lock);
  watch.status = answer;
  lock_give(&watch.lock);
}

static void tell_leave(void) {
  bool (*const leave)(void) = watch.leave;
  if (leave && watch.leaves) {
    (void)leave();
  }
}

void watch_on_leave(bool (*leave)(void)) {
  watch.leave = leave;
  tell_leave();
}

/* There is something to read, or the connection is broken. */
static void hear(int fd) {
  char what;
  const ssize_t n = recv(fd, &what, 1, 0);
  if (n == 1 && what == LIFELINE_QUESTION) {
    answer_question();
    return;
  }
  if (n == 1 && what == LIFELINE_LEAVE) {
    watch.leaves = true;
    tell_leave();
    return;
  }
  if (n == 1 && what == LIFELINE_USR2) {
    (void)kill(getpid(), SIGUSR2);
    return;
  }
  if (n == 1) {
    atomic_store(&watch.answer, what);
    return;
  }
  if (n < 0 && (errno == EINTR || errno == EAGAIN)) {
    return;
  }
  if (n < 0 && errno != ECONNRESET) {
    end_daemon();
  } else {
    (void)wait_for(-1, 0, MPIRUN_MS);
  }
  end_alone();
}

static void tell_unwatched(void) {
  msg_notice("process %d on %s could not join pemsrun at port %s: should a "
             "host be lost, it is noticed late: let all ports through between "
             "the hosts, and raise ulimit -n where pemsrun says so",
             watch.hello.process, watch.hello.host, watch.places);
}

static bool tell(char what) {
  return tell_all(&what, 1);
}

/* pemsrun knows this process now. */
static void close_begun(void) {
  if (watch.begun >= 0) {
    close(watch.begun);
    watch.begun = -1;
  }
}

static void *run(void *arg) {
  (void)arg;
  const int fd = watch.places ? lifeline_connect(watch.places, &watch.hello,
                                                 CONNECT_MS, is_ready)
                              : -1;
  atomic_store(&watch.line_fd, fd);
  atomic_store(&watch.tried, true);
  close_begun();
  if (watch.places && fd < 0 && wait_for(-1, 0, 0) == TIME) {
    tell_unwatched();
  }
  enum event e;
  while ((e = wait_for(fd, POLLIN, -1)) != STOP) {
    if (e == ORPHAN) {
      tell(watch.daemon ? LIFELINE_ORPHAN : LIFELINE_LEFT);
      end_alone();
    }
    hear(fd);
  }
  return NULL;
}

/* What mpirun tells its processes; without it (*launched is false) there is
   one. False if nothing is known of either. */
static bool know_oneself(struct launcher_process *self, bool *launched) {
  struct lifeline_hello *const h = &watch.hello;
  *launched = launcher_process(self);
  h->process = self->rank;
  h->of = self->size;
  h->pid = getpid();
  h->job = self->job;
  return (*launched || watch.places) && h->process >= 0 &&
         gethostname(h->host, sizeof(h->host) - 1) == 0;
}

static void find_pemsrun(void) {
  const char *const places = getenv(LIFELINE_VARIABLE);
  const size_t n = places ? strcspn(places, ",") : 0;
  if (n && n <= LIFELINE_COOKIE && places[n]) {
    memcpy(watch.hello.cookie, places, n);
    watch.places = strdup(places + n + 1);
    if (!watch.places) {
      need_fail("the name of pemsrun's socket");
    }
    watch.begun = lifeline_take_back(watch.places);
  }
  unsetenv(LIFELINE_VARIABLE); /* not for what the program starts */
}

/* Should mpirun be killed, nothing of its files stays. */
static void keep_session(const struct launcher_process *self) {
  if (self->session) {
    keeper_join(self->session, watch.parent);
  } else {
    keeper_gather(watch.parent);
  }
  if (self->job) {
    keeper_note_memory(self->job);
  }
}

void watch_start(void) {
  struct launcher_process self;
  bool launched;
  find_pemsrun();
  if (!know_oneself(&self, &launched)) {
    return;
  }
  watch.process = getpid();
  watch.parent = find_starter();
  watch.parent_fd = descriptor_of(watch.parent);
  watch.daemon = is_named(watch.parent, launcher.daemon);
  if (launched) {
    keep_session(&self);
  }
  watch.stop = eventfd(0, EFD_CLOEXEC);
  if (watch.stop >= 0) {
    threads_start(&watch.thread, run, NULL);
    watch.started = true;
  }
}

/* --- saying --- */

void watch_end(void) {
  if (!watch.started) {
    return;
  }
  const uint64_t one = 1;
  const ssize_t written = write(watch.stop, &one, sizeof(one));
  (void)written; /* an eventfd takes it */
  pthread_join(watch.thread, NULL);
  tell(LIFELINE_BYE);
  const int fd = atomic_exchange(&watch.line_fd, -1);
  if (fd >= 0) {
    close(fd);
  }
  if (watch.parent_fd >= 0) {
    close(watch.parent_fd);
  }
  close(watch.stop);
  free(watch.places);
  watch.started = false;
}

bool watch_first_to_fail(void) {
  const struct timespec pause = {0, 1000000};
  for (int i = 0; watch.started && i < CONNECT_MS && !atomic_load(&watch.tried);
       i++) {
    nanosleep(&pause, NULL);
  }
  if (!tell(LIFELINE_MAY_I)) {
    return !watch_lost();
  }
  for (int i = 0; i < ANSWER_MS && !atomic_load(&watch.answer); i++) {
    nanosleep(&pause, NULL);
  }
  return atomic_load(&watch.answer) != LIFELINE_NO;
}

void watch_ends(int status) {
  const char words[] = {LIFELINE_STATUS, (char)status, LIFELINE_ENDS};
  tell_all(words, sizeof(words));
}

void watch_status(int status) {
  const char words[] = {LIFELINE_STATUS, (char)status};
  tell_all(words, sizeof(words));
}

bool watch_ended_by(pid_t sender) {
  return watch.started && sender == watch.parent && tell(LIFELINE_ENDED);
}

/* The socket does not block. */
static bool send_whole(int fd, const char *what, size_t n) {
  struct pollfd p = {.fd = fd, .events = POLLOUT};
  while (n > 0) {
    const ssize_t sent = send(fd, what, n, MSG_NOSIGNAL);
    if (sent > 0) {
      what += sent;
      n -= (size_t)sent;
    } else if ((errno != EAGAIN && errno != EINTR) ||
               poll(&p, 1, PRINT_MS) == 0) {
      return false;
    }
  }
  return true;
}

bool watch_print(const char *text) {
  char words[1 + LIFELINE_TEXT_SIZE] = {LIFELINE_TEXT};
  const int fd = atomic_load(&watch.line_fd);
  const size_t n = strlen(text) + 1;
  if (fd < 0 || getpid() != watch.process || n > LIFELINE_TEXT_SIZE) {
    return false;
  }
  memcpy(words + 1, text, n);
  return send_whole(fd, words, n + 1);
}

bool watch_lost(void) {
  return atomic_load(&watch.lost);
}

void watch_await_verdict(void) {
  const struct timespec pause = {LIFELINE_SECONDS + 3, 0};
  if (atomic_load(&watch.line_fd) >= 0) {
    nanosleep(&pause, NULL);
  }
}
