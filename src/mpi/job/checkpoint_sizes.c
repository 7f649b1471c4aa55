#define _GNU_SOURCE
#include "mpi/job/checkpoint_sizes.h"

#include "base/failure.h"
#include "checkpoint/blocks.h"
#include "checkpoint/shelf.h"
#include "interpose/descriptor.h"
#include "interpose/file_mapping.h"
#include "mpi/io/file_kept.h"
#include "mpi_below/net.h"
#include "os/native.h"
#include "vp/vp.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* One file of a rank. */
struct size {
  uint64_t bytes;
  int64_t
      since; /* when it was changed last, ns, if it may not be since; or -1 */
  int32_t rank;
  int32_t writes;
  char path[PATH_MAX];
};

static int64_t changed_at(const struct stat *st) {
  return (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec;
}

/* --- saving --- */

struct saving {
  struct checkpoint_out out;
  int rank; /* whose files of MPI are looked at */
  struct pems_error *error;
};

/* Of the name s->path: what was written through any descriptor is on disk. */
static int save_size(struct saving *to, struct size *s, int fd) {
  struct stat st;
  if (fd < 0 || fstat(fd, &st) != 0 ||
      (s->writes && S_ISREG(st.st_mode) && fdatasync(fd) != 0)) {
    return failure(to->error, errno, "a file of rank %d: %s", s->rank,
                   strerror(errno));
  }
  s->bytes = (uint64_t)st.st_size;
  s->since = s->since < 0 ? -1 : changed_at(&st);
  return S_ISREG(st.st_mode)
             ? checkpoint_put(&to->out, CHECKPOINT_FILE, 0, s,
                              offsetof(struct size, path) + strlen(s->path) + 1,
                              to->error)
             : 0;
}

static int save_one(const struct vp *vp, int fd, void *arg) {
  struct size s = {.since = -1, .rank = vp->rank};
  s.writes = (fcntl(fd, F_GETFL) & O_ACCMODE) != O_RDONLY;
  return save_size(arg, &s, descriptor_path(fd, s.path) == 0 ? fd : -1);
}

/* One that is mapped, perhaps without a descriptor. */
static int save_mapped(const char *path, bool writes, bool still, void *arg) {
  struct saving *const to = arg;
  struct size s = {.since = still ? 0 : -1, .rank = to->rank, .writes = writes};
  strncpy(s.path, path, sizeof(s.path) - 1);
  const int fd = open(path, (writes ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
  const int code = save_size(to, &s, fd);
  if (fd >= 0) {
    close(fd);
  }
  return code;
}

/* A file of MPI: its descriptor is the real library's affair. */
static int save_named(const char *path, bool writes, void *arg) {
  return save_mapped(path, writes, false, arg);
}

static int save_rank(struct saving *to, const struct vp *vp) {
  int code = descriptors_each(vp, save_one, to);
  to->rank = vp->rank;
  code = code ? code : file_mappings_each(vp, save_mapped, to);
  return code ? code : file_kept_each(vp->mpi, save_named, to);
}

int checkpoint_sizes_save(const char *folder, uint64_t sequence,
                          struct pems_error *error) {
  struct saving to = {.error = error};
  struct checkpoint_sum ignored;
  char path[PATH_MAX];
  const int32_t processes = net_size();
  shelf_files(folder, net_rank(), path);
  int code = checkpoint_create(&to.out, path, error);
  code = code ? code
              : checkpoint_put(&to.out, CHECKPOINT_DESCRIPTORS, sequence,
                               &processes, sizeof(processes), error);
  for (int i = 0; i < vps.n && !code; i++) {
    code = save_rank(&to, &vps.item[i]);
  }
  code = code ? code : checkpoint_finish(&to.out, &ignored, error);
  checkpoint_close(&to.out);
  return code;
}

/* --- when the job goes on --- */

/* VPs need not be there yet. */
static bool is_here(int rank) {
  return rank >= vps.first_rank && rank - vps.first_rank < vps.n;
}

typedef int size_fn(const struct size *s, struct pems_error *error);

static int strange(const struct checkpoint_in *in, struct pems_error *error) {
  return failure(error, EILSEQ,
                 "checkpoint: %s: it is of another one: restart from the one "
                 "before",
                 in->path);
}

static int read_head(struct checkpoint_in *in, uint64_t sequence,
                     int *processes, struct pems_error *error) {
  struct checkpoint_block b;
  int32_t n = 0;
  int code = checkpoint_next(in, &b, error);
  if (!code && (b.kind != CHECKPOINT_DESCRIPTORS || b.n != sizeof(n) ||
                b.at != sequence)) {
    return strange(in, error);
  }
  code = code ? code : checkpoint_get(in, &b, &n, error);
  *processes = n;
  return code;
}

static int read_sizes(struct checkpoint_in *in, size_fn *f,
                      struct pems_error *error) {
  struct size s;
  for (;;) {
    struct checkpoint_block b;
    int code = checkpoint_next(in, &b, error);
    if (code || b.kind == CHECKPOINT_END) {
      return code;
    }
    if (b.kind != CHECKPOINT_FILE || b.n > sizeof(s) ||
        b.n <= offsetof(struct size, path)) {
      return strange(in, error);
    }
    code = checkpoint_get(in, &b, &s, error);
    ((char *)&s)[b.n - 1] = '\0';
    code = code || !is_here(s.rank) ? code : f(&s, error);
    if (code) {
      return code;
    }
  }
}

/* Of all processes of the job that was. */
static int each(const char *folder, uint64_t sequence, size_fn *f,
                struct pems_error *error) {
  int code = 0, processes = 1;
  for (int i = 0; i < processes && !code; i++) {
    struct checkpoint_in in;
    char path[PATH_MAX];
    shelf_files(folder, i, path);
    code = checkpoint_open(&in, path, error);
    code = code ? code : read_head(&in, sequence, &processes, error);
    code = code ? code : read_sizes(&in, f, error);
    checkpoint_shut(&in);
  }
  return code;
}

static int look(const struct size *s, struct pems_error *error) {
  struct stat st;
  if (stat(s->path, &st) != 0) {
    return failure(error, errno, "restart: a file of rank %d: %s: %s", s->rank,
                   s->path, strerror(errno));
  }
  if (!S_ISREG(st.st_mode) || (uint64_t)st.st_size < s->bytes) {
    return failure(error, EINVAL,
                   "restart: a file of rank %d: %s: it has %lld bytes now, and "
                   "had %llu: restore it",
                   s->rank, s->path, (long long)st.st_size,
                   (unsigned long long)s->bytes);
  }
  return s->since < 0 || s->since == changed_at(&st)
             ? 0
             : failure(error, EINVAL,
                       "restart: a file that rank %d has mapped: %s: it was "
                       "written to since: restore it, and its time",
                       s->rank, s->path);
}

static int cut(const struct size *s, struct pems_error *error) {
  struct stat st;
  const bool longer =
      s->writes && stat(s->path, &st) == 0 && (uint64_t)st.st_size > s->bytes;
  return longer && truncate(s->path, (off_t)s->bytes) != 0
             ? failure(error, errno, "restart: a file of rank %d: %s: %s",
                       s->rank, s->path, strerror(errno))
             : 0;
}

int checkpoint_sizes_check(const char *folder, uint64_t sequence,
                           struct pems_error *error) {
  return each(folder, sequence, look, error);
}

int checkpoint_sizes_cut(const char *folder, uint64_t sequence,
                         struct pems_error *error) {
  return each(folder, sequence, cut, error);
}
