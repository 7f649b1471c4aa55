#define _GNU_SOURCE
#include "mpi/job/checkpoint_rank.h"

#include "base/failure.h"
#include "interpose/keep.h"
#include "mpi/object/comm.h"
#include "mpi/p2p/endpoint.h"
#include "mpi/request/request.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- what stands in the way ---------------------------------------------- */

static const char *of_mpi(const struct rank *rank) {
  const struct comm *const world = rank->world, *const self_comm = rank->self;
  for (const struct comm *c = rank->comms; c; c = c->next) {
    if (c != world && c != self_comm) {
      return "communicators, windows or files of MPI beside MPI_COMM_WORLD";
    }
  }
  return rank->requests || rank->unended ? "requests that are not freed"
         : rank->buffered                ? "a buffer of MPI_Buffer_attach"
         : rank->keyvals                 ? "attributes of its own"
         : world->errhandler.function || self_comm->errhandler.function
             ? "an error handler of its own"
         : world->info != MPI_INFO_NULL || self_comm->info != MPI_INFO_NULL
             ? "hints of communicators"
         : rank->vp->objects ? "datatypes, operations, groups or hints of MPI "
                               "that are not freed"
                             : NULL;
}

int checkpoint_rank_check(const struct vp *vp, struct pems_error *error) {
  const char *const what = of_mpi(vp->mpi);
  return what ? failure(error, ENOTSUP, "it has %s", what)
              : keep_check(vp, error);
}

static bool has_messages(const struct comm *comm) {
  const struct endpoint *const e =
      comm->team->endpoints ? comm->team->endpoints[comm->index] : NULL;
  for (int channel = 0; e && channel < CHANNELS; channel++) {
    if (e->meeting[channel] && e->meeting[channel]->letters.first) {
      return true;
    }
  }
  return false;
}

int checkpoint_rank_check_messages(const struct vp *vp,
                                   struct pems_error *error) {
  run_queue_lock();
  const bool has = has_messages(vp->mpi->world) || has_messages(vp->mpi->self);
  run_queue_unlock();
  return has ? failure(error, ENOTSUP,
                       "it has messages that it has not received")
             : 0;
}

/* --- its file -------------------------------------------------------------
 */

/* Beside what vp/resume.h has. */
struct facts {
  char directory[PATH_MAX];
  uint32_t umask;
  struct comm_facts {
    MPI_Errhandler errhandler;
    char name[MPI_MAX_OBJECT_NAME];
  } comm[2];
};

static void take_comm(struct comm_facts *f, const struct comm *comm) {
  f->errhandler = comm->errhandler.handle;
  memcpy(f->name, comm->name, sizeof(f->name));
}

static void give_comm(const struct comm_facts *f, struct comm *comm) {
  comm->errhandler = (struct errhandler){.handle = f->errhandler};
  memcpy(comm->name, f->name, sizeof(f->name));
}

static int take_facts(const struct vp *vp, struct facts *f,
                      struct pems_error *error) {
  memset(f, 0, sizeof(*f));
  if (!getcwd(f->directory, sizeof(f->directory))) {
    return failure(error, errno, "its working directory: %s", strerror(errno));
  }
  const mode_t mask = umask(0);
  umask(mask);
  f->umask = mask;
  take_comm(&f->comm[0], vp->mpi->world);
  take_comm(&f->comm[1], vp->mpi->self);
  return 0;
}

static int give_facts(const struct vp *vp, const struct facts *f,
                      struct pems_error *error) {
  if (chdir(f->directory) != 0) {
    return failure(error, errno,
                   "restart: working directory of rank %d: %s: %s", vp->rank,
                   f->directory, strerror(errno));
  }
  umask((mode_t)f->umask);
  give_comm(&f->comm[0], vp->mpi->world);
  give_comm(&f->comm[1], vp->mpi->self);
  return 0;
}

int checkpoint_rank_save(struct vp *vp, struct resume *at, const char *path,
                         struct checkpoint_sum *sum, struct pems_error *error) {
  struct checkpoint_out out;
  struct facts facts;
  int code = take_facts(vp, &facts, error);
  if (code) {
    return code;
  }
  code = checkpoint_create(&out, path, error);
  code = code ? code
              : checkpoint_put(&out, CHECKPOINT_NAMES, 0, &facts, sizeof(facts),
                               error);
  code = code ? code : keep_save(vp, &out, error);
  code = code ? code : resume_save(vp, at, &out, error);
  code = code ? code : checkpoint_finish(&out, sum, error);
  checkpoint_close(&out);
  return code;
}

static int load_facts(const struct vp *vp, struct checkpoint_in *in,
                      struct pems_error *error) {
  struct checkpoint_block b;
  struct facts facts;
  int code = checkpoint_next(in, &b, error);
  if (!code && (b.kind != CHECKPOINT_NAMES || b.n != sizeof(facts))) {
    return failure(error, EILSEQ, "checkpoint: %s: it is not a rank's",
                   in->path);
  }
  code = code ? code : checkpoint_get(in, &b, &facts, error);
  return code ? code : give_facts(vp, &facts, error);
}

int checkpoint_rank_load(struct vp *vp, struct resume *at, const char *path,
                         struct pems_error *error) {
  struct checkpoint_in in;
  int code = checkpoint_open(&in, path, error);
  code = code ? code : load_facts(vp, &in, error);
  code = code ? code : keep_load(vp, &in, error);
  code = code ? code : resume_load(vp, at, &in, error);
  checkpoint_shut(&in);
  return code;
}
