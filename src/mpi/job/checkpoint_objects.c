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
  const char *name;
  const char *(*obstacle)(const struct rank *rank);
  void (*save)(const struct rank *rank, struct parcel *to);
  int (*load)(struct rank *rank, struct parcel *from);
} kinds[] = {
    {"hints", NULL, infos_save, infos_load},
    {"error handlers", errhandlers_obstacle, errhandlers_save,
     errhandlers_load},
    {"operations", ops_obstacle, ops_save, ops_load},
    {"groups", NULL, groups_save, groups_load},
    {"datatypes", types_kept_obstacle, types_kept_save, types_kept_load},
    {"keyvals", attribute_keyvals_obstacle, attribute_keyvals_save,
     attribute_keyvals_load},
    {"attributes of datatypes", NULL, type_attributes_save,
     type_attributes_load},
    {"communicators", comm_kept_obstacle, comm_kept_save, comm_kept_load},
    {"windows", win_kept_obstacle, win_kept_save, win_kept_load},
    {"files", file_kept_obstacle, file_kept_save, file_kept_load},
    {"sessions", sessions_obstacle, sessions_save, sessions_load},
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

/* Its sums are right, or it would not have been read so far. */
static int torn(const char *path, const char *what, struct pems_error *error) {
  return failure(error, EILSEQ,
                 "checkpoint: %s: its %s are incomplete: restart from the "
                 "one before",
                 path, what);
}

int checkpoint_objects_load(struct rank *rank, struct parcel *from,
                            const char *path, struct pems_error *error) {
  int code = 0, i = 0;
  while (i < KINDS && !code) {
    code = kinds[i].load(rank, from);
    code = code ? code : from->failed ? ENOMEM : 0;
    i += !code;
  }
  if (from->cut || code == EILSEQ) {
    return torn(path, kinds[i].name, error);
  }
  if (!code && from->at != from->n) {
    return failure(error, EILSEQ,
                   "checkpoint: %s: it has more objects than it should: "
                   "restart from the one before",
                   path);
  }
  return code ? failure(error, code, "restart: %s of rank %d: %s",
                        kinds[i].name, rank->vp->rank, strerror(code))
              : 0;
}
