/* Groups made from groups. */
#include "mpi/object/comm.h"
#include "mpi/object/comm_error.h"
#include "mpi/object/group.h"
#include "mpi_abi/functions.h"
#include "os/native.h"

#include <stdbool.h>

static int failed(int code, const char *function) {
  return comm_error(MPI_COMM_WORLD, code, function);
}

/* The ranks of `from` where chosen[rank] is set, and, if `more` is not NULL,
   after them those of `more` where also[rank] is. An error class. */
static int choose(const struct group *from, const bool *chosen,
                  const struct group *more, const bool *also,
                  MPI_Group *newgroup) {
  const int most = from->n + (more ? more->n : 0);
  int *world = native_alloc((most + 1) * sizeof(*world));
  if (!world) {
    return MPI_ERR_NO_MEM;
  }
  int n = 0;
  for (int i = 0; i < from->n; i++) {
    if (chosen[i]) {
      world[n++] = from->world[i];
    }
  }
  for (int i = 0; more && i < more->n; i++) {
    if (also[i]) {
      world[n++] = more->world[i];
    }
  }
  struct group *made = group_new(world, n);
  native_free(world);
  if (!made) {
    return MPI_ERR_NO_MEM;
  }
  *newgroup = group_handle(made);
  return MPI_SUCCESS;
}

/* By rank in a: is it in b? The caller frees it. NULL: out of memory. */
static bool *common(const struct group *a, const struct group *b) {
  bool *in_b = native_alloc(a->n + 1);
  int *place = in_b ? group_places(b) : NULL;
  if (!place) {
    native_free(in_b);
    return NULL;
  }
  for (int i = 0; i < a->n; i++) {
    in_b[i] = place[a->world[i]] >= 0;
  }
  native_free(place);
  return in_b;
}

static void invert(bool *flags, int n) {
  for (int i = 0; i < n; i++) {
    flags[i] = !flags[i];
  }
}

/* NULL: out of memory. */
static bool *all_of(const struct group *g) {
  bool *all = native_zalloc(g->n + 1, sizeof(*all));
  if (all) {
    invert(all, g->n);
  }
  return all;
}

/* Where the new group has no place, or else one that is given is none. */
static int class_of(const MPI_Group *newgroup) {
  return newgroup ? MPI_ERR_GROUP : ABI_CLASS_OF_NULL(MPI_ERR_GROUP);
}

int pems_Group_union(MPI_Group group1, MPI_Group group2, MPI_Group *newgroup) {
  const struct group *a = group_of(group1), *b = group_of(group2);
  if (!a || !b || !newgroup) {
    return failed(class_of(newgroup), "MPI_Group_union");
  }
  bool *all = all_of(a), *more = common(b, a);
  int code = MPI_ERR_NO_MEM;
  if (all && more) {
    invert(more, b->n);
    code = choose(a, all, b, more, newgroup);
  }
  native_free(all);
  native_free(more);
  return failed(code, "MPI_Group_union");
}

int pems_Group_intersection(MPI_Group group1, MPI_Group group2,
                            MPI_Group *newgroup) {
  const struct group *a = group_of(group1), *b = group_of(group2);
  if (!a || !b || !newgroup) {
    return failed(class_of(newgroup), "MPI_Group_intersection");
  }
  bool *both = common(a, b);
  const int code =
      both ? choose(a, both, NULL, NULL, newgroup) : MPI_ERR_NO_MEM;
  native_free(both);
  return failed(code, "MPI_Group_intersection");
}

int pems_Group_difference(MPI_Group group1, MPI_Group group2,
                          MPI_Group *newgroup) {
  const struct group *a = group_of(group1), *b = group_of(group2);
  if (!a || !b || !newgroup) {
    return failed(class_of(newgroup), "MPI_Group_difference");
  }
  bool *only = common(a, b);
  int code = MPI_ERR_NO_MEM;
  if (only) {
    invert(only, a->n);
    code = choose(a, only, NULL, NULL, newgroup);
  }
  native_free(only);
  return failed(code, "MPI_Group_difference");
}

