/* Ranks that wait for one thing while another that they have begun goes on,
   which needs nothing of them: a large message that they send, or a collective
   operation. Arguments: the pace (see test.h); the kind that alone is run;
   rounds.

   In a round every rank waits about once: bystander_count.sh counts how often
   ranks are brought in. */
#include "test.h"

enum { LENGTH = 100000, TOKEN = 1, DATA = 2, GOT = 3 };

static double *in, *out, *sum;

static void fill(int round) {
  for (int i = 0; i < LENGTH; i++) {
    out[i] = 1000.0 * round + rank + i;
  }
}

static void await_token(int from) {
  int token = 0;
  MPI_Recv(&token, 1, MPI_INT, from, TOKEN, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void give_token(int to) {
  const int token = 1;
  MPI_Send(&token, 1, MPI_INT, to, TOKEN, MPI_COMM_WORLD);
}

/* --- odd ranks send to even ones, and wait for rank 0's word --- */

static void take(int round) {
  MPI_Recv(in, LENGTH, MPI_DOUBLE, rank + 1, DATA, MPI_COMM_WORLD,
           MPI_STATUS_IGNORE);
  if (in[LENGTH - 1] != 1000.0 * round + rank + 1 + LENGTH - 1) {
    fail("round %d: %g", round, in[LENGTH - 1]);
  }
}

/* All have got theirs. */
static void lead(void) {
  MPI_Request r[64];
  int got[64], n = 0;
  for (int i = 2; i < size; i += 2, n++) {
    MPI_Irecv(&got[n], 1, MPI_INT, i, GOT, MPI_COMM_WORLD, &r[n]);
  }
  MPI_Waitall(n, r, MPI_STATUSES_IGNORE);
  for (int i = 1; i < size; i += 2) {
    give_token(i);
  }
}

static void by_send(int round) {
  if (rank % 2) {
    MPI_Request r;
    MPI_Isend(out, LENGTH, MPI_DOUBLE, rank - 1, DATA, MPI_COMM_WORLD, &r);
    await_token(0);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    return;
  }
  take(round);
  if (rank) {
    MPI_Send(&round, 1, MPI_INT, 0, GOT, MPI_COMM_WORLD);
  } else {
    lead();
  }
}

/* --- all compute together while a token goes round --- */

static void pass_token(void) {
  if (rank) {
    await_token(rank - 1);
  }
  give_token((rank + 1) % size);
  if (!rank) {
    await_token(size - 1);
  }
}

static void check_sum(int round) {
  const double want =
      size * (1000.0 * round + LENGTH - 1) + size * (size - 1) / 2.0;
  if (sum[LENGTH - 1] != want) {
    fail("round %d: the sum is %g, not %g", round, sum[LENGTH - 1], want);
  }
}

static void by_allreduce(int round) {
  MPI_Request r;
  MPI_Iallreduce(out, sum, LENGTH, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &r);
  pass_token();
  MPI_Wait(&r, MPI_STATUS_IGNORE);
  check_sum(round);
}

static void by_reduce(int round) {
  MPI_Request r;
  MPI_Ireduce(out, sum, LENGTH, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD, &r);
  pass_token();
  MPI_Wait(&r, MPI_STATUS_IGNORE);
  if (!rank) {
    check_sum(round);
  }
}

static void by_barrier(int round) {
  MPI_Request r;
  (void)round;
  MPI_Ibarrier(MPI_COMM_WORLD, &r);
  pass_token();
  MPI_Wait(&r, MPI_STATUS_IGNORE);
}

static void by_bcast(int round) {
  MPI_Request r;
  MPI_Ibcast(rank ? in : out, LENGTH, MPI_DOUBLE, 0, MPI_COMM_WORLD, &r);
  pass_token();
  MPI_Wait(&r, MPI_STATUS_IGNORE);
  if (rank && in[LENGTH - 1] != 1000.0 * round + LENGTH - 1) {
    fail("round %d: %g", round, in[LENGTH - 1]);
  }
}

static const struct {
  const char *name;
  void (*run)(int round);
} kinds[] = {{"send", by_send},
             {"allreduce", by_allreduce},
             {"reduce", by_reduce},
             {"barrier", by_barrier},
             {"bcast", by_bcast}};

int main(int argc, char **argv) {
  begin(&argc, &argv);
  const int rounds = argc > 3 ? atoi(argv[3]) : 5;
  in = malloc(LENGTH * sizeof(*in));
  out = malloc(LENGTH * sizeof(*out));
  sum = malloc(LENGTH * sizeof(*sum));
  for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
    if (argc > 2 && strcmp(argv[2], kinds[i].name) != 0) {
      continue;
    }
    for (int round = 0; round < rounds && size % 2 == 0; round++) {
      fill(round);
      kinds[i].run(round);
    }
  }
  free(in);
  free(out);
  free(sum);
  return end();
}
