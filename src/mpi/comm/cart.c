/* Cartesian topologies. */
#include "mpi/comm/comm_make.h"
#include "mpi/object/comm_error.h"
#include "mpi/object/topology.h"
#include "mpi_abi/functions.h"
#include "os/native.h"

#include <string.h>

/* Ranks of a grid that periodic dimensions close to a ring. */

static int rank_at(const struct topology *t, const int *coords) {
  int rank = 0;
  for (int i = 0; i < t->ndims; i++) {
    const int size = t->dims[i];
    rank = rank * size + ((coords[i] % size) + size) % size;
  }
  return rank;
}

static void coords_of(const struct topology *t, int rank, int *coords,
                      int most) {
  for (int i = t->ndims - 1; i >= 0; i--) {
    if (i < most) {
      coords[i] = rank % t->dims[i];
    }
    rank /= t->dims[i];
  }
}

/* The rank so many steps away, or MPI_PROC_NULL. */
static int neighbor(const struct topology *t, int direction, int steps) {
  int *coord = &t->coords[direction];
  const int here = *coord, size = t->dims[direction];
  const long there = (long)here + steps;
  if ((there < 0 || there >= size) && !t->periods[direction]) {
    return MPI_PROC_NULL;
  }
  *coord = (int)(there % size); /* rank_at closes the ring */
  const int rank = rank_at(t, t->coords);
  *coord = here;
  return rank;
}

static bool find_neighbors(struct topology *t) {
  t->n_in = t->n_out = 2 * t->ndims;
  t->in = t->out = native_alloc((t->n_in + 1) * sizeof(*t->in));
  if (!t->in) {
    return false;
  }
  for (int i = 0; i < t->ndims; i++) {
    t->in[2 * i] = neighbor(t, i, -1);
    t->in[2 * i + 1] = neighbor(t, i, 1);
  }
  return true;
}

static bool cart_fill(struct topology *t, const int *dims, const int *periods,
                      int rank) {
  if (!topology_copy_ints(&t->dims, dims, t->ndims) ||
      !topology_copy_ints(&t->periods, periods, t->ndims) ||
      !topology_copy_ints(&t->coords, dims, t->ndims)) {
    return false;
  }
  coords_of(t, rank, t->coords, t->ndims);
  return find_neighbors(t);
}

/* NULL: out of memory. */
static struct topology *cart_new(int ndims, const int *dims, const int *periods,
                                 int rank) {
  struct topology *t = topology_new(MPI_CART);
  if (!t) {
    return NULL;
  }
  t->ndims = ndims;
  if (!cart_fill(t, dims, periods, rank)) {
    topology_free(t);
    return NULL;
  }
  return t;
}

/* Ranks in the grid; at most `most` + 1. */
static int grid_size(int ndims, const int *dims, int most) {
  long n = 1;
  for (int i = 0; i < ndims && n <= most; i++) {
    n *= dims[i];
  }
  return n > most ? most + 1 : (int)n;
}

static int check_dims(int ndims, const int *dims, int wrong) {
  for (int i = 0; i < ndims; i++) {
    if (dims[i] <= 0) {
      return wrong;
    }
  }
  return MPI_SUCCESS;
}

static int cart_create(struct comm *comm, int ndims, const int *dims,
                       const int *periods, MPI_Comm *newcomm) {
  const int n = grid_size(ndims, dims, comm->peers);
  struct topology *t =
      comm->rank < n ? cart_new(ndims, dims, periods, comm->rank) : NULL;
  struct comm *made;
  const int code = comm_make_first(comm, n, t, &made);
  if (!code) {
    *newcomm = comm_handle(made);
  }
  return code;
}

int pems_Cart_create(MPI_Comm handle, int ndims, const int dims[],
                     const int periods[], int reorder, MPI_Comm *newcomm) {
  (void)reorder; /* one place is like another */
  struct comm *comm = comm_of(handle);
  int code = !comm || comm_is_inter(comm) ? MPI_ERR_COMM : MPI_SUCCESS;
  if (!code && (ndims < 0 || !newcomm || (ndims && (!dims || !periods)))) {
    code = MPI_ERR_ARG;
  }
  if (!code) {
    code = check_dims(ndims, dims, MPI_ERR_OTHER);
  }
  if (!code && grid_size(ndims, dims, comm->peers) > comm->peers) {
    code = MPI_ERR_ARG;
  }
  if (!code) {
    code = cart_create(comm, ndims, dims, periods, newcomm);
  } else if (newcomm) {
    *newcomm = MPI_COMM_NULL;
  }
  return comm_error(handle, code, "MPI_Cart_create");
}

int pems_Cart_map(MPI_Comm handle, int ndims, const int dims[],
                  const int periods[], int *newrank) {
  const struct comm *comm = comm_of(handle);
  int code = !comm || comm_is_inter(comm)               ? MPI_ERR_COMM
             : newrank && (!ndims || (dims && periods)) ? MPI_SUCCESS
                                                        : MPI_ERR_ARG;
  /* The MPI below looks at them only if the communicator is Cartesian itself.
   */
  if (!code) {
    code = ndims < 0 ? MPI_ERR_DIMS : check_dims(ndims, dims, MPI_ERR_DIMS);
  }
  const int n = code ? 0 : grid_size(ndims, dims, comm->peers);
  code = !code && n > comm->peers ? MPI_ERR_DIMS : code;
  if (!code) {
    *newrank = comm->rank < n ? comm->rank : MPI_UNDEFINED;
  }
  return comm_error(handle, code, "MPI_Cart_map");
}

