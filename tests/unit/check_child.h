/* Runs what ends its process in a child, and keeps what that says. */
#ifndef TESTS_CHECK_CHILD_H
#define TESTS_CHECK_CHILD_H

#include <check.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHILD_RETURNED = 99 }; /* the exit status if f comes back */

/* The wait status of a child that runs f; its stderr, up to size - 1 bytes, in
   said, with a zero byte behind. A child that hangs is ended by its alarm. */
static inline int check_child(void (*f)(void), char *said, size_t size) {
  int ends[2], status;
  ck_assert_int_eq(pipe(ends), 0);
  fflush(NULL); /* else the child may print again what is in a buffer here */
  const pid_t pid = fork();
  ck_assert_int_ge(pid, 0);
  if (pid == 0) {
    alarm(20);
    dup2(ends[1], STDERR_FILENO);
    close(ends[0]);
    close(ends[1]);
    f();
    _exit(CHILD_RETURNED);
  }
  close(ends[1]);
  size_t n = 0;
  for (ssize_t got; (got = read(ends[0], said + n, size - 1 - n)) > 0;) {
    n += (size_t)got;
  }
  said[n] = '\0';
  close(ends[0]);
  ck_assert_int_eq(waitpid(pid, &status, 0), pid);
  return status;
}

/* The exit status of such a child; no signal may have ended it. */
static inline int check_child_exit(void (*f)(void), char *said, size_t size) {
  const int status = check_child(f, said, size);
  ck_assert_msg(WIFEXITED(status), "ended by signal %d: %s", WTERMSIG(status),
                said);
  return WEXITSTATUS(status);
}

#endif
