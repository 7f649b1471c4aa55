#define _GNU_SOURCE
#include "mpi/job/checkpoint_files.h"

#include "base/failure.h"
#include "interpose/descriptor.h"
#include "mpi/io/file_kept.h"
#include "vp/vp.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FIRST = 3, MOST = 4096 };

/* Descriptors that were open; those from MOST on are not looked at. */
static bool known[MOST];

static const char folder[] = "/proc/self/fd";

/* Calls f for each open descriptor until it returns something. */
static int each(int (*f)(int fd, const char *path, void *arg), void *arg) {
  DIR *const d = opendir(folder);
  const struct dirent *e;
  int code = 0;
  while (d && !code && (e = readdir(d))) {
    char path[PATH_MAX];
    const int fd = atoi(e->d_name);
    const ssize_t n =
        fd >= FIRST && fd != dirfd(d)
            ? readlinkat(dirfd(d), e->d_name, path, sizeof(path) - 1)
            : -1;
    if (n > 0) {
      path[n] = '\0';
      code = f(fd, path, arg);
    }
  }
  if (d) {
    closedir(d);
  }
  return code;
}

static int note(int fd, const char *path, void *arg) {
  (void)path, (void)arg;
  if (fd < MOST) {
    known[fd] = true;
  }
  return 0;
}

void checkpoint_files_note(void) {
  memset(known, 0, sizeof(known));
  (void)each(note, NULL);
}

struct wanted {
  const char *dir;
  struct pems_error *error;
};

/* Other sockets, events and memory may be MPI's. Scratch files of pems, which
   it may open at any time, have no names. */
static bool is_program(int fd, const char *path, const char *dir) {
  static const char deleted[] = " (deleted)";
  const size_t n = strlen(path), end = sizeof(deleted) - 1;
  unsigned long long socket;
  if (strncmp(path, "pipe:", 5) == 0) {
    return true;
  }
  if (sscanf(path, "socket:[%llu", &socket) == 1) {
    return descriptor_is_programs(fd, socket);
  }
  return *path == '/' && strncmp(path, dir, strlen(dir)) != 0 &&
         strncmp(path, "/proc/", 6) != 0 &&
         strncmp(path, "/dev/shm/", 9) != 0 &&
         !(n > end && strcmp(path + n - end, deleted) == 0);
}

/* Of a plug-in that a rank has opened, pems has the file. */
static bool is_loaded(int fd) {
  struct stat open, file;
  bool found = false;
  if (fstat(fd, &open) != 0) {
    return false;
  }
  for (const struct link_map *m = _r_debug.r_map; m && !found; m = m->l_next) {
    found = *m->l_name && stat(m->l_name, &file) == 0 &&
            file.st_dev == open.st_dev && file.st_ino == open.st_ino;
  }
  return found;
}

static int compare(const char *name, bool writes, void *path) {
  (void)writes;
  return strcmp(name, path) == 0;
}

/* The real library has files of MPI open, which are saved as such. */
static bool is_of_mpi(const char *path) {
  bool found = false;
  for (int i = 0; i < vps.n && !found; i++) {
    found = file_kept_each(vps.item[i].mpi, compare, (void *)(uintptr_t)path);
  }
  return found;
}

static int look(int fd, const char *path, void *arg) {
  const struct wanted *const w = arg;
  return (fd < MOST && known[fd]) || descriptor_is_known(fd) ||
                 !is_program(fd, path, w->dir) || is_of_mpi(path) ||
                 is_loaded(fd)
             ? 0
             : failure(w->error, ENOTSUP, "a file is open: %s", path);
}

int checkpoint_files_check(const char *dir, struct pems_error *error) {
  struct wanted w = {dir, error};
  return each(look, &w);
}
