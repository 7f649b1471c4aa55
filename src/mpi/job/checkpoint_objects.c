#include "mpi/job/checkpoint_objects.h"

#include "base/failure.h"
#include "mpi/datatype/types_kept.h"
#include "mpi/io/file_kept.h"
#include "mpi/job/session.h"
#include "mpi/object/attribute.h"
#include "mpi/object/comm_kept.h"
#include "mpi/object/errhandler.h"
#include "mpi/object/group.h"
#include "mpi/object/info.h"
#include "mpi/object/op.h"
#include "mpi/object/type_attribute.h"
#include "mpi/rma/win_kept.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

/* In this order: what comes later may need what comes before. */
static const struct kind {
  const char *(*obstacle)(const struct rank *rank);
  void (*save)(const struct rank *rank, struct parcel *to);
  int (*load)(struct rank *rank, struct parcel *from);
} kinds[] = {
    {NULL, infos_save, infos_load},
    {errhandlers_obstacle, errhandlers_save, errhandlers_load},
    {ops_obstacle, ops_save, ops_load},
    {NULL, groups_save, groups_load},
    {types_kept_obstacle, types_kept_save, types_kept_load},
    {attribute_keyvals_obstacle, attribute_keyvals_save,
     attribute_keyvals_load},
    {NULL, type_attributes_save, type_attributes_load},
    {comm_kept_obstacle, comm_kept_save, comm_kept_load},
    {win_kept_obstacle, win_kept_save, win_kept_load},
    {file_kept_obstacle, file_kept_save, file_kept_load},
    {sessions_obstacle, sessions_save, sessions_load},
};
enum { KINDS = sizeof(kinds) / sizeof(*kinds) };

const char *checkpoint_objects_obstacle(const struct rank *rank) {
  const char *what = NULL;
  for (int i = 0; i < KINDS && !what; i++) {
    what = kinds[i].obstacle ? kinds[i].obstacle(rank) : NULL;
  }
  return what;
}

void checkpoint_objects_save(const struct rank *rank, struct parcel *to) {
  for (int i = 0; i < KINDS; i++) {
    kinds[i].save(rank, to);
  }
}

int checkpoint_objects_load(struct rank *rank, struct parcel *from,
                            struct pems_error *error) {
  int code = 0;
  for (int i = 0; i < KINDS && !code; i++) {
    code = kinds[i].load(rank, from);
  }
  code = code ? code : from->failed || from->at != from->n ? EILSEQ : 0;
  return code ? failure(error, code, "restart: objects of MPI of rank %d: %s",
                        rank->vp->rank, strerror(code))
              : 0;
}
