#include "config.h"

#include "wrappers/site.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/machine.h"

#define MAX_DIRS 64

const char *site_dirs(const struct options *o) {
  if (o->disk)
    return o->disk;
  const char *const tmp = getenv("TMPDIR");
  return tmp && *tmp ? tmp : "/var/tmp";
}

int site_each_dir(const char *dirs, int (*see)(const char *dir, void *data),
                  void *data) {
  char *const copy = strdup(dirs);
  char *rest = NULL;
  int status = copy ? 0 : -1;
  for (char *dir = copy ? strtok_r(copy, ",", &rest) : NULL; dir && status == 0;
       dir = strtok_r(NULL, ",", &rest))
    status = see(dir, data);
  free(copy);
  return status;
}

struct complaint {
  char *err;
  size_t err_size;
};

static int check_dir(const char *dir, void *data) {
  const struct complaint *const c = data;
  struct stat st;
  const char *why = NULL;
  if (stat(dir, &st))
    why = strerror(errno);
  else if (!S_ISDIR(st.st_mode))
    why = "not a directory";
  else if (access(dir, W_OK | X_OK))
    why = strerror(errno);
  if (!why)
    return 0;
  snprintf(c->err, c->err_size,
           "scratch directory: %s: %s: give directories that you may write to "
           "with --pems-disk",
           dir, why);
  return -1;
}

int site_check_dirs(const char *dirs, char *err, size_t err_size) {
  struct complaint c = {err, err_size};
  snprintf(err, err_size, "scratch directory: %s: out of memory", dirs);
  return site_each_dir(dirs, check_dir, &c);
}

/* File systems that were counted already. */
struct sum {
  uint64_t free;
  dev_t seen[MAX_DIRS];
  size_t nseen;
};

static int add_free(const char *dir, void *data) {
  struct sum *const s = data;
  struct stat st;
  if (stat(dir, &st))
    return 0;
  for (size_t i = 0; i < s->nseen; i++)
    if (s->seen[i] == st.st_dev)
      return 0;
  if (s->nseen < MAX_DIRS)
    s->seen[s->nseen++] = st.st_dev;
  s->free += machine_disk_free(dir);
  return 0;
}

uint64_t site_disk_free(const char *dirs) {
  struct sum s = {0};
  site_each_dir(dirs, add_free, &s);
  return s.free;
}

void site_clean_environment(void) {
  unsetenv("PEMS_CC");
  unsetenv("PEMS_CXX");
  unsetenv("PEMS_FC");
}
