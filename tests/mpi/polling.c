/* Loops that ask until something has happened: MPI_Test, Testany, Testsome,
   Iprobe, where most ranks cannot run at the same time. */
#include "test.h"

enum { ROUNDS = 8 };

/* A token goes around; all poll for it. */
static void token_by_test(void) {
  const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
  for (int i = 0; i < ROUNDS; i++) {
    MPI_Request r;
    MPI_Status status;
    int token = -1, flag = 0;
    MPI_Irecv(&token, 1, MPI_INT, previous, i, MPI_COMM_WORLD, &r);
    if (rank == 0) {
      MPI_Send(&i, 1, MPI_INT, next, i, MPI_COMM_WORLD);
    }
    while (!flag) {
      MPI_Test(&r, &flag, &status);
    }
    if (token != i + previous) {
      fail("token: %d", token);
    }
    token = i + rank;
    if (rank) {
      MPI_Send(&token, 1, MPI_INT, next, i, MPI_COMM_WORLD);
    }
  }
}

/* One rank sends to itself: MPI_Send may wait for the receive, as MPICH's does.
 */
static void token_by_iprobe(void) {
  const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
  for (int i = 0; i < ROUNDS; i++) {
    MPI_Request sent = MPI_REQUEST_NULL;
    MPI_Status status;
    const int first = 100 * i;
    int token = first, flag = 0;
    if (rank == 0) {
      MPI_Isend(&first, 1, MPI_INT, next, i, MPI_COMM_WORLD, &sent);
    }
    while (!flag) {
      MPI_Iprobe(MPI_ANY_SOURCE, i, MPI_COMM_WORLD, &flag, &status);
    }
    MPI_Recv(&token, 1, MPI_INT, status.MPI_SOURCE, i, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
    if (token != 100 * i + previous) {
      fail("token by iprobe: %d", token);
    }
    token++;
    if (rank) {
      MPI_Send(&token, 1, MPI_INT, next, i, MPI_COMM_WORLD);
    }
  }
}

/* Everybody sends to everybody and asks for any. */
static void all_by_testany(void) {
  MPI_Request *r = malloc((size_t)size * sizeof(*r));
  int *in = malloc((size_t)size * sizeof(*in)), left = size, index, flag;
  for (int i = 0; i < size; i++) {
    MPI_Irecv(&in[i], 1, MPI_INT, i, 1, MPI_COMM_WORLD, &r[i]);
  }
  for (int i = 0; i < size; i++) {
    MPI_Send(&rank, 1, MPI_INT, (rank + i) % size, 1, MPI_COMM_WORLD);
  }
  while (left) {
    MPI_Testany(size, r, &index, &flag, MPI_STATUS_IGNORE);
    if (flag && index != MPI_UNDEFINED) {
      left--;
      if (in[index] != index) {
        fail("testany: %d of %d", in[index], index);
      }
    }
  }
  free(r);
  free(in);
}

/* Large messages end while who sent them polls; one poller has work to do that
   others wait for. */
static void large(void) {
  enum { LARGE = 50000 };
  const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
  int *in = malloc(LARGE * sizeof(*in)), *out = malloc(LARGE * sizeof(*out));
  int flag = 0, asked = 0;
  MPI_Request r[2];
  for (int i = 0; i < LARGE; i++) {
    out[i] = rank + i;
  }
  MPI_Isend(out, LARGE, MPI_INT, next, 2, MPI_COMM_WORLD, &r[0]);
  r[1] = MPI_REQUEST_NULL;
  do {
    MPI_Testall(2, r, &flag, MPI_STATUSES_IGNORE);
    if (asked++ == 5 || (flag && asked < 6)) {
      asked = 6;
      flag = 0;
      MPI_Irecv(in, LARGE, MPI_INT, previous, 2, MPI_COMM_WORLD, &r[1]);
    }
  } while (!flag);
  for (int i = 0; i < LARGE; i++) {
    if (in[i] != previous + i) {
      fail("large: %d", i);
      break;
    }
  }
  free(in);
  free(out);
}

int main(int argc, char **argv) {
  begin(&argc, &argv);
  token_by_test();
  token_by_iprobe();
  all_by_testany();
  large();
  return end();
}
