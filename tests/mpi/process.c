/* What each rank can do because it is a process of its own: children, threads,
   its own working directory and umask, a large stack, and its own way to
   end. */
#define _GNU_SOURCE
#include "test.h"

#include <pthread.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MIB = 1 << 20, CHILD = 8 * MIB, MINE = 6 * MIB, THREADS = 3 };

static char *mine; /* MINE bytes that nobody may disturb */

static char pattern(size_t i, int salt) {
  return (char)(i * 31 + i / 4096 * 7 + (size_t)salt * 13);
}

static void fill(char *bytes, size_t n, int salt) {
  for (size_t i = 0; i < n; i++) {
    bytes[i] = pattern(i, salt);
  }
}

static bool is_filled(const char *bytes, size_t n, int salt) {
  for (size_t i = 0; i < n; i++) {
    if (bytes[i] != pattern(i, salt)) {
      return false;
    }
  }
  return true;
}

static void supersteps(int n) {
  for (int i = 0; i < n; i++) {
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

/* A child that works while its parent and the other ranks go on: it starts when
   told to. Its status tells what went wrong. */
static _Noreturn void child(int start, int done) {
  char byte = 0;
  if (read(start, &byte, 1) != 1) {
    _exit(1);
  }
  if (!is_filled(mine, MINE, 3000 + rank)) { /* whatever the parent did since */
    _exit(5);
  }
  char *block = malloc(CHILD);
  if (!block) {
    _exit(2);
  }
  fill(block, CHILD, 1000 + rank);
  fill(mine, MINE, 2000 + rank); /* its copy, not the parent's */
  char *more = realloc(malloc(100), MIB);
  memset(more, 1, MIB);
  free(more);
  if (write(done, &byte, 1) != 1) {
    _exit(3);
  }
  if (!is_filled(block, CHILD, 1000 + rank) ||
      !is_filled(mine, MINE, 2000 + rank)) {
    _exit(4);
  }
  free(block);
  _exit(40 + rank);
}

static pid_t fork_child(int *start, int *done) {
  int go[2], ready[2];
  if (pipe(go) != 0 || pipe(ready) != 0) {
    fail("pipe");
  }
  fflush(stdout);
  const pid_t pid = fork();
  if (pid == 0) {
    child(go[0], ready[1]);
  }
  if (pid < 0) {
    fail("fork");
  }
  close(go[0]);
  close(ready[1]);
  *start = go[1];
  *done = ready[0];
  return pid;
}

static int status_of(pid_t pid) {
  int status = -1;
  if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status)) {
    return -1;
  }
  return WEXITSTATUS(status);
}

static void children(void) {
  const bool parent = rank % 2 == 0;
  int start = -1, done = -1;
  char byte = 'x';
  fill(mine, MINE, 3000 + rank);
  supersteps(2);
  const pid_t pid = parent ? fork_child(&start, &done) : 0;
  fill(mine, MINE, rank + 1);
  supersteps(2);
  if (parent && write(start, &byte, 1) != 1) {
    fail("a child could not be started");
  }
  supersteps(3);
  if (parent && read(done, &byte, 1) != 1) {
    fail("a child ended early");
  }
  supersteps(2);
  if (!is_filled(mine, MINE, rank + 1)) {
    fail("memory changed while there were children");
  }
  if (parent) {
    close(start);
    close(done);
    const int status = status_of(pid);
    if (status != 40 + rank) {
      fail("a child's status is %d", status);
    }
  }
  supersteps(1);
  if (!is_filled(mine, MINE, rank + 1)) {
    fail("memory changed when the children had ended");
  }
}

/* A process's memory is its own: globals, small blocks and large ones; that of
   a child, and of a child of that. */
enum { SMALL = 200, GLOBAL = 300000 };

static char global[GLOBAL];
static int one_global;
static char *small;

static void fill_all(int salt) {
  fill(mine, MINE, salt);
  fill(global, GLOBAL, salt);
  fill(small, SMALL, salt);
  one_global = salt;
}

static bool all_is(int salt) {
  return is_filled(mine, MINE, salt) && is_filled(global, GLOBAL, salt) &&
         is_filled(small, SMALL, salt) && one_global == salt;
}

static void tell(const int *ends) {
  char byte = 0;
  if (write(ends[1], &byte, 1) != 1) {
    fail("a pipe");
  }
}

/* Not by its end: children of other ranks may have it open, too. */
static bool await(const int *ends) {
  char byte;
  return read(ends[0], &byte, 1) == 1;
}

