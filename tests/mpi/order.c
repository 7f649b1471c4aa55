/* Operations that do not commute, on few and on many elements: affine maps
   modulo a prime, composed in the order of ranks. Every result is exact.
   Argument: the most elements, 20000 unless given. */
#include "test.h"

#include <stdbool.h>

enum { PRIME = 1000003, COUNTS = 7 };
static int counts[COUNTS] = {0, 1, 3, 64, 1000, 4097, 20000};

/* x -> factor * x + term */
struct map {
  uint64_t factor, term;
};

static MPI_Datatype map_type;
static MPI_Op compose_op;

static struct map compose(struct map a, struct map b) {
  return (struct map){a.factor * b.factor % PRIME,
                      (a.factor * b.term + a.term) % PRIME};
}

static void compose_all(void *in, void *inout, int *n, MPI_Datatype *type) {
  const struct map *a = in;
  struct map *b = inout;
  (void)type;
  for (int i = 0; i < *n; i++) {
    b[i] = compose(a[i], b[i]);
  }
}

static struct map map_of(int r, int i) {
  const uint64_t from = (uint64_t)r, place = (uint64_t)i;
  return (struct map){(from * 7919 + place * 13 + 2) % PRIME,
                      (from * 104729 + place * 17 + 5) % PRIME};
}

static void fill(struct map *maps, int n) {
  for (int i = 0; i < n; i++) {
    maps[i] = map_of(rank, i);
  }
}

/* `got` are elements [first, first + n) of the maps of ranks [0, last],
   composed. */
static void check(const char *what, const struct map *got, int last, int first,
                  int n) {
  for (int i = 0; i < n; i++) {
    struct map wanted = map_of(0, first + i);
    for (int r = 1; r <= last; r++) {
      wanted = compose(wanted, map_of(r, first + i));
    }
    if (memcmp(&got[i], &wanted, sizeof(wanted)) != 0) {
      fail("%s: element %d of %d", what, i, n);
      break;
    }
  }
  mix(got, (size_t)n * sizeof(*got));
}

static void reduce(struct map *in, struct map *out, int n, bool in_place) {
  for (int root = 0; root < size; root++) {
    fill(in, n);
    fill(out, n);
    MPI_Reduce(in_place && rank == root ? MPI_IN_PLACE : in, out, n, map_type,
               compose_op, root, MPI_COMM_WORLD);
    if (rank == root) {
      check("reduce", out, size - 1, 0, n);
    }
  }
  fill(in, n);
  fill(out, n);
  MPI_Allreduce(in_place ? MPI_IN_PLACE : in, out, n, map_type, compose_op,
                MPI_COMM_WORLD);
  check("allreduce", out, size - 1, 0, n);
}

static void scan(struct map *in, struct map *out, int n, bool in_place) {
  fill(in, n);
  fill(out, n);
  MPI_Scan(in_place ? MPI_IN_PLACE : in, out, n, map_type, compose_op,
           MPI_COMM_WORLD);
  check("scan", out, rank, 0, n);
  fill(out, n);
  MPI_Exscan(in_place ? MPI_IN_PLACE : in, out, n, map_type, compose_op,
             MPI_COMM_WORLD);
  if (rank > 0) {
    check("exscan", out, rank - 1, 0, n);
  }
}

/* Parts of unequal lengths, some of them empty. */
static int part_of(int r, int n) {
  int left = n;
  for (int i = 0; i < size; i++) {
    const int part = i == size - 1 ? left : i % 3 == 1 ? 0 : left / 3;
    if (i == r) {
      return part;
    }
    left -= part;
  }
  return 0;
}

static void scatter(struct map *in, struct map *out, int n, bool in_place) {
  int *parts = malloc((size_t)size * sizeof(*parts)), first = 0;
  for (int i = 0; i < size; i++) {
    parts[i] = part_of(i, n);
    first += i < rank ? parts[i] : 0;
  }
  fill(in, n);
  fill(out, n);
  MPI_Reduce_scatter(in_place ? MPI_IN_PLACE : in, out, parts, map_type,
                     compose_op, MPI_COMM_WORLD);
  check("reduce_scatter", out, size - 1, first, parts[rank]);
  free(parts);
  const int each = n / size;
  fill(out, n);
  MPI_Reduce_scatter_block(in_place ? MPI_IN_PLACE : in, out, each, map_type,
                           compose_op, MPI_COMM_WORLD);
  check("reduce_scatter_block", out, size - 1, rank * each, each);
}

static void all_calls(int n, bool in_place) {
  struct map *in = malloc(((size_t)n + 1) * sizeof(*in));
  struct map *out = malloc(((size_t)n + 1) * sizeof(*out));
  reduce(in, out, n, in_place);
  scan(in, out, n, in_place);
  scatter(in, out, n, in_place);
  free(in);
  free(out);
}

int main(int argc, char **argv) {
  begin(&argc, &argv);
  if (argc > 1) {
    counts[COUNTS - 1] = atoi(argv[1]);
  }
  MPI_Type_contiguous(2, MPI_UINT64_T, &map_type);
  MPI_Type_commit(&map_type);
  MPI_Op_create(compose_all, 0, &compose_op);
  for (int i = 0; i < COUNTS; i++) {
    char title[32];
    all_calls(counts[i], false);
    all_calls(counts[i], true);
    snprintf(title, sizeof(title), "%d elements", counts[i]);
    report(title);
  }
  MPI_Op_free(&compose_op);
  MPI_Type_free(&map_type);
  return end();
}
