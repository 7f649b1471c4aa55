#define _GNU_SOURCE
#include "checkpoint/shelf.h"

#include "base/failure.h"
#include "os/folder.h"
#include "os/whole.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static const char complete[] = "checkpoint-", begun[] = ".new-checkpoint-";

static int name(const char *dir, const char *prefix, uint64_t sequence,
                char path[PATH_MAX], struct pems_error *error) {
  const int n =
      snprintf(path, PATH_MAX, "%s/%s%06" PRIu64, dir, prefix, sequence);
  return n > 0 && n < PATH_MAX
             ? 0
             : failure(error, ENAMETOOLONG, "checkpoint: %s: too long a name",
                       dir);
}

static int cannot(struct pems_error *error, int code, const char *path) {
  return failure(error, code, "checkpoint: %s: %s", path, strerror(code));
}

/* --- the folder --- */

/* The number in a name that begins so, or 0. */
static uint64_t number_in(const char *entry, const char *prefix) {
  const size_t n = strlen(prefix);
  char *end;
  if (strncmp(entry, prefix, n) != 0) {
    return 0;
  }
  const uint64_t number = strtoull(entry + n, &end, 10);
  return *end ? 0 : number;
}

/* The largest number of a folder below `below`, or 0. */
static uint64_t newest(const char *dir, const char *prefix, uint64_t below) {
  DIR *const d = opendir(dir);
  const struct dirent *e;
  uint64_t most = 0;
  while (d && (e = readdir(d))) {
    const uint64_t n = number_in(e->d_name, prefix);
    most = n > most && n < below ? n : most;
  }
  if (d) {
    closedir(d);
  }
  return most;
}

static void name_lock(const struct shelf *s, char path[PATH_MAX + 8]) {
  (void)snprintf(path, PATH_MAX + 8, "%s/lock", s->dir);
}

static int lock(struct shelf *s, struct pems_error *error) {
  char path[PATH_MAX + 8];
  name_lock(s, path);
  s->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (s->lock < 0) {
    return cannot(error, errno, path);
  }
  if (flock(s->lock, LOCK_EX | LOCK_NB) != 0) {
    const int code = errno;
    shelf_close(s);
    return code != EWOULDBLOCK
               ? cannot(error, code, path)
               : failure(error, EBUSY,
                         "checkpoint: %s: a job that runs writes there: wait "
                         "for its end, or name another directory",
                         s->dir);
  }
  return 0;
}

static void remove_begun(const struct shelf *s) {
  char path[PATH_MAX];
  uint64_t n;
  while ((n = newest(s->dir, begun, UINT64_MAX)) &&
         name(s->dir, begun, n, path, NULL) == 0) {
    folder_remove(path);
    if (access(path, F_OK) == 0) {
      return; /* another user's: it is said when it is in the way */
    }
  }
}

int shelf_open(struct shelf *s, const char *dir, bool owns,
               struct pems_error *error) {
  *s = (struct shelf){.lock = -1};
  if (mkdir(dir, 0700) != 0 && errno != EEXIST) {
    return cannot(error, errno, dir);
  }
  if (!realpath(dir, s->dir) || access(s->dir, W_OK | X_OK) != 0) {
    return cannot(error, errno, dir);
  }
  const int code = owns ? lock(s, error) : 0;
  if (!code && owns) {
    remove_begun(s);
  }
  return code;
}

void shelf_close(struct shelf *s) {
  if (s->lock >= 0) {
    close(s->lock);
  }
  s->lock = -1;
}

int shelf_mark(const struct shelf *s, uint64_t mark, struct pems_error *error) {
  int code = whole_write_at(s->lock, &mark, sizeof(mark), 0);
  code = code || fsync(s->lock) == 0 ? code : errno;
  return code ? cannot(error, code, s->dir) : 0;
}

int shelf_check_mark(const struct shelf *s, uint64_t mark,
                     struct pems_error *error) {
  char path[PATH_MAX + 8], host[256] = "";
  uint64_t is = 0;
  name_lock(s, path);
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  const bool same =
      fd >= 0 && whole_read_at(fd, &is, sizeof(is), 0) == 0 && is == mark;
  if (fd >= 0) {
    close(fd);
  }
  (void)gethostname(host, sizeof(host) - 1);
  return same ? 0
              : failure(error, EXDEV,
                        "checkpoint: %s: on %s it is another directory than on "
                        "the first host: name one that all hosts share",
                        s->dir, host);
}

/* --- a checkpoint --- */

uint64_t shelf_newest(const struct shelf *s) {
  return newest(s->dir, complete, UINT64_MAX);
}

