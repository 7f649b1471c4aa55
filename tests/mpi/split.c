/* Splitting communicators by random colours and keys, again and again;
   messages and collectives on what comes out. */
#include "test.h"

enum { MOST = 64, DEPTH = 5 };

struct choice {
  int color, key, world;
};

static uint64_t state;
static int tries;

/* What the new communicator should hold, by rank. */
static int expected(const struct choice *all, int n, int color,
                    struct choice *out) {
  int found = 0;
  for (int i = 0; i < n; i++) {
    if (all[i].color == color) {
      int at = found++;
      while (at > 0 && out[at - 1].key > all[i].key) {
        out[at] = out[at - 1];
        at--;
      }
      out[at] = all[i];
    }
  }
  return found;
}

static void check_members(MPI_Comm comm, const struct choice *wanted, int n) {
  int ranks, members[MOST];
  MPI_Comm_size(comm, &ranks);
  if (ranks != n) {
    fail("split %d: %d ranks, not %d", tries, ranks, n);
    return;
  }
  MPI_Allgather(&rank, 1, MPI_INT, members, 1, MPI_INT, comm);
  for (int i = 0; i < n; i++) {
    if (members[i] != wanted[i].world) {
      fail("split %d: rank %d is %d, not %d", tries, i, members[i],
           wanted[i].world);
    }
  }
  mix(members, (size_t)n * sizeof(*members));
}

/* Round the ring, with as many bytes as the communicator's depth says. */
static void pass_on(MPI_Comm comm, int depth) {
  int me, n, bytes = depth * 5000 + 1;
  char *out = malloc((size_t)bytes), *in = malloc((size_t)bytes),
       *wanted = malloc((size_t)bytes);
  MPI_Comm_rank(comm, &me);
  MPI_Comm_size(comm, &n);
  int left = (me + n - 1) % n, right = (me + 1) % n, from, to = rank;
  MPI_Sendrecv(&to, 1, MPI_INT, right, 1, &from, 1, MPI_INT, left, 1, comm,
               MPI_STATUS_IGNORE);
  stream(out, (size_t)bytes, seed_of(7, rank, 0));
  stream(wanted, (size_t)bytes, seed_of(7, from, 0));
  MPI_Sendrecv(out, bytes, MPI_BYTE, right, 2, in, bytes, MPI_BYTE, left, 2,
               comm, MPI_STATUS_IGNORE);
  if (memcmp(in, wanted, (size_t)bytes) != 0) {
    fail("message on a communicator of %d, depth %d", n, depth);
  }
  free(out);
  free(in);
  free(wanted);
}

static void descend(MPI_Comm comm, int depth) {
  int n;
  struct choice mine, all[MOST], wanted[MOST];
  MPI_Comm part;
  MPI_Comm_size(comm, &n);
  pass_on(comm, depth);
  if (depth == DEPTH) {
    return;
  }
  mine = (struct choice){(int)pick(&state, 3), (int)pick(&state, 4) - 2, rank};
  if (pick(&state, 8) == 0) {
    mine.color = MPI_UNDEFINED;
  }
  MPI_Allgather(&mine, sizeof(mine), MPI_BYTE, all, sizeof(mine), MPI_BYTE,
                comm);
  MPI_Comm_split(comm, mine.color, mine.key, &part);
  tries++;
  if ((part == MPI_COMM_NULL) != (mine.color == MPI_UNDEFINED)) {
    fail("split: who gets nothing");
  }
  if (part != MPI_COMM_NULL) {
    check_members(part, wanted, expected(all, n, mine.color, wanted));
    descend(part, depth + 1);
    MPI_Comm_free(&part);
  }
  /* The parent is as good as before. */
  int sum = 0;
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
  mix_number((uint64_t)sum);
}

/* By memory that they share: how many that are is the system's affair. */
static void types(void) {
  MPI_Comm shared, none;
  int n, me, members[MOST], sum = 0, one = 1;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, -rank,
                      MPI_INFO_NULL, &shared);
  MPI_Comm_size(shared, &n);
  MPI_Comm_rank(shared, &me);
  MPI_Allgather(&rank, 1, MPI_INT, members, 1, MPI_INT, shared);
  for (int i = 1; i < n; i++) {
    if (members[i] >= members[i - 1]) {
      fail("split_type: the order");
    }
  }
  if (members[me] != rank) {
    fail("split_type: rank %d", me);
  }
  one = me == 0 ? n : 0;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (sum != size) {
    fail("split_type: %d of %d ranks", sum, size);
  }
  MPI_Comm_free(&shared);
  MPI_Comm_split_type(MPI_COMM_WORLD,
                      rank == 0 ? MPI_UNDEFINED : MPI_COMM_TYPE_SHARED, 0,
                      MPI_INFO_NULL, &none);
  if ((none == MPI_COMM_NULL) != (rank == 0)) {
    fail("split_type of nothing");
  }
  if (none != MPI_COMM_NULL) {
    MPI_Comm_free(&none);
  }
}

#ifdef MPIX_COMM_TYPE_NEIGHBORHOOD
/* How many share the directory of that name; 0: none was made. */
static int neighbors(int type, const char *directory) {
  MPI_Comm near;
  MPI_Info info;
  int n = 0, sum = 0;
  MPI_Info_create(&info);
  if (directory) {
    MPI_Info_set(info, "nbhd_common_dirname", directory);
  }
  MPI_Comm_split_type(MPI_COMM_WORLD, type, -rank, info, &near);
  MPI_Info_free(&info);
  if (near != MPI_COMM_NULL) {
    MPI_Comm_size(near, &n);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, near);
    MPI_Comm_free(&near);
  }
  mix_number((uint64_t)sum);
  return n;
}

static void directories(void) {
  const int type = MPIX_COMM_TYPE_NEIGHBORHOOD;
  printf("rank %d: here: %d\n", rank, neighbors(type, "."));
  printf("rank %d: nowhere: %d\n", rank, neighbors(type, NULL));
  printf("rank %d: here and in the root: %d\n", rank,
         neighbors(type, rank ? "/" : "."));
  printf("rank %d: all but the first: %d\n", rank,
         neighbors(rank ? type : MPI_UNDEFINED, "."));
  report("neighbors");
}
#else
static void directories(void) {
}
#endif

static void class_of(int code, const char *what) {
  int class;
  MPI_Error_class(code, &class);
  printf("rank %d: %s: class %d\n", rank, what, class);
}

static void errors(void) {
  MPI_Comm part;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  class_of(MPI_Comm_split(MPI_COMM_NULL, 0, 0, &part), "null");
  class_of(MPI_Comm_split(MPI_COMM_SELF, -5, 0, &part), "colour -5");
  class_of(MPI_Comm_split(MPI_COMM_SELF, 0, 0, NULL), "to nowhere");
  class_of(MPI_Comm_split_type(MPI_COMM_SELF, 4711, 0, MPI_INFO_NULL, &part),
           "type 4711");
}

int main(int argc, char **argv) {
  begin(&argc, &argv);
  for (int i = 0; i < 6; i++) {
    state = seed_of((uint64_t)i, rank, 0);
    descend(MPI_COMM_WORLD, 0);
  }
  report("splits");
  types();
  directories();
  if (ERRORS_COMPARE) {
    errors();
  }
  return end();
}
