/* For tests of checkpoints: a program that makes no collective calls on all
   ranks between its beginning and its end. In each of its steps rank 0 asks for
   a checkpoint and waits until there is one, and all others wait in a call that
   blocks; what that is for comes only then. Rank 0 prints a line for each step.

     between SHELF [STEP...]

   STEP: only these, numbers of `steps` from 1 on. */
#include <mpi.h>
#include <pems.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { N = 300000, FEW = 5, TAG = 7 };

static int rank, size, number; /* of the step */
static int in[2 * N], out[2 * N];
static long sum;
static const char *shelf;
static MPI_Datatype every_other;

/* What a rank sends to another one. */
static int word(int from, int i) {
  return 1000003 * number + 1009 * from + i;
}

static void fill(int n, int stride) {
  for (int i = 0; i < n; i++) {
    out[i * stride] = word(rank, i);
  }
}

static void look(int from, int n, int stride) {
  for (int i = 0; i < n; i++) {
    if (in[i * stride] != word(from, i)) {
      printf("rank %d, step %d: wrong at %d\n", rank, number, i);
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
  }
  sum += in[(n - 1) * stride];
}

static void look_status(const MPI_Status *s, int n) {
  int got;
  MPI_Get_count(s, MPI_INT, &got);
  if (s->MPI_SOURCE != 0 || s->MPI_TAG != TAG || got != n) {
    printf("rank %d, step %d: wrong status\n", rank, number);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
}

/* --- the calls, by all but rank 0, to or from that --------------------------
 */

static void receive(int n) {
  MPI_Status s;
  MPI_Recv(in, n, MPI_INT, 0, TAG, MPI_COMM_WORLD, &s);
  look_status(&s, n);
  look(0, n, 1);
}

static void receive_large(void) {
  receive(N);
}

static void receive_few(void) {
  receive(FEW);
}

static void receive_parts(void) {
  MPI_Recv(in, 1, every_other, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  look(0, N, 2);
}

static void send_large(void) {
  MPI_Send(out, N, MPI_INT, 0, TAG, MPI_COMM_WORLD);
  memset(out, 0, sizeof(out)); /* it is the program's again */
}

static void send_synchronous(void) {
  MPI_Ssend(out, FEW, MPI_INT, 0, TAG, MPI_COMM_WORLD);
  memset(out, 0, sizeof(out));
}

static void send_and_receive(void) {
  MPI_Status s;
  MPI_Sendrecv(out, N, MPI_INT, 0, TAG, in, N, MPI_INT, 0, TAG, MPI_COMM_WORLD,
               &s);
  look_status(&s, N);
  look(0, N, 1);
}

static void replace(void) {
  memcpy(in, out, N * sizeof(int));
  MPI_Sendrecv_replace(in, N, MPI_INT, 0, TAG, 0, TAG, MPI_COMM_WORLD,
                       MPI_STATUS_IGNORE);
  look(0, N, 1);
}

static void probe(void) {
  MPI_Status s;
  MPI_Probe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &s);
  look_status(&s, FEW);
  receive(FEW);
}

static void probe_matched(void) {
  MPI_Status s;
  MPI_Message m;
  MPI_Mprobe(0, MPI_ANY_TAG, MPI_COMM_WORLD, &m, &s);
  look_status(&s, N);
  MPI_Mrecv(in, N, MPI_INT, &m, MPI_STATUS_IGNORE);
  look(0, N, 1);
}

static void wait_for_it(void) {
  MPI_Request r;
  MPI_Status s;
  MPI_Irecv(in, N, MPI_INT, 0, TAG, MPI_COMM_WORLD, &r);
  MPI_Wait(&r, &s);
  look_status(&s, N);
  look(0, N, 1);
}

static void wait_for_all(void) {
  MPI_Request r[2];
  MPI_Irecv(in, N, MPI_INT, 0, TAG, MPI_COMM_WORLD, &r[0]);
  MPI_Issend(out, N, MPI_INT, 0, TAG, MPI_COMM_WORLD, &r[1]);
  MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
  look(0, N, 1);
}

static void wait_for_any(void) {
  MPI_Request r[2];
  int which;
  MPI_Irecv(in, FEW, MPI_INT, 0, TAG, MPI_COMM_WORLD, &r[0]);
  MPI_Irecv(in + N, FEW, MPI_INT, 0, TAG + 1, MPI_COMM_WORLD, &r[1]);
  MPI_Waitany(2, r, &which, MPI_STATUS_IGNORE);
  look(0, FEW, 1);
  MPI_Cancel(&r[1]);
  MPI_Wait(&r[1], MPI_STATUS_IGNORE);
  sum += which;
}

static void wait_for_some(void) {
  MPI_Request r[2];
  int n, which[2];
  MPI_Irecv(in, FEW, MPI_INT, 0, TAG + 1, MPI_COMM_WORLD, &r[1]);
  MPI_Irecv(in, FEW, MPI_INT, 0, TAG, MPI_COMM_WORLD, &r[0]);
  MPI_Waitsome(2, r, &n, which, MPI_STATUSES_IGNORE);
  look(0, FEW, 1);
  MPI_Cancel(&r[1]);
  MPI_Wait(&r[1], MPI_STATUS_IGNORE);
  sum += 10 * n + which[0];
}

/* The others of `two` wait in a collective call, which the last rank but one
   comes to when rank 1 has waited for long. */
static MPI_Comm two;

static int is_late(void) {
  if (rank == 1) {
    int waits;
    MPI_Recv(&waits, 1, MPI_INT, 0, TAG + 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    usleep(waits ? 2500000 : 0);
    MPI_Send(out, FEW, MPI_INT, size - 2, TAG + 2, MPI_COMM_WORLD);
  } else if (rank == size - 2) {
    MPI_Recv(in, FEW, MPI_INT, 1, TAG + 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    look(1, FEW, 1);
  }
  return two != MPI_COMM_NULL;
}

static void begun_by_one(void) {
  MPI_Request r;
  int all, mine = rank + number;
  if (is_late()) {
    MPI_Iallreduce(&mine, &all, 1, MPI_INT, MPI_SUM, two, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    sum += all;
  }
  receive(FEW);
}

static void blocks_one(void) {
  int all, mine = rank + number;
  if (is_late()) {
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, two);
    sum += all;
  }
  receive(FEW);
}

/* All ranks; the first one comes to it last. */
static MPI_Comm ring;

static int at(int distance) {
  return (rank + size + distance) % size;
}

static void meet_neighbors(void) {
  fill(N, 1);
  MPI_Neighbor_allgather(out, N, MPI_INT, in, N, MPI_INT, ring);
  look(at(-1), N, 1);
  memmove(in, in + N, N * sizeof(int));
  look(at(1), N, 1);
}

static void meet_neighbors_few(void) {
  const int counts[] = {FEW, FEW}, places[] = {0, FEW + 1};
  fill(2 * FEW + 1, 1);
  MPI_Neighbor_alltoallv(out, counts, places, MPI_INT, in, counts, places,
                         MPI_INT, ring);
  for (int i = 0; i < FEW; i++) {
    sum += in[i] - word(at(-1), FEW + 1 + i);
    sum += 10 * (in[FEW + 1 + i] - word(at(1), i));
  }
}

static void ask_in_vain(void) {
  int there = 0;
  while (!there) {
    MPI_Iprobe(0, TAG, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
  }
  receive(FEW);
}

/* What rank 0 does with each, and with rank 1: does it wait for a checkpoint?
   Or it makes the same call. */
enum { SENDS = 1, RECEIVES = 2, TELLS = 4, MEETS = 8 };

static const struct step {
  const char *name;
  void (*wait)(void);
  int does, n, stride;
} steps[] = {
    {"Recv, large", receive_large, SENDS, N, 1},
    {"Recv, small", receive_few, SENDS, FEW, 1},
    {"Recv, a derived type", receive_parts, SENDS, N, 2},
    {"Send", send_large, RECEIVES, N, 1},
    {"Ssend", send_synchronous, RECEIVES, FEW, 1},
    {"Sendrecv", send_and_receive, SENDS | RECEIVES, N, 1},
    {"Sendrecv_replace", replace, SENDS | RECEIVES, N, 1},
    {"Probe", probe, SENDS, FEW, 1},
    {"Mprobe", probe_matched, SENDS, N, 1},
    {"Wait", wait_for_it, SENDS, N, 1},
    {"Waitall", wait_for_all, SENDS | RECEIVES, N, 1},
    {"Waitany", wait_for_any, SENDS, FEW, 1},
    {"Waitsome", wait_for_some, SENDS, FEW, 1},
    {"Iprobe", ask_in_vain, SENDS, FEW, 1},
    {"Neighbor_allgather", meet_neighbors, MEETS, 0, 1},
    {"Neighbor_alltoallv", meet_neighbors_few, MEETS, 0, 1},
    {"Iallreduce, begun by one", begun_by_one, SENDS | TELLS, FEW, 1},
    {"Allreduce, where one waits", blocks_one, SENDS | TELLS, FEW, 1},
};
enum { STEPS = sizeof(steps) / sizeof(*steps) };

/* --- rank 0 -----------------------------------------------------------------
 */

static int checkpoints, asked;

static int is_there(void) {
  char path[4096];
  snprintf(path, sizeof(path), "%s/checkpoint-%06d/manifest", shelf,
           checkpoints);
  return access(path, F_OK) == 0;
}

/* Where nobody takes checkpoints it is not waited for. */
static void ask(void) {
  checkpoints++;
  asked = pems_checkpoint() == 0;
}

/* At most so many ms, or 0: for ever. */
static void await_checkpoint(int ms) {
  int there;
  for (int i = 0; asked && !is_there() && (!ms || i < ms / 20); i++) {
    usleep(20000);
    MPI_Iprobe(0, TAG, MPI_COMM_SELF, &there, MPI_STATUS_IGNORE);
  }
}

static void answer(const struct step *s) {
  const MPI_Datatype type = s->stride == 1 ? MPI_INT : every_other;
  const int n = s->stride == 1 ? s->n : 1;
  MPI_Request sent[64];
  fill(s->n, s->stride);
  for (int to = 1; to < size && s->does & SENDS; to++) {
    MPI_Isend(out, n, type, to, TAG, MPI_COMM_WORLD, &sent[to]);
  }
  for (int from = 1; from < size && s->does & RECEIVES; from++) {
    MPI_Recv(in, n, type, from, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    look(from, s->n, s->stride);
  }
  if (s->does & SENDS) {
    MPI_Waitall(size - 1, sent + 1, MPI_STATUSES_IGNORE);
  }
}

static void take(const struct step *s) {
  if (rank == 0) {
    if (s->does & TELLS) {
      MPI_Send(&asked, 1, MPI_INT, 1, TAG + 3, MPI_COMM_WORLD);
    }
    await_checkpoint(0);
    if (s->does & MEETS) {
      s->wait();
    } else {
      answer(s);
    }
    printf("%s: %ld\n", s->name, sum);
    fflush(stdout);
  } else {
    fill(s->n, s->stride);
    s->wait();
  }
}

/* The last rank but one is in a call that cannot be left, and the last one
   comes to it only when rank 0 has waited for long: one that is asked for
   before is there after. */
static void apart(void) {
  if (rank == 0) {
    ask();
    await_checkpoint(3000);
    if (asked && is_there()) {
      printf("a checkpoint where no rank could stop\n");
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Send(out, FEW, MPI_INT, size - 1, TAG, MPI_COMM_WORLD);
  } else if (rank == size - 1) {
    MPI_Recv(in, FEW, MPI_INT, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  if (two != MPI_COMM_NULL) {
    MPI_Barrier(two);
  }
}

/* Collective calls that all have begun, and nobody has ended. */
static struct {
  MPI_Request request[5];
  int mine, all, root, to[2], from[2];
} begun;

static void begin_calls(void) {
  begun.mine = word(rank, 0);
  begun.root = rank == 1 ? word(1, 1) : 0;
  begun.to[0] = begun.to[1] = word(rank, 2);
  MPI_Iallreduce(&begun.mine, &begun.all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD,
                 &begun.request[0]);
  MPI_Ibcast(&begun.root, 1, MPI_INT, 1, ring, &begun.request[1]);
  MPI_Ibarrier(ring, &begun.request[2]);
  MPI_Ineighbor_alltoall(begun.to, 1, MPI_INT, begun.from, 1, MPI_INT, ring,
                         &begun.request[3]);
  begun.request[4] = MPI_REQUEST_NULL;
  if (two != MPI_COMM_NULL) {
    MPI_Ialltoall(begun.to, 1, MPI_INT, in + 2 * N - 2, 1, MPI_INT, two,
                  &begun.request[4]);
  }
}

static void end_calls(void) {
  int all = 0;
  MPI_Waitall(5, begun.request, MPI_STATUSES_IGNORE);
  for (int i = 0; i < size; i++) {
    all += word(i, 0);
  }
  if (begun.all != all || begun.root != word(1, 1) ||
      begun.from[0] != word((rank + size - 1) % size, 2) ||
      begun.from[1] != word((rank + 1) % size, 2) ||
      (two != MPI_COMM_NULL && in[2 * N - 1] != word(size - 1, 2))) {
    printf("rank %d: wrong at the end of what had begun\n", rank);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
}

static void under_way(void) {
  begin_calls();
  if (rank == 0) {
    ask();
  }
  take(&steps[1]);
  end_calls();
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_split(MPI_COMM_WORLD, rank >= size - 2 ? 1 : MPI_UNDEFINED, rank,
                 &two);
  MPI_Cart_create(MPI_COMM_WORLD, 1, &size, (int[]){1}, 0, &ring);
  MPI_Type_vector(N, 1, 2, MPI_INT, &every_other);
  MPI_Type_commit(&every_other);
  shelf = argv[1];
  for (int i = 0; i < STEPS; i++) {
    int wanted = argc == 2;
    for (int j = 2; j < argc; j++) {
      wanted |= atoi(argv[j]) == i + 1;
    }
    number = i + 1;
    if (wanted && rank == 0) {
      ask();
    }
    if (wanted) {
      take(&steps[i]);
    }
  }
  number = STEPS + 1;
  if (argc == 2) {
    apart();
    take(&steps[0]);
    number++;
    under_way();
  }
  long all;
  MPI_Reduce(&sum, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    printf("the end: %ld\n", all);
  }
  MPI_Finalize();
  return 0;
}
