#include "mpi/io/file_kept.h"

#include "mpi/datatype/types_kept.h"
#include "mpi/io/file.h"
#include "mpi/io/file_open.h"
#include "mpi/io/file_owner.h"
#include "mpi/object/envelope.h"
#include "mpi/object/info.h"
#include "mpi/request/request.h"
#include "mpi_below/real.h"

#include <errno.h>
#include <string.h>

static struct file *first_of(const struct rank *rank) {
  return rank->files ? rank->files->first : NULL;
}

void file_kept_settle(const struct rank *rank) {
  for (struct file *f = first_of(rank); f; f = f->next) {
    file_settle(f);
  }
}

bool file_kept_writes(const struct rank *rank) {
  const struct file *f = first_of(rank);
  while (f && !(f->written && !request_is_done(f->written))) {
    f = f->next;
  }
  return f;
}

int file_kept_each(const struct rank *rank, file_kept_fn *f, void *arg) {
  int code = 0;
  for (const struct file *file = first_of(rank); file && !code;
       file = file->next) {
    code = f(file->path, !(file->amode & MPI_MODE_RDONLY), arg);
  }
  return code;
}

/* --- views ---------------------------------------------------------------- */

struct view {
  MPI_Offset displacement;
  MPI_Datatype etype, filetype;
  char datarep[MPI_MAX_DATAREP_STRING + 1];
};

static int view_get(struct view *v, const struct file *file) {
  memset(v, 0, sizeof(*v));
  return real.File_get_view(file->real, &v->displacement, &v->etype,
                            &v->filetype, v->datarep);
}

static void release(MPI_Datatype *type) {
  if (!envelope_is_given(*type)) {
    real.Type_free(type);
  }
}

static void view_release(struct view *v) {
  release(&v->etype);
  release(&v->filetype);
}

static bool view_is_known(const struct file *file) {
  struct view v;
  if (view_get(&v, file)) {
    return false;
  }
  const bool known = types_kept_knows(v.etype) && types_kept_knows(v.filetype);
  view_release(&v);
  return known;
}

static void view_save(const struct file *file, struct parcel *to) {
  struct view v;
  if (view_get(&v, file)) {
    to->failed = true;
    return;
  }
  parcel_put_number(to, v.displacement);
  parcel_put_text(to, v.datarep);
  types_kept_save_one(v.etype, to);
  types_kept_save_one(v.filetype, to);
  view_release(&v);
}

/* One that was never set is there already. */
static int view_set(const struct file *file, struct view *v) {
  int code = 0;
  if (file->views) {
    real.Type_commit(&v->etype);
    real.Type_commit(&v->filetype);
    file_serial_enter();
    code = real.File_set_view(file->real, v->displacement, v->etype,
                              v->filetype, v->datarep, MPI_INFO_NULL);
    file_serial_leave();
  }
  return code ? EIO : 0;
}

static int view_load(const struct file *file, struct parcel *from) {
  struct view v;
  memset(&v, 0, sizeof(v));
  v.displacement = parcel_number(from);
  strncpy(v.datarep, parcel_text(from), sizeof(v.datarep) - 1);
  int code = types_kept_load_one(&v.etype, from);
  if (code) {
    return code;
  }
  code = types_kept_load_one(&v.filetype, from);
  if (!code) {
    code = view_set(file, &v);
    release(&v.filetype);
  }
  release(&v.etype);
  return code;
}

/* --- what stands in the way ----------------------------------------------- */

static bool is_foreign(const struct errhandler *e) {
  return e->function && !errhandler_is_own(e);
}

static const char *obstacle(const struct file *f) {
  return !f->path ? "a file of MPI whose name cannot be told"
         : is_foreign(&f->errhandler) ? "an error handler of another language"
         : !view_is_known(f) ? "a file of MPI with a view that cannot be told"
                             : NULL;
}

const char *file_kept_obstacle(const struct rank *rank) {
  const char *what = rank->files && is_foreign(&rank->files->errhandler)
                         ? "an error handler of another language"
                         : NULL;
  for (const struct file *f = first_of(rank); f && !what; f = f->next) {
    what = obstacle(f);
  }
  return what;
}

/* --- saving --------------------------------------------------------------- */

/* Names of functions are where they were. */
struct fixed {
  uint64_t id, views, etype;
  MPI_Offset position;
  const char *end;
  MPI_Status split;
  int32_t number, amode, lost, last;
  bool converts, external, atomic;
};