/* A list of ranks; `too_many` is the class for more than the group has. */
static int check_ranks(const struct group *g, int n, const int *ranks,
                       int too_many) {
  if (!g) {
    return MPI_ERR_GROUP;
  }
  if (n < 0 || (!ranks && n > 0)) {
    return MPI_ERR_ARG;
  }
  if (n > g->n) {
    return too_many;
  }
  for (int i = 0; i < n; i++) {
    if (ranks[i] < 0 || ranks[i] >= g->n) {
      return MPI_ERR_RANK;
    }
  }
  return MPI_SUCCESS;
}

int pems_Group_incl(MPI_Group group, int n, const int ranks[],
                    MPI_Group *newgroup) {
  const struct group *g = newgroup ? group_of(group) : NULL;
  const int code = check_ranks(g, n, ranks, MPI_ERR_RANK);
  if (code) {
    return failed(code, "MPI_Group_incl");
  }
  struct group *made = group_incl(g, ranks, n);
  if (!made) {
    return failed(MPI_ERR_NO_MEM, "MPI_Group_incl");
  }
  *newgroup = group_handle(made);
  return MPI_SUCCESS;
}

int pems_Group_excl(MPI_Group group, int n, const int ranks[],
                    MPI_Group *newgroup) {
  const struct group *g = newgroup ? group_of(group) : NULL;
  int code = check_ranks(g, n, ranks, MPI_ERR_GROUP);
  if (code) {
    return failed(code, "MPI_Group_excl");
  }
  bool *kept = all_of(g);
  if (!kept) {
    return failed(MPI_ERR_NO_MEM, "MPI_Group_excl");
  }
  for (int i = 0; i < n; i++) {
    kept[ranks[i]] = false;
  }
  code = choose(g, kept, NULL, NULL, newgroup);
  native_free(kept);
  return failed(code, "MPI_Group_excl");
}

/* Lists the ranks of the triplets (first, last, stride) in `ranks`, room for
   those of the group; a rank outside it or a second time is an error. */
static int expand(const struct group *g, int n, int ranges[][3], int *ranks,
                  int *count) {
  bool *seen = native_zalloc(g->n + 1, sizeof(*seen));
  int code = seen ? MPI_SUCCESS : MPI_ERR_NO_MEM;
  *count = 0;
  for (int i = 0; i < n && !code; i++) {
    const int first = ranges[i][0], last = ranges[i][1], stride = ranges[i][2];
    if (first < 0 || first >= g->n || last < 0 || last >= g->n || !stride ||
        (first < last && stride < 0) || (first > last && stride > 0)) {
      code = MPI_ERR_RANK;
      break;
    }
    const long steps = ((long)last - first) / stride;
    for (long j = 0; j <= steps && !code; j++) {
      const int rank = (int)(first + j * stride);
      code = seen[rank] ? MPI_ERR_RANK : MPI_SUCCESS;
      if (!code) {
        seen[rank] = true;
        ranks[(*count)++] = rank;
      }
    }
  }
  native_free(seen);
  return code;
}

static int from_ranges(MPI_Group group, int n, int ranges[][3],
                       MPI_Group *newgroup,
                       int (*make)(MPI_Group, int, const int *, MPI_Group *),
                       const char *function) {
  const struct group *g = newgroup ? group_of(group) : NULL;
  if (!g) {
    return failed(class_of(newgroup), function);
  }
  if (n > 0 && !ranges) {
    return failed(MPI_ERR_ARG, function);
  }
  int *ranks = native_alloc((g->n + 1) * sizeof(*ranks));
  if (!ranks) {
    return failed(MPI_ERR_NO_MEM, function);
  }
  int count;
  int code = expand(g, n, ranges, ranks, &count);
  code = code ? failed(code, function) : make(group, count, ranks, newgroup);
  native_free(ranks);
  return code;
}

int pems_Group_range_incl(MPI_Group group, int n, int ranges[][3],
                          MPI_Group *newgroup) {
  return from_ranges(group, n, ranges, newgroup, pems_Group_incl,
                     "MPI_Group_range_incl");
}

int pems_Group_range_excl(MPI_Group group, int n, int ranges[][3],
                          MPI_Group *newgroup) {
  return from_ranges(group, n, ranges, newgroup, pems_Group_excl,
                     "MPI_Group_range_excl");
}
