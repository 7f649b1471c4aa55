/* Signals: each rank has handlers of its own, which use its memory, and timers
   of its own; what it sends to itself comes to it alone. */
#define _GNU_SOURCE
#include "test.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { WORDS = 1 << 17 };

static volatile int *count; /* on the heap: of each signal */
static volatile int last_code, last_value, last_pid;
static int *words;

static void on_count(int number) {
  count[number]++;
  words[(size_t)(number * 7919 + count[number] * 4099) % WORDS] ^= 1;
}

static void on_other(int number) {
  count[number] += 100;
}

static void on_info(int number, siginfo_t *info, void *context) {
  (void)context;
  count[number]++;
  last_code = info->si_code;
  last_pid = info->si_pid == getpid();
  last_value = info->si_value.sival_int;
}

static void (*set(int number, void (*f)(int), int flags))(int) {
  struct sigaction old, action = {.sa_handler = f, .sa_flags = flags};
  if (sigaction(number, &action, &old) != 0) {
    fail("sigaction %d: %s", number, strerror(errno));
  }
  return old.sa_handler;
}

static void barriers(int n) {
  for (int i = 0; i < n; i++) {
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

static void expect(const char *what, int is, int wanted) {
  if (is != wanted) {
    fail("%s: %d, not %d", what, is, wanted);
  }
}

/* Odd and even ranks install different functions; a rank may have none. */
static void own_handlers(void) {
  memset((void *)count, 0, 65 * sizeof(*count));
  expect("the first action",
         set(SIGUSR1, rank % 2 ? on_count : on_other, 0) == SIG_DFL, 1);
  barriers(2);
  raise(SIGUSR1);
  expect("raise", count[SIGUSR1], rank % 2 ? 1 : 100);
  kill(getpid(), SIGUSR1);
  expect("kill", count[SIGUSR1], rank % 2 ? 2 : 200);
  pthread_kill(pthread_self(), SIGUSR1);
  expect("pthread_kill", count[SIGUSR1], rank % 2 ? 3 : 300);
  barriers(2);
  expect("from others", count[SIGUSR1], rank % 2 ? 3 : 300);
  expect("old action",
         set(SIGUSR1, SIG_IGN, 0) == (rank % 2 ? on_count : on_other), 1);
  raise(SIGUSR1);
  barriers(1);
  expect("ignored", count[SIGUSR1], rank % 2 ? 3 : 300);
  expect("signal", signal(SIGUSR1, on_count) == SIG_IGN, 1);
  barriers(1);
  kill(getpid(), SIGUSR1);
  expect("after signal", count[SIGUSR1], rank % 2 ? 4 : 301);
  raise(SIGCHLD); /* by default nothing */
  expect("SIGKILL",
         sigaction(SIGKILL, &(struct sigaction){.sa_handler = on_count}, NULL),
         -1);
  expect("a number", sigaction(1000, NULL, &(struct sigaction){0}), -1);
}

static void details(void) {
  struct sigaction action = {.sa_sigaction = on_info, .sa_flags = SA_SIGINFO};
  struct sigaction old;
  memset((void *)count, 0, 65 * sizeof(*count));
  sigaction(SIGRTMIN + 1, &action, NULL);
  barriers(1);
  for (int i = 0; i < 5; i++) {
    sigqueue(getpid(), SIGRTMIN + 1,
             (union sigval){.sival_int = 10 * rank + i});
  }
  expect("queued", count[SIGRTMIN + 1], 5);
  expect("code", last_code, SI_QUEUE);
  expect("value", last_value, 10 * rank + 4);
  expect("sender", last_pid, 1);
  sigaction(SIGRTMIN + 1, NULL, &old);
  expect("asked", old.sa_sigaction == on_info && old.sa_flags & SA_SIGINFO, 1);
  sigaction(SIGUSR2, &action, NULL);
  kill(getpid(), SIGUSR2);
  expect("code of kill", last_code, SI_USER);
  set(SIGUSR2, on_count, SA_RESETHAND);
  raise(SIGUSR2);
  sigaction(SIGUSR2, NULL, &old);
  expect("reset", old.sa_handler == SIG_DFL, 1);
}

/* Those that are blocked wait; they can be taken without a handler. */
static void masks(void) {
  sigset_t one, before, pending;
  int number = 0;
  memset((void *)count, 0, 65 * sizeof(*count));
  set(SIGUSR1, on_count, 0);
  sigemptyset(&one);
  sigaddset(&one, SIGUSR1);
  sigprocmask(SIG_BLOCK, &one, &before);
  raise(SIGUSR1);
  barriers(3);
  sigpending(&pending);
  expect("pending", sigismember(&pending, SIGUSR1), 1);
  expect("blocked", count[SIGUSR1], 0);
  sigsuspend(&before);
  expect("sigsuspend", count[SIGUSR1], 1);
  raise(SIGUSR1); /* kill's may go to a thread of Open MPI's */
  expect("sigwait", sigwait(&one, &number), 0);
  expect("number", number, SIGUSR1);
  expect("not handled", count[SIGUSR1], 1);
  const struct timespec none = {0, 0};
  expect("nothing", sigtimedwait(&one, NULL, &none), -1);
  sigprocmask(SIG_SETMASK, &before, NULL);
  barriers(1);
}

static sigjmp_buf away;

static void on_jump(int number) {
  count[number]++;
  siglongjmp(away, number);
}

static void jumps(void) {
  set(SIGUSR2, on_jump, 0);
  memset((void *)count, 0, 65 * sizeof(*count));
  for (int i = 0; i < 20; i++) {
    const int number = sigsetjmp(away, 1);
    if (number == 0) {
      raise(SIGUSR2);
    }
    expect("jumped", number, SIGUSR2);
    if (i % 5 == 0) {
      barriers(1);
    }
  }
  expect("jumps", count[SIGUSR2], 20);
}

/* A rank's own faults come to its own handler; ranks ask for different ones. */
static void faults(void) {
  volatile int zero = 0;
  int *volatile nowhere = NULL;
  set(SIGSEGV, on_jump, 0);
  set(SIGFPE, on_jump, SA_NODEFER);
  barriers(2);
  int number = sigsetjmp(away, 1);
  if (number == 0) {
    *nowhere = 1;
  }
  expect("SIGSEGV", number, SIGSEGV);
  barriers(1);
  number = sigsetjmp(away, 1);
  if (number == 0) {
    raise(SIGFPE);
  }
  expect("SIGFPE", number, SIGFPE + zero);
  set(SIGSEGV, SIG_DFL, 0);
  set(SIGFPE, SIG_DFL, 0);
  barriers(1);
}

static void wait_for(int number, int n) {
  const struct timespec pause = {0, 1000000};
  for (int i = 0; i < 20000 && count[number] < n; i++) {
    nanosleep(&pause, NULL);
  }
  if (count[number] < n) {
    fail("signal %d came %d times, not %d", number, count[number], n);
  }
}

/* Every rank's timers are its own: those with odd numbers have none. */
static void timers(void) {
  const struct itimerval often = {{0, 2000}, {0, 1000}},
                         never = {{0, 0}, {0, 0}};
  struct itimerval old;
  struct sigaction action = {.sa_sigaction = on_info, .sa_flags = SA_SIGINFO};
  memset((void *)count, 0, 65 * sizeof(*count));
  sigaction(SIGALRM, &action, NULL);
  barriers(1);
  if (rank % 2 == 0) {
    setitimer(ITIMER_REAL, &often, NULL);
    for (int i = 0; i < 5; i++) {
      wait_for(SIGALRM, 4 * i);
      MPI_Barrier(MPI_COMM_WORLD);
    }
    getitimer(ITIMER_REAL, &old);
    expect("interval", (int)old.it_interval.tv_usec, 2000);
    setitimer(ITIMER_REAL, &never, &old);
    expect("code of a timer", last_code, SI_KERNEL);
  } else {
    barriers(5);
    expect("another rank's alarm", count[SIGALRM], 0);
  }
  barriers(1);
  expect("no alarm", (int)alarm(1000), 0);
  barriers(1);
  const unsigned left = alarm(0);
  if (left < 900 || left > 1000) {
    fail("alarm: %u seconds were left", left);
  }
  const int before = count[SIGALRM];
  sigset_t one, mask;
  sigemptyset(&one);
  sigaddset(&one, SIGALRM);
  sigprocmask(SIG_BLOCK, &one, &mask);
  if (rank % 2 == 0) {
    alarm(1);
    barriers(1);
    expect("sigsuspend", sigsuspend(&mask), -1);
  } else {
    barriers(1);
  }
  sigprocmask(SIG_SETMASK, &mask, NULL);
  barriers(1);
  expect("an alarm", count[SIGALRM] - before, rank % 2 ? 0 : 1);
}

static void more_timers(void) {
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL,
                           .sigev_signo = SIGRTMIN + 2,
                           .sigev_value.sival_int = 7 + rank};
  const struct itimerspec often = {{0, 2000000}, {0, 1000000}};
  timer_t timer;
  struct sigaction action = {.sa_sigaction = on_info, .sa_flags = SA_SIGINFO};
  sigaction(SIGRTMIN + 2, &action, NULL);
  if (timer_create(CLOCK_REALTIME, &event, &timer) != 0) {
    fail("timer_create");
  }
  if (rank % 2) {
    timer_settime(timer, 0, &often, NULL);
  }
  barriers(2);
  if (rank % 2) {
    wait_for(SIGRTMIN + 2, 3);
    expect("value of a timer", last_value, 7 + rank);
    expect("code of a timer", last_code, SI_TIMER);
  }
  timer_delete(timer);
  barriers(1);
  if (rank % 2 == 0) {
    expect("another rank's timer", count[SIGRTMIN + 2], 0);
  }
  set(SIGVTALRM, on_count, SA_RESTART);
  const struct itimerval soon = {{0, 0}, {0, 2000}};
  setitimer(ITIMER_VIRTUAL, &soon, NULL);
  for (volatile long i = 0; i < 2000000000 && !count[SIGVTALRM]; i++) {
  }
  expect("time on a processor", count[SIGVTALRM], 1);
}

/* A child has its parent's handlers, and a program that it becomes what its
   parent ignores. */
static void children(void) {
  int status = 0;
  set(SIGUSR1, on_count, 0);
  set(SIGUSR2, SIG_IGN, 0);
  count[SIGUSR1] = 0;
  barriers(2);
  fflush(stdout);
  pid_t pid = fork();
  if (pid == 0) {
    kill(getpid(), SIGUSR1);
    raise(SIGUSR1);
    signal(SIGUSR1, SIG_DFL);
    raise(SIGUSR2);
    _exit(count[SIGUSR1] == 2 ? 33 : 34);
  }
  barriers(2);
  waitpid(pid, &status, 0);
  expect("a child", WIFEXITED(status) ? WEXITSTATUS(status) : -1, 33);
  expect("of the parent", count[SIGUSR1], 0);
  pid = fork();
  if (pid == 0) {
    signal(SIGUSR1, SIG_DFL);
    raise(SIGUSR1);
    _exit(35);
  }
  waitpid(pid, &status, 0);
  expect("a child's end", WIFSIGNALED(status) ? WTERMSIG(status) : -1, SIGUSR1);
  pid = fork();
  if (pid == 0) {
    execlp("sh", "sh", "-c", "kill -USR2 $$; exit 36", (char *)NULL);
    _exit(37);
  }
  waitpid(pid, &status, 0);
  expect("inherited", WIFEXITED(status) ? WEXITSTATUS(status) : -1, 36);
  barriers(1);
}

int main(int argc, char **argv) {
  begin(&argc, &argv);
  count = calloc(65, sizeof(*count));
  words = calloc(WORDS, sizeof(*words));
  own_handlers();
  details();
  masks();
  jumps();
  faults();
  timers();
  more_timers();
  children();
  return end();
}
