/* MPI_Dims_create: sides of a grid that are as close to each other as can be.
   Of all ways to write n as a product of so many factors it takes that whose
   largest and smallest differ least, and of several such that whose small ones
   are largest. (The real library deals out prime factors, which does not always
   find that.) */
#include "mpi/object/comm.h"
#include "mpi/object/comm_error.h"
#include "mpi_abi/functions.h"
#include "os/native.h"

#include <limits.h>
#include <string.h>

enum { MOST_DIVISORS = 1536 }; /* of numbers below 2^31 */

struct search {
  int wanted;      /* how many factors */
  int *now, *best; /* in descending order */
  int range;       /* of the best: the largest minus the smallest */
  int divisors;    /* of n, ascending */
  int divisor[MOST_DIVISORS];
};

static void find_divisors(struct search *s, int n) {
  for (int d = 1; d <= n / d; d++) {
    if (n % d == 0) {
      s->divisor[s->divisors++] = d;
    }
  }
  for (int i = s->divisors - 1; i >= 0; i--) {
    const int large = n / s->divisor[i];
    if (large != s->divisor[i]) {
      s->divisor[s->divisors++] = large;
    }
  }
}

/* Is b to the power of k above x? */
static bool exceeds(long b, int k, long x) {
  long power = 1;
  for (int i = 0; i < k && power <= x && b > 1; i++) {
    power *= b;
  }
  return power > x;
}

/* The largest number whose power of k is at most x, both at least 1. */
static int root(int x, int k) {
  int low = 1;
  long high = (long)x + 1;
  while (low + 1 < high) {
    const long middle = (low + high) / 2;
    if (exceeds(middle, k, x)) {
      high = middle;
    } else {
      low = (int)middle;
    }
  }
  return low;
}

static bool small_ones_larger(const struct search *s) {
  int i = s->wanted - 1;
  while (i > 0 && s->now[i] == s->best[i]) {
    i--;
  }
  return s->now[i] > s->best[i];
}

static void note(struct search *s) {
  const int range = s->now[0] - s->now[s->wanted - 1];
  if (range < s->range || (range == s->range && small_ones_larger(s))) {
    memcpy(s->best, s->now, s->wanted * sizeof(*s->best));
    s->range = range;
  }
}

/* Writes n as a product of the factors from number `at` on, none above `most`.
   The smallest is at most the root of what remains: that bounds the range. */
static void split(struct search *s, int at, int n, int most) {
  const int left = s->wanted - at;
  if (n == 1 || left == 1) {
    s->now[at] = n;
    for (int i = at + 1; i < s->wanted; i++) {
      s->now[i] = 1;
    }
    note(s);
    return;
  }
  for (int i = 0; i < s->divisors && s->divisor[i] <= most; i++) {
    const int f = s->divisor[i];
    if (n % f || (f < n && !exceeds(f, left, (long)n - 1))) {
      continue; /* or too small for the largest of those left */
    }
    s->now[at] = f;
    if (s->now[0] - root(n / f, left - 1) > s->range) {
      return; /* and more so with larger ones */
    }
    split(s, at + 1, n / f, f);
  }
}

/* Sets `sides` to the best factors of n. False: out of memory. */
static bool balance(int n, int wanted, int *sides) {
  struct search *s = native_zalloc(1, sizeof(*s));
  int *now = s ? native_alloc(wanted * sizeof(*now)) : NULL;
  if (!now) {
    native_free(s);
    return false;
  }
  s->wanted = wanted;
  s->now = now;
  s->best = sides;
  s->range = INT_MAX;
  find_divisors(s, n);
  split(s, 0, n, n);
  native_free(now);
  native_free(s);
  return true;
}

/* Sets those of `dims` that are 0, `free` of them. */
static int fill(int n, int free, int ndims, int *dims) {
  int *sides = native_alloc(free * sizeof(*sides));
  const bool found = sides && balance(n, free, sides);
  for (int i = 0, next = 0; found && i < ndims; i++) {
    dims[i] = dims[i] ? dims[i] : sides[next++];
  }
  native_free(sides);
  return found ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

/* What the free dimensions are to give, or 0: the others do not divide n. */
static int rest_of(int n, int ndims, const int *dims, int *free) {
  *free = 0;
  for (int i = 0; i < ndims; i++) {
    if (dims[i] < 0 || (dims[i] && n % dims[i])) {
      return 0;
    }
    *free += !dims[i];
    n /= dims[i] ? dims[i] : 1;
  }
  return *free || n == 1 ? n : 0;
}

int pems_Dims_create(int nnodes, int ndims, int dims[]) {
  static const char function[] = "MPI_Dims_create";
  if (ndims < 0 || nnodes < 1) {
    return comm_error(MPI_COMM_WORLD, MPI_ERR_DIMS, function);
  }
  if (ndims && !dims) {
    return comm_error(MPI_COMM_WORLD, MPI_ERR_ARG, function);
  }
  int free = 0;
  const int rest = ndims ? rest_of(nnodes, ndims, dims, &free) : 1;
  if (!rest) {
    return comm_error(MPI_COMM_WORLD, MPI_ERR_DIMS, function);
  }
  const int code = free ? fill(rest, free, ndims, dims) : MPI_SUCCESS;
  return comm_error(MPI_COMM_WORLD, code, function);
}
