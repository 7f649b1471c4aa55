/* Programs started by this copy get its environment: libc's own functions would
   pass the process's. */
#define _GNU_SOURCE
#include "interpose/program/private.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

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
  pid_t pid;
} *streams;
static pthread_mutex_t streams_lock = PTHREAD_MUTEX_INITIALIZER;

/* `ours` of the pipe is kept, the other end becomes the child's. */
static int spawn_on_pipe(struct stream *s, const char *command, int theirs,
                         int child_fd) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, theirs, child_fd);
  const int error = run_shell(&s->pid, command, &actions);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

static void remember(struct stream *s) {
  pthread_mutex_lock(&streams_lock);
  s->next = streams;
  streams = s;
  pthread_mutex_unlock(&streams_lock);
}

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
  const int error =
      spawn_on_pipe(s, command, theirs, reads ? STDOUT_FILENO : STDIN_FILENO);
  close(theirs);
  s->file = error ? NULL : fdopen(ours, reads ? "r" : "w");
  if (!s->file) {
    close(ours);
    free(s);
    errno = error ? error : ENOMEM;
    return NULL;
  }
  if (!strchr(mode, 'e')) {
    fcntl(ours, F_SETFD, 0);
  }
  remember(s);
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
