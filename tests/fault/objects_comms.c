/* Communicators of all kinds: see objects.h. An even number of ranks. */
#include "objects.h"

enum {
  DUP,
  HALF,
  QUARTER,
  CREATED,
  AMONG,
  CART,
  LINES,
  GRAPH,
  DIST,
  ADJACENT,
  INTER,
  MERGED,
  OWN,
  COMMS
};

enum { YOUNG = 3 };

static MPI_Comm comms[COMMS];
static MPI_Fint numbers[COMMS];
static MPI_Comm young[YOUNG]; /* others in each step, */
static MPI_Comm twins[YOUNG]; /* all of one communicator */

static void make_simple(void) {
  MPI_Group world, part;
  int ranks[2] = {0, size - 1};
  MPI_Comm_dup(MPI_COMM_WORLD, &comms[DUP]);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &comms[HALF]);
  MPI_Comm_split(comms[HALF], rank / 2 % 2, rank, &comms[QUARTER]);
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, 2, ranks, &part);
  MPI_Comm_create(MPI_COMM_WORLD, part, &comms[CREATED]);
  comms[AMONG] = MPI_COMM_NULL;
  if (rank == 0 || rank == size - 1) {
    MPI_Comm first;
    MPI_Comm_create_group(MPI_COMM_WORLD, part, 7, &first);
    MPI_Comm_create_group(MPI_COMM_WORLD, part, 7, &comms[AMONG]);
    MPI_Comm_free(&first);
  }
  MPI_Group_free(&part);
  MPI_Group_free(&world);
  MPI_Comm_dup(MPI_COMM_SELF, &comms[OWN]);
}

static void make_topologies(void) {
  const int dims[2] = {2, size / 2}, periods[2] = {0, 1}, keep[2] = {0, 1};
  const int next = (rank + 1) % size, weight = rank + 5;
  int *const index = malloc((size_t)size * sizeof(int));
  int *const edges = malloc((size_t)size * sizeof(int));
  for (int i = 0; i < size; i++) {
    index[i] = i + 1;
    edges[i] = (i + 1) % size;
  }
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &comms[CART]);
  MPI_Cart_sub(comms[CART], keep, &comms[LINES]);
  MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, 0, &comms[GRAPH]);
  const int one = 1;
  MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &rank, &one, &next, &weight,
                        MPI_INFO_NULL, 0, &comms[DIST]);
  const int from = (rank + size - 1) % size;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &from, &one, 1, &next, &one,
                                 MPI_INFO_NULL, 0, &comms[ADJACENT]);
  free(index);
  free(edges);
}

static void objects_make(void) {
  make_simple();
  make_topologies();
  MPI_Intercomm_create(comms[HALF], 0, MPI_COMM_WORLD,
                       rank % 2 ? (size - 1) / 2 * 2 : size / 2 * 2 - 1, 3,
                       &comms[INTER]);
  MPI_Intercomm_merge(comms[INTER], rank % 2, &comms[MERGED]);
  for (int i = 0; i < COMMS; i++) {
    char name[40];
    numbers[i] = MPI_Comm_c2f(comms[i]);
    snprintf(name, sizeof(name), "communicator %d", i);
    if (comms[i] != MPI_COMM_NULL) {
      MPI_Comm_set_name(comms[i], name);
      MPI_Comm_set_errhandler(comms[i], MPI_ERRORS_RETURN);
    }
  }
  MPI_Comm_set_name(MPI_COMM_WORLD, "all of them");
  for (int i = 0; i < YOUNG; i++) {
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &young[i]);
    /* In this order, the one that counts as another would is still there. */
    MPI_Comm_dup(comms[QUARTER], &twins[2 * i % YOUNG]);
  }
}

static void ask(MPI_Comm comm) {
  int n, r, inter, result, length, flag;
  char name[MPI_MAX_OBJECT_NAME];
  int *top;
  MPI_Errhandler handler;
  MPI_Comm_size(comm, &n);
  MPI_Comm_rank(comm, &r);
  MPI_Comm_test_inter(comm, &inter);
  MPI_Comm_get_name(comm, name, &length);
  MPI_Comm_get_errhandler(comm, &handler);
  expect(handler == MPI_ERRORS_RETURN, "error handler");
  MPI_Comm_get_attr(comm, MPI_TAG_UB, (void *)&top, &flag);
  note(n * 1000 + r);
  note(inter);
  note(flag);
  note_bytes(name, (size_t)length);
  if (!inter) {
    MPI_Comm_compare(comm, comms[DUP], &result);
    note(result);
  }
  /* An error that the handler returns. */
  note(MPI_Send(NULL, 1, MPI_INT, n + 1000, 0, comm) != MPI_SUCCESS);
}

