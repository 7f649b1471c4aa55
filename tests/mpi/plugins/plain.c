/* A plug-in in C. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

extern int base_value;
extern int *const base_address;
int base_next(void);
extern int program_value;
int program_call(int n);

static int hidden = 10;
static int constructed;
static char *kept;
__thread int thread_value = 6;
static __thread int *volatile thread_pointer = &hidden;
static __thread int thread_large[100000];
static __thread int *thread_moved = &hidden; /* elsewhere when it is used */
double large[100000];
static int (*const table[])(void) = {base_next};
const char *const names[] = {"one", "two"};

__attribute__((constructor)) static void begin(void) {
  constructed = base_value; /* constructed before */
  kept = malloc(100);
  strcpy(kept, "kept");
}

__attribute__((destructor)) static void end(void) {
  free(kept);
}

int plain_step(int by) {
  hidden += by;
  base_value += by;
  *base_address += 1;
  thread_value += by;
  thread_large[by * 7919 % 100000] += by;
  thread_moved = &thread_large[by * 7919 % 100000];
  *thread_pointer += 1;
  large[(unsigned)by * 77 % 100000] += by;
  program_value += 3;
  return hidden + 100 * table[0]() + program_call(by);
}

int plain_state(int *to) {
  to[0] = hidden;
  to[1] = constructed;
  to[2] = base_value;
  to[3] = thread_value;
  to[4] = thread_pointer == &hidden;
  to[5] = strcmp(kept, "kept") == 0 && names[1][1] == 'w';
  to[6] = *thread_moved;
  return 7;
}

int plain_sum(int mine) {
  static int sum; /* received into the plug-in's own data */
  MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  return sum;
}
