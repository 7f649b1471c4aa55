/* Ranks that look for ever for what does not come, and others that have reasons
   to be quiet. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int rank, n;
static volatile double sum;

static int is(const char *a, const char *b) {
  return strcmp(a, b) == 0;
}

static double now(void) {
  return MPI_Wtime();
}

static void compute(double seconds) {
  for (const double end = now() + seconds; now() < end;) {
    for (int i = 0; i < 1000; i++) {
      sum += 1.0 / (1 + i);
    }
  }
}

/* A look in vain: nobody sends with that tag. */
static void look(void) {
  int flag;
  MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
}

static void test_for_ever(void) {
  int data, flag;
  MPI_Request r;
  MPI_Irecv(&data, 1, MPI_INT, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &r);
  for (;;) {
    MPI_Test(&r, &flag, MPI_STATUS_IGNORE);
  }
}

/* The last ones look, rank 0 waits, rank 1 has ended, as far as it can. */
static void poll_for_ever(void) {
  int data;
  if (rank == 0) {
    MPI_Recv(&data, 1, MPI_INT, n - 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  for (; rank == 1;) {
    look();
  }
  test_for_ever();
}

/* Rank 0 does something for so long, and others look for its message. */
static void quiet(const char *how, double seconds) {
  int flag = 0;
  if (rank == 0) {
    for (const double end = now() + seconds; now() < end;) {
      if (is(how, "sleep")) {
        usleep(20000);
      } else if (is(how, "steps")) { /* looks in between, too */
        compute(0.02);
        look();
      } else if (is(how, "naps")) {
        usleep(20000);
        look();
      } else if (is(how, "sends")) {
        char byte[1000] = "", got[1000];
        MPI_Request r;
        MPI_Irecv(got, 1000, MPI_CHAR, 0, 5, MPI_COMM_SELF, &r);
        MPI_Send(byte, 1000, MPI_CHAR, 0, 5, MPI_COMM_SELF);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
        look();
      } else {
        compute(0.02);
      }
    }
    for (int i = 1; i < n; i++) {
      MPI_Send(&flag, 1, MPI_INT, i, 7, MPI_COMM_WORLD);
    }
    return;
  }
  MPI_Request r;
  int data;
  MPI_Irecv(&data, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, &r);
  while (!flag) {
    MPI_Test(&r, &flag, MPI_STATUS_IGNORE);
  }
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  char *const array = calloc(atoi(argv[2]) + 1, 1 << 20);
  memset(array, rank, (size_t)atoi(argv[2]) << 20);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    printf("running\n");
    fflush(stdout);
  }
  if (is(argv[1], "poll")) {
    poll_for_ever();
  }
  quiet(argv[1], atof(argv[3]));
  sum += array[1];
  free(array);
  MPI_Finalize();
  return 0;
}
