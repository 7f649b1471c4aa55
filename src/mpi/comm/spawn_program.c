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
      : length ? snprintf(file, PATH_MAX, "%s/%.*s/%s", dir, length, directory,
                          command)
               : snprintf(file, PATH_MAX, "%s/%s", dir, command);
  return n < PATH_MAX && access(file, X_OK) == 0 && stat(file, &s) == 0 &&
         S_ISREG(s.st_mode);
}

static bool try_each(char file[PATH_MAX], const char *path, const char *dir,
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
    return try(file, "", "", 0, command + 1);
  }
  if (strchr(command, '/')) {
    return try_each(file, path, dir, command) || try(file, dir, "", 0, command);
  }
  return try_each(file, path, dir, command) ||
         try_each(file, getenv("PATH"), dir, command) ||
         try(file, dir, "", 0, command);
}

static bool is_same(const char *a, const char *b) {
  struct stat x, y;
  return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev &&
         x.st_ino == y.st_ino;
}

static void add(struct spawn_program *p, const char *word) {
  p->word[p->n++] = word;
}

/* The arguments of pems's program for an interpreter. */
static bool add_interpreter(struct spawn_program *p, const char *file,
                            const struct spawn_program_search *s) {
  if (!s->interpreter || !is_same(file, s->interpreter)) {
    return false;
  }
  add(p, s->library);
  add(p, file);
  return true;
}

/* A script is called as its first line says, and by its path. */
static bool add_script(struct spawn_program *p,
                       const struct spawn_program_search *s) {
  if (!s->interpreter || !script_read(&p->script, p->file) ||
      !find(p->interpreter, p->script.word[0], NULL, s->dir) ||
      !add_interpreter(p, p->interpreter, s)) {
    return false;
  }
  for (int i = 1; p->script.word[i]; i++) {
    add(p, p->script.word[i]);
  }
  add(p, p->file);
  return true;
}

static void refuse(const struct spawn_program *p,
                   const struct spawn_program_search *s) {
  if (s->interpreter) {
    msg_warn("%s: %s: another program: ranks of this job run an interpreter: "
             "spawn %s, or a script that names it",
             s->function, p->file, s->interpreter);
  } else {
    msg_warn("%s: %s: another program: ranks of a job run the same one: spawn "
             "that with other arguments",
             s->function, p->file);
  }
}

bool spawn_program_find(struct spawn_program *p, const char *command,
                        const struct spawn_program_search *s) {
  p->n = 0;
  add(p, command);
  if (!find(p->file, command, s->path, s->dir)) {
    msg_warn("%s: %s: no such program: name one that can be run", s->function,
             command);
    return false;
  }
  if (is_same("/proc/self/exe", p->file) || add_interpreter(p, p->file, s) ||
      add_script(p, s)) {
    return true;
  }
  refuse(p, s);
  return false;
}
