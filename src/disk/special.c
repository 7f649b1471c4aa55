#include "disk/special.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "disk/name.h"

/* A name of /proc says which of the process's files is meant, and how far it
   was written: to open it anew would begin at its beginning. */
static bool is_output(const char *path) {
  char target[PATH_MAX];
  struct stat at, out, link;
  return stat(path, &at) == 0 && fstat(STDOUT_FILENO, &out) == 0 &&
         at.st_dev == out.st_dev && at.st_ino == out.st_ino &&
         name_resolve(path, target) == 0 && lstat(target, &link) == 0 &&
         S_ISLNK(link.st_mode);
}

bool special_is(const char *path) {
  struct stat st;
  return (stat(path, &st) == 0 && !S_ISREG(st.st_mode) &&
          !S_ISDIR(st.st_mode)) ||
         is_output(path);
}

int special_open(const char *path) {
  return is_output(path) ? STDOUT_FILENO
                         : open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
}
