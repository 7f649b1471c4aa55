/* Groups made from groups. */
#include "base/need.h"
#include "mpi/object/comm.h"
#include "mpi/object/group.h"
#include "mpi_abi/functions.h"
#include "os/native.h"

#include <stdbool.h>

static int failed(int code, const char *function) {
  return comm_error(MPI_COMM_WORLD, code, function);
}

/* The ranks of `from` where chosen[rank] is set, and, if `more` is not NULL,
   after them those of `more` where also[rank] is. */
static MPI_Group choose(const struct group *from, const bool *chosen,
                        const struct group *more, const bool *also) {
  const int most = from->n + (more ? more->n : 0);
  int *world = need_alloc((most + 1) * sizeof(*world), "group");
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
  return group_handle(made);
}

/* By rank in a: is it in b? The caller frees it. */
static bool *common(const struct group *a, const struct group *b) {
  bool *in_b = need_alloc(a->n + 1, "group");
  int *place = group_places(b);
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

static bool *all_of(const struct group *g) {
  bool *all = need_zalloc(g->n + 1, sizeof(*all), "group");
  invert(all, g->n);
  return all;
}

int pems_Group_union(MPI_Group group1, MPI_Group group2, MPI_Group *newgroup) {
  const struct group *a = group_of(group1), *b = group_of(group2);
  if (!a || !b || !newgroup) {
    return failed(MPI_ERR_GROUP, "MPI_Group_union");
  }
  bool *all = all_of(a), *more = common(b, a);
  invert(more, b->n);
  *newgroup = choose(a, all, b, more);
  native_free(all);
  native_free(more);
  return MPI_SUCCESS;
}

int pems_Group_intersection(MPI_Group group1, MPI_Group group2,
                            MPI_Group *newgroup) {
  const struct group *a = group_of(group1), *b = group_of(group2);
  if (!a || !b || !newgroup) {
    return failed(MPI_ERR_GROUP, "MPI_Group_intersection");
  }
  bool *both = common(a, b);
  *newgroup = choose(a, both, NULL, NULL);
  native_free(both);
  return MPI_SUCCESS;
}

int pems_Group_difference(MPI_Group group1, MPI_Group group2,
                          MPI_Group *newgroup) {
  const struct group *a = group_of(group1), *b = group_of(group2);
  if (!a || !b || !newgroup) {
    return failed(MPI_ERR_GROUP, "MPI_Group_difference");
  }
  bool *only = common(a, b);
  invert(only, a->n);
  *newgroup = choose(a, only, NULL, NULL);
  native_free(only);
  return MPI_SUCCESS;
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
  *newgroup = group_handle(group_incl(g, ranks, n));
  return MPI_SUCCESS;
}

int pems_Group_excl(MPI_Group group, int n, const int ranks[],
                    MPI_Group *newgroup) {
  const struct group *g = newgroup ? group_of(group) : NULL;
  const int code = check_ranks(g, n, ranks, MPI_ERR_GROUP);
  if (code) {
    return failed(code, "MPI_Group_excl");
  }
  bool *kept = all_of(g);
  for (int i = 0; i < n; i++) {
    kept[ranks[i]] = false;
  }
  *newgroup = choose(g, kept, NULL, NULL);
  native_free(kept);
  return MPI_SUCCESS;
}

/* Lists the ranks of the triplets (first, last, stride) in `ranks`, room for
   those of the group; a rank outside it or a second time is an error. */
static int expand(const struct group *g, int n, int ranges[][3], int *ranks,
                  int *count) {
  bool *seen = need_zalloc(g->n + 1, sizeof(*seen), "group");
  int code = MPI_SUCCESS;
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
    return failed(MPI_ERR_GROUP, function);
  }
  if (n > 0 && !ranges) {
    return failed(MPI_ERR_ARG, function);
  }
  int *ranks = need_alloc((g->n + 1) * sizeof(*ranks), "group");
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
