/* Cartesian topologies. */
#include "base/need.h"
#include "mpi/comm/comm_make.h"
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

static void find_neighbors(struct topology *t) {
  t->n_in = t->n_out = 2 * t->ndims;
  t->in = t->out = need_alloc((t->n_in + 1) * sizeof(*t->in), "topology");
  for (int i = 0; i < t->ndims; i++) {
    t->in[2 * i] = neighbor(t, i, -1);
    t->in[2 * i + 1] = neighbor(t, i, 1);
  }
}

static struct topology *cart_new(int ndims, const int *dims, const int *periods,
                                 int rank) {
  struct topology *t = topology_new(MPI_CART);
  t->ndims = ndims;
  t->dims = topology_copy_ints(dims, ndims);
  t->periods = topology_copy_ints(periods, ndims);
  t->coords = topology_copy_ints(dims, ndims);
  coords_of(t, rank, t->coords, ndims);
  find_neighbors(t);
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
    struct comm *made =
        comm_make_first(comm, grid_size(ndims, dims, comm->peers));
    if (made) {
      made->topology = cart_new(ndims, dims, periods, made->rank);
    }
    *newcomm = comm_handle(made);
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
   remain, in the order of their ranks. */
static struct group *subgroup(const struct comm *comm, const int *remain) {
  const struct topology *t = comm->topology;
  int *ranks = need_alloc(comm->peers * sizeof(*ranks), "topology");
  int *coords = need_alloc((t->ndims + 1) * sizeof(*coords), "topology");
  int n = 0;
  for (int rank = 0; rank < comm->peers; rank++) {
    coords_of(t, rank, coords, t->ndims);
    int i = 0;
    while (i < t->ndims && (remain[i] || coords[i] == t->coords[i])) {
      i++;
    }
    if (i == t->ndims) {
      ranks[n++] = rank;
    }
  }
  struct group *g = group_incl(comm->group, ranks, n);
  native_free(coords);
  native_free(ranks);
  return g;
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
  struct group *g = subgroup(comm, remain);
  struct comm *made = comm_make(comm, comm_next_id_for(comm, g, NULL), g, NULL);
  int ndims = 0;
  int *dims = topology_copy_ints(t->dims, t->ndims);
  int *periods = topology_copy_ints(t->periods, t->ndims);
  for (int i = 0; i < t->ndims; i++) {
    if (remain[i]) {
      dims[ndims] = t->dims[i];
      periods[ndims++] = t->periods[i];
    }
  }
  made->topology = cart_new(ndims, dims, periods, made->rank);
  native_free(dims);
  native_free(periods);
  group_release(g);
  *newcomm = comm_handle(made);
  return MPI_SUCCESS;
}
