#define _GNU_SOURCE
#include "wrappers/pemstop_ask.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/job_status.h"
#include "base/lifeline.h"
#include "base/message.h"

/* For a look in all, wherever it asks. */
enum { LOOK_MS = 5000, CONNECT_MS = 1000 };
/* Of what comes before the first right line, whoever sends it; and the most
   processes that a job can have. */
enum { MOST_UNKNOWN = 64 << 10, MOST_PROCESSES = 65536 };

static long long now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000LL + t.tv_nsec / 1000000;
}

/* ms until `end`, at most `most`. */
static int left_ms(long long end, int most) {
  const long long left = end - now_ms();
  return left < 0 ? 0 : left < most ? (int)left : most;
}

/* --- pemsrun on another host --- */

static bool begins_with(const char *text, const char *name) {
  const size_t n = strlen(name);
  return strncmp(text, name, n) == 0 && text[n] == '=';
}

/* The value of LIFELINE_VARIABLE that the process was started with, to be
   freed; NULL: it has none, or is another user's. */
static char *places_of(pid_t pid) {
  char path[64], *item = NULL, *found = NULL;
  size_t size = 0;
  snprintf(path, sizeof(path), "/proc/%ld/environ", (long)pid);
  FILE *const f = fopen(path, "re");
  while (f && !found && getdelim(&item, &size, '\0', f) > 0) {
    if (begins_with(item, LIFELINE_VARIABLE)) {
      found = strdup(item + strlen(LIFELINE_VARIABLE) + 1);
    }
  }
  free(item);
  if (f) {
    fclose(f);
  }
  return found;
}

static bool finish_connecting(int fd, long long end) {
  struct pollfd p = {.fd = fd, .events = POLLOUT};
  int error = 0;
  socklen_t size = sizeof(error);
  return poll(&p, 1, left_ms(end, CONNECT_MS)) > 0 &&
         getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && !error;
}

/* Asks at one address: a connection, or -1. */
static int ask_at(const char *address, const char *port, const char *cookie,
                  long long end) {
  const struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV,
                                 .ai_socktype = SOCK_STREAM};
  struct addrinfo *found;
  char line[LIFELINE_LINE];
  if (getaddrinfo(address, port, &hints, &found)) {
    return -1;
  }
  lifeline_write_question(cookie, line);
  const size_t n = strlen(line);
  const int fd =
      socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const bool asked = fd >= 0 &&
                     (connect(fd, found->ai_addr, found->ai_addrlen) == 0 ||
                      (errno == EINPROGRESS && finish_connecting(fd, end))) &&
                     !lifeline_is_strangers(fd) &&
                     send(fd, line, n, MSG_NOSIGNAL) == (ssize_t)n;
  freeaddrinfo(found);
  if (!asked && fd >= 0) {
    close(fd);
  }
  return asked ? fd : -1;
}

/* --- answers --- */

/* How many bytes an answer may have that begins so: a stranger may have taken
   the port. */
static size_t most_of(const char *text) {
  struct job_status first;
  char line[JOB_STATUS_LINE];
  const size_t n = strcspn(text, "\n");
  if (n >= sizeof(line) || !text[n]) {
    return MOST_UNKNOWN;
  }
  snprintf(line, sizeof(line), "%.*s", (int)n, text);
  if (job_status_read(&first, line)) {
    return MOST_UNKNOWN;
  }
  const uint64_t all = (uint64_t)JOB_STATUS_LINE *
                       (first.of < MOST_PROCESSES ? first.of : MOST_PROCESSES);
  return all > MOST_UNKNOWN ? all : MOST_UNKNOWN;
}

/* Waits for more of an answer; its length, or 0: it ends, or time is up. */
static size_t read_part(int fd, char *part, size_t size, long long end) {
  struct pollfd p = {.fd = fd, .events = POLLIN};
  const ssize_t n =
      poll(&p, 1, left_ms(end, LOOK_MS)) > 0 ? read(fd, part, size) : 0;
  return n > 0 ? (size_t)n : 0;
}

/* All that comes until the other end closes, to be freed; NULL if nothing
   does. */
static char *read_answer(int fd, long long end) {
  char *text = NULL, part[4096];
  size_t size = 0, n;
  FILE *f = open_memstream(&text, &size);
  while (f && (n = read_part(fd, part, sizeof(part), end))) {
    fwrite(part, 1, n, f);
    if (fflush(f) || size > most_of(text)) {
      break;
    }
  }
  if (!f || fclose(f) || !size) {
    free(text);
    return NULL;
  }
  return text;
}

/* Takes the answer from a connection, or -1. */
static bool take(int fd, struct view *v, long long end) {
  char *const text = fd < 0 ? NULL : read_answer(fd, end);
  *v = (struct view){0};
  if (fd >= 0) {
    close(fd);
  }
  if (text && view_read(v, text)) {
    msg_fail(MSG_FAILED, "pemstop: out of memory");
  }
  free(text);
  return v->n > 0;
}

/* Asks the pemsrun of a process of this host. Another server may be at one of
   the addresses: the next is tried. */
static bool take_afar(pid_t pid, struct view *v, long long end) {
  char *const places = places_of(pid), *rest = NULL;
  const char *const cookie = places ? strtok_r(places, ",", &rest) : NULL;
  const char *const port = cookie ? strtok_r(NULL, ",", &rest) : NULL;
  bool taken = false;
  for (char *a; !taken && port && (a = strtok_r(NULL, ",", &rest));) {
    taken = take(ask_at(a, port, cookie, end), v, end);
  }
  free(places);
  return taken;
}

bool pemstop_look(const struct pemstop_job *job, struct view *v) {
  const long long end = now_ms() + LOOK_MS;
  return (!job->whole && take_afar(job->pid, v, end)) ||
         take(job_status_ask(job->whole, job->pid), v, end);
}

/* As a line of base/job_status.h has it. */
static void host_here(char name[64]) {
  memset(name, 0, 64);
  gethostname(name, 63);
  for (; *name; name++) {
    *name = (char)(*name > ' ' ? *name : '_');
  }
}

bool pemstop_has(const struct pemstop_job *job, pid_t pid) {
  struct view v;
  char host[64];
  bool found = false;
  host_here(host);
  if (pemstop_look(job, &v)) {
    for (int i = 0; i < v.n; i++) {
      found = found || (v.process[i].pid == (uint64_t)pid &&
                        strcmp(v.process[i].host, host) == 0);
    }
  }
  view_free(&v);
  return found;
}
