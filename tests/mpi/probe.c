/* Probing: for a message of anybody, of a known length, taken and received
   later, by several calls at once. */
#include "numbers.h"
#include "test.h"

#include <stdbool.h>

static int next, previous;

static void check(const MPI_Status *status, int source, int tag, int n,
                  const char *what) {
  int count;
  MPI_Get_count(status, MPI_INT, &count);
  if (status->MPI_SOURCE != source || status->MPI_TAG != tag || count != n) {
    fail("%s: source %d, tag %d, count %d; not %d, %d, %d", what,
         status->MPI_SOURCE, status->MPI_TAG, count, source, tag, n);
  }
}

static const int lengths[] = {0, 1, 300, 5000, 40000};
enum { LENGTHS = 5, MOST = 40000 };

static void fill(int *p, int n, int from) {
  for (int i = 0; i < n; i++) {
    p[i] = from * 7 + i;
  }
}

static void check_data(const int *p, int n, int from, const char *what) {
  for (int i = 0; i < n; i++) {
    if (p[i] != from * 7 + i) {
      fail("%s: int %d of %d: %d", what, i, n, p[i]);
      return;
    }
  }
}

/* The length is known before memory is found. */
static void by_length(int nonblocking, int any) {
  for (int i = 0; i < LENGTHS; i++) {
    int *out = malloc(MOST * sizeof(*out)), n, flag = 1;
    MPI_Request request;
    MPI_Status status;
    fill(out, lengths[i], rank);
    MPI_Isend(out, lengths[i], MPI_INT, next, i, MPI_COMM_WORLD, &request);
    const int from = any ? MPI_ANY_SOURCE : previous;
    const int tag = any ? MPI_ANY_TAG : i;
    if (nonblocking) {
      do {
        MPI_Iprobe(from, tag, MPI_COMM_WORLD, &flag, &status);
      } while (!flag);
    } else {
      MPI_Probe(from, tag, MPI_COMM_WORLD, &status);
    }
    check(&status, previous, i, lengths[i], "probe");
    MPI_Get_count(&status, MPI_INT, &n);
    int *in = malloc((size_t)n * sizeof(*in) + 1);
    MPI_Iprobe(from, tag, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    if (!flag) {
      fail("iprobe: the message is gone");
    }
    MPI_Recv(in, n, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD,
             &status);
    check(&status, previous, i, lengths[i], "receive");
    check_data(in, n, previous, "receive");
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &status);
    if (flag) {
      fail("iprobe: a message of tag %d is left", status.MPI_TAG);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    free(in);
    free(out);
  }
}

/* A message that was taken is received by its handle, whatever else comes. */
static void matched(bool synchronous) {
  for (int i = 0; i < LENGTHS; i++) {
    const int n = lengths[i];
    int *out = malloc(MOST * sizeof(*out)), *in = malloc(MOST * sizeof(*in));
    int second = -1, mine = rank, flag = 1;
    MPI_Request requests[2], receive;
    MPI_Message message;
    MPI_Status status;
    fill(out, n, rank);
    if (synchronous) {
      MPI_Issend(out, n, MPI_INT, next, 3, MPI_COMM_WORLD, &requests[0]);
    } else {
      MPI_Isend(out, n, MPI_INT, next, 3, MPI_COMM_WORLD, &requests[0]);
    }
    MPI_Isend(&mine, 1, MPI_INT, next, 3, MPI_COMM_WORLD, &requests[1]);
    if (i % 2) {
      MPI_Mprobe(previous, 3, MPI_COMM_WORLD, &message, &status);
    } else {
      do {
        MPI_Improbe(MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &flag, &message,
                    &status);
      } while (!flag);
    }
    check(&status, previous, 3, n, "mprobe");
    const MPI_Fint f = MPI_Message_c2f(message);
    if (MPI_Message_f2c(f) != message) {
      fail("fortran: message");
    }
    MPI_Recv(&second, 1, MPI_INT, previous, 3, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    if (second != previous) {
      fail("mprobe: the second message: %d", second);
    }
    if (i % 3 == 0) {
      MPI_Mrecv(in, n, MPI_INT, &message, &status);
    } else {
      MPI_Imrecv(in, n, MPI_INT, &message, &receive);
      MPI_Wait(&receive, &status);
    }
    if (message != MPI_MESSAGE_NULL) {
      fail("mrecv: handle");
    }
    check(&status, previous, 3, n, "mrecv");
    check_data(in, n, previous, "mrecv");
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    free(in);
    free(out);
  }
}

static void nobody(void) {
  MPI_Status status;
  MPI_Message message;
  int flag = 0, n = 4;
  MPI_Probe(MPI_PROC_NULL, 1, MPI_COMM_WORLD, &status);
  check(&status, MPI_PROC_NULL, MPI_ANY_TAG, 0, "probe of nobody");
  MPI_Iprobe(MPI_PROC_NULL, 1, MPI_COMM_WORLD, &flag, &status);
  if (!flag) {
    fail("iprobe of nobody");
  }
  MPI_Mprobe(MPI_PROC_NULL, 1, MPI_COMM_WORLD, &message, &status);
  if (message != MPI_MESSAGE_NO_PROC) {
    fail("mprobe of nobody");
  }
  MPI_Mrecv(&n, 1, MPI_INT, &message, &status);
  check(&status, MPI_PROC_NULL, MPI_ANY_TAG, 0, "mrecv of nobody");
  if (message != MPI_MESSAGE_NULL || n != 4) {
    fail("mrecv of nobody");
  }
}

/* Rank 0 waits for what the others send when they like. */
static void server(void) {
  enum { EACH = 10 };
  MPI_Status status;
  int data[400];
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank) {
    for (int i = 0; i < EACH; i++) {
      fill(data, rank + i, rank);
      MPI_Ssend(data, rank + i, MPI_INT, 0, i, MPI_COMM_WORLD);
    }
  } else {
    int got[64] = {0};
    for (int i = 0; i < EACH * (size - 1); i++) {
      int n;
      MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
      MPI_Get_count(&status, MPI_INT, &n);
      const int from = status.MPI_SOURCE;
      if (status.MPI_TAG != got[from]++ || n != from + status.MPI_TAG) {
        fail("server: message %d of rank %d: %d", status.MPI_TAG, from, n);
      }
      MPI_Recv(data, n, MPI_INT, from, status.MPI_TAG, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
      check_data(data, n, from, "server");
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
  begin(&argc, &argv);
  next = (rank + 1) % size;
  previous = (rank + size - 1) % size;
  for (int i = 0; i < 4; i++) {
    by_length(i % 2, i / 2);
  }
  matched(false);
  matched(true);
  nobody();
  server();
  return end();
}
