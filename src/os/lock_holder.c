#define _GNU_SOURCE
#include "os/lock_holder.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NAME = 64, LINE = 256 };

struct wanted {
  const struct stat *file;
  off_t start, end;
};

/* As "lock:  1: OFDLCK  ADVISORY  WRITE -1 08:01:4711 0 EOF" */
static bool is_there(const char *line, const struct wanted *w) {
  long long start, end = 0;
  char last[32];
  if (strncmp(line, "lock:", 5) != 0 || !strstr(line, " OFDLCK ") ||
      sscanf(line, "lock: %*s %*s %*s %*s %*s %*s %lld %31s", &start, last) !=
          2) {
    return false;
  }
  end = strcmp(last, "EOF") == 0 ? LLONG_MAX : atoll(last);
  return start < w->end && end >= w->start;
}

static bool is_same(int folder, const char *fd, const struct wanted *w) {
  char name[NAME];
  struct stat st;
  snprintf(name, sizeof(name), "fd/%.20s", fd);
  return fstatat(folder, name, &st, 0) == 0 && st.st_ino == w->file->st_ino &&
         st.st_dev == w->file->st_dev;
}

static bool has(int folder, const char *fd, const struct wanted *w) {
  char name[NAME], line[LINE];
  bool found = false;
  snprintf(name, sizeof(name), "fdinfo/%.20s", fd);
  const int file = openat(folder, name, O_RDONLY | O_CLOEXEC);
  FILE *const f = file >= 0 ? fdopen(file, "r") : NULL;
  while (f && !found && fgets(line, sizeof(line), f)) {
    found = is_there(line, w);
  }
  if (f) {
    fclose(f);
  } else if (file >= 0) {
    close(file);
  }
  return found;
}

/* Of a process: its folder in /proc. */
static bool holds(int folder, const struct wanted *w) {
  const int fds = openat(folder, "fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *const d = fds >= 0 ? fdopendir(fds) : NULL;
  bool found = false;
  const struct dirent *e;
  while (d && !found && (e = readdir(d))) {
    found = e->d_name[0] != '.' && is_same(folder, e->d_name, w) &&
            has(folder, e->d_name, w);
  }
  if (d) {
    closedir(d);
  } else if (fds >= 0) {
    close(fds);
  }
  return found;
}

pid_t lock_holder_find(const struct stat *file, off_t start, off_t end) {
  const struct wanted w = {file, start, end};
  DIR *const proc = opendir("/proc");
  const struct dirent *e;
  pid_t found = -1;
  while (proc && found < 0 && (e = readdir(proc))) {
    const long pid = strtol(e->d_name, NULL, 10);
    const int folder =
        pid > 0 ? openat(dirfd(proc), e->d_name, O_PATH | O_CLOEXEC) : -1;
    if (folder >= 0) {
      found = holds(folder, &w) ? (pid_t)pid : -1;
      close(folder);
    }
  }
  if (proc) {
    closedir(proc);
  }
  return found;
}
