#include "config.h"

#include "wrappers/interpreter/interpreter.h"

#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/failure.h"

extern char **environ;

bool interpreter_ask(char *const argv[], char *answer, size_t size) {
  posix_spawn_file_actions_t actions;
  int ends[2], status = -1;
  pid_t pid;
  if (pipe(ends) != 0) {
    return false;
  }
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addclose(&actions, ends[0]);
  const int failed = posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  FILE *f = fdopen(ends[0], "r");
  const size_t n = f && !failed ? fread(answer, 1, size - 1, f) : 0;
  answer[n] = '\0';
  if (f) {
    fclose(f);
  }
  if (!failed) {
    (void)waitpid(pid, &status, 0);
  }
  return status == 0;
}

/* Where a program is installed if the commands are in `bin`: a tree may have
   been moved, or made for another place (DESTDIR). */
static void installed(const char *bin, const char *name, char *path) {
  static const char commands[] = BINDIR, programs[] = PKGLIBDIR;
  size_t same = 0; /* bytes of the prefix of both */
  for (size_t i = 0; commands[i] && commands[i] == programs[i]; i++) {
    same = commands[i] == '/' ? i : same;
  }
  const size_t n = strlen(bin), end = strlen(commands + same);
  const bool moved = n >= end && strcmp(bin + n - end, commands + same) == 0;
  snprintf(path, PATH_MAX, "%.*s%s/%s", moved ? (int)(n - end) : 0, bin,
           moved ? programs + same : programs, name);
}

/* In a build tree it lies beside the compiler wrappers. */
bool interpreter_find(const char *name, char *path) {
  char self[2000];
  const ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
  self[n < 0 ? 0 : n] = '\0';
  char *slash = strrchr(self, '/');
  if (slash) {
    *slash = '\0';
  }
  snprintf(path, PATH_MAX, "%s/wrappers/%s", self, name);
  if (access(path, X_OK) != 0) {
    installed(self, name, path);
  }
  if (access(path, X_OK) != 0) {
    snprintf(path, PATH_MAX, PKGLIBDIR "/%s", name);
  }
  return access(path, X_OK) == 0;
}

int interpreter_launcher(const char *name, char *path,
                         struct pems_error *error) {
  return interpreter_find(name, path)
             ? 0
             : failure(
                   error, ENOENT,
                   "no program for this interpreter: %s: install pems again",
                   path);
}