static _Noreturn void generation(int depth, const int *parents) {
  int go[2], status = 0;
  /* Until the parent has overwritten its own. */
  if (!await(parents) || !all_is(10 + depth) || pipe(go) != 0) {
    _exit(60 + depth);
  }
  fill_all(11 + depth);
  const pid_t pid = depth < 2 ? fork() : 0;
  if (depth < 2 && pid == 0) {
    generation(depth + 1, go);
  }
  fill_all(11 + depth + 100);
  if (depth < 2) {
    tell(go);
    if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) ||
        WEXITSTATUS(status) != 0) {
      _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 70 + depth);
    }
  }
  _exit(all_is(11 + depth + 100) ? 0 : 80 + depth);
}

static void generations(void) {
  int go[2];
  small = malloc(SMALL);
  fill_all(10);
  supersteps(2);
  if (pipe(go) != 0) {
    fail("pipe");
  }
  fflush(stdout);
  const pid_t pid = fork();
  if (pid == 0) {
    generation(0, go);
  }
  fill_all(rank + 1);
  tell(go);
  const int status = status_of(pid);
  close(go[0]);
  close(go[1]);
  if (status != 0) {
    fail("memory of children: %d", status);
  }
  if (!all_is(rank + 1)) {
    fail("memory of the parent of children");
  }
  free(small);
  supersteps(1);
}

static pid_t own_pid;

static void at_child_end(void) {
  if (getpid() != own_pid) {
    printf("rank %d: the child's handler: %d\n", rank,
           is_filled(mine, MINE, rank + 1));
  }
}

/* A child that ends by exit runs the handlers of its parent, once, and none of
   the other ranks'. */
static void polite_child(void) {
  own_pid = getpid();
  atexit(at_child_end);
  supersteps(2);
  fflush(stdout);
  const pid_t pid = rank % 2 ? fork() : -1;
  if (pid == 0) {
    exit(50 + rank);
  }
  supersteps(2);
  const int status = rank % 2 ? status_of(pid) : 50 + rank;
  if (status != 50 + rank) {
    fail("the status of a child that calls exit is %d", status);
  }
}

/* Children that run other programs see this rank's environment. */
static void commands(void) {
  char number[16], line[32] = "";
  snprintf(number, sizeof(number), "%d", 10 + rank);
  setenv("PEMS_TEST_PROCESS", number, 1);
  supersteps(1);
  const int status = system("exit $PEMS_TEST_PROCESS");
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 10 + rank) {
    fail("system: status %x", (unsigned)status);
  }
  FILE *f = popen("echo is $PEMS_TEST_PROCESS", "r");
  if (!f || !fgets(line, sizeof(line), f) || atoi(line + 3) != 10 + rank) {
    fail("popen: %s", line);
  }
  if (f && pclose(f) != 0) {
    fail("pclose");
  }
  const pid_t pid = fork();
  if (pid == 0) {
    execlp("sh", "sh", "-c", "exit $PEMS_TEST_PROCESS", (char *)NULL);
    _exit(99);
  }
  const int got = status_of(pid);
  if (got != 10 + rank) {
    fail("execlp: status %d", got);
  }
}

/* What reads from a rank ends when that rank closes it, whatever others run. */
static void streams(void) {
  FILE *const first = rank % 2 ? NULL : popen("cat >/dev/null", "w");
  supersteps(1);
  FILE *const later = rank % 2 ? popen("cat >/dev/null", "w") : NULL;
  supersteps(1);
  if (!first && !later) {
    fail("popen to write");
  }
  if (first && pclose(first) != 0) {
    fail("pclose while another rank's program runs");
  }
  supersteps(1);
  if (later && pclose(later) != 0) {
    fail("pclose of the later one");
  }
}

/* Working directory and umask. */
static void directory(void) {
  char name[] = "/tmp/pems-process.XXXXXX", here[64];
  const mode_t mask = rank % 2 ? 077 : 027;
  struct stat stat_of;
  if (!mkdtemp(name) || chdir(name) != 0) {
    fail("chdir");
  }
  umask(mask);
  supersteps(2);
  if (!getcwd(here, sizeof(here)) || strcmp(here, name) != 0) {
    fail("getcwd: %s, not %s", here, name);
  }
  FILE *f = fopen("file", "w");
  supersteps(1);
  if (!f || fclose(f) != 0 || stat("file", &stat_of) != 0 ||
      (stat_of.st_mode & 0777) != (0666 & ~mask)) {
    fail("umask");
  }
  if (umask(022) != mask) {
    fail("umask of another rank");
  }
  if (remove("file") != 0 || chdir("/") != 0 || rmdir(name) != 0) {
    fail("rmdir");
  }
}

