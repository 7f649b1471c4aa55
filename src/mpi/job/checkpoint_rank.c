#define _GNU_SOURCE
#include "mpi/job/checkpoint_rank.h"

#include "base/failure.h"
#include "interpose/file_mapping.h"
#include "interpose/keep.h"
#include "mpi/io/file_kept.h"
#include "mpi/job/checkpoint_objects.h"
#include "mpi/object/comm.h"
#include "mpi/p2p/p2p_load.h"
#include "mpi/p2p/p2p_save.h"
#include "mpi/request/request.h"
#include "mpi/request/requests.h"
#include "mpi/rma/win_kept.h"
#include "mpi_below/real.h"

#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- what stands in the way ---------------------------------------------- */

static const char *of_mpi(const struct rank *rank) {
  return rank->vp->unsaved
             ? "error classes, data representations, Fortran's ABI or MPI_T"
             : checkpoint_objects_obstacle(rank);
}

int checkpoint_rank_check(struct vp *vp, bool at_call_of_all,
                          struct pems_error *error) {
  const char *function = NULL;
  if (!at_call_of_all && file_kept_writes(vp->mpi)) {
    return failure(error, ENOTSUP, "it has a collective write under way");
  }
  win_kept_settle(vp->mpi);
  file_kept_settle(vp->mpi);
  if (!requests_settle(vp->mpi)) {
    return failure(error, EAGAIN, "it has a collective call under way");
  }
  const char *what = of_mpi(vp->mpi);
  what = what ? what : p2p_save_stop(vp->mpi, &function);
  return what ? failure(error, ENOTSUP, "it has %s%s", what,
                        function ? function : "")
              : keep_check(vp, error);
}

/* --- its file ------------------------------------------------------------- */

/* Beside what vp/resume.h has. */
struct facts {
  char directory[PATH_MAX];
  uint32_t umask;
  uint64_t objects; /* bytes of what tells of its objects of MPI */
  double time;      /* MPI_Wtime */
};

/* --- MPI_Wtime goes on from where it was --- */

static double (*process_time)(void); /* since this process began, or so */
static _Atomic(double) ahead;        /* of that, s */

static double time_goes_on(void) {
  return process_time() + ahead;
}

void checkpoint_rank_start_clock(void) {
  process_time = real.Wtime;
  real.Wtime = time_goes_on;
}

/* Never back: other ranks may have seen it. */
static void set_clock(double was) {
  const double least = was - process_time();
  double now = ahead;
  while (now < least && !atomic_compare_exchange_weak(&ahead, &now, least)) {
  }
}

static int take_facts(struct facts *f, struct pems_error *error) {
  memset(f, 0, sizeof(*f));
  if (!getcwd(f->directory, sizeof(f->directory))) {
    return failure(error, errno, "its working directory: %s", strerror(errno));
  }
  const mode_t mask = umask(0);
  umask(mask);
  f->umask = mask;
  f->time = real.Wtime();
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
  set_clock(f->time);
  return 0;
}

int checkpoint_rank_save(struct vp *vp, struct resume *at, const char *path,
                         struct checkpoint_sum *sum,
                         struct checkpoint_tail *tail,
                         struct pems_error *error) {
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
  win_kept_watch(vp->mpi, true);
  if (!code && (p2p_save_receives(vp->mpi) || win_kept_any(vp->mpi))) {
    code = checkpoint_put_changing(&out, error);
  }
  code = code ? code
              : checkpoint_put(&out, CHECKPOINT_NAMES, 0, &facts, sizeof(facts),
                               error);
  code = code ? code : parcel_save(&objects, CHECKPOINT_OBJECTS, &out, error);
  parcel_free(&objects);
  code = code ? code : keep_save(vp, &out, error);
  code = code ? code : resume_save(vp, at, &out, error);
  code = code ? code : checkpoint_finish(&out, sum, error);
  *tail = out.tail;
  checkpoint_close(&out);
  return code;
}

static int add_messages(struct rank *rank, struct checkpoint_out *out,
                        struct pems_error *error) {
  struct checkpoint_writer to;
  if (!p2p_save_any(rank)) {
    return 0;
  }
  checkpoint_write_begin(&to, out, CHECKPOINT_MESSAGES, error);
  p2p_save(rank, &to);
  return checkpoint_write_end(&to);
}

static int add_windows(struct rank *rank, struct checkpoint_out *out,
                       struct pems_error *error) {
  struct checkpoint_writer to;
  if (!win_kept_any(rank)) {
    return 0;
  }
  checkpoint_write_begin(&to, out, CHECKPOINT_WINDOWS, error);
  win_kept_save_target(rank, &to);
  const int code = checkpoint_write_end(&to);
  return code ? code : win_kept_save_memory(rank, out, error);
}

