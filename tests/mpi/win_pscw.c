/* MPI_Win_post, start, complete, wait, test: with neighbours, with everybody,
   many epochs in a row, origins that go ahead. */
#include "test.h"

enum { CELLS = 1200, ROUNDS = 6 };
static int memory[CELLS];
static MPI_Win win;
static MPI_Group world;

static MPI_Group group_of_ranks(const int *ranks, int n) {
  MPI_Group group;
  MPI_Group_incl(world, n, ranks, &group);
  return group;
}

/* Everybody puts to the right. */
static void ring(void) {
  const int right = (rank + 1) % size, left = (rank + size - 1) % size;
  int data[100], expected[100];
  MPI_Group to = group_of_ranks(&right, 1), from = group_of_ranks(&left, 1);
  for (int i = 0; i < ROUNDS; i++) {
    stream(data, sizeof(data), seed_of((uint64_t)i, rank, right));
    MPI_Win_post(from, i % 2 ? 0 : MPI_MODE_NOSTORE, win);
    MPI_Win_start(to, 0, win);
    MPI_Put(data, 100, MPI_INT, right, 100 * i, 100, MPI_INT, win);
    MPI_Win_complete(win);
    MPI_Win_wait(win);
    stream(expected, sizeof(expected), seed_of((uint64_t)i, left, rank));
    if (memcmp(expected, memory + 100 * i, sizeof(expected)) != 0) {
      fail("ring: round %d", i);
    }
  }
  MPI_Group_free(&to);
  MPI_Group_free(&from);
  mix(memory, sizeof(memory));
  report("ring");
}

/* Rank 0 is the target of all others, who get and accumulate. */
static void one_target(void) {
  const int zero = 0;
  int *others = malloc(sizeof(int) * (size_t)size);
  for (int i = 1; i < size; i++) {
    others[i - 1] = i;
  }
  MPI_Group origins = group_of_ranks(others, size - 1);
  MPI_Group target = group_of_ranks(&zero, 1);
  for (int i = 0; i < ROUNDS; i++) {
    if (rank == 0) {
      memory[0] = 1000 * i;
      memory[1] = 0;
      MPI_Win_post(origins, 0, win);
      MPI_Win_wait(win);
      mix_number((uint64_t)memory[1]);
      if (memory[1] != size * (size - 1) / 2) {
        fail("one target: round %d: %d", i, memory[1]);
      }
    } else {
      int got = -1;
      MPI_Win_start(target, 0, win);
      MPI_Get(&got, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
      MPI_Accumulate(&rank, 1, MPI_INT, 0, 1, 1, MPI_INT, MPI_SUM, win);
      MPI_Win_complete(win);
      if (got != 1000 * i) {
        fail("one target: round %d: got %d", i, got);
      }
      mix_number((uint64_t)got);
    }
  }
  MPI_Group_free(&origins);
  MPI_Group_free(&target);
  free(others);
  report("one target");
}

/* A root that puts to all, who test until it is over. */
static void one_origin(void) {
  int *others = malloc(sizeof(int) * (size_t)size), zero = 0, flag = 0;
  for (int i = 1; i < size; i++) {
    others[i - 1] = i;
  }
  MPI_Group targets = group_of_ranks(others, size - 1);
  MPI_Group origin = group_of_ranks(&zero, 1);
  for (int i = 0; i < ROUNDS; i++) {
    if (rank == 0) {
      int data[CELLS];
      MPI_Win_start(targets, 0, win);
      for (int to = 1; to < size; to++) {
        stream(data, sizeof(data), seed_of((uint64_t)i, 0, 0));
        MPI_Put(data, CELLS, MPI_INT, to, 0, CELLS, MPI_INT, win);
      }
      MPI_Win_complete(win);
    } else {
      MPI_Win_post(origin, 0, win);
      for (flag = 0; !flag;) {
        MPI_Win_test(win, &flag);
      }
      int expected[CELLS];
      stream(expected, sizeof(expected), seed_of((uint64_t)i, 0, 0));
      if (memcmp(expected, memory, sizeof(memory)) != 0) {
        fail("one origin: round %d", i);
      }
    }
  }
  MPI_Group_free(&targets);
  MPI_Group_free(&origin);
  free(others);
  report("one origin");
}

/* All to all, in groups that name the ranks in another order. */
static void everybody(void) {
  int *order = malloc(sizeof(int) * (size_t)size);
  for (int i = 0; i < size; i++) {
    order[i] = (rank + size - i) % size;
  }
  MPI_Group all = group_of_ranks(order, size);
  const int piece = CELLS / size;
  for (int i = 0; i < ROUNDS; i++) {
    int *data = malloc(sizeof(int) * CELLS);
    MPI_Win_post(all, 0, win);
    MPI_Win_start(all, 0, win);
    for (int to = 0; to < size; to++) {
      stream(data + to * piece, sizeof(int) * (size_t)piece,
             seed_of((uint64_t)i, rank, to));
      MPI_Put(data + to * piece, piece, MPI_INT, to, (MPI_Aint)rank * piece,
              piece, MPI_INT, win);
    }
    MPI_Win_complete(win);
    MPI_Win_wait(win);
    for (int from = 0; from < size; from++) {
      stream(data, sizeof(int) * (size_t)piece,
             seed_of((uint64_t)i, from, rank));
      if (memcmp(data, memory + from * piece, sizeof(int) * (size_t)piece) !=
          0) {
        fail("everybody: round %d: from %d", i, from);
      }
    }
    free(data);
  }
  MPI_Group_free(&all);
  free(order);
  report("everybody");
}

int main(int argc, char **argv) {
  begin(&argc, &argv);
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Win_create(memory, sizeof(memory), sizeof(int), MPI_INFO_NULL,
                 MPI_COMM_WORLD, &win);
  ring();
  one_target();
  one_origin();
  everybody();
  MPI_Win_free(&win);
  MPI_Group_free(&world);
  return end();
}
