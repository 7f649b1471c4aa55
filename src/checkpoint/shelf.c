#define _GNU_SOURCE
#include "checkpoint/shelf.h"

#include "base/failure.h"
#include "checkpoint/fault.h"
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
#include <time.h>
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

static void name_lock(const char *dir, char path[PATH_MAX + 8]) {
  (void)snprintf(path, PATH_MAX + 8, "%s/lock", dir);
}

static int busy(struct pems_error *error, const char *dir) {
  return failure(error, EBUSY,
                 "checkpoint: %s: a job that runs writes there: wait for its "
                 "end, or name another directory",
                 dir);
}

/* Whose directory it is now, for shelf_owner. */
static int sign(int fd) {
  char text[512], host[256] = "";
  struct timespec t;
  gethostname(host, sizeof(host) - 1);
  clock_gettime(CLOCK_REALTIME, &t);
  const int n = snprintf(text, sizeof(text), "%s %d %lld.%09ld\n", host,
                         (int)getpid(), (long long)t.tv_sec, t.tv_nsec);
  return ftruncate(fd, 0) == 0 ? whole_write(fd, text, (size_t)n) : errno;
}

/* flock: 0, or an errno value. A process that was just killed has its locks
   until its memory is gone: `patient`, for two seconds. */
static int take_lock(int fd, int how, bool patient) {
  enum { STEP_MS = 20, PATIENCE_MS = 2000 };
  int ms = patient ? PATIENCE_MS : 0;
  while (flock(fd, how | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK || ms <= 0) {
      return errno;
    }
    usleep(STEP_MS * 1000);
    ms -= STEP_MS;
  }
  return 0;
}

/* A link there would lead to another file, and a pipe hold this process up. */
static int open_lock(const char *path, int flags) {
  return open(path, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
}

static int lock(struct shelf *s, struct pems_error *error) {
  char path[PATH_MAX + 8];
  name_lock(s->dir, path);
  if (folder_is_others(s->dir)) {
    return failure(error, EPERM,
                   "checkpoint: %s: belongs to another user: name a directory "
                   "of your own",
                   s->dir);
  }
  s->lock = open_lock(path, O_RDWR | O_CREAT);
  if (s->lock < 0) {
    return cannot(error, errno, path);
  }
  int code = take_lock(s->lock, LOCK_EX, true);
  code = code ? code : sign(s->lock);
  if (code) {
    shelf_close(s);
  }
  return code == 0             ? 0
         : code == EWOULDBLOCK ? busy(error, s->dir)
                               : cannot(error, code, path);
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
  if (owns && mkdir(dir, 0700) != 0 && errno != EEXIST) {
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

uint64_t shelf_owner(const struct shelf *s) {
  char path[PATH_MAX + 8], text[512];
  name_lock(s->dir, path);
  const int fd = open_lock(path, O_RDONLY);
  const ssize_t n = fd >= 0 ? read(fd, text, sizeof(text)) : 0;
  if (fd >= 0) {
    close(fd);
  }
  return n > 0 ? manifest_sum(text, (size_t)n).sum : 0;
}

int shelf_is_free(const char *folder, bool patient, struct pems_error *error) {
  char dir[PATH_MAX], path[PATH_MAX + 8];
  (void)snprintf(dir, sizeof(dir), "%s", folder);
  char *const slash = strrchr(dir, '/');
  if (slash) {
    *slash = '\0';
  }
  name_lock(dir, path);
  const int fd = open_lock(path, O_RDONLY);
  if (fd < 0) { /* a copy, elsewhere */
    return 0;
  }
  const bool held = take_lock(fd, LOCK_SH, patient) == EWOULDBLOCK;
  close(fd);
  return held ? busy(error, dir) : 0;
}

/* --- a checkpoint --- */

uint64_t shelf_newest(const struct shelf *s) {
  return newest(s->dir, complete, UINT64_MAX);
}

int shelf_begin(const struct shelf *s, uint64_t sequence, char path[PATH_MAX],
                struct pems_error *error) {
  int code = name(s->dir, begun, sequence, path, error);
  if (code) {
    return code;
  }
  code = checkpoint_fault();
  code = code || mkdir(path, 0700) == 0 || errno == EEXIST ? code : errno;
  return code ? cannot(error, code, path) : 0;
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
    if (n && kept >= keep && !checkpoint_fault() &&
        name(s->dir, complete, n, path, NULL) == 0) {
      folder_remove(path);
    }
  }
}

int shelf_commit(const struct shelf *s, uint64_t sequence, int keep,
                 struct pems_error *error) {
  char from[PATH_MAX], to[PATH_MAX];
  int code = name(s->dir, begun, sequence, from, error);
  code = code ? code : name(s->dir, complete, sequence, to, error);
  if (code) {
    return code;
  }
  sync_folder(from);
  code = checkpoint_fault();
  code = code || rename(from, to) == 0 ? code : errno;
  if (code) {
    return cannot(error, code, to);
  }
  sync_folder(s->dir);
  keep_newest(s, sequence, keep);
  return 0;
}

void shelf_abandon(const struct shelf *s, uint64_t sequence) {
  char path[PATH_MAX];
  if (!checkpoint_fault() && name(s->dir, begun, sequence, path, NULL) == 0) {
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
  int code = fd >= 0 ? checkpoint_fault() : errno;
  code = code ? code : whole_write(fd, bytes, n);
  code = code ? code : checkpoint_fault();
  code = code || fdatasync(fd) == 0 ? code : errno;
  if (fd >= 0) {
    close(fd);
  }
  return code ? cannot(error, code, path) : 0;
}

/* For reading; NULL with *code set. */
static FILE *open_file(const char *path, int *code, struct pems_error *error) {
  int fd;
  *code = checkpoint_open_file(&fd, path, error);
  FILE *const f = *code ? NULL : fdopen(fd, "r");
  if (!*code && !f) {
    *code = cannot(error, errno, path);
    close(fd);
  }
  return f;
}

int shelf_get(const char *folder, const char *file,
              const struct checkpoint_sum *sum, char **bytes,
              struct pems_error *error) {
  char path[PATH_MAX + 64];
  int code;
  name_file(folder, file, path);
  *bytes = NULL;
  FILE *const f = open_file(path, &code, error);
  if (!f) {
    return code;
  }
  char *const to = malloc(sum->bytes + 2);
  const size_t n = to ? fread(to, 1, sum->bytes + 1, f) : 0;
  fclose(f);
  if (!to) {
    return cannot(error, ENOMEM, path);
  }
  to[n] = '\0';
  if (n == sum->bytes && manifest_sum(to, n).sum == sum->sum) {
    *bytes = to;
    return 0;
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
  char path[PATH_MAX + 64];
  int code;
  name_file(folder, "manifest", path);
  *m = (struct manifest){0};
  FILE *const f = open_file(path, &code, error);
  if (f) {
    code = manifest_read(m, f, path, error);
    fclose(f);
  }
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
