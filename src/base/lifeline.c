#define _GNU_SOURCE
#include "base/lifeline.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

int lifeline_write(const struct lifeline_hello *h, char *line) {
  return snprintf(line, LIFELINE_LINE, "%s %d %d %ld %lu %s\n", h->cookie,
                  h->process, h->of, h->pid, h->job, h->host);
}

int lifeline_read(struct lifeline_hello *h, const char *line) {
  _Static_assert(LIFELINE_COOKIE == 32 && LIFELINE_HOST == 256,
                 "the widths below");
  const int n = sscanf(line, "%32s %d %d %ld %lu %255s", h->cookie, &h->process,
                       &h->of, &h->pid, &h->job, h->host);
  return n == 6 && h->process >= 0 && h->process < h->of ? 0 : -1;
}

void lifeline_write_question(const char *cookie, char *line) {
  snprintf(line, LIFELINE_LINE, "%.*s ?\n", LIFELINE_COOKIE, cookie);
}

bool lifeline_is_question(const char *line, const char *cookie) {
  char question[LIFELINE_LINE];
  lifeline_write_question(cookie, question);
  return strcmp(line, question) == 0;
}

/* A probe each second after a third of the time: on a crowded link some are
   lost. The last option does the same while something waits to be sent. */
int lifeline_keep(int socket) {
  const int yes = 1, idle = LIFELINE_SECONDS / 3, interval = 1,
            probes = LIFELINE_SECONDS - idle;
  const unsigned most = LIFELINE_SECONDS * 1000;
  if (setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes)) ||
      setsockopt(socket, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof(idle)) ||
      setsockopt(socket, IPPROTO_TCP, TCP_KEEPINTVL, &interval,
                 sizeof(interval)) ||
      setsockopt(socket, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof(probes)) ||
      setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &most, sizeof(most))) {
    return -1;
  }
  return setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof(yes));
}
