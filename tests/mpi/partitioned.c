/* Partitioned messages: any numbers of partitions on both sides, made ready in
   any order, seen one by one, round after round. */
#include "test.h"

#if MPI_VERSION >= 4 || defined MPI_SESSION_NULL
enum { MOST = 24, ROUNDS = 4 };

static int next, previous;

static int value_of(int from, int round, int i) {
  return from * 10000000 + round * 1000000 + i;
}

static void check(const char *what, const int *in, int n, int round) {
  for (int i = 0; i < n; i++) {
    if (in[i] != value_of(previous, round, i)) {
      fail("%s, round %d: %d at %d", what, round, in[i], i);
      return;
    }
  }
}

/* All of n, in one of four ways. */
static void make_ready(MPI_Request r, int n, int way) {
  int list[MOST];
  if (way == 0) {
    for (int i = 0; i < n; i++) {
      MPI_Pready(n - 1 - i, r);
    }
  } else if (way == 1) {
    MPI_Pready_range(n / 2, n - 1, r);
    if (n / 2) {
      MPI_Pready_range(0, n / 2 - 1, r);
    }
  } else {
    for (int i = 0; i < n; i++) {
      list[i] = way == 2 ? n - 1 - i : (i + n / 3) % n;
    }
    MPI_Pready_list(n, list, r);
  }
}

/* n_out partitions become n_in; `each` ints are the whole. */
static void pass(int n_out, int n_in, int each) {
  int *out = malloc((size_t)each * sizeof(*out)),
      *in = malloc((size_t)each * sizeof(*in));
  MPI_Request r[2];
  MPI_Status status[2];
  MPI_Psend_init(out, n_out, each / n_out, MPI_INT, next, 4, MPI_COMM_WORLD,
                 MPI_INFO_NULL, &r[0]);
  MPI_Precv_init(in, n_in, each / n_in, MPI_INT, previous, 4, MPI_COMM_WORLD,
                 MPI_INFO_NULL, &r[1]);
  for (int round = 0; round < ROUNDS; round++) {
    for (int i = 0; i < each; i++) {
      in[i] = -1;
      out[i] = value_of(rank, round, i);
    }
    if (round % 2) {
      MPI_Startall(2, r);
    } else {
      MPI_Start(&r[1]);
      MPI_Start(&r[0]);
    }
    make_ready(r[0], n_out, round);
    if (round > 1) {
      for (int i = 0; i < n_in; i++) {
        int flag = 0;
        while (!flag) {
          MPI_Parrived(r[1], n_in - 1 - i, &flag);
        }
        const int at = (n_in - 1 - i) * (each / n_in);
        if (in[at] != value_of(previous, round, at)) {
          fail("arrived, round %d: %d at %d", round, in[at], at);
        }
      }
    }
    int count = -1, flag = 0;
    MPI_Waitall(2, r, status);
    MPI_Get_count(&status[1], MPI_INT, &count);
    if (status[1].MPI_SOURCE != previous || status[1].MPI_TAG != 4 ||
        count != each || r[1] == MPI_REQUEST_NULL) {
      fail("%d to %d: from %d, tag %d, %d", n_out, n_in, status[1].MPI_SOURCE,
           status[1].MPI_TAG, count);
    }
    check("pass", in, each, round);
    MPI_Parrived(r[1], 0, &flag);
    if (!flag) {
      fail("an inactive one has not arrived");
    }
  }
  MPI_Request_free(&r[0]);
  MPI_Request_free(&r[1]);
  free(in);
  free(out);
}

/* From the second round on, what is ready arrives before the rest is: each side
   goes on when it has seen the other's. */
static void one_at_a_time(int n) {
  int out[MOST], in[MOST];
  MPI_Request r[2];
  MPI_Psend_init(out, n, 1, MPI_INT, next, 5, MPI_COMM_WORLD, MPI_INFO_NULL,
                 &r[0]);
  MPI_Precv_init(in, n, 1, MPI_INT, previous, 5, MPI_COMM_WORLD, MPI_INFO_NULL,
                 &r[1]);
  for (int round = 0; round < ROUNDS; round++) {
    MPI_Startall(2, r);
    for (int i = 0; i < n; i++) {
      int flag = round == 0;
      out[i] = value_of(rank, round, i);
      MPI_Pready(i, r[0]);
      while (!flag) {
        MPI_Parrived(r[1], i, &flag);
      }
      if (round && i + 1 < n) {
        MPI_Parrived(r[1], n - 1, &flag);
      }
    }
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    check("one at a time", in, n, round);
  }
  MPI_Request_free(&r[0]);
  MPI_Request_free(&r[1]);
}

