#define _GNU_SOURCE
#include "mpi/job/checkpoint_rank.h"

#include "base/failure.h"
#include "interpose/exit.h"
#include "interpose/handler.h"
#include "interpose/keys.h"
#include "mpi/job/checkpoint_objects.h"
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
  return rank->requests || rank->unended ? "requests that are not freed"
         : rank->buffered                ? "a buffer of MPI_Buffer_attach"
         : rank->vp->unsaved
             ? "sessions, error classes or data representations of MPI"
             : checkpoint_objects_obstacle(rank);
}

static const char *of_process(const struct vp *vp) {
  return vp->helpers || vp->shared       ? "threads, or MPI_THREAD_MULTIPLE"
         : handlers_has(vp)              ? "actions for signals"
         : keys_has(vp)                  ? "keys of threads' data"
         : exit_has_thread_destructors() ? "thread_local objects with "
                                           "destructors"
         : vp->mapped                    ? "mappings of files, or shared ones"
         : vp->native ? "memory of the C library: an open stream or "
                        "directory, a locale or the like"
                      : NULL;
}

int checkpoint_rank_check(const struct vp *vp, struct pems_error *error) {
  const char *what = of_mpi(vp->mpi);
  what = what ? what : of_process(vp);
  return what ? failure(error, ENOTSUP, "it has %s", what) : 0;
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
  bool has = false;
  run_queue_lock();
  for (const struct comm *c = vp->mpi->comms; c; c = c->next) {
    has |= has_messages(c);
  }
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
  uint64_t objects; /* bytes of what tells of its objects of MPI */
};

static int take_facts(struct facts *f, struct pems_error *error) {
  memset(f, 0, sizeof(*f));
  if (!getcwd(f->directory, sizeof(f->directory))) {
    return failure(error, errno, "its working directory: %s", strerror(errno));
  }
  const mode_t mask = umask(0);
  umask(mask);
  f->umask = mask;
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
  return 0;
}

int checkpoint_rank_save(struct vp *vp, struct resume *at, const char *path,
                         struct checkpoint_sum *sum, struct pems_error *error) {
  struct checkpoint_out out;
  struct facts facts;
  struct parcel objects = {0};
  int code = take_facts(&facts, error);
  if (code) {
    return code;
  }
  checkpoint_objects_save(vp->mpi, &objects);
  facts.objects = objects.n;
  code = checkpoint_create(&out, path, error);
  code = code ? code
              : checkpoint_put(&out, CHECKPOINT_NAMES, 0, &facts, sizeof(facts),
                               error);
  code = code ? code : parcel_save(&objects, CHECKPOINT_OBJECTS, &out, error);
  parcel_free(&objects);
  code = code ? code : resume_save(vp, at, &out, error);
  code = code ? code : checkpoint_finish(&out, sum, error);
  checkpoint_close(&out);
  return code;
}

static int load_objects(struct rank *rank, size_t n, struct checkpoint_in *in,
                        struct pems_error *error) {
  struct parcel objects = {0};
  int code = parcel_load(&objects, CHECKPOINT_OBJECTS, n, in, error);
  code = code ? code : checkpoint_objects_load(rank, &objects, error);
  parcel_free(&objects);
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
  code = code ? code : give_facts(vp, &facts, error);
  return code ? code : load_objects(vp->mpi, facts.objects, in, error);
}

int checkpoint_rank_load(struct vp *vp, struct resume *at, const char *path,
                         struct pems_error *error) {
  struct checkpoint_in in;
  int code = checkpoint_open(&in, path, error);
  code = code ? code : load_facts(vp, &in, error);
  code = code ? code : resume_load(vp, at, &in, error);
  checkpoint_shut(&in);
  return code;
}
