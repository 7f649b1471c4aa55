/* What MPI 3.0 removed and old programs still call. */
#define OMPI_OMIT_MPI1_COMPAT_DECLS 0
#include "test.h"

/* mpi.h has no names for them, libmpi has the objects. */
extern struct ompi_predefined_datatype_t ompi_mpi_lb, ompi_mpi_ub;

enum { VALUES = 32 };

struct pair {
  int number;
  double value;
};

static MPI_Comm team; /* the world in reverse order */
static int me, calls, last;

/* What one element of `type` picks from the left neighbour's numbers. */
static void pass(MPI_Datatype type, const int *places, int n,
                 const char *what) {
  int sent[VALUES], got[VALUES];
  const int left = (me + size - 1) % size, right = (me + 1) % size;
  for (int i = 0; i < VALUES; i++) {
    sent[i] = 100 * me + i, got[i] = -1;
  }
  MPI_Type_commit(&type);
  MPI_Sendrecv(sent, 1, type, right, 3, got, 1, type, left, 3, team,
               MPI_STATUS_IGNORE);
  int filled = 0;
  for (int i = 0; i < VALUES; i++) {
    filled += got[i] != -1;
  }
  for (int i = 0; i < n; i++) {
    if (got[places[i]] != 100 * left + places[i]) {
      fail("%s: %d at %d", what, got[places[i]], places[i]);
    }
  }
  if (filled != n) {
    fail("%s: %d numbers", what, filled);
  }
  MPI_Type_free(&type);
}

static void expect_bounds(MPI_Datatype type, MPI_Aint lb, MPI_Aint ub,
                          const char *what) {
  MPI_Aint l = -1, u = -1, extent = -1;
  MPI_Type_lb(type, &l);
  MPI_Type_ub(type, &u);
  MPI_Type_extent(type, &extent);
  if (l != lb || u != ub || extent != ub - lb) {
    fail("%s: %ld to %ld, %ld", what, (long)l, (long)u, (long)extent);
  }
}

static void vectors(void) {
  MPI_Datatype type;
  MPI_Type_hvector(3, 2, 20, MPI_INT, &type);
  expect_bounds(type, 0, 48, "hvector");
  pass(type, (int[]){0, 1, 5, 6, 10, 11}, 6, "hvector");
  int blocks[] = {2, 1};
  MPI_Aint places[] = {16, 4};
  MPI_Type_hindexed(2, blocks, places, MPI_INT, &type);
  expect_bounds(type, 4, 24, "hindexed");
  pass(type, (int[]){1, 4, 5}, 3, "hindexed");
}

/* Its bounds are given by markers. */
static void structs(void) {
#ifdef OPEN_MPI /* hides their names */
  const MPI_Datatype lower = OMPI_PREDEFINED_GLOBAL(MPI_Datatype, ompi_mpi_lb);
  const MPI_Datatype upper = OMPI_PREDEFINED_GLOBAL(MPI_Datatype, ompi_mpi_ub);
#else
  const MPI_Datatype lower = MPI_LB, upper = MPI_UB;
#endif
  int blocks[] = {1, 2, 1, 1};
  MPI_Aint places[] = {-8, 4, 16, 64};
  MPI_Datatype types[] = {lower, MPI_INT, MPI_FLOAT, upper}, type;
  MPI_Type_struct(4, blocks, places, types, &type);
  expect_bounds(type, -8, 64, "struct");
  pass(type, (int[]){1, 2, 4}, 3, "struct");
}

/* A struct by addresses, several of them in a message. */
static void addresses(void) {
  struct pair pairs[3], got[3] = {{0, 0}};
  MPI_Aint base, places[2];
  MPI_Datatype plain, type, types[2] = {MPI_INT, MPI_DOUBLE};
  int blocks[2] = {1, 1};
  MPI_Address(&pairs[0], &base);
  MPI_Address(&pairs[0].number, &places[0]);
  MPI_Address(&pairs[0].value, &places[1]);
  if (base != (MPI_Aint)&pairs[0]) {
    fail("MPI_Address");
  }
  places[0] -= base;
  places[1] -= base;
  MPI_Type_struct(2, blocks, places, types, &plain);
  expect_bounds(plain, 0, sizeof(struct pair), "pair");
  MPI_Type_hvector(3, 1, sizeof(struct pair), plain, &type);
  MPI_Type_commit(&type);
  for (int i = 0; i < 3; i++) {
    pairs[i] = (struct pair){10 * me + i, me + i / 8.0};
  }
  const int left = (me + size - 1) % size;
  MPI_Sendrecv(pairs, 1, type, (me + 1) % size, 4, got, 1, type, left, 4, team,
               MPI_STATUS_IGNORE);
  for (int i = 0; i < 3; i++) {
    if (got[i].number != 10 * left + i || got[i].value != left + i / 8.0) {
      fail("pair %d: %d %g", i, got[i].number, got[i].value);
    }
  }
  MPI_Type_free(&type);
  MPI_Type_free(&plain);
}

static void note(MPI_Comm *comm, int *code, ...) {
  int same = -1;
  MPI_Comm_compare(*comm, team, &same);
  calls += same == MPI_IDENT;
  MPI_Error_class(*code, &last);
}

static void handlers(void) {
  MPI_Errhandler made, got = MPI_ERRHANDLER_NULL;
  int number = 0;
  MPI_Errhandler_create(note, &made);
  MPI_Errhandler_set(team, made);
  MPI_Errhandler_get(team, &got);
  if (got != made) {
    fail("MPI_Errhandler_get: another one");
  }
  MPI_Bcast(&number, 1, MPI_INT, size, team);
  MPI_Bcast(&number, -1, MPI_INT, 0, team);
  if (calls != 2 || last != MPI_ERR_COUNT) {
    fail("handler: %d calls, class %d", calls, last);
  }
  MPI_Errhandler_free(&got);
  MPI_Errhandler_free(&made);
  MPI_Bcast(&number, -1, MPI_INT, 0, team);
  if (calls != 3 || made != MPI_ERRHANDLER_NULL) {
    fail("handler, freed: %d calls", calls);
  }
}

int main(int argc, char **argv) {
  begin(&argc, &argv);
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &team);
  MPI_Comm_rank(team, &me);
  vectors();
  structs();
  addresses();
  handlers();
  MPI_Comm_free(&team);
  return end();
}
