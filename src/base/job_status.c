#define _GNU_SOURCE
#include "base/job_status.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/message.h"

static const char begin[] = "pems-status 1";

static const char *const names[] = {
#define JOB_STATUS_NAME(name) #name,
    JOB_STATUS(JOB_STATUS_NAME)
#undef JOB_STATUS_NAME
};
enum { FIELDS = sizeof(names) / sizeof(*names) };

/* --- the line --- */

static uint64_t *field(struct job_status *s, int i) {
  uint64_t *const all[] = {
#define JOB_STATUS_AT(name) &s->name,
      JOB_STATUS(JOB_STATUS_AT)
#undef JOB_STATUS_AT
  };
  return all[i];
}

/* A word of the line: it has no blanks. */
static void add_word(char *line, int *n, const char *name, const char *word) {
  *n += snprintf(line + *n, (size_t)(JOB_STATUS_LINE - *n), " %s=", name);
  for (; *word && *n < JOB_STATUS_LINE - 2; word++) {
    line[(*n)++] = (char)(*word > ' ' ? *word : '_');
  }
  line[*n] = '\0';
}

int job_status_write(const struct job_status *s, char line[JOB_STATUS_LINE]) {
  struct job_status copy = *s;
  int n = snprintf(line, JOB_STATUS_LINE, "%s", begin);
  for (int i = 0; i < FIELDS; i++) {
    n += snprintf(line + n, (size_t)(JOB_STATUS_LINE - n), " %s=%llu", names[i],
                  (unsigned long long)*field(&copy, i));
  }
  add_word(line, &n, "host", s->host);
  add_word(line, &n, "program", s->program);
  line[n++] = '\n';
  line[n] = '\0';
  return n;
}

static void take(struct job_status *s, const char *name, const char *value) {
  for (int i = 0; i < FIELDS; i++) {
    if (strcmp(name, names[i]) == 0) {
      *field(s, i) = strtoull(value, NULL, 10);
    }
  }
  if (strcmp(name, "host") == 0) {
    snprintf(s->host, sizeof(s->host), "%s", value);
  } else if (strcmp(name, "program") == 0) {
    snprintf(s->program, sizeof(s->program), "%s", value);
  }
}

int job_status_read(struct job_status *s, const char *line) {
  char copy[JOB_STATUS_LINE], *rest = NULL;
  *s = (struct job_status){0};
  if (strncmp(line, begin, sizeof(begin) - 1) != 0 ||
      strlen(line) >= sizeof(copy)) {
    return -1;
  }
  strcpy(copy, line + sizeof(begin) - 1);
  copy[strcspn(copy, "\n")] = '\0';
  msg_clean(copy, strlen(copy));
  for (char *word = strtok_r(copy, " ", &rest); word;
       word = strtok_r(NULL, " ", &rest)) {
    char *const value = strchr(word, '=');
    if (value) {
      *value = '\0';
      take(s, word, value + 1);
    }
  }
  return 0;
}

/* --- sockets --- */

/* "pems-job.0.1234": of the user, the process. */
static const char *prefix(bool whole) {
  return whole ? "pems-job" : "pems-process";
}

static socklen_t address_of(struct sockaddr_un *a, bool whole, uid_t user,
                            pid_t pid) {
  *a = (struct sockaddr_un){.sun_family = AF_UNIX};
  const int n = snprintf(a->sun_path + 1, sizeof(a->sun_path) - 1, "%s.%lu.%ld",
                         prefix(whole), (unsigned long)user, (long)pid);
  return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
}

int job_status_listen(bool whole) {
  struct sockaddr_un a;
  const socklen_t n = address_of(&a, whole, geteuid(), getpid());
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd >= 0 && (bind(fd, (const struct sockaddr *)&a, n) || listen(fd, 16))) {
    const int code = errno;
    close(fd);
    errno = code;
    return -1;
  }
  return fd;
}

/* Is the other end of that user, or root's? */
static bool is_of(int fd, uid_t user) {
  struct ucred peer = {.uid = (uid_t)-1};
  socklen_t size = sizeof(peer);
  return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
         (peer.uid == user || peer.uid == 0);
}

int job_status_accept(int listener) {
  const int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (fd >= 0 && !is_of(fd, geteuid())) {
    close(fd);
    return -1;
  }
  return fd;
}

/* Any user can bind any name: the listener's user counts. A stranger who
   accepts nothing must not hold this process up. */
static int ask(bool whole, uid_t user, pid_t pid) {
  struct sockaddr_un a;
  const socklen_t n = address_of(&a, whole, user, pid);
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) {
    return -1;
  }
  int code = connect(fd, (const struct sockaddr *)&a, n) ? errno : 0;
  code = code || is_of(fd, user) ? code : EPERM;
  if (code) {
    close(fd);
    errno = code;
    return -1;
  }
  return fd;
}

/* The names that end in this, of whatever user, if this is root. */
static uid_t user_of(bool whole, pid_t pid);

int job_status_ask(bool whole, pid_t pid) {
  return ask(whole, user_of(whole, pid), pid);
}

/* Reads a name of /proc/net/unix. */
static bool read_name(const char *line, bool whole, uid_t *user, pid_t *pid) {
  unsigned long u;
  long p;
  char format[64];
  const char *const name = strchr(line, '@');
  snprintf(format, sizeof(format), "@%s.%%lu.%%ld", prefix(whole));
  if (!name || sscanf(name, format, &u, &p) != 2) {
    return false;
  }
  *user = (uid_t)u;
  *pid = (pid_t)p;
  return geteuid() == 0 || *user == geteuid();
}

static uid_t user_of(bool whole, pid_t pid) {
  char line[512];
  uid_t user = geteuid(), found = user;
  pid_t p;
  FILE *f = fopen("/proc/net/unix", "re");
  while (f && fgets(line, sizeof(line), f)) {
    if (read_name(line, whole, &found, &p) && p == pid) {
      user = found;
      if (user == geteuid()) {
        break;
      }
    }
  }
  if (f) {
    fclose(f);
  }
  return user;
}

/* A connection has a line of its own, with the same name. */
static bool is_new(const pid_t *pids, int n, pid_t pid) {
  for (int i = 0; i < n; i++) {
    if (pids[i] == pid) {
      return false;
    }
  }
  return true;
}

/* Strangers' names are passed over here, lest they fill the list. */
static bool answers(bool whole, uid_t user, pid_t pid) {
  const int fd = ask(whole, user, pid);
  if (fd >= 0) {
    close(fd);
  }
  return fd >= 0;
}

int job_status_find(bool whole, pid_t *pids, int most) {
  char line[512];
  int n = 0;
  uid_t user;
  pid_t pid;
  FILE *f = fopen("/proc/net/unix", "re");
  while (f && n < most && fgets(line, sizeof(line), f)) {
    if (read_name(line, whole, &user, &pid) && is_new(pids, n, pid) &&
        answers(whole, user, pid)) {
      pids[n++] = pid;
    }
  }
  if (f) {
    fclose(f);
  }
  return n;
}
