/* Python programs: which interpreter it is, and where its libpython. */
#include "config.h"

#include "wrappers/python.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/failure.h"

extern char **environ;

/* Two lines: the interpreter, and its library or nothing. */
static const char question[] =
    "import os, sys, sysconfig\n"
    "v = sysconfig.get_config_var\n"
    "name = v('INSTSONAME') or v('LDLIBRARY') or ''\n"
    "dirs = [v('LIBDIR') or '', v('LIBPL') or '',\n"
    "        os.path.join(v('LIBDIR') or '', v('MULTIARCH') or '')]\n"
    "found = [os.path.join(d, name) for d in dirs if '.so' in name]\n"
    "found = [f for f in found if os.path.exists(f)]\n"
    "print(sys.executable)\n"
    "print(found[0] if found else '')\n";

bool python_is_interpreter(const char *path) {
  static const char name[] = "python";
  const char *slash = strrchr(path, '/');
  const char *base = slash ? slash + 1 : path;
  if (strncmp(base, name, sizeof(name) - 1) != 0) {
    return false;
  }
  base += sizeof(name) - 1;
  return base[strspn(base, "0123456789.")] == '\0';
}

bool python_of_script(const char *path, char *name, size_t size) {
  char line[PATH_MAX] = "";
  FILE *f = fopen(path, "re");
  const bool read = f && fgets(line, sizeof(line), f);
  if (f) {
    fclose(f);
  }
  if (!read || strncmp(line, "#!", 2) != 0) {
    return false;
  }
  const char *word = strtok(line + 2, " \t\r\n");
  if (word && strcmp(word, "/usr/bin/env") == 0) {
    word = strtok(NULL, " \t\r\n");
  }
  return word && python_is_interpreter(word) &&
         snprintf(name, size, "%s", word) < (int)size;
}

static int ask(const char *path, char *answer, size_t size) {
  char *argv[] = {(char *)path, "-c", (char *)question, NULL};
  posix_spawn_file_actions_t actions;
  int ends[2], status = -1;
  pid_t pid;
  if (pipe(ends) != 0) {
    return -1;
  }
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addclose(&actions, ends[0]);
  const int failed = posix_spawnp(&pid, path, &actions, NULL, argv, environ);
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
  return status == 0 ? 0 : -1;
}

/* In a build tree it lies beside the compiler wrappers. */
static int find_launcher(struct python *python, struct pems_error *error) {
  char self[PATH_MAX];
  const ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
  self[n < 0 ? 0 : n] = '\0';
  char *slash = strrchr(self, '/');
  if (slash) {
    *slash = '\0';
  }
  snprintf(python->launcher, sizeof(python->launcher),
           "%.4000s/wrappers/pems-python", self);
  if (access(python->launcher, X_OK) != 0) {
    snprintf(python->launcher, sizeof(python->launcher), "%s",
             PKGLIBDIR "/pems-python");
  }
  return access(python->launcher, X_OK) == 0
             ? 0
             : failure(error, ENOENT,
                       "no launcher for Python: %s: install pems again",
                       python->launcher);
}

static int take_answer(struct python *python, const char *path, char *answer,
                       struct pems_error *error) {
  char *library = strchr(answer, '\n');
  char *end = library ? strchr(library + 1, '\n') : NULL;
  if (!end) {
    return failure(error, EINVAL,
                   "cannot run Python: %s: it does not tell where its library "
                   "is: check that %s -c 'import sysconfig' works",
                   path, path);
  }
  *library++ = *end = '\0';
  if (!*library) {
    return failure(error, ENOENT,
                   "no shared libpython: %s: install libpython3-dev, or build "
                   "Python with --enable-shared",
                   path);
  }
  snprintf(python->executable, sizeof(python->executable), "%s", answer);
  snprintf(python->library, sizeof(python->library), "%s", library);
  return 0;
}

int python_find(struct python *python, const char *path,
                struct pems_error *error) {
  char answer[sizeof(python->executable)];
  if (ask(path, answer, sizeof(answer)) != 0) {
    answer[0] = '\0';
  }
  const int code = take_answer(python, path, answer, error);
  return code ? code : find_launcher(python, error);
}
