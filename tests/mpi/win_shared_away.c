/* Windows of MPI_Win_allocate_shared whose members all wait: what they hold
   stays, and messages find it. Pairs of ranks pass their windows' contents on.
 */
#include "test.h"

enum { PAIRS_WORDS = 600000, ROUNDS = 4 };

static MPI_Comm node, pair;
static int me;

static uint64_t value(int round, int of, size_t i) {
  return (uint64_t)round << 56 ^ (uint64_t)of << 32 ^ i * 2654435761u;
}

static void fill(uint64_t *p, size_t n, int round) {
  for (size_t i = 0; i < n; i++) {
    p[i] = value(round, rank, i);
  }
}

static void verify(const uint64_t *p, size_t n, int round, int of,
                   const char *what) {
  for (size_t i = 0; i < n; i++) {
    if (p[i] != value(round, of, i)) {
      fail("round %d, %s, word %zu: %llx", round, what, i,
           (unsigned long long)p[i]);
      return;
    }
  }
}

/* Of those that share memory, two and two. */
static void pair_up(void) {
  int at;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL,
                      &node);
  MPI_Comm_rank(node, &at);
  MPI_Comm_split(node, at / 2, at, &pair);
  MPI_Comm_rank(pair, &me);
}

static void rounds(void) {
  const size_t n = PAIRS_WORDS / (size_t)pace;
  uint64_t *mine, *theirs;
  MPI_Aint bytes;
  MPI_Win win;
  int unit, members, partner = rank;
  MPI_Comm_size(pair, &members);
  MPI_Win_allocate_shared((MPI_Aint)(n * sizeof(*mine)), sizeof(*mine),
                          MPI_INFO_NULL, pair, &mine, &win);
  MPI_Win_shared_query(win, members - 1 - me, &bytes, &unit, &theirs);
  MPI_Sendrecv(&rank, 1, MPI_INT, members - 1 - me, 0, &partner, 1, MPI_INT,
               members - 1 - me, 0, pair, MPI_STATUS_IGNORE);
  MPI_Win_lock_all(0, win);
  for (int round = 0; round < ROUNDS; round++) {
    MPI_Request request;
    const int to = (rank + 1) % size, from = (rank + size - 1) % size;
    fill(mine, n, round);
    MPI_Win_sync(win);
    MPI_Barrier(pair);
    verify(theirs, n, round, partner, "the partner's");
    MPI_Barrier(MPI_COMM_WORLD);
    /* The receive is waited for while all are away. */
    uint64_t *copy = malloc(n * sizeof(*copy));
    memcpy(copy, mine, n * sizeof(*copy));
    MPI_Irecv(mine, (int)(n * sizeof(*mine)), MPI_BYTE, from, round,
              MPI_COMM_WORLD, &request);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Send(copy, (int)(n * sizeof(*copy)), MPI_BYTE, to, round,
             MPI_COMM_WORLD);
    free(copy);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    verify(mine, n, round, from, "what has come");
    MPI_Barrier(pair);
  }
  MPI_Win_unlock_all(win);
  MPI_Win_free(&win);
}

/* Pages that nobody touches, and one of an end. */
static void sparse(void) {
  const MPI_Aint large = (MPI_Aint)64 << 20;
  char *mine;
  MPI_Win win;
  MPI_Win_allocate_shared(large, 1, MPI_INFO_NULL, node, &mine, &win);
  mine[0] = 1, mine[large - 1] = 2;
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  if (mine[0] != 1 || mine[large - 1] != 2 || mine[large / 2] != 0) {
    fail("sparse: %d %d %d", mine[0], mine[large - 1], mine[large / 2]);
  }
  MPI_Win_free(&win);
}

int main(int argc, char **argv) {
  begin(&argc, &argv);
  pair_up();
  rounds();
  sparse();
  MPI_Comm_free(&pair);
  MPI_Comm_free(&node);
  return end();
}