int shelf_begin(const struct shelf *s, uint64_t sequence, char path[PATH_MAX],
                struct pems_error *error) {
  const int code = name(s->dir, begun, sequence, path, error);
  return code ? code
         : mkdir(path, 0700) == 0 || errno == EEXIST
             ? 0
             : cannot(error, errno, path);
}

static void sync_folder(const char *path) {
  const int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd >= 0) {
    fsync(fd);
    close(fd);
  }
}

static void keep_newest(const struct shelf *s, uint64_t sequence, int keep) {
  char path[PATH_MAX];
  uint64_t n = sequence;
  for (int kept = 1; n; kept++) {
    n = newest(s->dir, complete, n);
    if (n && kept >= keep && name(s->dir, complete, n, path, NULL) == 0) {
      folder_remove(path);
    }
  }
}

int shelf_commit(const struct shelf *s, uint64_t sequence, int keep,
                 struct pems_error *error) {
  char from[PATH_MAX], to[PATH_MAX];
  const int code = name(s->dir, begun, sequence, from, error) ||
                   name(s->dir, complete, sequence, to, error);
  if (code) {
    return code;
  }
  sync_folder(from);
  if (rename(from, to) != 0) {
    return cannot(error, errno, to);
  }
  sync_folder(s->dir);
  keep_newest(s, sequence, keep);
  return 0;
}

void shelf_abandon(const struct shelf *s, uint64_t sequence) {
  char path[PATH_MAX];
  if (name(s->dir, begun, sequence, path, NULL) == 0) {
    folder_remove(path);
  }
}

/* --- looking for one --- */

void shelf_rank(const char *folder, int rank, char path[PATH_MAX]) {
  (void)snprintf(path, PATH_MAX, "%s/rank-%d", folder, rank);
}

void shelf_files(const char *folder, int process, char path[PATH_MAX]) {
  (void)snprintf(path, PATH_MAX, "%s/files-%d", folder, process);
}

static void name_file(const char *folder, const char *file,
                      char path[PATH_MAX + 64]) {
  (void)snprintf(path, PATH_MAX + 64, "%s/%s", folder, file);
}

int shelf_put(const char *folder, const char *file, const char *bytes, size_t n,
              struct pems_error *error) {
  char path[PATH_MAX + 64];
  name_file(folder, file, path);
  const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  int code = fd >= 0 ? 0 : errno;
  code = code ? code : whole_write(fd, bytes, n);
  code = code || fdatasync(fd) == 0 ? code : errno;
  if (fd >= 0) {
    close(fd);
  }
  return code ? cannot(error, code, path) : 0;
}

int shelf_get(const char *folder, const char *file,
              const struct checkpoint_sum *sum, char **bytes,
              struct pems_error *error) {
  char path[PATH_MAX + 64];
  size_t n = 0;
  name_file(folder, file, path);
  FILE *const f = fopen(path, "re");
  char *const to = f ? malloc(sum->bytes + 2) : NULL;
  if (to) {
    n = fread(to, 1, sum->bytes + 1, f);
    to[n] = '\0';
  }
  const int code = f ? to ? 0 : ENOMEM : errno;
  if (f) {
    fclose(f);
  }
  *bytes = to;
  if (code || (n == sum->bytes && manifest_sum(to, n).sum == sum->sum)) {
    return code ? cannot(error, code, path) : 0;
  }
  free(to);
  return failure(error, EILSEQ,
                 "checkpoint: %s: it was changed: restart from the one before",
                 path);
}

int shelf_find(const char *dir, char path[PATH_MAX], struct pems_error *error) {
  char file[PATH_MAX + 16], full[PATH_MAX];
  if (!realpath(dir, full)) {
    return cannot(error, errno, dir);
  }
  snprintf(file, sizeof(file), "%s/manifest", full);
  const uint64_t n = newest(full, complete, UINT64_MAX);
  if (access(file, F_OK) == 0) {
    memcpy(path, full, sizeof(full));
    return 0;
  }
  return n ? name(full, complete, n, path, error)
           : failure(error, ENOENT,
                     "checkpoint: %s: there is none: name the directory of "
                     "--pems-checkpoint",
                     dir);
}

int shelf_manifest(const char *folder, struct manifest *m,
                   struct pems_error *error) {
  char path[PATH_MAX + 16];
  snprintf(path, sizeof(path), "%s/manifest", folder);
  FILE *const f = fopen(path, "re");
  *m = (struct manifest){0};
  if (!f) {
    return cannot(error, errno, path);
  }
  const int code = manifest_read(m, f, path, error);
  fclose(f);
  return code;
}

int shelf_look(const char *folder, const struct manifest *m,
               struct pems_error *error) {
  char path[PATH_MAX];
  int code = 0;
  for (int r = 0; r < m->v && !code; r++) {
    shelf_rank(folder, r, path);
    code = checkpoint_look(path, &m->rank[r], error);
  }
  return code;
}
