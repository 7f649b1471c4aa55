/* terminal COMMAND...: runs it on a terminal, as a shell does. Once it prints,
   it is stopped (Ctrl-Z), "fg" is typed, which the shell is slow to read, and
   it is continued; once it prints again, "hello" is typed. Prints what it
   prints. The exit status is the command's, or 99 if that ends no wait. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATIENCE = 120 };

static void need(int result, const char *what) {
  if (result < 0) {
    perror(what);
    _exit(98);
  }
}

/* --- the shell --- */

static void foreground(pid_t group) {
  need(tcsetpgrp(STDIN_FILENO, group), "tcsetpgrp");
}

_Noreturn static void job(char **command) {
  setpgid(0, 0);
  foreground(getpid());
  signal(SIGTTOU, SIG_DFL);
  execvp(command[0], command);
  _exit(98);
}

_Noreturn static void shell(char **command, int stopped) {
  char line[64];
  int status;
  signal(SIGTTOU, SIG_IGN);
  const pid_t pid = fork();
  if (pid == 0) {
    job(command);
  }
  setpgid(pid, pid);
  need(waitpid(pid, &status, WUNTRACED), "waitpid");
  if (WIFSTOPPED(status)) {
    foreground(getpid());
    need((int)write(stopped, "", 1), "write");
    sleep(1); /* who else reads the terminal is first */
    need((int)read(STDIN_FILENO, line, sizeof(line)), "read");
    foreground(pid);
    kill(-pid, SIGCONT);
    need(waitpid(pid, &status, 0), "waitpid");
  }
  _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 97);
}

/* --- the user --- */

static int terminal;

/* Shows what comes until it has the word. False: nothing more comes. */
static int see(const char *word) {
  static char text[4096];
  size_t n = 0;
  struct pollfd p = {terminal, POLLIN, 0};
  while (poll(&p, 1, PATIENCE * 1000) > 0) {
    const ssize_t more = read(terminal, text + n, sizeof(text) - 1 - n);
    if (more <= 0) {
      return 0;
    }
    fwrite(text + n, 1, (size_t)more, stdout);
    fflush(stdout);
    n += (size_t)more;
    text[n] = '\0';
    if (strstr(text, word)) {
      return 1;
    }
    n = n > sizeof(text) / 2 ? 0 : n;
  }
  return 0;
}

static void drain(void) {
  char text[4096];
  struct pollfd p = {terminal, POLLIN, 0};
  while (poll(&p, 1, 0) > 0 && read(terminal, text, sizeof(text)) > 0) {
  }
}

static void type(const char *text) {
  need((int)write(terminal, text, strlen(text)), "write");
}

static int give_up(pid_t pid, const char *when) {
  printf("%s: nothing more is printed\n", when);
  kill(pid, SIGHUP);
  return 99;
}

int main(int argc, char **argv) {
  int stopped[2], status;
  char byte;
  (void)argc;
  terminal = posix_openpt(O_RDWR | O_NOCTTY);
  need(terminal, "posix_openpt");
  need(grantpt(terminal) | unlockpt(terminal), "grantpt");
  need(pipe(stopped), "pipe");
  const pid_t pid = fork();
  if (pid == 0) {
    setsid();
    const int tty = open(ptsname(terminal), O_RDWR);
    need(ioctl(tty, TIOCSCTTY, 0), "TIOCSCTTY");
    dup2(tty, 0), dup2(tty, 1), dup2(tty, 2);
    close(terminal), close(tty), close(stopped[0]);
    shell(argv + 1, stopped[1]);
  }
  close(stopped[1]);
  if (!see("step")) {
    return give_up(pid, "at first");
  }
  type("\x1a");
  if (read(stopped[0], &byte, 1) != 1) {
    return give_up(pid, "it is not stopped");
  }
  drain();
  type("fg\n");
  if (!see("step")) {
    return give_up(pid, "after fg");
  }
  type("hello\n");
  if (!see("got hello")) {
    return give_up(pid, "after hello");
  }
  while (see("\n")) {
  }
  need(waitpid(pid, &status, 0), "waitpid");
  return WEXITSTATUS(status);
}
