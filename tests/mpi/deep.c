/* Stacks that grow deep and become shallow again, by the program's own code, by
   the C library's, and under other threads and handlers; with MPI called at all
   depths. */
#define _GNU_SOURCE
#include <alloca.h>
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { KIB = 1 << 10, FRAME = 10 * KIB, DEEP = 500 };

static int rank, ranks;
static long wrong;

static unsigned char value(int depth, size_t i) {
  return (unsigned char)(rank * 13 + depth * 7 + (int)i);
}

static int count_all(int n) {
  int sum = 0;
  MPI_Allreduce(&n, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  return sum;
}

/* --- recursion --- */

/* Waits at every `each`-th frame on the way down, and on the way up; 0: never.
 */
static __attribute__((noinline)) long dig(int depth, int each) {
  unsigned char frame[FRAME];
  long sum = 0;
  for (size_t i = 0; i < FRAME; i++) {
    frame[i] = value(depth, i);
  }
  const int waits = each && depth % each == 0;
  wrong += waits && count_all(depth) != depth * ranks;
  if (depth) {
    sum = dig(depth - 1, each);
  }
  wrong += waits && count_all(1) != ranks;
  for (size_t i = 0; i < FRAME; i++) {
    wrong += frame[i] != value(depth, i);
    sum += frame[i];
  }
  return sum;
}

/* Down, up, and down again: what the stack had needed may have gone. */
static void recursion(void) {
  const long sum = dig(DEEP, 100);
  for (int i = 0; i < 3; i++) {
    wrong += count_all(i) != i * ranks;
    wrong += dig(DEEP, 1000) != sum;
  }
  wrong += dig(20, 1) == 0;
  wrong += dig(DEEP, 50) != sum;
}

/* --- messages from and to what was never touched --- */

static __attribute__((noinline)) void buffers(size_t n) {
  unsigned char *const in = alloca(n), *const out = alloca(n);
  const int next = (rank + 1) % ranks, last = (rank + ranks - 1) % ranks;
  memset(out, rank + 1, n);
  MPI_Sendrecv(out, (int)n, MPI_BYTE, next, 0, in, (int)n, MPI_BYTE, last, 0,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (size_t i = 0; i < n; i++) {
    wrong += in[i] != (unsigned char)(last + 1);
  }
}

static __attribute__((noinline)) void reads(size_t n) {
  char *const in = alloca(n);
  const int fd = open("/dev/zero", O_RDONLY);
  wrong += read(fd, in, n) != (ssize_t)n || in[0] || in[n / 2] || in[n - 1];
  close(fd);
}

/* --- longjmp --- */

static jmp_buf above;

static __attribute__((noinline)) void jump_from(int depth) {
  unsigned char frame[FRAME];
  memset(frame, depth, FRAME);
  wrong += depth % 50 == 0 &&
           count_all(frame[depth % FRAME] == (unsigned char)depth) != ranks;
  if (depth) {
    jump_from(depth - 1);
  }
  longjmp(above, 5);
}

static void jumps(void) {
  for (volatile int i = 0; i < 4; i++) {
    if (setjmp(above) == 0) {
      jump_from(100 * (i + 1));
    }
    wrong += count_all(2) != 2 * ranks;
  }
}

/* --- code of the C library --- */

static int compare(const void *a, const void *b) {
  const int x = *(const int *)a, y = *(const int *)b;
  volatile char frame[64 * KIB];
  frame[0] = frame[sizeof(frame) - 1] = (char)x;
  return (x > y) - (x < y);
}

/* Most of what the frames below touch first is touched by printf, malloc and
   qsort, at every place of the stack. */
static __attribute__((noinline)) void calls(int depth) {
  char text[1000];
  int item[64];
  for (int i = 0; i < 64; i++) {
    item[i] = (i * 37 + depth) % 64;
  }
  qsort(item, 64, sizeof(*item), compare);
  char *const block = malloc(5000);
  snprintf(text, sizeof(text), "%d %f %900d", depth, depth / 3.0, item[7]);
  block[0] = text[0];
  wrong += item[7] != 7 || block[0] != text[0];
  if (depth) {
    calls(depth - 1);
  }
  wrong += block[0] != text[0];
  free(block);
}

/* --- threads and handlers --- */

struct part {
  unsigned char *p;
  size_t n;
};

static void *fill(void *arg) {
  const struct part *const part = arg;
  memset(part->p, 9, part->n);
  return NULL;
}

static __attribute__((noinline)) void thread(size_t n) {
  unsigned char *const p = alloca(n);
  struct part part = {p, n};
  pthread_t other;
  wrong += pthread_create(&other, NULL, fill, &part) != 0;
  pthread_join(other, NULL);
  wrong += p[0] != 9 || p[n - 1] != 9 || p[n / 2] != 9;
}

static volatile sig_atomic_t handled;

static void handler(int number) {
  volatile char frame[100 * KIB];
  frame[0] = frame[sizeof(frame) - 1] = (char)number;
  handled += frame[0] == (char)number;
}

static void handlers(void) {
  const struct sigaction action = {.sa_handler = handler};
  sigset_t all, before;
  sigaction(SIGUSR1, &action, NULL);
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, &before);
  raise(SIGUSR1);
  wrong += dig(300, 0) == 0 || handled != 0;
  sigprocmask(SIG_SETMASK, &before, NULL);
  wrong += handled != 1;
}

static void children(void) {
  int status;
  const pid_t child = fork();
  if (child == 0) {
    const long errors = wrong;
    _exit(dig(DEEP, 0) != 0 && wrong == errors ? 7 : 1);
  }
  waitpid(child, &status, 0);
  wrong += !WIFEXITED(status) || WEXITSTATUS(status) != 7;
}

/* --- */

static void say(const char *what) {
  const int errors = count_all((int)wrong);
  if (rank == 0) {
    printf("%s: %d errors\n", what, errors);
  }
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  reads(1000 * KIB);
  say("reads");
  buffers(300 * KIB);
  buffers(1500 * KIB);
  say("buffers");
  recursion();
  say("recursion");
  jumps();
  say("jumps");
  calls(500);
  say("calls");
  thread(3000 * KIB);
  say("thread");
  handlers();
  say("handlers");
  children();
  say("children");
  MPI_Finalize();
  return 0;
}
