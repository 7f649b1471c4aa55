#define _GNU_SOURCE
#include "disk/name.h"
#include "os/thread.h"

#include <errno.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/vfs.h>
#include <unistd.h>

/* Links that are followed, as the system does. */
enum { MOST_LINKS = 40 };
/* Names that are removed by name_unlink_all; more are possible, but are not. */
enum { SLOTS = 64 };
/* Bytes of a file's name that its temporary name has, too: it must not become
   too long. */
enum { MOST_KEPT = 200 };

/* Where a `struct name` keeps its path. */
static _Atomic(const char *) names[SLOTS];

/* --- paths --- */

static int put(char out[PATH_MAX], const char *dir, const char *rest) {
  const int n = *dir ? snprintf(out, PATH_MAX, "%s/%s", dir, rest)
                     : snprintf(out, PATH_MAX, "%s", rest);
  return n >= PATH_MAX ? ENAMETOOLONG : 0;
}

void name_directory(const char *path, char dir[PATH_MAX]) {
  const size_t n = (size_t)(strrchr(path, '/') - path);
  memcpy(dir, path, n + 1);
  dir[n ? n : 1] = 0;
}

/* One link further; EINVAL if it is none, or one of /proc: these lead to files,
   not to their names. */
static int follow(char path[PATH_MAX]) {
  char link[PATH_MAX], dir[PATH_MAX], next[PATH_MAX];
  struct statfs fs;
  const ssize_t n = readlink(path, link, sizeof(link) - 1);
  if (n < 0) {
    return errno;
  }
  link[n] = 0;
  name_directory(path, dir);
  if (statfs(dir, &fs) == 0 && fs.f_type == PROC_SUPER_MAGIC) {
    return EINVAL;
  }
  const int error = put(next, *link == '/' ? "" : dir, link);
  if (!error) {
    memcpy(path, next, PATH_MAX);
  }
  return error;
}

int name_resolve(const char *path, char target[PATH_MAX]) {
  char here[PATH_MAX] = "";
  if (!*path) {
    return ENOENT;
  }
  if (*path != '/' && !getcwd(here, sizeof(here))) {
    return errno;
  }
  int error = put(target, here, path);
  for (int i = 0; !error; i++) {
    error = i < MOST_LINKS ? follow(target) : ELOOP;
  }
  return error == EINVAL || error == ENOENT ? 0 : error;
}

/* --- names --- */

/* The slot that notes the name; -1 if there is none left. */
static int note(const char *path) {
  for (int i = 0; i < SLOTS; i++) {
    const char *none = NULL;
    if (atomic_compare_exchange_strong(&names[i], &none, path)) {
      return i;
    }
  }
  return -1;
}

void name_keep(struct name *name) {
  if (name->slot >= 0) {
    atomic_store(&names[name->slot], NULL);
  }
  name->slot = -1;
}

static void forget(struct name *name) {
  name_keep(name);
  name->path[0] = 0;
}

static int choose(struct name *name, const char *target) {
  static const char letters[] = "abcdefghijklmnopqrstuvwxyz012345";
  const char *const base = strrchr(target, '/') + 1;
  uint8_t random[6];
  char suffix[sizeof(random) + 1] = "";
  if (getrandom(random, sizeof(random), 0) != sizeof(random)) {
    return errno;
  }
  for (size_t i = 0; i < sizeof(random); i++) {
    suffix[i] = letters[random[i] % 32];
  }
  const int n = snprintf(name->path, PATH_MAX, "%.*s%.*s.pems-%s",
                         (int)(base - target), target, MOST_KEPT, base, suffix);
  return n >= PATH_MAX ? ENAMETOOLONG : 0;
}

int name_make(struct name *name, const char *target,
              int (*make)(const char *path, void *arg), void *arg) {
  sigset_t before;
  int error;
  thread_block_signals(&before);
  do {
    error = choose(name, target);
    if (!error) {
      error = make(name->path, arg);
    }
  } while (error == EEXIST);
  name->slot = -1;
  if (error) {
    name->path[0] = 0;
  } else {
    name->slot = note(name->path);
  }
  thread_unblock_signals(&before);
  return error;
}

int name_move(struct name *name, const char *target) {
  sigset_t before;
  thread_block_signals(&before);
  const int error = rename(name->path, target) ? errno : 0;
  if (!error) {
    forget(name);
  }
  thread_unblock_signals(&before);
  return error;
}

void name_remove(struct name *name) {
  if (!name->path[0]) {
    return;
  }
  unlink(name->path);
  forget(name);
}

void name_unlink_all(void) {
  for (int i = 0; i < SLOTS; i++) {
    const char *const path = atomic_load(&names[i]);
    if (path) {
      unlink(path);
    }
  }
}