static void save_one(const struct file *file, struct parcel *to) {
  struct fixed f;
  MPI_Info info = MPI_INFO_NULL;
  memset(&f, 0, sizeof(f)); /* the holes, too */
  f.id = file->comm->team->id;
  f.views = file->views;
  f.etype = file->etype;
  f.end = file->split.end;
  f.split = file->split.status;
  f.number = file->handle.fortran;
  f.amode = file->amode;
  f.lost = file->lost;
  f.last = (int32_t)file->last;
  f.converts = file->converts;
  f.external = file->external;
  f.atomic = file->atomic;
  to->failed |= real.File_get_position(file->real, &f.position) ||
                real.File_get_info(file->real, &info);
  parcel_put_number(to, 1);
  parcel_put(to, &f, sizeof(f));
  parcel_put_text(to, file->name);
  parcel_put_text(to, file->path);
  errhandler_save(&file->errhandler, to);
  info_save(info, to);
  view_save(file, to);
  if (info != MPI_INFO_NULL) {
    real.Info_free(&info);
  }
}

static const struct file *oldest(const struct rank *rank) {
  const struct file *f = first_of(rank);
  while (f && f->next) {
    f = f->next;
  }
  return f;
}

void file_kept_save(const struct rank *rank, struct parcel *to) {
  for (const struct file *f = oldest(rank); f; f = f->previous) {
    save_one(f, to);
  }
  parcel_put_number(to, 0);
  parcel_put_number(to, rank->files != NULL);
  if (rank->files) {
    errhandler_save(&rank->files->errhandler, to);
  }
}

/* --- loading -------------------------------------------------------------- */

static int open_it(struct file *file, MPI_Info *info) {
  const int code = file_open_again(file, *info);
  if (*info != MPI_INFO_NULL) {
    real.Info_free(info);
  }
  return code ? EIO : 0;
}

static int load_real(struct file *file, const struct fixed *f,
                     struct parcel *from) {
  MPI_Info info = MPI_INFO_NULL;
  int code = info_load(&info, from);
  code = code ? code : open_it(file, &info);
  code = code ? code : view_load(file, from);
  if (!code && (real.File_seek(file->real, f->position, MPI_SEEK_SET) ||
                (f->atomic && real.File_set_atomicity(file->real, 1)))) {
    code = EIO;
  }
  return code;
}

static struct file *make(const struct rank *rank, const struct fixed *f,
                         struct parcel *from) {
  const char *const name = parcel_text(from), *const path = parcel_text(from);
  struct comm *const comm = from->failed ? NULL : comm_with(rank, f->id);
  struct file *const file =
      comm ? file_again(comm, name, path, f->amode) : NULL;
  if (file) {
    file->views = f->views;
    file->etype = f->etype;
    file->split = (struct file_split){f->end, f->split};
    file->lost = f->lost;
    file->last = (enum file_last)f->last;
    file->converts = f->converts;
    file->external = f->external;
    file->atomic = f->atomic;
  }
  return file;
}

static int load_one(const struct rank *rank, struct parcel *from) {
  struct fixed f;
  memset(&f, 0, sizeof(f));
  parcel_get(from, &f, sizeof(f));
  struct file *const file = make(rank, &f, from);
  if (!file) {
    return EILSEQ;
  }
  int code = errhandler_load(&file->errhandler, from);
  code = code ? code : load_real(file, &f, from);
  return code || handle_restore(&file->handle, f.number) ? code : EILSEQ;
}

int file_kept_load(struct rank *rank, struct parcel *from) {
  int code = 0;
  while (!code && parcel_number(from)) {
    code = load_one(rank, from);
  }
  if (!code && parcel_number(from)) {
    code = errhandler_load(&files_me()->errhandler, from);
  }
  return code;
}

/* --- shared pointers ------------------------------------------------------ */

static bool owns(const struct file *f) {
  return f->comm->rank == 0;
}

bool file_kept_any(const struct rank *rank) {
  const struct file *f = first_of(rank);
  while (f && !owns(f)) {
    f = f->next;
  }
  return f;
}

/* The oldest first, as they were opened again. */
void file_kept_save_pointers(const struct rank *rank,
                             struct checkpoint_writer *to) {
  for (const struct file *f = oldest(rank); f; f = f->previous) {
    if (owns(f)) {
      file_owner_save(f, to);
    }
  }
}

void file_kept_load_pointers(const struct rank *rank,
                             struct checkpoint_reader *from) {
  for (const struct file *f = oldest(rank); f && !from->code; f = f->previous) {
    if (owns(f)) {
      file_owner_load(f, from);
    }
  }
}
