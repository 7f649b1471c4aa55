/* Accumulates: atomic, with all operations and the types that they are for,
   what was there before, in the order in which one origin calls them. */
#include "test.h"

enum { TIMES = 40, CELLS = 24, MANY = 100000, ODD = 6 };

static const MPI_Op ops[] = {
    MPI_MAX, MPI_MIN,  MPI_SUM,  MPI_PROD,   MPI_LAND,   MPI_BAND,   MPI_LOR,
    MPI_BOR, MPI_LXOR, MPI_BXOR, MPI_MINLOC, MPI_MAXLOC, MPI_REPLACE};
enum { OPS = sizeof(ops) / sizeof(ops[0]) };

/* Types and the operations that are right for them. Open MPI 4.1 takes the
   logical ones on integers of 4 and 8 bytes for something else. */
struct kind {
  MPI_Datatype type;
  const char *name;
  const char *ops; /* one letter each: a = ops[0] */
};
static const char small[] = "abcdefghijm", integer[] = "abcdfhjm",
                  floating[] = "abcdm", complex_[] = "cdm", pair[] = "klm",
                  bytes[] = "fhjm", logical[] = "egim", plain_long[] = "abcdm";

/* Only in programs of pems. */
extern int pems_main(int argc, char **argv, char **envp) __attribute__((weak));

/* Open MPI 4.1 destroys the memory around pairs with gaps, and adds numbers of
   8 bytes as if they were integers: those come last, and for pems alone. Open
   MPI 5.0 takes bitwise operations on 8 bytes for others. */
static int kinds_of(struct kind *k) {
  const struct kind all[] = {
      {MPI_SIGNED_CHAR, "signed char", small},
      {MPI_UNSIGNED_CHAR, "unsigned char", small},
      {MPI_SHORT, "short", small},
      {MPI_UNSIGNED_SHORT, "unsigned short", small},
      {MPI_INT, "int", integer},
      {MPI_UNSIGNED, "unsigned", integer},
      {MPI_LONG, "long", integer},
      {MPI_UNSIGNED_LONG, "unsigned long", integer},
      {MPI_LONG_LONG, "long long", integer},
      {MPI_INT8_T, "int8", small},
      {MPI_UINT16_T, "uint16", small},
      {MPI_INT32_T, "int32", integer},
      {MPI_UINT64_T, "uint64", integer},
      {MPI_AINT, "aint", integer},
      {MPI_OFFSET, "offset", integer},
      {MPI_FLOAT, "float", floating},
      {MPI_DOUBLE, "double", floating},
      {MPI_LONG_DOUBLE, "long double", floating},
      {MPI_C_DOUBLE_COMPLEX, "double complex", complex_},
      {MPI_C_BOOL, "bool", logical},
      {MPI_BYTE, "byte", bytes},
      {MPI_2INT, "2int", pair},
      {MPI_FLOAT_INT, "float int", pair},
      {MPI_C_FLOAT_COMPLEX, "float complex", complex_},
      {MPI_INT, "int", logical},
      {MPI_LONG, "long", logical},
      {MPI_SHORT_INT, "short int", pair},
      {MPI_LONG_INT, "long int", pair},
      {MPI_DOUBLE_INT, "double int", pair},
  };
  const int n = (int)(sizeof(all) / sizeof(all[0])) - (pems_main ? 0 : ODD);
  memcpy(k, all, sizeof(all));
  for (int i = 0; i < n && !pems_main; i++) {
    int size;
    MPI_Type_size(k[i].type, &size);
    if (k[i].ops == integer && size == 8) {
      k[i].ops = plain_long;
    }
  }
  return n;
}

/* n elements with values that no operation makes invalid or inexact. */
static void fill(const struct kind *k, char *memory, int n, uint64_t seed) {
  uint64_t state = seed;
  for (int i = 0; i < n; i++) {
    const unsigned v = 1 + pick(&state, 3), w = 1 + pick(&state, 9);
    MPI_Aint lb, extent;
    MPI_Type_get_extent(k->type, &lb, &extent);
    char *p = memory + i * extent;
    memset(p, 0, (size_t)extent);
    if (k->ops == integer || k->ops == plain_long || k->ops == small ||
        k->ops == bytes) {
      p[0] = (char)v;
    } else if (k->ops == logical) {
      p[0] = v == 1;
    } else if (k->type == MPI_FLOAT) {
      memcpy(p, &(float){v}, sizeof(float));
    } else if (k->type == MPI_DOUBLE) {
      memcpy(p, &(double){v}, sizeof(double));
    } else if (k->type == MPI_LONG_DOUBLE) {
      *(long double *)p = v;
    } else if (k->type == MPI_C_FLOAT_COMPLEX) {
      memcpy(p, &(float[2]){v, w}, 2 * sizeof(float));
    } else if (k->type == MPI_C_DOUBLE_COMPLEX) {
      memcpy(p, &(double[2]){v, w}, 2 * sizeof(double));
    } else if (k->type == MPI_2INT) {
      memcpy(p, &(int[2]){(int)v, (int)w}, 2 * sizeof(int));
    } else if (k->type == MPI_SHORT_INT) {
      memcpy(p, &(short){(short)v}, sizeof(short)), memcpy(p + 4, &w, 4);
    } else if (k->type == MPI_LONG_INT) {
      memcpy(p, &(long){v}, sizeof(long)), memcpy(p + 8, &w, 4);
    } else if (k->type == MPI_FLOAT_INT) {
      memcpy(p, &(float){v}, sizeof(float)), memcpy(p + 4, &w, 4);
    } else {
      memcpy(p, &(double){v}, sizeof(double)), memcpy(p + 8, &w, 4);
    }
  }
}

