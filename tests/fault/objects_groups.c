/* Groups, also those of communicators that are gone: see objects.h. */
#include "objects.h"

enum { GROUPS = 9 };

static MPI_Group groups[GROUPS];
static MPI_Fint numbers[GROUPS];
static MPI_Group young[2];

static void objects_make(void) {
  MPI_Comm half;
  int range[1][3] = {{size - 1, 0, -2}}, two[2] = {size - 1, 0};
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
  MPI_Comm_group(MPI_COMM_WORLD, &groups[0]);
  MPI_Comm_group(half, &groups[1]);
  MPI_Comm_free(&half);
  MPI_Group_incl(groups[0], 2, two, &groups[2]);
  MPI_Group_range_incl(groups[0], 1, range, &groups[3]);
  MPI_Group_difference(groups[0], groups[3], &groups[4]);
  MPI_Group_union(groups[2], groups[1], &groups[5]);
  MPI_Group_intersection(groups[2], groups[1], &groups[6]);
  MPI_Comm_group(MPI_COMM_WORLD, &groups[7]);
  groups[8] = MPI_GROUP_EMPTY;
  for (int i = 0; i < GROUPS; i++) {
    numbers[i] = MPI_Group_c2f(groups[i]);
  }
  MPI_Comm_group(MPI_COMM_WORLD, &young[0]);
  MPI_Comm_group(MPI_COMM_SELF, &young[1]);
}

static void look(MPI_Group group) {
  int n, r, result, all[64], world[64];
  MPI_Group_size(group, &n);
  MPI_Group_rank(group, &r);
  note(n * 100 + r);
  for (int i = 0; i < n; i++) {
    all[i] = i;
  }
  MPI_Group_translate_ranks(group, n, all, groups[0], world);
  note_bytes(world, (size_t)n * sizeof(int));
  MPI_Group_compare(group, groups[7], &result);
  note(result);
}

static void objects_use(int s) {
  MPI_Comm made;
  for (int i = 0; i < GROUPS; i++) {
    expect(MPI_Group_f2c(numbers[i]) == groups[i], "number");
    look(groups[i]);
  }
  look(young[s % 2]);
  MPI_Group_free(&young[s % 2]);
  MPI_Group_range_incl(groups[0], 1, (int[1][3]){{s % size, size - 1, 1}},
                       &young[s % 2]);
  MPI_Comm_create(MPI_COMM_WORLD, groups[3], &made);
  if (made != MPI_COMM_NULL) {
    int sum;
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, made);
    note(sum);
    MPI_Comm_free(&made);
  }
}

static void objects_free(void) {
  for (int i = 0; i < GROUPS - 1; i++) {
    MPI_Group_free(&groups[i]);
  }
  MPI_Group_free(&young[0]);
  MPI_Group_free(&young[1]);
}
