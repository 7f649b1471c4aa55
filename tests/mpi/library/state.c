/* What the C library remembers for a library of the program: the environment,
   where it finds programs, numbers, words, a line that is not whole yet, the
   time zone. */
#define _GNU_SOURCE
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
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

/* A script without a first line that says whose it is: its status is the rank.
 */
static int make_program(int rank) {
  char dir[64], path[96];
  snprintf(dir, sizeof(dir), "programs.%d", rank);
  snprintf(path, sizeof(path), "%s/of_rank", dir);
  (void)mkdir(dir, 0700);
  FILE *f = fopen(path, "w");
  return f && fprintf(f, "exit %d\n", rank) > 0 && fclose(f) == 0 &&
         chmod(path, 0700) == 0 && setenv("PATH", dir, 1) == 0;
}

static int ends_with(pid_t pid, int status) {
  int got;
  return pid > 0 && waitpid(pid, &got, 0) == pid && WIFEXITED(got) &&
         WEXITSTATUS(got) == status;
}

/* No rank has another's programs, or the process's. */
static int finds_programs(int rank) {
  char *const words[] = {"of_rank", NULL}, *const none[] = {"env", NULL};
  pid_t pid = fork();
  if (pid == 0) {
    execvp(words[0], words);
    _exit(99);
  }
  if (!ends_with(pid, rank)) {
    return 0;
  }
  pid = -1;
  return posix_spawnp(&pid, words[0], NULL, NULL, words, environ) == ENOEXEC &&
         posix_spawnp(&pid, none[0], NULL, NULL, none, environ) == ENOENT &&
         execvp(none[0], none) == -1 && errno == ENOENT;
}

/* The first ends when its pipe does, which the second must not have. */
static int pipes_end(void) {
  FILE *first = popen("read line", "w"), *second = popen("read line", "w");
  return first && second && pclose(first) != -1 && pclose(second) != -1;
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
         make_program(rank) && strncmp(strtok(words, " "), "first", 5) == 0;
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
         starts_with_it(rank) + finds_programs(rank) + pipes_end() +
         (strcmp(strtok(NULL, " "), wanted) == 0) + (integer == rand()) +
         (real == drand48()) + (localtime(&zero)->tm_hour == 3);
}
