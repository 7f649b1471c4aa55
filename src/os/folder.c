#define _GNU_SOURCE
#include "os/folder.h"

#include <ftw.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILES = 16 }; /* open at once, at most */

static int remove_one(const char *path, const struct stat *status, int type,
                      struct FTW *where) {
  (void)status, (void)type, (void)where;
  remove(path); /* another process may have been faster */
  return 0;
}

void folder_remove(const char *path) {
  nftw(path, remove_one, FILES, FTW_DEPTH | FTW_PHYS);
}

bool folder_is_others(const char *path) {
  struct stat st;
  return stat(path, &st) == 0 && st.st_uid != geteuid() && st.st_uid != 0;
}
