/* For tests of checkpoints: what a rank has of the system and of the C library:
   files, streams, actions for signals, timers, keys, a locale, random numbers.
   Rank 0 prints a line for each superstep, whose number depends on all of them.

     kept STEPS DIR HOLD [KIND]

   Files are in DIR, which has a file of numbers, "in". Ranks stop before step N
   while there is a file HOLD.N. KIND: what rank 1 has, or does, from step 2 to
   step 5 that cannot be saved; or "ask": all ranks ask for a
   checkpoint before step 7. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <locale.h>
#include <mpi.h>
#include <pems.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include <wchar.h>

#include "hold.h"

static int rank, size;
static const char *dir, *kind = "";
static volatile sig_atomic_t signals;
static pthread_key_t key, unused;
static FILE *out, *in, *own, *other;
static int raw, all_of_them, copy;
static char buffer[700]; /* of `own` */
static DIR *folder;
static int ends[2];
static timer_t timer;
static void *attached, *opened, *page;
static locale_t other_locale;
static const char *numbers; /* `in`, mapped, */
static char *record;        /* and a file that is written so */
static char *written;
static size_t length;

static void fail(const char *what) {
  fprintf(stderr, "rank %d: %s\n", rank, what);
  exit(1);
}

static const char *path(const char *name, int number) {
  static char text[4096];
  if (number < 0) {
    snprintf(text, sizeof(text), "%s/%s", dir, name);
  } else {
    snprintf(text, sizeof(text), "%s/%s.%d", dir, name, number);
  }
  return text;
}

static void on_signal(int number, siginfo_t *info, void *context) {
  (void)context;
  signals += number == SIGUSR2 && info->si_code == SI_TKILL ? 1 : 1000;
}

static void map_files(void) {
  const int input = open(path("in", -1), O_RDONLY);
  const int mine = open(path("record", rank), O_RDWR | O_CREAT, 0666);
  if (ftruncate(mine, 4096) != 0) {
    fail("a file has no size");
  }
  numbers = mmap(NULL, 500, PROT_READ, MAP_PRIVATE, input, 0);
  record = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, mine, 0);
  if (numbers == MAP_FAILED || record == MAP_FAILED) {
    fail("files cannot be mapped");
  }
  close(input);
  close(mine);
}

static void begin(void) {
  struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};
  const struct itimerval hour = {{0, 0}, {3600, 0}};
  out = fopen(path("out", rank), "w");
  in = fopen(path("in", -1), "r");
  own = fopen(path("own", rank), "w+");
  raw = open(path("raw", rank), O_RDWR | O_CREAT | O_TRUNC, 0666);
  copy = dup(raw);
  all_of_them = open(path("all", -1), O_WRONLY | O_CREAT | O_APPEND, 0666);
  if (!out || !in || !own || raw < 0 || copy < 0 || all_of_them < 0 ||
      setvbuf(own, buffer, _IOFBF, sizeof(buffer)) != 0) {
    fail("files cannot be opened");
  }
  if (sigaction(SIGUSR2, &action, NULL) != 0 ||
      signal(SIGHUP, SIG_IGN) == SIG_ERR ||
      setitimer(ITIMER_REAL, &hour, NULL) != 0 ||
      pthread_key_create(&unused, NULL) != 0 ||
      pthread_key_create(&key, free) != 0 || pthread_key_delete(unused) != 0 ||
      !setlocale(LC_ALL, "C.UTF-8")) {
    fail("something cannot be set");
  }
  map_files();
  pthread_setspecific(key, strdup("something of this thread"));
  srandom(17 + (unsigned)rank);
  srand48(42 + rank);
}

/* What all that has to say. */
static long look(int s) {
  const time_t second = 1000000 + s;
  struct itimerval left;
  struct sigaction action;
  long number = 0, at = 0;
  char text[64] = "";
  raise(SIGUSR2);
  sigaction(SIGHUP, NULL, &action);
  getitimer(ITIMER_REAL, &left);
  if (fscanf(in, "%ld", &number) != 1) {
    fail("what was read is over");
  }
  ungetc(' ', in);
  fprintf(out, "rank %d, step %d: %ld\n", rank, s, number);
  fprintf(own, "%d%*d\n", rank, 7 + s * 13 % 40, s);
  snprintf(text, sizeof(text), "%8d\n", s * 3);
  if (write(s % 2 ? copy : raw, text, 9) != 9 || lseek(raw, -9, SEEK_CUR) < 0 ||
      read(raw, text, 9) != 9) {
    fail("a file is lost");
  }
  at = lseek(raw, 0, SEEK_CUR);
  record[s] = (char)('a' + (s + rank + numbers[s]) % 26);
  at += numbers[5 * (s + rank) + 3] + record[s > 1 ? s - 2 : 0];
  const char *const value = pthread_getspecific(key);
  return number + at + signals + random() % 1000 + (long)(drand48() * 1000) +
         (value ? (long)strlen(value) : -7777) + (long)MB_CUR_MAX +
         (action.sa_handler == SIG_IGN) + (left.it_value.tv_sec > 1000) +
         atol(text) + localtime(&second)->tm_min;
}

