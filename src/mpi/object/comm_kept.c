#include "mpi/object/comm_kept.h"

#include "mpi/object/attribute.h"
#include "mpi/object/comm.h"
#include "mpi/object/comm_info.h"
#include "mpi/object/derivations.h"
#include "mpi/object/info.h"
#include "mpi/object/topology.h"
#include "mpi_below/real.h"
#include "os/native.h"

#include <errno.h>
#include <string.h>

/* Functions and places in the program are where they were. */
struct fixed {
  uint64_t id, collectives;
  uint64_t local; /* id of the hidden one of an inter-communicator, or 0 */
  const char *function;
  void *site;
  int32_t size, first, peer;
  int32_t number; /* of its handle, or 0 */
  int32_t freed;  /* requests still need it, and will say so */
};

/* --- what stands in the way ---------------------------------------------- */

static const char *obstacle(const struct comm *c) {
  return c->errhandler.function && !errhandler_is_own(&c->errhandler)
             ? "an error handler of another language"
             : NULL;
}

const char *comm_kept_obstacle(const struct rank *rank) {
  const char *what = NULL;
  for (const struct comm *c = rank->comms; c && !what; c = c->next) {
    what = obstacle(c);
  }
  return what;
}

/* --- saving --------------------------------------------------------------- */

static void save_one(const struct comm *c, struct parcel *to) {
  const struct fixed f = {
      .id = c->team->id,
      .collectives = c->collectives,
      .local = c->local ? c->local->team->id : 0,
      .function = c->function,
      .site = c->site,
      .size = c->team->size,
      .first = c->team->first,
      .peer = c->peer,
      .number = c->handle.fortran,
      .freed = c->freed,
  };
  parcel_put(to, &f, sizeof(f));
  parcel_put_ints(to, c->team->world, c->team->size);
  parcel_put_text(to, c->name);
  errhandler_save(&c->errhandler, to);
  topology_save(c->topology, to);
  derivations_save(c->derivations, to);
  info_save(c->info, to);
  attributes_save(c->attributes, to);
}

static const struct comm *oldest(const struct rank *rank) {
  const struct comm *c = rank->comms;
  while (c && c->next) {
    c = c->next;
  }
  return c;
}

void comm_kept_save(const struct rank *rank, struct parcel *to) {
  int n = 0;
  for (const struct comm *c = rank->comms; c; c = c->next) {
    n++;
  }
  parcel_put_number(to, n);
  for (const struct comm *c = oldest(rank); c; c = c->previous) {
    save_one(c, to);
  }
}

/* --- loading -------------------------------------------------------------- */

/* MPI_COMM_WORLD and MPI_COMM_SELF are there. */
static struct comm *make(struct rank *rank, const struct fixed *f,
                         const int *world) {
  struct comm *c = comm_with(rank, f->id);
  if (c || !world) {
    return c;
  }
  c = comm_new(rank, f->id, world, f->size, f->first, f->peer);
  if (c && f->number && !handle_restore(&c->handle, f->number)) {
    comm_free(c);
    c = NULL;
  }
  return c;
}

static int load_rest(struct comm *c, const struct fixed *f,
                     struct parcel *from) {
  c->collectives = f->collectives;
  c->function = f->function;
  c->site = f->site;
  c->freed = f->freed;
  strncpy(c->name, parcel_text(from), sizeof(c->name) - 1);
  int code = errhandler_load(&c->errhandler, from);
  code = code ? code : topology_load(&c->topology, from);
  code = code ? code : derivations_load(&c->derivations, from);
  code = code ? code : info_load(&c->info, from);
  return code ? code : attributes_load(&c->attributes, from);
}

static int load_one(struct rank *rank, struct parcel *from, uint64_t *local,
                    struct comm **made) {
  struct fixed f = {0};
  parcel_get(from, &f, sizeof(f));
  int *const world = parcel_ints(from, f.size);
  *made = from->failed ? NULL : make(rank, &f, world);
  native_free(world);
  *local = f.local;
  return *made ? load_rest(*made, &f, from) : ENOMEM;
}

/* The hidden ones are younger. */
static void join(struct rank *rank, struct comm *const *made,
                 const uint64_t *local, int64_t n) {
  for (int64_t i = 0; i < n; i++) {
    made[i]->local = local[i] ? comm_with(rank, local[i]) : NULL;
  }
}

int comm_kept_load(struct rank *rank, struct parcel *from) {
  const int64_t n = parcel_number(from);
  uint64_t *const local = native_zalloc((size_t)n + 1, sizeof(*local));
  struct comm **const made = native_zalloc((size_t)n + 1, sizeof(*made));
  int code = local && made ? 0 : ENOMEM;
  for (int64_t i = 0; i < n && !code; i++) {
    code = load_one(rank, from, &local[i], &made[i]);
  }
  if (!code) {
    join(rank, made, local, n);
  }
  native_free(local);
  native_free(made);
  return code;
}