static int deep(int depth) {
  volatile char block[MIB / 4];
  block[0] = block[sizeof(block) - 1] = (char)depth;
  const int below = depth > 0 ? deep(depth - 1) : 0;
  if (depth == 0) {
    MPI_Barrier(MPI_COMM_WORLD);
  }
  return below + (block[0] == (char)depth && block[sizeof(block) - 1] == depth);
}

static void stack(void) {
  char block[5 * MIB];
  fill(block, sizeof(block), rank);
  supersteps(2);
  MPI_Bcast(block, 2 * MIB, MPI_CHAR, size - 1, MPI_COMM_WORLD);
  if (!is_filled(block, 2 * MIB, size - 1)) {
    fail("received on the stack");
  }
  for (size_t i = 2 * MIB; i < sizeof(block); i++) {
    if (block[i] != pattern(i, rank)) {
      fail("the stack at %zu", i);
      break;
    }
  }
}

/* Threads that compute and allocate between two calls of MPI. */
struct work {
  pthread_t thread;
  int number;
  char *result;
};

static pthread_key_t thread_key, end_key;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int destroyed;
static __thread int per_thread = 3;

static void destroy(void *block) {
  pthread_mutex_lock(&lock);
  destroyed += *(int *)block;
  pthread_mutex_unlock(&lock);
  free(block);
}

static void *work(void *arg) {
  struct work *w = arg;
  int *number = malloc(sizeof(*number));
  *number = 1;
  pthread_setspecific(thread_key, number);
  void *blocks[50] = {0};
  for (int i = 0; i < 2000; i++) {
    const int at = i % 50;
    free(blocks[at]);
    blocks[at] = malloc((size_t)(i * 37 % 5000) + 1);
    memset(blocks[at], i, (size_t)(i * 37 % 5000) + 1);
  }
  for (int i = 0; i < 50; i++) {
    free(blocks[i]);
  }
  per_thread += w->number;
  w->result = malloc(MIB);
  fill(w->result, MIB, w->number + per_thread + rank);
  if (w->number % 2) {
    pthread_exit(w);
  }
  return w;
}

static void threads(void) {
  struct work all[THREADS];
  pthread_key_create(&thread_key, destroy);
  destroyed = 0;
  for (int i = 0; i < THREADS; i++) {
    all[i] = (struct work){.number = i};
    if (pthread_create(&all[i].thread, NULL, work, &all[i]) != 0) {
      fail("pthread_create");
    }
  }
  for (int i = 0; i < THREADS; i++) {
    void *result = NULL;
    pthread_join(all[i].thread, &result);
    if (result != &all[i]) {
      fail("pthread_join");
    }
  }
  if (destroyed != THREADS || per_thread != 3) {
    fail("threads: %d destructors, %d", destroyed, per_thread);
  }
  supersteps(2);
  for (int i = 0; i < THREADS; i++) {
    if (!is_filled(all[i].result, MIB, i + 3 + i + rank)) {
      fail("what a thread allocated");
    }
    free(all[i].result);
  }
  pthread_key_delete(thread_key);
}

/* Ends. Lines after MPI_Finalize are written by handlers, which run as they do
   in a process; ranks 1, 6, 11, ... leave by pthread_exit. */
static void say(const char *what) {
  printf("rank %d: at the end: %s, %d\n", rank, what,
         is_filled(mine, MINE, rank + 1));
}

static void at_end_first(void) {
  say("the first handler");
}

static void at_end_last(void) {
  say("the last handler");
  if (rank % 5 == 2) {
    exit(0);
  }
#ifdef OPEN_MPI /* Hydra ends the job of a process that ends so */
  if (rank % 5 == 3) {
    _exit(0);
  }
#endif
}

/* Only pthread_exit runs it: returning from main ends the process. */
static void at_thread_end(void *block) {
  say(block);
  free(block);
}

static int run(int argc, char **argv) {
  begin(&argc, &argv);
  mine = malloc(MINE);
  fill(mine, MINE, rank + 1);
  children();
  generations();
  polite_child();
  commands();
  streams();
  directory();
  if (deep(20) != 21) {
    fail("a deep stack");
  }
  stack();
  threads();
  pthread_key_create(&end_key, at_thread_end);
  pthread_setspecific(end_key, strdup("data of the main thread"));
  atexit(at_end_first);
  atexit(at_end_last);
  return end();
}

int main(int argc, char **argv) {
  const int status = run(argc, argv);
  if (rank % 5 == 1 && !status) {
    pthread_exit(NULL);
  }
  return status;
}
