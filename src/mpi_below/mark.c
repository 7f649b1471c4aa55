#define _GNU_SOURCE
#include "mpi_below/mark.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static const char name[] = "pems-mark";

int mark_open(const char *folder, int flags) {
  char path[PATH_MAX];
  struct stat st;
  if (snprintf(path, sizeof(path), "%s/%s", folder, name) >=
      (int)sizeof(path)) {
    errno = ENAMETOOLONG;
    return -1;
  }
  if (lstat(folder, &st)) {
    return -1;
  }
  if (!S_ISDIR(st.st_mode) || st.st_uid != geteuid()) {
    errno = EPERM;
    return -1;
  }
  return open(path, O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW | flags, 0600);
}

int mark_lock(int fd, int how) {
  int failed;
  do {
    failed = flock(fd, how);
  } while (failed && errno == EINTR);
  return failed;
}

bool mark_is_removed(int fd) {
  struct stat st;
  return fstat(fd, &st) || st.st_nlink == 0;
}

bool mark_is_held(int fd, const char *folder, pid_t pid) {
  char link[64], path[PATH_MAX], mark[PATH_MAX + sizeof(name)];
  snprintf(link, sizeof(link), "/proc/%ld/fd/%d", (long)pid, fd);
  const ssize_t n = readlink(link, path, sizeof(path) - 1);
  path[n > 0 ? n : 0] = '\0';
  snprintf(mark, sizeof(mark), "%s/%s", folder, name);
  return n > 0 && strcmp(path, mark) == 0;
}

void mark_note(int fd, const char *kind, const char *what) {
  if (fd >= 0 && !strchr(what, '\n')) {
    dprintf(fd, "%s %s\n", kind, what);
  }
}

/* --- this machine --- */

static void read_line(const char *path, char *line, size_t size) {
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  const ssize_t n = fd < 0 ? 0 : read(fd, line, size - 1);
  line[n > 0 ? n : 0] = '\0';
  line[strcspn(line, "\n")] = '\0';
  if (fd >= 0) {
    close(fd);
  }
}

static void this_boot(char *line, size_t size) {
  read_line("/proc/sys/kernel/random/boot_id", line, size);
}

static unsigned long this_namespace(void) {
  struct stat st;
  return stat("/proc/self/ns/pid", &st) ? 0 : (unsigned long)st.st_ino;
}

void mark_note_boot(int fd) {
  char boot[64];
  this_boot(boot, sizeof(boot));
  mark_note(fd, "boot", boot);
}

void mark_note_mpirun(int fd, pid_t mpirun) {
  char text[64];
  snprintf(text, sizeof(text), "%lu %ld", this_namespace(), (long)mpirun);
  mark_note(fd, "mpirun", text);
}

/* --- lines --- */

bool mark_each(int fd, mark_line *f) {
  char line[PATH_MAX + 16];
  bool all = true;
  const int copy = dup(fd);
  FILE *const in = copy < 0 ? NULL : fdopen(copy, "r");
  if (!in) {
    if (copy >= 0) {
      close(copy);
    }
    return false;
  }
  rewind(in);
  while (all && fgets(line, sizeof(line), in)) {
    line[strcspn(line, "\n")] = '\0';
    char *const rest = strchr(line, ' ');
    if (rest) {
      *rest = '\0';
      all = f(line, rest + 1);
    }
  }
  fclose(in);
  return all;
}

bool mark_may_go(const char *kind, const char *rest) {
  char boot[64];
  unsigned long space;
  long pid;
  if (strcmp(kind, "boot") == 0) {
    this_boot(boot, sizeof(boot));
    return strcmp(rest, boot) == 0;
  }
  if (strcmp(kind, "mpirun") == 0) {
    return sscanf(rest, "%lu %ld", &space, &pid) == 2 &&
           space == this_namespace() && kill((pid_t)pid, 0) && errno == ESRCH;
  }
  return true;
}
