/* For tests of checkpoints: ranks that open libraries and use what these have:
   data, thread-local data, addresses of each other, what their constructors
   have made. Rank 0 prints a line for each superstep, whose number depends on
   all of it.

     opens STEPS DIR HOLD

   DIR has outer.so, which needs inner.so, and late.so. Ranks stop before step N
   while there is a file HOLD.N. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hold.h"

typedef long work(long);

static int rank;
static const char *dir;
static void *outer, *late, *self;
static work *kept; /* a function of outer.so */
static long ended;

static void fail(const char *what) {
  const char *const why = dlerror();
  fprintf(stderr, "rank %d: %s: %s\n", rank, what, why ? why : "");
  exit(1);
}

/* For destructors. */
__attribute__((visibility("default"))) void note_end(long n) {
  ended += n;
}

/* Libraries find it, since the program is linked with -rdynamic. */
__attribute__((visibility("default"))) long add_seven(long n) {
  return n + 7;
}

static void *open_one(const char *name, int flags) {
  char path[4096];
  snprintf(path, sizeof(path), "%s/%s", dir, name);
  void *const handle = dlopen(path, flags);
  if (!handle) {
    fail("a library cannot be opened");
  }
  return handle;
}

static work *function(void *handle, const char *name) {
  work *const f = (work *)dlsym(handle, name);
  if (!f) {
    fail("a function is missing");
  }
  return f;
}

/* Who has opened what changes on the way. */
static void change(int s) {
  if (s == 1 && rank != 1) {
    outer = open_one("outer.so", RTLD_NOW);
    kept = function(outer, "count");
  }
  if (s == 2) {
    self = dlopen(NULL, RTLD_NOW);
  }
  if (s % 6 == 3) {
    late = open_one("late.so", RTLD_LAZY | RTLD_GLOBAL);
  }
  if (s % 6 == 2 && late) {
    if (dlclose(late) != 0) {
      fail("a library cannot be closed");
    }
    late = NULL;
  }
}

static long look(int s) {
  long sum = ended;
  if (outer) {
    Dl_info info;
    sum += kept(s) + function(outer, "inner_value")(s);
    if (!dladdr((void *)kept, &info) || strcmp(info.dli_sname, "count") != 0) {
      fail("a function has another name");
    }
    if (dlsym(outer, "there_is_none") || !strstr(dlerror(), "there_is_none")) {
      fail("what is not there was found");
    }
  }
  if (late) {
    sum += function(late, "since")(s) + function(RTLD_DEFAULT, "since")(0);
  }
  if (self) {
    sum += function(self, "add_seven")(s);
  }
  return sum;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int steps = atoi(argv[1]);
  dir = argv[2];
  for (int s = 0; s < steps; s++) {
    stop_before(s, argv[3]);
    change(s);
    long mine = look(s), all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) {
      printf("step %d: %ld\n", s, all);
    }
  }
  if (outer && dlclose(outer) != 0) {
    fail("a library cannot be closed");
  }
  long all = 0;
  MPI_Allreduce(&ended, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) {
    printf("the end of %d: %ld\n", steps, all);
  }
  MPI_Finalize();
  return 0;
}
