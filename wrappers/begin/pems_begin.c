/* Fork agent: the launcher runs it in the place of the program, with the
   program's words. It tells pemsrun that the process begins, and becomes the
   program. The program inherits the connection; so pemsrun notices if the
   process ends without having come to MPI, where the others wait for it. */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/lifeline.h"
#include "base/message.h"
#include "mpi_below/launcher.h"

/* Where packets to an address get lost, the program begins so much later. */
enum { CONNECT_MS = 1000 };

static bool is_ready(int fd, short events, int ms) {
  struct pollfd p = {.fd = fd, .events = events};
  return poll(&p, 1, ms) > 0;
}

/* The first words of the variable are the cookie. */
static bool know_oneself(struct lifeline_hello *h, const char *variable) {
  struct launcher_process self;
  const size_t n = strcspn(variable, ",");
  if (n > LIFELINE_COOKIE || !variable[n] || !launcher_process(&self)) {
    return false;
  }
  *h = (struct lifeline_hello){.process = self.rank,
                               .of = self.size,
                               .pid = getpid(),
                               .job = self.job,
                               .begins = true};
  memcpy(h->cookie, variable, n);
  return gethostname(h->host, sizeof(h->host) - 1) == 0;
}

/* Nothing is lost where that fails: the program says so when it cannot join. */
static void tell_pemsrun(void) {
  struct lifeline_hello h;
  const char *const variable = getenv(LIFELINE_VARIABLE);
  if (!variable || !know_oneself(&h, variable)) {
    return;
  }
  const int fd = lifeline_connect(variable + strcspn(variable, ",") + 1, &h,
                                  CONNECT_MS, is_ready);
  if (fd >= 0) {
    (void)lifeline_hand_on(fd);
    close(fd);
  }
}

int main(int argc, char **argv) {
  if (argc < 2) {
    msg_fail(MSG_USAGE, "pems_begin: no program: it is pemsrun that runs this");
  }
  launcher_set_agent(NULL);
  tell_pemsrun();
  execvp(argv[1], argv + 1);
  char host[HOST_NAME_MAX + 1] = "";
  const int error = errno;
  gethostname(host, sizeof(host) - 1);
  msg_warn("host %s: cannot run: %s: %s", host, argv[1], strerror(error));
  return error == ENOENT ? 127 : 126;
}