/* Other streams come and go. */
static void change(int s) {
  char line[64];
  if (s % 5 == 1) {
    other = fopen(path("other", 100 * rank + s), "w");
  } else if (s % 5 == 3) {
    other = freopen(path("second", 100 * rank + s), "w", other);
  } else if (s % 5 == 4) {
    fclose(other);
    other = NULL;
  }
  if (other) {
    fprintf(other, "step %d\n", s);
  }
  if (s % 7 == 0) {
    fflush(NULL);
  }
  snprintf(line, sizeof(line), "rank %3d step %3d\n", rank, s);
  if (write(all_of_them, line, strlen(line)) < 0) {
    fail("the file of all is lost");
  }
}

static int is(const char *what) {
  return strcmp(kind, what) == 0;
}

static void take(void) {
  struct sigevent event = {.sigev_notify = SIGEV_NONE};
  if (is("removed")) {
    other = fopen(path("removed", rank), "w");
    unlink(path("removed", rank));
  } else if (is("replaced")) {
    other = fopen(path("replaced", rank), "w");
    unlink(path("replaced", rank));
    close(creat(path("replaced", rank), 0666));
  } else if (is("temporary")) {
    other = tmpfile();
  } else if (is("wide")) {
    other = fopen(path("wide", rank), "w");
    fputws(L"wide", other);
  } else if (is("folder")) {
    folder = opendir(dir);
  } else if (is("socket")) {
    ends[0] = socket(AF_INET, SOCK_STREAM, 0);
  } else if (is("pipe")) {
    (void)!pipe(ends);
  } else if (is("process")) {
    other = popen("cat >/dev/null", "w");
  } else if (is("fifo")) {
    ends[0] = open(path("fifo", -1), O_RDWR);
  } else if (is("terminal")) {
    ends[0] = open("/dev/ptmx", O_RDWR | O_NOCTTY);
  } else if (is("timer")) {
    timer_create(CLOCK_MONOTONIC, &event, &timer);
  } else if (is("copy")) {
    ends[0] = dup2(raw, 99);
  } else if (is("plugin")) {
    opened = dlopen("libresolv.so.2", RTLD_NOW); /* all ranks share it */
    if (!opened) {
      fail("a library cannot be opened");
    }
  } else if (is("protected")) {
    page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                -1, 0);
    mprotect(page, 4096, PROT_READ);
  } else if (is("part")) {
    const int fd = open(path("record", 0), O_RDONLY);
    page = mmap(NULL, 8192, PROT_READ, MAP_SHARED, fd, 0);
    munmap((char *)page + 4096, 4096);
    close(fd);
  } else if (is("locale")) {
    other_locale = newlocale(LC_ALL_MASK, "C.UTF-8", (locale_t)0);
  } else if (is("text")) {
    other = open_memstream(&written, &length);
  } else if (is("segment")) {
    const int id = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600);
    attached = shmat(id, NULL, 0);
    shmctl(id, IPC_RMID, NULL);
  }
}

/* What the C library has loaded for wide characters stays. */
static void give(void) {
  if (is("wide") || is("coroutine")) {
    return;
  }
  if (is("folder")) {
    closedir(folder);
  } else if (is("timer")) {
    timer_delete(timer);
  } else if (is("segment")) {
    shmdt(attached);
  } else if (is("plugin")) {
    dlclose(opened);
  } else if (is("protected") || is("part")) {
    munmap(page, is("part") ? 8192 : 4096);
  } else if (is("locale")) {
    freelocale(other_locale);
  } else if (is("text")) {
    fclose(other);
    free(written);
  } else if (is("process")) {
    pclose(other);
  } else if (is("pipe")) {
    close(ends[0]);
    close(ends[1]);
  } else if (ends[0]) {
    close(ends[0]);
  } else {
    fclose(other);
  }
  other = NULL;
}

static long mine, all;

static void add(void) {
  MPI_Allreduce(&mine, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
}

/* The call, on a stack of the program's own. */
static void add_apart(void) {
  static char stack[1 << 16];
  ucontext_t here, there;
  getcontext(&there);
  there.uc_stack.ss_sp = stack;
  there.uc_stack.ss_size = sizeof(stack);
  there.uc_link = &here;
  makecontext(&there, add, 0);
  swapcontext(&here, &there);
}

static void end(void) {
  fclose(in);
  fclose(own);
  close(raw);
  /* `out` is left to the end of the rank. */
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int steps = atoi(argv[1]);
  dir = argv[2];
  kind = argc > 4 ? argv[4] : "";
  const int has = *kind && rank == 1 && !is("ask");
  begin();
  for (int s = 0; s < steps; s++) {
    const int apart = has && is("coroutine") && s >= 2 && s <= 5;
    if (has && s == 2) {
      take();
    }
    stop_before(s, argv[3]);
    if (is("ask") && s == 7 && pems_checkpoint() != 0) {
      fail("there are no checkpoints");
    }
    mine = look(s);
    if (!*kind) {
      change(s);
    }
    (apart ? add_apart : add)();
    if (rank == 0) {
      printf("step %d: %ld\n", s, all);
    }
    if (has && s == 5) {
      give();
    }
  }
  if (rank == 0) {
    printf("the end of %d\n", steps);
  }
  end();
  MPI_Finalize();
  return 0;
}
