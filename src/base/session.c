#define _GNU_SOURCE
#include "base/session.h"

#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int remove_one(const char *path, const struct stat *st, int type,
                      struct FTW *where) {
  (void)st, (void)type, (void)where;
  remove(path); /* another process may have been faster */
  return 0;
}

void session_remove(const char *directory) {
  char top[PATH_MAX];
  if (snprintf(top, sizeof top, "%s", directory) >= (int)sizeof top)
    return;
  char *const last = strrchr(top, '/');
  if (!last ||
      (strncmp(last, "/jf.", 4) != 0 && strncmp(last, "/pid.", 5) != 0))
    return;
  *last = '\0';
  const char *const above = strrchr(top, '/');
  if (!above || strncmp(above, "/ompi.", 6) != 0)
    return;
  nftw(directory, remove_one, 16, FTW_DEPTH | FTW_PHYS);
  rmdir(top);
}
