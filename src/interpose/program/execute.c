/* Programs started by this copy get its environment, and are looked for where
   its PATH says: libc's own functions would take the process's. */
#define _GNU_SOURCE
#include "interpose/program/private.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Could it be run? errno says why not. */
static int is_program(const char *path) {
  struct stat st;
  if (stat(path, &st) != 0) {
    return 0;
  }
  errno = EACCES;
  return S_ISREG(st.st_mode) &&
         faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) == 0;
}

/* Where `file` is, in `room` unless it says so itself; NULL with errno. Works
   in a child of vfork. */
static const char *locate(const char *file, char room[PATH_MAX]) {
  int why = ENOENT;
  if (!*file || strchr(file, '/')) {
    return file;
  }
  const char *dir = getenv("PATH");
  dir = dir ? dir : "/bin:/usr/bin";
  for (;; dir++) {
    const size_t len = strcspn(dir, ":");
    if (snprintf(room, PATH_MAX, "%.*s%s%s", (int)len, dir, len ? "/" : "",
                 file) < PATH_MAX) {
      if (is_program(room)) {
        return room;
      }
      why = errno == EACCES ? EACCES : why;
    }
    dir += len;
    if (!*dir) {
      errno = why;
      return NULL;
    }
  }
}

/* A file without "#!" is the shell's. */
static void run_by_shell(const char *path, char *const argv[],
                         char *const envp[]) {
  size_t n = 0;
  while (argv[n]) {
    n++;
  }
  char *words[n + 3];
  words[0] = (char *)"/bin/sh";
  words[1] = (char *)path;
  for (size_t i = 1; i <= n; i++) {
    words[i + 1] = argv[i];
  }
  words[n > 0 ? n + 1 : 2] = NULL;
  execve(words[0], words, envp);
}

int execvpe(const char *file, char *const argv[], char *const envp[]) {
  char room[PATH_MAX];
  const char *const path = locate(file, room);
  if (path) {
    execve(path, argv, envp);
    if (errno == ENOEXEC) {
      run_by_shell(path, argv, envp);
    }
  }
  return -1;
}

int posix_spawnp(pid_t *pid, const char *file,
                 const posix_spawn_file_actions_t *actions,
                 const posix_spawnattr_t *attributes, char *const argv[],
                 char *const envp[]) {
  char room[PATH_MAX];
  const int was = errno;
  const char *const path = locate(file, room);
  const int why = errno;
  errno = was;
  return path ? posix_spawn(pid, path, actions, attributes, argv, envp) : why;
}

int execv(const char *path, char *const argv[]) {
  return execve(path, argv, environ);
}

int execvp(const char *file, char *const argv[]) {
  return execvpe(file, argv, environ);
}

static size_t count_arguments(va_list args) {
  size_t n = 1;
  while (va_arg(args, char *)) {
    n++;
  }
  return n;
}

static void take_arguments(char **argv, const char *first, va_list args) {
  *argv = (char *)first;
  while (*argv) {
    *++argv = va_arg(args, char *);
  }
}

int execl(const char *path, const char *arg, ...) {
  va_list args;
  va_start(args, arg);
  const size_t n = count_arguments(args);
  va_end(args);
  char *argv[n + 1];
  va_start(args, arg);
  take_arguments(argv, arg, args);
  va_end(args);
  return execve(path, argv, environ);
}

int execlp(const char *file, const char *arg, ...) {
  va_list args;
  va_start(args, arg);
  const size_t n = count_arguments(args);
  va_end(args);
  char *argv[n + 1];
  va_start(args, arg);
  take_arguments(argv, arg, args);
  va_end(args);
  return execvpe(file, argv, environ);
}

static int run_shell(pid_t *pid, const char *command,
                     const posix_spawn_file_actions_t *actions) {
  char *const argv[] = {(char *)"sh", (char *)"-c", (char *)"--",
                        (char *)command, NULL};
  return posix_spawn(pid, "/bin/sh", actions, NULL, argv, environ);
}

static int await(pid_t pid) {
  int status;
  while (waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) {
      return -1;
    }
  }
  return status;
}

/* Signals are the process's, shared with other ranks: unlike libc's, this
   leaves SIGINT, SIGQUIT and SIGCHLD as they are. */
int system(const char *command) {
  pid_t pid;
  if (!command) {
    return access("/bin/sh", X_OK) == 0;
  }
  const int error = run_shell(&pid, command, NULL);
  if (error) {
    errno = error;
    return -1;
  }
  return await(pid);
}

/* Streams opened by popen and not closed yet. */
static struct stream {
  struct stream *next;
  FILE *file;
  int end; /* its own */
  pid_t pid;
} *streams;
static pthread_mutex_t streams_lock = PTHREAD_MUTEX_INITIALIZER;

/* `ours` of the pipe is kept, the other end becomes the child's, which has none
   of the others': they would never end while it runs. */
static int spawn_on_pipe(struct stream *s, const char *command, int theirs,
                         int child_fd) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (const struct stream *other = streams; other; other = other->next) {
    posix_spawn_file_actions_addclose(&actions, other->end);
  }
  posix_spawn_file_actions_adddup2(&actions, theirs, child_fd);
  const int error = run_shell(&s->pid, command, &actions);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

/* What other ranks run would inherit it, and keep the child waiting for its
   end: so it is as with 'e' always. */
FILE *popen(const char *command, const char *mode) {
  const int reads = mode[0] == 'r';
  int ends[2];
  if ((!reads && mode[0] != 'w') || strspn(mode + 1, "e") != strlen(mode + 1)) {
    errno = EINVAL;
    return NULL;
  }
  struct stream *s = calloc(1, sizeof(*s));
  if (!s || pipe2(ends, O_CLOEXEC) != 0) {
    free(s);
    return NULL;
  }
  const int ours = ends[!reads], theirs = ends[reads];
  pthread_mutex_lock(&streams_lock);
  const int error =
      spawn_on_pipe(s, command, theirs, reads ? STDOUT_FILENO : STDIN_FILENO);
  s->file = error ? NULL : fdopen(ours, reads ? "r" : "w");
  if (s->file) {
    s->end = ours;
    s->next = streams;
    streams = s;
  }
  pthread_mutex_unlock(&streams_lock);
  close(theirs);
  if (!s->file) {
    close(ours);
    free(s);
    errno = error ? error : ENOMEM;
    return NULL;
  }
  return s->file;
}

int pclose(FILE *file) {
  pthread_mutex_lock(&streams_lock);
  struct stream **link = &streams;
  while (*link && (*link)->file != file) {
    link = &(*link)->next;
  }
  struct stream *s = *link;
  if (s) {
    *link = s->next;
  }
  pthread_mutex_unlock(&streams_lock);
  if (!s) {
    errno = ECHILD;
    return -1;
  }
  const pid_t pid = s->pid;
  free(s);
  fclose(file);
  return await(pid);
}
