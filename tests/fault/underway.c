/* For tests of checkpoints: supersteps between which each rank has requests and
   messages under way, of all kinds. Rank 0 prints a line for each step: a sum
   of all that all ranks have received, and what statuses said of it.

     underway STEPS [KIND [FLAG SHELF]]

   KIND: only these, letters of `kinds`. While there is a file FLAG, odd ranks
   send only when rank 0 has begun to write its file to SHELF. */
#include <glob.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LARGE = 50000, SMALL = 250, TINY = 4, LANES = 24 };

static int rank, size, next, previous;
static const char *wanted = "", *flag = "", *shelf = "";
static unsigned long sum;
static MPI_Request request[LANES], round_trip[4];
static MPI_Message matched[3];
static int *out[LANES], *in[LANES];
static char *attached;

static int does(char kind) {
  return !*wanted || strchr(wanted, kind);
}

static void add(unsigned long x) {
  sum = (sum ^ x) * 1099511628211u;
}

/* What rank `from` sends in that step. */
static int *fill(int lane, int from, int step, int n) {
  for (int i = 0; i < n; i++) {
    out[lane][i] = (i + 1) * (from + 3) + 1000 * step + lane;
  }
  return out[lane];
}

static void look(int lane, int from, int step, int n) {
  for (int i = 0; i < n; i++) {
    const int is = in[lane][i];
    if (is != (i + 1) * (from + 3) + 1000 * step + lane) {
      printf("rank %d step %d lane %d: wrong at %d: %d\n", rank, step, lane, i,
             is);
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
    add((unsigned long)is);
  }
}

static void look_status(const MPI_Status *s, MPI_Datatype type) {
  int n;
  MPI_Get_count(s, type, &n);
  add((unsigned long)(s->MPI_SOURCE + 10 * s->MPI_TAG) + 1000ul * (unsigned)n);
}

static void take(int lane, int from, int step, int n) {
  MPI_Status s;
  MPI_Recv(in[lane], n, MPI_INT, from, lane, MPI_COMM_WORLD, &s);
  look_status(&s, MPI_INT);
  look(lane, from, step, n);
}

static void wait_for(int lane, int from, int step, int n) {
  MPI_Status s;
  MPI_Wait(&request[lane], &s);
  look_status(&s, MPI_INT);
  look(lane, from, step, n);
}

static int is_writing(void) {
  char name[4096];
  glob_t g;
  snprintf(name, sizeof(name), "%s/.new*/rank-0", shelf);
  const int found = glob(name, 0, NULL, &g) == 0;
  globfree(&g);
  return found;
}

/* Others run meanwhile. */
static void be_late(void) {
  int any;
  while (rank % 2 && access(flag, F_OK) == 0 && !is_writing()) {
    MPI_Iprobe(0, 99, MPI_COMM_SELF, &any, MPI_STATUS_IGNORE);
  }
}

/* --- messages that wait for their receivers ------------------------------- */

static const int stored[] = {0, TINY, SMALL, TINY};

static void send_stored(int step) {
  for (int i = 0; does('s') && i < 4; i++) {
    MPI_Send(fill(0, rank, step, stored[i]), stored[i], MPI_INT, next, 0,
             MPI_COMM_WORLD);
  }
  if (does('S')) {
    MPI_Send(fill(1, rank, step, TINY), TINY, MPI_INT, rank, 1, MPI_COMM_WORLD);
    MPI_Send(fill(1, rank, step, TINY), TINY, MPI_INT, 0, 1, MPI_COMM_SELF);
  }
}

static void take_stored(int step) {
  for (int i = 0; does('s') && i < 4; i++) {
    take(0, previous, step, stored[i]);
  }
  if (does('S')) {
    take(1, rank, step, TINY);
    MPI_Recv(in[1], TINY, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF,
             MPI_STATUS_IGNORE);
    look(1, rank, step, TINY);
  }
}

static void send_large(int step) {
  if (does('l')) {
    MPI_Isend(fill(2, rank, step, LARGE), LARGE, MPI_INT, next, 2,
              MPI_COMM_WORLD, &request[2]);
    MPI_Issend(fill(3, rank, step, TINY), TINY, MPI_INT, next, 3,
               MPI_COMM_WORLD, &request[3]);
  }
  if (does('f')) { /* its buffer stays as it is until the next step */
    MPI_Isend(fill(4, rank, step, LARGE), LARGE, MPI_INT, previous, 4,
              MPI_COMM_WORLD, &request[4]);
    MPI_Request_free(&request[4]);
  }
  if (does('b')) {
    MPI_Bsend(fill(5, rank, step, LARGE), LARGE, MPI_INT, next, 5,
              MPI_COMM_WORLD);
    memset(out[5], 7, LARGE * sizeof(int));
  }
  if (does('c')) {
    MPI_Isend(fill(6, rank, step, LARGE), LARGE, MPI_INT, next, 6,
              MPI_COMM_WORLD, &request[6]);
  }
}

static void take_large(int step) {
  if (does('l')) {
    int done;
    MPI_Test(&request[3], &done, MPI_STATUS_IGNORE);
    take(2, previous, step, LARGE);
    take(3, previous, step, TINY);
    MPI_Wait(&request[2], MPI_STATUS_IGNORE);
    MPI_Wait(&request[3], MPI_STATUS_IGNORE);
  }
  if (does('f')) {
    take(4, next, step, LARGE);
  }
  if (does('b')) {
    take(5, previous, step, LARGE);
  }
  if (does('c')) {
    MPI_Status s;
    int cancelled;
    MPI_Cancel(&request[6]);
    MPI_Wait(&request[6], &s);
    MPI_Test_cancelled(&s, &cancelled);
    add(100ul + (unsigned)cancelled);
  }
}

/* --- receives that wait for their messages, or have got them ---------------
 */

static void post(void) {
  if (does('p')) {
    MPI_Irecv(in[10], TINY, MPI_INT, previous, 10, MPI_COMM_WORLD,
              &request[10]);
    MPI_Irecv(in[11], LARGE, MPI_INT, MPI_ANY_SOURCE, 11, MPI_COMM_WORLD,
              &request[11]);
    MPI_Irecv(in[12], TINY, MPI_INT, MPI_ANY_SOURCE, 12, MPI_COMM_SELF,
              &request[12]);
    /* Two for one message each, in this order. */
    MPI_Irecv(in[13], TINY, MPI_INT, next, 13, MPI_COMM_WORLD, &request[13]);
    MPI_Irecv(in[14], TINY, MPI_INT, MPI_ANY_SOURCE, 13, MPI_COMM_WORLD,
              &request[14]);
  }
  if (does('d')) {
    MPI_Irecv(in[15], TINY, MPI_INT, previous, 15, MPI_COMM_WORLD,
              &request[15]);
    MPI_Irecv(in[16], SMALL, MPI_INT, previous, 16, MPI_COMM_WORLD,
              &request[16]);
    MPI_Irecv(in[17], LARGE, MPI_INT, previous, 17, MPI_COMM_WORLD,
              &request[17]);
  }
  if (does('t')) { /* every other number */
    MPI_Datatype pairs;
    MPI_Type_vector(SMALL, 1, 2, MPI_INT, &pairs);
    MPI_Type_commit(&pairs);
    MPI_Irecv(in[18], 1, pairs, previous, 18, MPI_COMM_WORLD, &request[18]);
    MPI_Type_free(&pairs);
  }
}

/* They may wait when it comes. */
static void send_awaited(int step) {
  if (does('d')) {
    MPI_Send(fill(15, rank, step, TINY), TINY, MPI_INT, next, 15,
             MPI_COMM_WORLD);
    MPI_Send(fill(16, rank, step, SMALL), SMALL, MPI_INT, next, 16,
             MPI_COMM_WORLD);
    MPI_Isend(fill(17, rank, step, LARGE), LARGE, MPI_INT, next, 17,
              MPI_COMM_WORLD, &request[19]);
  }
  if (does('t')) {
    MPI_Send(fill(18, rank, step, SMALL), SMALL, MPI_INT, next, 18,
             MPI_COMM_WORLD);
  }
}

static void send_late(int step) {
  if (does('p')) {
    MPI_Send(fill(10, rank, step, TINY), TINY, MPI_INT, next, 10,
             MPI_COMM_WORLD);
    MPI_Isend(fill(11, rank, step, LARGE), LARGE, MPI_INT, next, 11,
              MPI_COMM_WORLD, &request[20]);
    MPI_Send(fill(12, rank, step, TINY), TINY, MPI_INT, 0, 12, MPI_COMM_SELF);
    MPI_Send(fill(13, rank, step, TINY), TINY, MPI_INT, previous, 13,
             MPI_COMM_WORLD);
    MPI_Send(fill(14, rank, step, TINY), TINY, MPI_INT, previous, 13,
             MPI_COMM_WORLD);
  }
}

static void end_receives(int step) {
  if (does('p')) {
    wait_for(10, previous, step, TINY);
    wait_for(11, previous, step, LARGE);
    wait_for(12, rank, step, TINY);
    wait_for(14, next, step, TINY);
    wait_for(13, next, step, TINY);
    MPI_Wait(&request[20], MPI_STATUS_IGNORE);
  }
  if (does('d')) {
    wait_for(16, previous, step, SMALL);
    wait_for(17, previous, step, LARGE);
    wait_for(15, previous, step, TINY);
    MPI_Wait(&request[19], MPI_STATUS_IGNORE);
  }
  if (does('t')) {
    MPI_Wait(&request[18], MPI_STATUS_IGNORE);
    for (int i = 0; i < SMALL; i++) {
      in[18][i] = in[18][2 * i];
    }
    look(18, previous, step, SMALL);
  }
}

/* --- requests that come again --------------------------------------------- */

static void make_round_trip(void) {
  if (does('r')) {
    MPI_Send_init(out[7], LARGE, MPI_INT, next, 7, MPI_COMM_WORLD,
                  &round_trip[0]);
    MPI_Recv_init(in[7], LARGE, MPI_INT, previous, 7, MPI_COMM_WORLD,
                  &round_trip[1]);
    MPI_Ssend_init(out[8], TINY, MPI_INT, next, 8, MPI_COMM_WORLD,
                   &round_trip[2]);
    MPI_Recv_init(in[8], TINY, MPI_INT, MPI_ANY_SOURCE, 8, MPI_COMM_WORLD,
                  &round_trip[3]);
  }
}

static void begin_round_trip(int step) {
  if (does('r')) {
    fill(7, rank, step, LARGE);
    fill(8, rank, step, TINY);
    MPI_Startall(step % 2 ? 4 : 3, round_trip);
  }
}

static void end_round_trip(int step) {
  if (does('r')) {
    if (step % 2 == 0) {
      MPI_Start(&round_trip[3]);
    }
    MPI_Waitall(4, round_trip, MPI_STATUSES_IGNORE);
    look(7, previous, step, LARGE);
    look(8, previous, step, TINY);
  }
}

/* --- messages both ways in one request ------------------------------------ */

static void exchange(int step) {
#if MPI_VERSION >= 4
  if (does('x')) {
    MPI_Isendrecv(fill(9, rank, step, LARGE), LARGE, MPI_INT, next, 9, in[9],
                  LARGE, MPI_INT, previous, 9, MPI_COMM_WORLD, &request[9]);
  }
#else
  (void)step;
#endif
}

static void end_exchange(int step) {
#if MPI_VERSION >= 4
  if (does('x')) {
    wait_for(9, previous, step, LARGE);
  }
#else
  (void)step;
#endif
}

/* --- collective calls ----------------------------------------------------- */

static int counts[2];

static void begin_collectives(int step) {
  if (does('n')) {
    MPI_Ibcast(rank ? in[19] : fill(19, 0, step, LARGE), LARGE, MPI_INT, 0,
               MPI_COMM_WORLD, &request[5]);
    MPI_Iallreduce(&size, &counts[0], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD,
                   &request[7]);
    MPI_Iscan(&rank, &counts[1], 1, MPI_INT, MPI_SUM, MPI_COMM_SELF,
              &request[8]);
    MPI_Ibarrier(MPI_COMM_WORLD, &request[22]);
  }
}

static void end_collectives(int step) {
  if (does('n')) {
    MPI_Wait(&request[22], MPI_STATUS_IGNORE);
    MPI_Wait(&request[8], MPI_STATUS_IGNORE);
    MPI_Wait(&request[7], MPI_STATUS_IGNORE);
    MPI_Wait(&request[5], MPI_STATUS_IGNORE);
    if (rank) {
      look(19, 0, step, LARGE);
    }
    add((unsigned)counts[0] + 10ul * (unsigned)counts[1]);
  }
}

/* --- messages that were matched ------------------------------------------- */

static void send_to_match(int step) {
  if (does('m')) {
    MPI_Isend(fill(21, rank, step, LARGE), LARGE, MPI_INT, next, 21,
              MPI_COMM_WORLD, &request[21]);
    MPI_Send(fill(22, rank, step, SMALL), SMALL, MPI_INT, next, 22,
             MPI_COMM_WORLD);
    MPI_Issend(fill(23, rank, step, TINY), TINY, MPI_INT, next, 23,
               MPI_COMM_WORLD, &request[23]);
  }
}

static void match(void) {
  MPI_Status s;
  for (int i = 0; does('m') && i < 3; i++) {
    MPI_Mprobe(MPI_ANY_SOURCE, 21 + i, MPI_COMM_WORLD, &matched[i], &s);
    look_status(&s, MPI_INT);
  }
}

static void take_matched(int step) {
  static const int n[] = {LARGE, SMALL, TINY};
  if (does('m')) {
    for (int i = 0; i < 3; i++) {
      MPI_Status s;
      MPI_Mrecv(in[21 + i], n[i], MPI_INT, &matched[i], &s);
      look_status(&s, MPI_INT);
      look(21 + i, previous, step, n[i]);
    }
    MPI_Wait(&request[21], MPI_STATUS_IGNORE);
    MPI_Wait(&request[23], MPI_STATUS_IGNORE);
  }
}

/* -------------------------------------------------------------------------- */

static void take_step(int step) {
  post();
  begin_round_trip(step);
  begin_collectives(step); /* rank 0 waits for them */
  be_late();
  send_stored(step);
  send_large(step);
  send_awaited(step);
  send_to_match(step);
  exchange(step);
  MPI_Barrier(MPI_COMM_WORLD);
  match();
  MPI_Barrier(MPI_COMM_WORLD);
  send_late(step);
  take_stored(step);
  take_large(step);
  end_receives(step);
  end_round_trip(step);
  take_matched(step);
  end_exchange(step);
  end_collectives(step);
}

static void make_all(void) {
  const int room = LARGE * (int)sizeof(int) + MPI_BSEND_OVERHEAD;
  for (int i = 0; i < LANES; i++) {
    in[i] = malloc(LARGE * sizeof(int));
    out[i] = malloc(LARGE * sizeof(int));
  }
  if (does('b')) {
    attached = malloc((size_t)room);
    MPI_Buffer_attach(attached, room);
  }
  make_round_trip();
}

static void end_all(void) {
  if (does('b')) {
    void *p;
    int n;
    MPI_Buffer_detach(&p, &n);
    add((unsigned long)n + (p == attached));
  }
  for (int i = 0; does('r') && i < 4; i++) {
    MPI_Request_free(&round_trip[i]);
  }
}

int main(int argc, char **argv) {
  unsigned long all;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  next = (rank + 1) % size;
  previous = (rank + size - 1) % size;
  const int steps = atoi(argv[1]);
  wanted = argc > 2 ? argv[2] : "";
  flag = argc > 4 ? argv[3] : "";
  shelf = argc > 4 ? argv[4] : "";
  make_all();
  for (int step = 0; step < steps; step++) {
    take_step(step);
    MPI_Allreduce(&sum, &all, 1, MPI_UNSIGNED_LONG, MPI_BXOR, MPI_COMM_WORLD);
    if (rank == 0) {
      printf("step %d: %016lx\n", step, all);
    }
  }
  end_all();
  MPI_Reduce(&sum, &all, 1, MPI_UNSIGNED_LONG, MPI_BXOR, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    printf("the end of it: %016lx\n", all);
  }
  MPI_Finalize();
  return 0;
}
