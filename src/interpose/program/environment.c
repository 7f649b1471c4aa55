/* The environment of this copy: `environ` starts as the array the VP was given
   and is copied before it is first changed, so no change is seen elsewhere.
   What libc itself reads (TZ, LANG, ...) becomes the process's as well. An
   array that grew is never freed: who reads takes no lock. */
#define _GNU_SOURCE
#include "interpose/program/private.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char **environ;
extern char **__environ __attribute__((alias("environ")));
extern char **_environ __attribute__((alias("environ")));

/* The runtime's: sets "name=value" in the environment that libc itself looks
   at, or takes "name" out of it. */
void pems_process_environment(const char *entry) __attribute__((weak));

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char **owned;      /* the array that we may change */
static size_t owned_size; /* entries it has room for, with its NULL */
static bool is_ranks;     /* not that of the process, the first copy's */

void pems_private_environment_begin(char **envp) {
  is_ranks = true;
  environ = envp;
}

static bool is_of(const char *entry, const char *name, size_t len) {
  return strncmp(entry, name, len) == 0 && entry[len] == '=';
}

/* The entry "name=..." or NULL. */
static char **find(const char *name, size_t len) {
  if (environ == NULL) {
    return NULL;
  }
  for (char **e = environ; *e; e++) {
    if (is_of(*e, name, len)) {
      return e;
    }
  }
  return NULL;
}

static size_t count(void) {
  size_t n = 0;
  while (environ && environ[n]) {
    n++;
  }
  return n;
}

/* Makes environ an array of ours with room for one more entry. */
static int own(void) {
  const size_t n = count();
  if (environ != NULL && environ == owned && n + 2 <= owned_size) {
    return 0;
  }
  const size_t size = 2 * n + 8;
  char **copy = malloc(size * sizeof(*copy));
  if (copy == NULL) {
    return -1;
  }
  if (n > 0) {
    memcpy(copy, environ, n * sizeof(*copy));
  }
  copy[n] = NULL;
  owned = environ = copy;
  owned_size = size;
  return 0;
}

/* Puts `entry` ("name=value") in its place; the array keeps the pointer. */
static int place(char *entry, size_t name_len) {
  if (own() != 0) {
    return -1;
  }
  char **old = find(entry, name_len);
  if (old) {
    *old = entry;
  } else {
    const size_t n = count();
    environ[n + 1] = NULL;
    environ[n] = entry;
  }
  return 0;
}

/* Does libc look at it, when it sets its zone or locale from the environment?
 */
static bool is_read_by_libc(const char *name) {
  return strncmp(name, "TZ", 2) == 0 || strncmp(name, "LC_", 3) == 0 ||
         strncmp(name, "LANG", 4) == 0 || strncmp(name, "LOCPATH", 7) == 0;
}

/* An entry without a value takes the variable away. */
static void tell_libc(const char *entry) {
  if (is_ranks && pems_process_environment && is_read_by_libc(entry)) {
    pems_process_environment(entry);
  }
}

static bool is_name(const char *name) {
  if (name && name[0] && !strchr(name, '=')) {
    return true;
  }
  errno = EINVAL;
  return false;
}

static void drop(const char *name, size_t len) {
  if (find(name, len) == NULL || own() != 0) {
    return;
  }
  char **to = environ;
  for (char **e = environ; *e; e++) {
    if (!is_of(*e, name, len)) {
      *to++ = *e;
    }
  }
  *to = NULL;
}

/* Takes no lock: an allocator that begins, maybe in setenv, asks, too. */
char *getenv(const char *name) {
  const size_t len = strlen(name);
  char *entry;
  for (char **e = environ; len > 0 && e && (entry = *e); e++) {
    if (is_of(entry, name, len)) {
      return entry + len + 1;
    }
  }
  return NULL;
}

/* mpirun and its programs are never set-user-ID. */
char *secure_getenv(const char *name) {
  return getenv(name);
}

/* Replaced entries are not freed: getenv may have handed them out. */
int setenv(const char *name, const char *value, int replace) {
  if (!is_name(name)) {
    return -1;
  }
  const size_t name_len = strlen(name), value_len = strlen(value);
  int rc = 0;
  pthread_mutex_lock(&lock);
  if (replace || find(name, name_len) == NULL) {
    char *entry = malloc(name_len + value_len + 2);
    rc = -1;
    if (entry) {
      memcpy(entry, name, name_len);
      entry[name_len] = '=';
      memcpy(entry + name_len + 1, value, value_len + 1);
      rc = place(entry, name_len);
    }
    if (rc == 0) {
      tell_libc(entry);
    } else {
      free(entry);
    }
  }
  pthread_mutex_unlock(&lock);
  return rc;
}

int unsetenv(const char *name) {
  if (!is_name(name)) {
    return -1;
  }
  pthread_mutex_lock(&lock);
  drop(name, strlen(name));
  tell_libc(name);
  pthread_mutex_unlock(&lock);
  return 0;
}

int putenv(char *entry) {
  const char *equals = strchr(entry, '=');
  if (equals == NULL) {
    return unsetenv(entry);
  }
  pthread_mutex_lock(&lock);
  const int rc = place(entry, (size_t)(equals - entry));
  if (rc == 0) {
    tell_libc(entry);
  }
  pthread_mutex_unlock(&lock);
  return rc;
}

int clearenv(void) {
  pthread_mutex_lock(&lock);
  owned = environ = NULL;
  owned_size = 0;
  pthread_mutex_unlock(&lock);
  return 0;
}
