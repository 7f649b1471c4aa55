/* An MPI program that does one thing wrong:

     misbehave MODE RANK [NUMBER]

   Every rank holds an array of NUMBER MiB (1 if not given), and after two
   supersteps that touch it rank RANK misbehaves as MODE says, while the others
   go on to a barrier. */
#include <errno.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MIB = 1 << 20 };

static volatile int *volatile null_pointer;

/* Adds 1 to every word of the array. */
static void touch(uint64_t *words, size_t n) {
  for (size_t i = 0; i < n; i++) {
    words[i]++;
  }
}

static void check(const uint64_t *words, size_t n, uint64_t expected) {
  for (size_t i = 0; i < n; i++) {
    if (words[i] != expected) {
      printf("wrong: word %zu is not %ju\n", i, (uintmax_t)expected);
      exit(99);
    }
  }
}

/* Allocates until there is no more, says so and frees everything. */
static void exhaust_memory(void) {
  enum { MOST = 1024 }; /* far more than a context of these tests */
  static void *blocks[MOST];
  size_t n = 0;
  errno = 0;
  while (n < MOST && (blocks[n] = malloc(MIB)) != NULL) {
    memset(blocks[n], 1, MIB);
    n++;
  }
  printf("malloc: %s\n", n == MOST ? "no end" : strerror(errno));
  fflush(stdout);
  while (n > 0) {
    free(blocks[--n]);
  }
}

/* Works in supersteps until it is stopped. */
static _Noreturn void spin(uint64_t *words, size_t n) {
  for (;;) {
    touch(words, n);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

/* An array much larger than what is usual for a stack, filled downwards. */
static void large_frame(size_t mib) {
  volatile char block[mib << 20];
  for (size_t i = sizeof(block); i > 0; i -= 4096) {
    block[i - 1] = 1;
  }
}

/* The lowest byte of an array. */
static void touch_low(size_t mib) {
  volatile char block[mib << 20];
  block[0] = 1;
}

/* Empties the scratch files of this process, as a disk might that fails. Ranks'
   writes make them long again, with zeros in the place of what was there, so
   that goes on until the job ends. */
static void *cut_scratch(void *arg) {
  (void)arg;
  int files[64], n = 0;
  for (int fd = 3; fd < 1024 && n < 64; fd++) {
    char name[64], path[4096];
    snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
    const ssize_t length = readlink(name, path, sizeof(path) - 1);
    path[length > 0 ? length : 0] = '\0';
    if (strstr(path, "/disk/")) {
      files[n++] = fd;
    }
  }
  for (int i = 0; n > 0 && ftruncate(files[i % n], 0) == 0; i++) {
  }
  exit(97);
}

/* Returns what main is to return if the program is to end normally. */
static int misbehave(const char *mode) {
  if (strcmp(mode, "return3") == 0) {
    return 3;
  }
  if (strcmp(mode, "exit4") == 0) {
    exit(4);
  } else if (strcmp(mode, "exit0") == 0) {
    exit(0);
  } else if (strcmp(mode, "abort") == 0) {
    abort();
  } else if (strcmp(mode, "null") == 0) {
    *null_pointer = 1;
  } else if (strcmp(mode, "no_memory") == 0) {
    char *volatile p = malloc((size_t)1 << 40);
    MPI_Abort(MPI_COMM_WORLD, p ? 0 : 3);
  } else if (strcmp(mode, "no_memory_abort") == 0) {
    void *volatile p = malloc((size_t)1 << 40);
    if (!p) {
      abort();
    }
  } else if (strcmp(mode, "no_memory_null") == 0) {
    volatile int *volatile p = malloc((size_t)1 << 40);
    p[2] = 1;
  } else if (strcmp(mode, "stack") == 0) {
    large_frame(40);
  } else if (strcmp(mode, "stack_huge") == 0) {
    touch_low(1040);
  } else if (strcmp(mode, "usr2") == 0) {
    raise(SIGUSR2);
  } else if (strcmp(mode, "mpi_abort7") == 0) {
    MPI_Abort(MPI_COMM_WORLD, 7);
  } else if (strcmp(mode, "memory") == 0) {
    exhaust_memory();
  } else if (strcmp(mode, "leave") == 0) {
    MPI_Finalize();
    exit(0);
  }
  return 0;
}

int main(int argc, char **argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    printf("started\n");
    fflush(stdout);
  }
  const char *const mode = argc > 1 ? argv[1] : "";
  const int culprit = argc > 2 ? atoi(argv[2]) : 0;
  const size_t n =
      (argc > 3 ? (size_t)atoi(argv[3]) : 1) * MIB / sizeof(uint64_t);

  uint64_t *const words = calloc(n, sizeof(*words));
  if (words == NULL) {
    printf("calloc: %s\n", strerror(errno));
    return 98;
  }
  for (uint64_t step = 1; step <= 2; step++) {
    touch(words, n);
    MPI_Barrier(MPI_COMM_WORLD);
    check(words, n, step);
  }
  if (rank == 0) {
    printf("running\n");
    fflush(stdout);
  }
  pthread_t cutter;
  if (strcmp(mode, "cut") == 0 && rank == culprit &&
      pthread_create(&cutter, NULL, cut_scratch, NULL) != 0) {
    exit(97);
  }
  if (strcmp(mode, "spin") == 0 || strcmp(mode, "cut") == 0) {
    spin(words, n);
  }
  const int status = rank == culprit ? misbehave(mode) : 0;
  MPI_Barrier(MPI_COMM_WORLD);
  check(words, n, 2);
  free(words);
  MPI_Finalize();
  return status;
}
