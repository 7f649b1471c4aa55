#define _GNU_SOURCE
#include "base/lifeline.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int lifeline_write(const struct lifeline_hello *h, char *line) {
  return snprintf(line, LIFELINE_LINE, "%s %d %d %ld %lu %s%s\n", h->cookie,
                  h->process, h->of, h->pid, h->job, h->host,
                  h->begins ? " begins" : "");
}

int lifeline_read(struct lifeline_hello *h, const char *line) {
  _Static_assert(LIFELINE_COOKIE == 32 && LIFELINE_HOST == 256,
                 "the widths below");
  char word[8] = "";
  const int n = sscanf(line, "%32s %d %d %ld %lu %255s %7s", h->cookie,
                       &h->process, &h->of, &h->pid, &h->job, h->host, word);
  h->begins = strcmp(word, "begins") == 0;
  return n >= 6 && h->process >= 0 && h->process < h->of ? 0 : -1;
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

/* --- connecting --- */

static bool finish_connecting(int fd, int ms, lifeline_wait *wait) {
  int error = 0;
  socklen_t size = sizeof(error);
  return wait(fd, POLLOUT, ms) &&
         getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && !error;
}

/* Says who this is; another server at that address would not welcome it. */
static bool introduce(int fd, const struct lifeline_hello *h, int ms,
                      lifeline_wait *wait) {
  char welcome = 0, line[LIFELINE_LINE];
  const int n = lifeline_write(h, line);
  return !lifeline_is_strangers(fd) && lifeline_keep(fd) == 0 &&
         send(fd, line, (size_t)n, MSG_NOSIGNAL) == n && wait(fd, POLLIN, ms) &&
         recv(fd, &welcome, 1, 0) == 1 && welcome == LIFELINE_WELCOME;
}

/* Returns a connection, or -1. */
static int connect_to(const char *address, const char *port,
                      const struct lifeline_hello *h, int ms,
                      lifeline_wait *wait) {
  const struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV,
                                 .ai_socktype = SOCK_STREAM};
  struct addrinfo *found;
  if (getaddrinfo(address, port, &hints, &found)) {
    return -1;
  }
  const int fd =
      socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const bool connected =
      fd >= 0 &&
      (connect(fd, found->ai_addr, found->ai_addrlen) == 0 ||
       (errno == EINPROGRESS && finish_connecting(fd, ms, wait))) &&
      introduce(fd, h, ms, wait);
  freeaddrinfo(found);
  if (!connected && fd >= 0) {
    close(fd);
  }
  return connected ? fd : -1;
}

int lifeline_connect(const char *places, const struct lifeline_hello *h, int ms,
                     lifeline_wait *wait) {
  char all[4096], *rest = NULL;
  snprintf(all, sizeof(all), "%s", places);
  const char *const port = strtok_r(all, ",", &rest);
  int fd = -1;
  for (char *a; fd < 0 && port && (a = strtok_r(NULL, ",", &rest));) {
    fd = connect_to(a, port, h, ms, wait);
  }
  return fd;
}

/* --- handing on --- */

int lifeline_hand_on(int fd) {
  enum { SCRIPTS = 100 }; /* descriptors */
  char number[16];
  const int kept = fcntl(fd, F_DUPFD, SCRIPTS);
  if (kept < 0) {
    return -1;
  }
  snprintf(number, sizeof(number), "%d", kept);
  return setenv(LIFELINE_BEGUN_VARIABLE, number, 1);
}

static bool leads_to(int fd, unsigned port) {
  struct sockaddr_storage s;
  socklen_t n = sizeof(s);
  return getpeername(fd, (struct sockaddr *)&s, &n) == 0 &&
         (s.ss_family == AF_INET
              ? ntohs(((const struct sockaddr_in *)&s)->sin_port) == port
              : s.ss_family == AF_INET6 &&
                    ntohs(((const struct sockaddr_in6 *)&s)->sin6_port) ==
                        port);
}

int lifeline_take_back(const char *places) {
  const char *const number = getenv(LIFELINE_BEGUN_VARIABLE);
  const int fd = number ? atoi(number) : -1;
  unsetenv(LIFELINE_BEGUN_VARIABLE);
  return fd >= 0 && leads_to(fd, (unsigned)atoi(places)) &&
                 fcntl(fd, F_SETFD, FD_CLOEXEC) == 0
             ? fd
             : -1;
}