static int add_pointers(const struct rank *rank, struct checkpoint_out *out,
                        struct pems_error *error) {
  struct checkpoint_writer to;
  if (!file_kept_any(rank)) {
    return 0;
  }
  checkpoint_write_begin(&to, out, CHECKPOINT_POINTERS, error);
  file_kept_save_pointers(rank, &to);
  return checkpoint_write_end(&to);
}

int checkpoint_rank_add(const struct vp *vp, const char *path,
                        const struct checkpoint_tail *tail,
                        struct checkpoint_sum *sum, bool *any,
                        struct pems_error *error) {
  struct checkpoint_out out;
  *any =
      p2p_save_any(vp->mpi) || file_kept_any(vp->mpi) || win_kept_any(vp->mpi);
  if (!*any) {
    return 0;
  }
  int code = checkpoint_create_more(&out, path, tail, error);
  code = code ? code : add_messages(vp->mpi, &out, error);
  code = code ? code : add_pointers(vp->mpi, &out, error);
  code = code ? code : add_windows(vp->mpi, &out, error);
  code = code ? code : checkpoint_finish(&out, sum, error);
  checkpoint_close(&out);
  return code;
}

static int load_objects(struct rank *rank, size_t n, struct checkpoint_in *in,
                        struct pems_error *error) {
  struct parcel objects = {0};
  int code = parcel_load(&objects, CHECKPOINT_OBJECTS, n, in, error);
  code = code ? code : checkpoint_objects_load(rank, &objects, in->path, error);
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

static int load_messages(struct rank *rank, struct checkpoint_in *in,
                         struct checkpoint_block *b, struct pems_error *error) {
  struct checkpoint_reader from;
  if (b->kind != CHECKPOINT_MESSAGES) {
    return 0;
  }
  checkpoint_read_begin(&from, in, b, error);
  p2p_load(rank, &from);
  return checkpoint_read_end(&from);
}

static int load_pointers(const struct rank *rank, struct checkpoint_in *in,
                         struct checkpoint_block *b, struct pems_error *error) {
  struct checkpoint_reader from;
  if (b->kind != CHECKPOINT_POINTERS) {
    return 0;
  }
  checkpoint_read_begin(&from, in, b, error);
  file_kept_load_pointers(rank, &from);
  return checkpoint_read_end(&from);
}

static int load_windows(struct rank *rank, struct checkpoint_in *in,
                        struct checkpoint_block *b, struct pems_error *error) {
  struct checkpoint_reader from;
  if (b->kind != CHECKPOINT_WINDOWS) {
    return 0;
  }
  checkpoint_read_begin(&from, in, b, error);
  win_kept_load_target(rank, &from);
  return checkpoint_read_end(&from);
}

/* What was changed after it was saved, or is shared. */
static int load_memory(const struct vp *vp, struct checkpoint_in *in,
                       struct checkpoint_block *b, struct pems_error *error) {
  int code = 0;
  while (!code && b->kind == CHECKPOINT_MEMORY) {
    if (!resume_covers(vp, b->at, b->n) &&
        !file_mapping_covers(vp, b->at, b->n) &&
        !win_kept_shares(vp->mpi, b->at, b->n)) {
      return failure(error, EILSEQ,
                     "checkpoint: %s: memory of a window lies elsewhere here: "
                     "restart from the one before",
                     in->path);
    }
    code = checkpoint_get(in, b, (void *)b->at, error);
    code = code ? code : checkpoint_next(in, b, error);
  }
  return code;
}

int checkpoint_rank_load(struct vp *vp, struct resume *at, const char *path,
                         struct pems_error *error) {
  struct checkpoint_in in;
  struct checkpoint_block b;
  int code = checkpoint_open(&in, path, error);
  code = code ? code : load_facts(vp, &in, error);
  code = code ? code : keep_load(vp, &in, error);
  code = code ? code : resume_load(vp, at, &in, &b, error);
  code = code ? code : keep_open_again(vp, path, error);
  code = code ? code : resume_load_memory(vp, at, &in, &b, error);
  code = code ? code : load_messages(vp->mpi, &in, &b, error);
  code = code ? code : load_pointers(vp->mpi, &in, &b, error);
  code = code ? code : load_windows(vp->mpi, &in, &b, error);
  code = code ? code : load_memory(vp, &in, &b, error);
  if (!code && b.kind != CHECKPOINT_END) {
    code = failure(error, EILSEQ, "checkpoint: %s: it has more", in.path);
  }
  if (!code) {
    keep_settle(vp);
  }
  checkpoint_shut(&in);
  return code;
}
