/* Locks: exclusive ones exclude, flushes complete, requests, locks of all; a
   mutex made of MPI_Compare_and_swap, and a flag that is polled. */
#include "test.h"

enum { CELLS = 64, TIMES = 20, LARGE = 600000, SMALL = 40000 };

static long *cells;
static MPI_Win win;

/* Read, add, write back: wrong unless locks exclude. */
static void add_one(int target, int cell) {
  long value;
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win);
  MPI_Get(&value, 1, MPI_LONG, target, cell, 1, MPI_LONG, win);
  MPI_Win_flush(target, win);
  value++;
  MPI_Put(&value, 1, MPI_LONG, target, cell, 1, MPI_LONG, win);
  MPI_Win_unlock(target, win);
}

static void exclusive(void) {
  for (int i = 0; i < TIMES; i++) {
    add_one((rank + i) % size, 0);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  long mine, sum;
  MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
  mine = cells[0];
  MPI_Win_unlock(rank, win);
  MPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  if (sum != (long)size * TIMES) {
    fail("exclusive: %ld", sum);
  }
  mix_number((uint64_t)sum);
  report("exclusive");
}

/* Two locks at once, in the order of ranks. */
static void two(void) {
  const int a = rank < size - 1 ? rank : 0, b = a + 1 < size ? a + 1 : a;
  for (int i = 0; i < TIMES / 2; i++) {
    long x[2];
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, a, 0, win);
    if (b != a) {
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, b, 0, win);
    }
    MPI_Get(&x[0], 1, MPI_LONG, a, 1, 1, MPI_LONG, win);
    MPI_Get(&x[1], 1, MPI_LONG, b, 2, 1, MPI_LONG, win);
    MPI_Win_flush_all(win);
    x[0]++, x[1]++;
    MPI_Put(&x[0], 1, MPI_LONG, a, 1, 1, MPI_LONG, win);
    MPI_Put(&x[1], 1, MPI_LONG, b, 2, 1, MPI_LONG, win);
    if (b != a) {
      MPI_Win_unlock(b, win);
    }
    MPI_Win_unlock(a, win);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  long mine[2], sum[2];
  MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
  memcpy(mine, cells + 1, sizeof(mine));
  MPI_Win_unlock(rank, win);
  MPI_Allreduce(mine, sum, 2, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  if (sum[0] != (long)size * (TIMES / 2) || sum[1] != sum[0]) {
    fail("two: %ld %ld", sum[0], sum[1]);
  }
  mix(sum, sizeof(sum));
  report("two");
}

/* Everybody reads all at once, then those with requests. */
static void all(void) {
  long *got = calloc((size_t)size, sizeof(*got)), mine = 100 + rank;
  MPI_Request *requests = calloc((size_t)size, sizeof(MPI_Request));
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
  cells[3] = mine;
  MPI_Win_unlock(rank, win);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock_all(0, win);
  for (int from = 0; from < size; from++) {
    MPI_Get(&got[from], 1, MPI_LONG, from, 3, 1, MPI_LONG, win);
  }
  MPI_Win_flush_local_all(win);
  for (int from = 0; from < size; from++) {
    if (got[from] != 100 + from) {
      fail("all: from %d: %ld", from, got[from]);
    }
  }
  memset(got, 0, sizeof(*got) * (size_t)size);
  for (int from = 0; from < size; from++) {
    MPI_Rget(&got[from], 1, MPI_LONG, from, 3, 1, MPI_LONG, win,
             &requests[from]);
  }
  MPI_Waitall(size, requests, MPI_STATUSES_IGNORE);
  for (int from = 0; from < size; from++) {
    if (got[from] != 100 + from) {
      fail("all: request from %d: %ld", from, got[from]);
    }
  }
  for (int to = 0; to < size; to++) {
    MPI_Rput(&mine, 1, MPI_LONG, to, 8 + rank % 8, 1, MPI_LONG, win,
             &requests[to]);
  }
  MPI_Waitall(size, requests, MPI_STATUSES_IGNORE);
  MPI_Win_flush_local(0, win);
  MPI_Win_unlock_all(win);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
  for (int from = 0; from < size && from < 8; from++) {
    if (cells[8 + from] != 100 + from) {
      fail("all: put by %d", from);
    }
  }
  MPI_Win_unlock(rank, win);
  mix(got, sizeof(*got) * (size_t)size);
  free(got);
  free(requests);
  report("all");
}

/* Locks that nobody else wants meanwhile. */
static void unchecked(void) {
  long seen;
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock(MPI_LOCK_SHARED, (rank + 1) % size, MPI_MODE_NOCHECK, win);
  MPI_Get(&seen, 1, MPI_LONG, (rank + 1) % size, 3, 1, MPI_LONG, win);
  MPI_Win_unlock((rank + 1) % size, win);
  if (seen != 100 + (rank + 1) % size) {
    fail("unchecked: shared: %ld", seen);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, MPI_MODE_NOCHECK, win);
  cells[9]++;
  MPI_Win_unlock(rank, win);
  MPI_Barrier(MPI_COMM_WORLD);
#ifdef OPEN_MPI /* MPICH never releases what is locked after that */
  for (int i = 0; i < TIMES; i++) {
    add_one(i % size, 10);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
  mix_number((uint64_t)cells[10]);
  MPI_Win_unlock(rank, win);
#endif
  mix_number((uint64_t)seen);
  mix_number((uint64_t)cells[9]);
  report("unchecked");
}

/* Locks of all and exclusive ones at the same time. */
static void both(void) {
  const long one = 1;
  for (int i = 0; i < TIMES / 2; i++) {
    if ((rank + i) % 2) {
      MPI_Win_lock_all(0, win);
      MPI_Accumulate(&one, 1, MPI_LONG, i % size, 4, 1, MPI_LONG, MPI_SUM, win);
      MPI_Win_unlock_all(win);
    } else {
      add_one(i % size, 4);
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  long sum;
  MPI_Allreduce(&cells[4], &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  if (sum != (long)size * (TIMES / 2)) {
    fail("both: %ld", sum);
  }
  report("both");
}

/* A mutex at rank 0, on which everybody spins. */
static void spin(void) {
  const int free_ = 0, mine = rank + 1;
  int old;
  MPI_Win_lock_all(0, win);
  for (int i = 0; i < 3; i++) {
    do {
      MPI_Compare_and_swap(&mine, &free_, &old, MPI_INT, 0, 5, win);
      MPI_Win_flush(0, win);
    } while (old != free_);
    long count;
    MPI_Get(&count, 1, MPI_LONG, 0, 6, 1, MPI_LONG, win);
    MPI_Win_flush(0, win);
    count++;
    MPI_Put(&count, 1, MPI_LONG, 0, 6, 1, MPI_LONG, win);
    MPI_Win_flush(0, win);
    MPI_Fetch_and_op(&free_, &old, MPI_INT, 0, 5, MPI_REPLACE, win);
    MPI_Win_flush(0, win);
    if (old != mine) {
      fail("spin: another one has it: %d", old);
    }
  }
  MPI_Win_unlock_all(win);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0 && cells[6] != 3 * size) {
    fail("spin: %ld", cells[6]);
  }
  report("spin");
}

/* A token goes round; who waits for it polls its own memory by calls. */
static void poll(void) {
  const long go = 1, none = 0;
  long seen;
  MPI_Win_lock_all(0, win);
  for (int i = 0; i < 2; i++) {
    if (rank || i) {
      do {
        MPI_Fetch_and_op(&none, &seen, MPI_LONG, rank, 7, MPI_NO_OP, win);
        MPI_Win_flush(rank, win);
      } while (seen != i + (rank ? 1 : 0));
    }
    MPI_Accumulate(&go, 1, MPI_LONG, (rank + 1) % size, 7, 1, MPI_LONG, MPI_SUM,
                   win);
    MPI_Win_flush((rank + 1) % size, win);
  }
  MPI_Win_unlock_all(win);
  MPI_Barrier(MPI_COMM_WORLD);
  mix_number((uint64_t)cells[7]);
  report("poll");
}

/* More than a message takes, there and back. */
static void large(void) {
  long *memory = malloc(sizeof(long) * LARGE);
  long *data = malloc(sizeof(long) * LARGE);
  const int to = (rank + 1) % size, from = (rank + size - 1) % size;
  MPI_Win big;
  MPI_Request request[2];
  MPI_Win_create(memory, sizeof(long) * LARGE, sizeof(long), MPI_INFO_NULL,
                 MPI_COMM_WORLD, &big);
  stream(data, sizeof(long) * LARGE, seed_of(1, rank, to));
  MPI_Win_lock(MPI_LOCK_SHARED, to, 0, big);
  MPI_Rput(data, LARGE / 2, MPI_LONG, to, 0, LARGE / 2, MPI_LONG, big,
           &request[0]);
  MPI_Rput(data + LARGE / 2, LARGE / 2, MPI_LONG, to, LARGE / 2, LARGE / 2,
           MPI_LONG, big, &request[1]);
  MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
  MPI_Win_unlock(to, big);
  MPI_Barrier(MPI_COMM_WORLD);
  stream(data, sizeof(long) * LARGE, seed_of(1, from, rank));
  MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, big);
  if (memcmp(data, memory, sizeof(long) * LARGE) != 0) {
    fail("large: put");
  }
  MPI_Win_unlock(rank, big);
  memset(data, 0, sizeof(long) * LARGE);
  MPI_Win_lock(MPI_LOCK_SHARED, to, 0, big);
  MPI_Get(data, LARGE, MPI_LONG, to, 0, LARGE, MPI_LONG, big);
  MPI_Win_unlock(to, big);
  MPI_Barrier(MPI_COMM_WORLD);
  stream(memory, sizeof(long) * LARGE, seed_of(1, rank, to));
  if (memcmp(data, memory, sizeof(long) * LARGE) != 0) {
    fail("large: get");
  }
  mix(data, sizeof(long) * LARGE);
  MPI_Win_free(&big);
  free(memory);
  free(data);
  report("large");
}

/* Many small ones without a word in between. */
static void small(void) {
  int *memory = calloc(SMALL, sizeof(int));
  int *values = calloc(SMALL, sizeof(int));
  const int to = (rank + 1) % size, from = (rank + size - 1) % size;
  MPI_Win many;
  MPI_Win_create(memory, sizeof(int) * SMALL, sizeof(int), MPI_INFO_NULL,
                 MPI_COMM_WORLD, &many);
  MPI_Win_lock(MPI_LOCK_SHARED, to, 0, many);
  for (int i = 0; i < SMALL; i++) {
    values[i] = i * (rank + 1);
    MPI_Put(&values[i], 1, MPI_INT, to, i, 1, MPI_INT, many);
  }
  MPI_Win_unlock(to, many);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < SMALL; i++) {
    if (memory[i] != i * (from + 1)) {
      fail("small: %d", i);
      break;
    }
  }
  MPI_Win_free(&many);
  free(memory);
  free(values);
  report("small");
}

/* Nothing but locks of its own memory, until somebody has put there. */
static void look(void) {
  int *memory, seen = 0;
  const int one = 1;
  MPI_Win own;
  MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD,
                   &memory, &own);
  *memory = rank == 0;
  MPI_Barrier(MPI_COMM_WORLD);
  while (!seen) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, own);
    seen = *memory;
    MPI_Win_unlock(rank, own);
  }
  if (rank + 1 < size) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank + 1, 0, own);
    MPI_Put(&one, 1, MPI_INT, rank + 1, 0, 1, MPI_INT, own);
    MPI_Win_unlock(rank + 1, own);
  }
  MPI_Win_free(&own);
  report("look");
}

int main(int argc, char **argv) {
  begin(&argc, &argv);
  MPI_Win_allocate(sizeof(long) * CELLS, sizeof(long), MPI_INFO_NULL,
                   MPI_COMM_WORLD, &cells, &win);
  memset(cells, 0, sizeof(long) * CELLS);
  MPI_Barrier(MPI_COMM_WORLD);
  exclusive();
  two();
  all();
  both();
  spin();
  poll();
  unchecked(); /* the last of `win` */
  large();
  small();
  look();
  MPI_Win_free(&win);
  return end();
}
