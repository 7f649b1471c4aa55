#include "mpi/object/attribute_world.h"

#include "base/need.h"
#include "mpi/object/attribute.h"
#include "mpi/object/comm.h"
#include "mpi_below/real.h"

/* What the real library says of its own MPI_COMM_WORLD. */
static int of_real(int keyval) {
  int *value, flag = 0;
  real.Comm_get_attr(MPI_COMM_WORLD, keyval, &value, &flag);
  return flag ? *value : 0;
}

static void predefine(struct comm *world, int keyval, int value) {
  if (attribute_predefine(
          &world->attributes, keyval,
          (struct attribute_value){ATTRIBUTE_INT, {.integer = value}})) {
    need_fail("attributes"); /* the program has not begun */
  }
}

void attribute_world_begin(struct rank *rank, int appnum) {
  struct comm *world = rank->world;
  static const int same[] = {MPI_TAG_UB, MPI_HOST, MPI_IO, MPI_WTIME_IS_GLOBAL,
                             MPI_LASTUSEDCODE};
  for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
    predefine(world, same[i], of_real(same[i]));
  }
  predefine(world, MPI_APPNUM, appnum);
  predefine(world, MPI_UNIVERSE_SIZE, vp_ranks());
}

struct attributes *attribute_world_home(struct comm *comm, int keyval) {
  if (!attribute_is_predefined(keyval)) {
    return comm->attributes;
  }
  /* Of the tag, not of keyval: a process on its own would start a launcher to
     answer for the size of the universe. */
  void *value;
  int everywhere = 0;
  real.Comm_get_attr(MPI_COMM_SELF, MPI_TAG_UB, &value, &everywhere);
  struct attributes *const on =
      everywhere ? rank_me()->world->attributes : comm->attributes;
  struct attribute_value *last = NULL;
  if (!attribute_find(ATTRIBUTE_COMM, on, MPI_LASTUSEDCODE, &last) && last) {
    last->integer = of_real(MPI_LASTUSEDCODE);
  }
  return on;
}

int attribute_world_finalize(void) {
  return attributes_delete(MPI_COMM_SELF, &rank_me()->self->attributes);
}