/* Each rank accumulates on its right neighbour; the result is what
   MPI_Reduce_local says. */
static void all_types(void) {
  struct kind kinds[40];
  const int n = kinds_of(kinds), to = (rank + 1) % size,
            from = (rank + size - 1) % size;
  _Alignas(16) char memory[CELLS * 32], mine[CELLS * 32], expected[CELLS * 32],
      old[CELLS * 32], before[CELLS * 32];
  MPI_Win win;
  MPI_Win_create(memory, sizeof(memory), 1, MPI_INFO_NULL, MPI_COMM_WORLD,
                 &win);
  for (int i = 0; i < n; i++) {
    for (const char *o = kinds[i].ops; *o; o++) {
      const struct kind *k = &kinds[i];
      const MPI_Op op = ops[*o - 'a'];
      if (left_out()) {
        continue;
      }
      MPI_Win_fence(0, win);
      memset(memory, 0, sizeof(memory));
      fill(k, memory, CELLS, seed_of((uint64_t)i, rank, 9));
      memcpy(expected, memory, sizeof(memory));
      memset(before, 0, sizeof(before));
      fill(k, before, CELLS, seed_of((uint64_t)i, to, 9));
      memset(old, 0, sizeof(old));
      MPI_Win_fence(0, win);
      fill(k, mine, CELLS, seed_of((uint64_t)i, rank, *o));
      if (*o % 2) {
        MPI_Accumulate(mine, CELLS, k->type, to, 0, CELLS, k->type, op, win);
      } else {
        MPI_Get_accumulate(mine, CELLS, k->type, old, CELLS, k->type, to, 0,
                           CELLS, k->type, op, win);
      }
      MPI_Win_fence(0, win);
      fill(k, mine, CELLS, seed_of((uint64_t)i, from, *o));
      if (op != MPI_REPLACE) {
        MPI_Reduce_local(mine, expected, CELLS, k->type, op);
      }
      if (op == MPI_REPLACE) {
        fill(k, expected, CELLS, seed_of((uint64_t)i, from, *o));
      }
      if (memcmp(memory, expected, sizeof(memory)) != 0) {
        fail("%s: operation %c", k->name, *o);
      }
      if (*o % 2 == 0 && memcmp(old, before, sizeof(old)) != 0) {
        fail("%s: operation %c: what was there", k->name, *o);
      }
    }
  }
  MPI_Win_free(&win);
  report("types");
}

