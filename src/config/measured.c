#define _GNU_SOURCE
#include "config/measured.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINE = PATH_MAX + 512, MOST = 200 };

/* The folder, made if `make` is set; -1 if there is none to be had. */
static int folder(char *path, size_t size, bool make) {
  const char *cache = getenv("XDG_CACHE_HOME");
  const char *home = getenv("HOME");
  int n = -1;
  if (cache && *cache == '/') {
    n = snprintf(path, size, "%s", cache);
  } else if (home && *home == '/') {
    n = snprintf(path, size, "%s/.cache", home);
  }
  if (n < 0 || n + 16 >= (int)size) {
    return -1;
  }
  if (make) {
    (void)mkdir(path, 0700); /* there already, or the next one fails */
  }
  strcat(path, "/pems");
  return make && mkdir(path, 0700) != 0 && errno != EEXIST ? -1 : 0;
}

/* "node1 unix /var/tmp ": what a line begins with. */
static void name_line(char *text, size_t size, const char *io,
                      const char *dirs) {
  char host[256] = "";
  (void)gethostname(host, sizeof(host) - 1);
  snprintf(text, size, "%s %s %s ", host, io, dirs);
}

/* Copies what is kept of others. */
static void copy_others(const char *path, const char *name, FILE *to) {
  char line[LINE];
  FILE *from = fopen(path, "re");
  int n = 0;
  while (from && fgets(line, sizeof(line), from) && n++ < MOST) {
    if (strncmp(line, name, strlen(name)) != 0) {
      fputs(line, to);
    }
  }
  if (from) {
    fclose(from);
  }
}

int measured_keep(const char *io, const char *dirs, uint64_t rate) {
  char dir[PATH_MAX], path[PATH_MAX + 16], fresh[PATH_MAX + 16], name[LINE];
  if (folder(dir, sizeof(dir), true) != 0) {
    return ENOENT;
  }
  snprintf(path, sizeof(path), "%s/disks", dir);
  snprintf(fresh, sizeof(fresh), "%s/.XXXXXX", dir);
  name_line(name, sizeof(name), io, dirs);
  const int fd = mkostemp(fresh, O_CLOEXEC); /* 0600 */
  FILE *f = fd < 0 ? NULL : fdopen(fd, "w");
  if (!f) {
    return errno;
  }
  fprintf(f, "%s%llu\n", name, (unsigned long long)rate);
  copy_others(path, name, f);
  const bool failed = fflush(f) != 0 || ferror(f);
  int code = failed ? EIO : 0;
  fclose(f);
  if (!code && rename(fresh, path) != 0) {
    code = errno;
  }
  if (code) {
    unlink(fresh);
  }
  return code;
}

uint64_t measured_find(const char *io, const char *dirs) {
  char dir[PATH_MAX], path[PATH_MAX + 16], name[LINE], line[LINE];
  uint64_t rate = 0;
  if (folder(dir, sizeof(dir), false) != 0) {
    return 0;
  }
  snprintf(path, sizeof(path), "%s/disks", dir);
  name_line(name, sizeof(name), io, dirs);
  FILE *f = fopen(path, "re");
  while (f && !rate && fgets(line, sizeof(line), f)) {
    if (strncmp(line, name, strlen(name)) == 0) {
      rate = strtoull(line + strlen(name), NULL, 10);
    }
  }
  if (f) {
    fclose(f);
  }
  return rate;
}