int pems_Cartdim_get(MPI_Comm handle, int *ndims) {
  int code;
  const struct topology *t =
      topology_of(comm_of(handle), MPI_CART, ndims, &code);
  if (t) {
    *ndims = t->ndims;
  }
  return comm_error(handle, code, "MPI_Cartdim_get");
}

int pems_Cart_get(MPI_Comm handle, int maxdims, int dims[], int periods[],
                  int coords[]) {
  int code;
  const bool valid = maxdims == 0 || (maxdims > 0 && dims && periods && coords);
  const struct topology *t =
      topology_of(comm_of(handle), MPI_CART, valid, &code);
  for (int i = 0; t && i < maxdims && i < t->ndims; i++) {
    dims[i] = t->dims[i];
    periods[i] = t->periods[i];
    coords[i] = t->coords[i];
  }
  return comm_error(handle, code, "MPI_Cart_get");
}

int pems_Cart_rank(MPI_Comm handle, const int coords[], int *rank) {
  int code;
  const struct topology *t =
      topology_of(comm_of(handle), MPI_CART, true, &code);
  if (t && ((!coords && t->ndims) || !rank)) {
    code = MPI_ERR_ARG;
  }
  for (int i = 0; !code && i < t->ndims; i++) {
    if (!t->periods[i] && (coords[i] < 0 || coords[i] >= t->dims[i])) {
      code = MPI_ERR_ARG;
    }
  }
  if (!code) {
    *rank = rank_at(t, coords);
  }
  return comm_error(handle, code, "MPI_Cart_rank");
}

int pems_Cart_coords(MPI_Comm handle, int rank, int maxdims, int coords[]) {
  int code;
  const bool valid = maxdims == 0 || (maxdims > 0 && coords);
  const struct topology *t =
      topology_of(comm_of(handle), MPI_CART, valid, &code);
  if (t && (rank < 0 || rank >= comm_of(handle)->peers)) {
    code = MPI_ERR_RANK;
  }
  if (!code) {
    coords_of(t, rank, coords, maxdims);
  }
  return comm_error(handle, code, "MPI_Cart_coords");
}

int pems_Cart_shift(MPI_Comm handle, int direction, int disp, int *source,
                    int *dest) {
  int code;
  const struct comm *comm = comm_of(handle);
  const struct topology *t =
      topology_of(comm_of(handle), MPI_CART, source && dest, &code);
  if (comm && !comm_is_inter(comm) && direction < 0) {
    code = MPI_ERR_DIMS;
  } else if (t && direction >= t->ndims) {
    code = MPI_ERR_DIMS;
  }
  if (!code && disp == 0) {
    *source = *dest = comm->rank;
  } else if (!code) {
    *source = neighbor(t, direction, -disp);
    *dest = neighbor(t, direction, disp);
  }
  return comm_error(handle, code, "MPI_Cart_shift");
}

/* --- subgrids --- */

/* The group of those whose coordinates differ only in the dimensions that
   remain, in the order of their ranks. NULL: out of memory. */
static struct group *subgroup(const struct comm *comm, const int *remain) {
  const struct topology *t = comm->topology;
  int *ranks = native_alloc(comm->peers * sizeof(*ranks));
  int *coords = native_alloc((t->ndims + 1) * sizeof(*coords));
  const int ranks_n = ranks && coords ? comm->peers : 0;
  int n = 0;
  for (int rank = 0; rank < ranks_n; rank++) {
    coords_of(t, rank, coords, t->ndims);
    int i = 0;
    while (i < t->ndims && (remain[i] || coords[i] == t->coords[i])) {
      i++;
    }
    if (i == t->ndims) {
      ranks[n++] = rank;
    }
  }
  /* The rank itself is always among them. */
  struct group *g = n ? group_incl(comm->group, ranks, n) : NULL;
  native_free(coords);
  native_free(ranks);
  return g;
}

/* The rank's number in the subgrid is its place in the group. */
static struct topology *subgrid(const struct topology *t, const int *remain,
                                int rank) {
  int ndims = 0;
  int *dims, *periods;
  struct topology *sub = NULL;
  const bool copied = topology_copy_ints(&dims, t->dims, t->ndims);
  if (topology_copy_ints(&periods, t->periods, t->ndims) && copied) {
    for (int i = 0; i < t->ndims; i++) {
      if (remain[i]) {
        dims[ndims] = t->dims[i];
        periods[ndims++] = t->periods[i];
      }
    }
    sub = cart_new(ndims, dims, periods, rank);
  }
  native_free(dims);
  native_free(periods);
  return sub;
}

static int cart_sub(struct comm *comm, const int *remain, MPI_Comm *newcomm) {
  struct group *g = subgroup(comm, remain);
  if (!g) {
    return MPI_ERR_NO_MEM;
  }
  struct topology *t =
      subgrid(comm->topology, remain, group_rank(g, comm_me()->rank));
  struct comm *made = NULL;
  const int code = t ? comm_make_next(comm, g, NULL, t, &made) : MPI_ERR_NO_MEM;
  group_release(g);
  if (!code) {
    *newcomm = comm_handle(made);
  }
  return code;
}

int pems_Cart_sub(MPI_Comm handle, const int remain[], MPI_Comm *newcomm) {
  int code;
  struct comm *comm = comm_of(handle);
  const struct topology *t =
      topology_of(comm_of(handle), MPI_CART, newcomm, &code);
  if (t && !remain && t->ndims) {
    code = MPI_ERR_ARG;
  }
  if (code) {
    return comm_error(handle, code, "MPI_Cart_sub");
  }
  return comm_error(handle, cart_sub(comm, remain, newcomm), "MPI_Cart_sub");
}