/* All ranks on one counter; each value is seen once. */
static void counter(void) {
  long *memory, seen[TIMES], one = 1;
  MPI_Win win;
  MPI_Win_allocate(rank == 0 ? sizeof(long) * 8 : 0, sizeof(long),
                   MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  if (rank == 0) {
    memset(memory, 0, sizeof(long) * 8);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock_all(0, win);
  for (int i = 0; i < TIMES; i++) {
    MPI_Fetch_and_op(&one, &seen[i], MPI_LONG, 0, 0, MPI_SUM, win);
    MPI_Win_flush(0, win);
    if (i && seen[i] <= seen[i - 1]) {
      fail("counter: %ld after %ld", seen[i], seen[i - 1]);
    }
  }
  /* Without waiting in between. */
  for (int i = 0; i < TIMES; i++) {
    MPI_Accumulate(&one, 1, MPI_LONG, 0, 1, 1, MPI_LONG, MPI_SUM, win);
    MPI_Accumulate(&one, 1, MPI_LONG, 0, 2, 1, MPI_LONG, MPI_SUM, win);
  }
  MPI_Win_unlock_all(win);
  long sum = 0, total;
  for (int i = 0; i < TIMES; i++) {
    sum += seen[i];
  }
  MPI_Allreduce(&sum, &total, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  const long n = (long)size * TIMES;
  if (total != n * (n - 1) / 2) {
    fail("counter: the sum of what was seen is %ld", total);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0 && (memory[0] != n || memory[1] != n || memory[2] != n)) {
    fail("counter: %ld %ld %ld", memory[0], memory[1], memory[2]);
  }
  mix_number((uint64_t)total);
  MPI_Win_free(&win);
  report("counter");
}

/* A list that grows at its head: MPI_Compare_and_swap until it is right. */
static void swaps(void) {
  int *memory, done = 0;
  MPI_Win win;
  MPI_Win_allocate(sizeof(int) * 4, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD,
                   &memory, &win);
  memset(memory, 0, sizeof(int) * 4);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock_all(0, win);
  for (int i = 0; i < 10; i++) {
    int now = 0, next, old = -1;
    while (old != now) {
      if (old >= 0) {
        now = old;
      }
      next = now + 1;
      MPI_Compare_and_swap(&next, &now, &old, MPI_INT, size - 1, 1, win);
      MPI_Win_flush(size - 1, win);
    }
    done++;
  }
  MPI_Win_unlock_all(win);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == size - 1 && memory[1] != 10 * size) {
    fail("swaps: %d", memory[1]);
  }
  mix_number((uint64_t)done);
  MPI_Win_free(&win);
  report("swaps");
}

/* Long vectors from all ranks at once, and requests for them. */
static void vectors(void) {
  double *memory = calloc(MANY, sizeof(double));
  double *mine = malloc(sizeof(double) * MANY);
  double *old = calloc(MANY, sizeof(double));
  MPI_Request requests[2];
  MPI_Win win;
  MPI_Win_create(memory, sizeof(double) * MANY, sizeof(double), MPI_INFO_NULL,
                 MPI_COMM_WORLD, &win);
  for (int i = 0; i < MANY; i++) {
    mine[i] = rank + i % 100;
  }
  MPI_Win_fence(0, win);
  for (int to = 0; to < size; to++) {
    MPI_Accumulate(mine, MANY, MPI_DOUBLE, to, 0, MANY, MPI_DOUBLE, MPI_SUM,
                   win);
  }
  MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
  for (int i = 0; i < MANY; i++) {
    if (memory[i] != size * (size - 1) / 2 + (double)size * (i % 100)) {
      fail("vectors: element %d: %g", i, memory[i]);
      break;
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
  MPI_Rget_accumulate(mine, MANY, MPI_DOUBLE, old, MANY, MPI_DOUBLE, 0, 0, MANY,
                      MPI_DOUBLE, MPI_SUM, win, &requests[0]);
  MPI_Raccumulate(mine, MANY, MPI_DOUBLE, 0, 0, MANY, MPI_DOUBLE, MPI_SUM, win,
                  &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  MPI_Win_unlock(0, win);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    mix(memory, sizeof(double) * MANY);
  }
  if (memcmp(old, old, sizeof(double)) != 0 || old[1] - old[0] < 1) {
    fail("vectors: what was there");
  }
  MPI_Win_free(&win);
  free(memory);
  free(mine);
  free(old);
  report("vectors");
}

/* Accumulates of one rank to the same place stay in order. */
static void order(void) {
  int *memory, got[2] = {-1, -1};
  MPI_Win win;
  MPI_Win_allocate(sizeof(int) * 8 * size, sizeof(int), MPI_INFO_NULL,
                   MPI_COMM_WORLD, &memory, &win);
  memset(memory, 0, sizeof(int) * 8 * (size_t)size);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock_all(0, win);
  for (int i = 0; i < TIMES; i++) {
    const int to = i % size, value = 1000 * i;
    const int two = 2;
    MPI_Accumulate(&value, 1, MPI_INT, to, rank, 1, MPI_INT, MPI_REPLACE, win);
    MPI_Accumulate(&two, 1, MPI_INT, to, rank, 1, MPI_INT, MPI_SUM, win);
    MPI_Get_accumulate(NULL, 0, MPI_INT, &got[0], 1, MPI_INT, to, rank, 1,
                       MPI_INT, MPI_NO_OP, win);
    MPI_Fetch_and_op(&two, &got[1], MPI_INT, to, rank, MPI_PROD, win);
    MPI_Win_flush(to, win);
    if (got[0] != value + 2 || got[1] != value + 2) {
      fail("order: %d %d", got[0], got[1]);
    }
  }
  MPI_Win_unlock_all(win);
  MPI_Win_free(&win);
  report("order");
}

int main(int argc, char **argv) {
  begin(&argc, &argv);
  all_types();
  counter();
  swaps();
  vectors();
  order();
  return end();
}
