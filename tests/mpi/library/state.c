/* What the C library remembers for a library of the program: the environment,
   numbers, words, a line that is not whole yet, the time zone. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

int state_begin(int rank);
int state_goes_on(int rank);

static char words[64];

static int is_set_to(const char *value, int rank) {
  return value && atoi(value) == rank;
}

static int starts_with_it(int rank) {
  char line[64] = "";
  FILE *f = popen("echo $STATE_OF", "r");
  const int got = f && fgets(line, sizeof(line), f);
  return got && is_set_to(line, rank) && pclose(f) == 0;
}

static int is_in_list(int rank) {
  for (char **e = environ; *e; e++) {
    if (strncmp(*e, "STATE_OF=", 9) == 0) {
      return is_set_to(*e + 9, rank);
    }
  }
  return 0;
}

int state_begin(int rank) {
  char text[32];
  snprintf(text, sizeof(text), "%d", rank);
  srand((unsigned)rank);
  srand48(rank);
  snprintf(words, sizeof(words), "first%d second%d", rank, rank);
  printf("rank %d ", rank);
  return setenv("STATE_OF", text, 1) == 0 && setenv("TZ", "EAST-3", 1) == 0 &&
         strncmp(strtok(words, " "), "first", 5) == 0;
}

/* How often it was as if the process were the rank's alone. */
int state_goes_on(int rank) {
  const time_t zero = 0;
  char wanted[32];
  const int integer = rand();
  const double real = drand48();
  snprintf(wanted, sizeof(wanted), "second%d", rank);
  printf("is rank %d\n", rank);
  srand((unsigned)rank);
  srand48(rank);
  return is_set_to(getenv("STATE_OF"), rank) + is_in_list(rank) +
         starts_with_it(rank) + (strcmp(strtok(NULL, " "), wanted) == 0) +
         (integer == rand()) + (real == drand48()) +
         (localtime(&zero)->tm_hour == 3);
}
