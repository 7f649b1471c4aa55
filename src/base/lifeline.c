#define _GNU_SOURCE
#include "base/lifeline.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

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

/* Reads a line of /proc/net/tcp or tcp6: the user who listens at that port, at
   127.0.0.1 or at all addresses; or false. */
static bool read_listener(const char *line, unsigned port, unsigned *user) {
  enum { LISTENS = 0x0a };
  char address[33];
  unsigned at, state;
  if (sscanf(line, " %*d: %32[0-9A-F]:%x %*[0-9A-F]:%*x %x %*s %*s %*s %u",
             address, &at, &state, user) != 4 ||
      at != port || state != LISTENS) {
    return false;
  }
  const size_t n = strlen(address);
  return strspn(address, "0") == n ||
         (n >= 8 && strcmp(address + n - 8, "0100007F") == 0);
}

static bool listens_here(const char *table, unsigned port) {
  char line[512];
  unsigned user;
  bool found = false;
  FILE *const f = fopen(table, "re");
  while (f && !found && fgets(line, sizeof(line), f)) {
    found = read_listener(line, port, &user) && (user == geteuid() || !user);
  }
  if (f) {
    fclose(f);
  }
  return found;
}

bool lifeline_is_strangers(int socket) {
  struct sockaddr_in a = {0};
  socklen_t size = sizeof(a);
  if (getpeername(socket, (struct sockaddr *)&a, &size) ||
      a.sin_family != AF_INET || a.sin_addr.s_addr != htonl(INADDR_LOOPBACK)) {
    return false;
  }
  const unsigned port = ntohs(a.sin_port);
  return !listens_here("/proc/net/tcp", port) &&
         !listens_here("/proc/net/tcp6", port);
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