/* Neither side's partitions begin where the other's elements do; the types are
   freed at once. */
static void types(void) {
  enum { INTS = 24 };
  int out[2 * INTS], in[INTS];
  MPI_Datatype pair, triple;
  MPI_Request r[2];
  MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &pair);
  MPI_Type_contiguous(12, MPI_INT, &triple);
  MPI_Type_commit(&pair);
  MPI_Type_commit(&triple);
  MPI_Psend_init(out, 3, INTS / 3, pair, next, 6, MPI_COMM_WORLD, MPI_INFO_NULL,
                 &r[0]);
  MPI_Precv_init(in, 2, 1, triple, previous, 6, MPI_COMM_WORLD, MPI_INFO_NULL,
                 &r[1]);
  MPI_Type_free(&pair);
  MPI_Type_free(&triple);
  for (int round = 0; round < ROUNDS; round++) {
    memset(in, 0x11, sizeof(in));
    for (int i = 0; i < INTS; i++) {
      out[2 * i] = value_of(rank, round, i);
      out[2 * i + 1] = -1;
    }
    MPI_Startall(2, r);
    make_ready(r[0], 3, round);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    check("types", in, INTS, round);
  }
  MPI_Request_free(&r[0]);
  MPI_Request_free(&r[1]);
}

/* Those of one tag meet in the order of their making, however started; other
   messages with the tag meet neither. */
static void several(void) {
  int out[3], in[3], other = -1;
  MPI_Request s[3], r[3];
  for (int i = 0; i < 3; i++) {
    MPI_Psend_init(&out[i], 1, 1, MPI_INT, next, 7, MPI_COMM_WORLD,
                   MPI_INFO_NULL, &s[i]);
    MPI_Precv_init(&in[i], 1, 1, MPI_INT, previous, 7, MPI_COMM_WORLD,
                   MPI_INFO_NULL, &r[i]);
  }
  for (int round = 0; round < ROUNDS; round++) {
    for (int i = 0; i < 3; i++) {
      out[i] = value_of(rank, round, i);
      MPI_Start(&r[i]);
    }
    for (int i = 2; i >= 0; i--) {
      MPI_Start(&s[i]);
      MPI_Pready(0, s[i]);
    }
    MPI_Sendrecv(&rank, 1, MPI_INT, next, 7, &other, 1, MPI_INT, previous, 7,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Waitall(3, s, MPI_STATUSES_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Waitall(3, r, MPI_STATUSES_IGNORE);
    check("several", in, 3, round);
    if (other != previous) {
      fail("another message: %d", other);
    }
  }
  for (int i = 0; i < 3; i++) {
    MPI_Request_free(&s[i]);
    MPI_Request_free(&r[i]);
  }
}

static void nobody(void) {
  int cell = 5, flag = 0;
  MPI_Request r[2];
  MPI_Status status;
  MPI_Psend_init(&cell, 2, 0, MPI_INT, MPI_PROC_NULL, 8, MPI_COMM_WORLD,
                 MPI_INFO_NULL, &r[0]);
  MPI_Precv_init(&cell, 1, 1, MPI_INT, MPI_PROC_NULL, 8, MPI_COMM_WORLD,
                 MPI_INFO_NULL, &r[1]);
  for (int round = 0; round < 2; round++) {
    MPI_Startall(2, r);
    MPI_Pready_range(0, 1, r[0]);
    MPI_Parrived(r[1], 0, &flag);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    MPI_Wait(&r[1], &status);
    if (!flag || status.MPI_SOURCE != MPI_PROC_NULL || cell != 5) {
      fail("nobody: %d %d %d", flag, status.MPI_SOURCE, cell);
    }
  }
  MPI_Request_free(&r[0]);
  MPI_Request_free(&r[1]);
}

int main(int argc, char **argv) {
  begin(&argc, &argv);
  next = (rank + 1) % size;
  previous = (rank + size - 1) % size;
  const int numbers[] = {1, 2, 3, 8, 24};
  for (int i = 0; i < 5; i++) {
    for (int j = 0; j < 5; j++) {
      pass(numbers[i], numbers[j], 24);
    }
  }
  pass(6, 4, 9600);
  pass(4, 24, 240000);
  pass(8, 1, 240000);
  one_at_a_time(4);
  one_at_a_time(MOST);
  types();
  several();
  nobody();
  return end();
}
#else
int main(void) {
  puts("this MPI is older than MPI 4.0");
  return 77;
}
#endif