static void communicate(MPI_Comm comm, int s) {
  int inter, n, r, sum = 0;
  MPI_Comm_test_inter(comm, &inter);
  MPI_Comm_size(comm, &n);
  MPI_Comm_rank(comm, &r);
  int x = rank * 17 + s, y = -1;
  MPI_Allreduce(&x, &sum, 1, MPI_INT, MPI_SUM, comm);
  note(sum);
  if (inter) {
    MPI_Comm_remote_size(comm, &n);
    MPI_Sendrecv(&x, 1, MPI_INT, r % n, s, &y, 1, MPI_INT, r % n, s, comm,
                 MPI_STATUS_IGNORE);
  } else {
    MPI_Sendrecv(&x, 1, MPI_INT, (r + 1) % n, s, &y, 1, MPI_INT,
                 (r + n - 1) % n, s, comm, MPI_STATUS_IGNORE);
  }
  note(y);
}

static void look_at_topologies(int s) {
  int dims[2], periods[2], coords[2], from, to, in, out, weighted;
  int got[4] = {-1, -1, -1, -1}, weight[1] = {0}, none[1] = {0}, peer[2] = {0};
  const int x = rank + s;
  MPI_Cart_get(comms[CART], 2, dims, periods, coords);
  MPI_Cart_shift(comms[CART], 1, 1, &from, &to);
  note(dims[0] + 10 * dims[1] + 100 * periods[1] + 1000 * coords[0]);
  note(from * 100 + to);
  MPI_Neighbor_allgather(&x, 1, MPI_INT, got, 1, MPI_INT, comms[CART]);
  note_bytes(got, sizeof(got));
  MPI_Graph_neighbors(comms[GRAPH], rank, 1, peer);
  note(peer[0]);
  MPI_Dist_graph_neighbors_count(comms[DIST], &in, &out, &weighted);
  MPI_Dist_graph_neighbors(comms[DIST], 1, peer, weight, 1, peer + 1, none);
  note(in + out + weighted + weight[0] + none[0] + peer[0] + peer[1]);
  MPI_Neighbor_allgather(&x, 1, MPI_INT, got, 1, MPI_INT, comms[ADJACENT]);
  note(got[0]);
}

/* Some live for a few steps: those of after a restart beside those of before.
 */
static void renew(int s) {
  MPI_Comm *const c = &young[s % YOUNG];
  MPI_Comm made;
  communicate(*c, s);
  MPI_Comm_dup(comms[s % 2 ? DUP : CART], &made);
  MPI_Comm_free(c);
  MPI_Comm_split(made, (rank + s) % 2, rank, c);
  communicate(made, s);
  MPI_Comm_free(&made);
  MPI_Comm_free(&twins[s % YOUNG]);
  MPI_Comm_dup(comms[QUARTER], &twins[s % YOUNG]);
  for (int i = 1; i < YOUNG; i++) {
    int result;
    MPI_Comm_compare(twins[s % YOUNG], twins[(s + i) % YOUNG], &result);
    expect(result == MPI_CONGRUENT, "a new communicator is another one");
  }
  if (comms[AMONG] != MPI_COMM_NULL) {
    MPI_Group group;
    MPI_Comm_group(comms[AMONG], &group);
    MPI_Comm_create_group(MPI_COMM_WORLD, group, 7, &made);
    communicate(made, s);
    MPI_Comm_free(&made);
    MPI_Group_free(&group);
  }
}

static void objects_use(int s) {
  char name[MPI_MAX_OBJECT_NAME];
  int length;
  for (int i = 0; i < COMMS; i++) {
    expect(MPI_Comm_f2c(numbers[i]) == comms[i], "number");
    if (comms[i] != MPI_COMM_NULL) {
      ask(comms[i]);
      communicate(comms[i], s);
    }
  }
  look_at_topologies(s);
  renew(s);
  MPI_Comm_get_name(MPI_COMM_WORLD, name, &length);
  note_bytes(name, (size_t)length);
}

static void objects_free(void) {
  for (int i = 0; i < COMMS; i++) {
    if (comms[i] != MPI_COMM_NULL) {
      MPI_Comm_free(&comms[i]);
    }
  }
  for (int i = 0; i < YOUNG; i++) {
    MPI_Comm_free(&young[i]);
    MPI_Comm_free(&twins[i]);
  }
}
