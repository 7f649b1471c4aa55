#define _GNU_SOURCE
#include "mpi/comm/spawn_program.h"

#include "base/message.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Writes directory/command, relative to dir; false if that is no program. */
static bool try(char file[PATH_MAX], const char *dir, const char *directory,
                int length, const char *command) {
  const bool absolute = length && directory[0] == '/';
  struct stat s;
  const int n =
      absolute ? snprintf(file, PATH_MAX, "%.*s/%s", length, directory, command)
               : snprintf(file, PATH_MAX, "%s/%.*s/%s", dir, length, directory,
                          command);
  return n < PATH_MAX && access(file, X_OK) == 0 && stat(file, &s) == 0 &&
         S_ISREG(s.st_mode);
}

static bool search(char file[PATH_MAX], const char *path, const char *dir,
                   const char *command) {
  while (path) {
    const char *end = strchrnul(path, ':');
    if (try(file, dir, path, (int)(end - path), command)) {
      return true;
    }
    path = *end ? end + 1 : NULL;
  }
  return false;
}

static bool find(char file[PATH_MAX], const char *command, const char *path,
                 const char *dir) {
  if (command[0] == '/') {
    return try(file, dir, "/", 1, command + 1);
  }
  if (strchr(command, '/')) {
    return search(file, path, dir, command) || try(file, dir, "", 0, command);
  }
  return search(file, path, dir, command) ||
         search(file, getenv("PATH"), dir, command) ||
         try(file, dir, "", 0, command);
}

bool spawn_program_is_own(const char *command, const char *path,
                          const char *dir, const char *function) {
  char file[PATH_MAX];
  struct stat own, other;
  if (!find(file, command, path, dir)) {
    msg_warn("%s: %s: no such program: name one that can be run", function,
             command);
    return false;
  }
  if (stat("/proc/self/exe", &own) != 0 || stat(file, &other) != 0 ||
      own.st_dev != other.st_dev || own.st_ino != other.st_ino) {
    msg_warn("%s: %s: another program: ranks of a job run the same one: spawn "
             "that with other arguments",
             function, file);
    return false;
  }
  return true;
}
