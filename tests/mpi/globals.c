/* Every rank has its own globals, statics, .bss and hidden state of libc. */
#define _GNU_SOURCE
#include "test.h"

#include <getopt.h>

int initialised = 41;
static int hidden = 7;
static char big[3 << 20];
const int constant = 99;
static int *pointer = &hidden;
static const char *text = "a string";
static int (*function)(const char *, ...) = printf;
extern char **environ;

struct node {
  struct node *next;
  int number;
};
static struct node ring[3] = {{&ring[1], 1}, {&ring[2], 2}, {&ring[0], 3}};

static int count_up(void) {
  static int count;
  return ++count;
}

static void statics(void) {
  if (initialised != 41 || hidden != 7 || *pointer != 7 || constant != 99) {
    fail("initial values: %d %d", initialised, hidden);
  }
  for (size_t i = 0; i < sizeof(big); i += 997) {
    if (big[i]) {
      fail("big is not zero at %zu", i);
    }
  }
  initialised += rank;
  *pointer = rank * 3;
  ring[0].number = rank;
  for (size_t i = 0; i < sizeof(big); i++) {
    big[i] = (char)(i * 7 + (size_t)rank);
  }
  for (int i = 0; i < rank; i++) {
    count_up();
  }
  MPI_Barrier(MPI_COMM_WORLD);
  for (size_t i = 0; i < sizeof(big); i++) {
    if (big[i] != (char)(i * 7 + (size_t)rank)) {
      fail("big changed at %zu", i);
      break;
    }
  }
  if (initialised != 41 + rank || hidden != rank * 3 ||
      ring[2].next->number != rank || count_up() != rank + 1) {
    fail("a variable of another rank: %d %d", initialised, hidden);
  }
  function("rank %d: %s\n", rank, text);
}

/* Big arrays are sent and received where they are. */
static void exchange(void) {
  int total = 0;
  MPI_Allreduce(&initialised, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (total != 41 * size + size * (size - 1) / 2) {
    fail("sum of globals: %d", total);
  }
  MPI_Bcast(big, sizeof(big), MPI_CHAR, size - 1, MPI_COMM_WORLD);
  for (size_t i = 0; i < sizeof(big); i++) {
    if (big[i] != (char)(i * 7 + (size_t)size - 1)) {
      fail("bcast of big: %zu", i);
      break;
    }
  }
}

static void options(void) {
  char arguments[5][8] = {"prog", "-a", "-n", "", "rest"};
  char *argv[6] = {0};
  int n = 0, a = 0, option;
  snprintf(arguments[3], 8, "%d", rank * 11);
  for (int i = 0; i < 5; i++) {
    argv[i] = arguments[i];
  }
  while ((option = getopt(5, argv, "an:")) != -1) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (option == 'n') {
      n = atoi(optarg);
    } else if (option == 'a') {
      a++;
    }
  }
  if (a != 1 || n != rank * 11 || optind != 4) {
    fail("getopt: %d %d %d", a, n, optind);
  }
}

static void random_numbers(void) {
  char buffer[64];
  unsigned long long sum = 0;
  srand((unsigned)rank + 1);
  srandom((unsigned)rank + 2);
  srand48(rank + 3);
  snprintf(buffer, sizeof(buffer), "a%d,b,c%d,d", rank, rank);
  int words = 0;
  for (char *w = strtok(buffer, ","); w; w = strtok(NULL, ",")) {
    MPI_Barrier(MPI_COMM_WORLD);
    sum = sum * 31 + (unsigned)w[0] + strlen(w);
    words++;
    sum = sum * 31 + (unsigned)rand();
    sum = sum * 31 + (unsigned long long)random();
    sum = sum * 31 + (unsigned long long)lrand48();
  }
  if (words != 4) {
    fail("strtok: %d words", words);
  }
  printf("rank %d: numbers %llx\n", rank, sum);
}

static void environment(void) {
  char number[16];
  snprintf(number, sizeof(number), "%d", rank);
  setenv("PEMS_TEST_GLOBALS", number, 1);
  MPI_Barrier(MPI_COMM_WORLD);
  const char *got = getenv("PEMS_TEST_GLOBALS");
  if (!got || strcmp(got, number) != 0) {
    fail("getenv: %s, not %s", got ? got : "none", number);
  }
  if (!environ || !environ[0]) {
    fail("environ");
  }
}

int main(int argc, char **argv) {
  begin(&argc, &argv);
  statics();
  exchange();
  options();
  random_numbers();
  environment();
  return end();
}
