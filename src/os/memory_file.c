#define _GNU_SOURCE
#include "os/memory_file.h"

#include "os/refused.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>

#ifndef MFD_EXEC
#define MFD_EXEC 0x10u
#endif

static const char *_Atomic directory;

const char *memory_file_directory(void) {
  return atomic_load(&directory);
}

static int in_memory(const char *name, bool runs) {
  const int fd = memfd_create(name, MFD_CLOEXEC | (runs ? MFD_EXEC : 0));
  if (fd >= 0 || errno != EINVAL || !runs) {
    return fd;
  }
  return memfd_create(name, MFD_CLOEXEC); /* Linux before 6.3 */
}

static bool can_run(const char *dir) {
  struct statvfs s;
  return statvfs(dir, &s) == 0 && !(s.f_flag & ST_NOEXEC);
}

static int in_directory(const char *dir, bool runs) {
  char path[PATH_MAX];
  if (!dir || (runs && !can_run(dir)) ||
      snprintf(path, sizeof(path), "%s/pems.XXXXXX", dir) >=
          (int)sizeof(path)) {
    return -1;
  }
  const int fd = mkostemp(path, O_CLOEXEC);
  if (fd >= 0) {
    unlink(path);
    atomic_store(&directory, dir);
  }
  return fd;
}

int memory_file(const char *name, bool runs) {
  const char *const dirs[] = {"/dev/shm", getenv("TMPDIR"), "/tmp", "/var/tmp"};
  int fd = in_memory(name, runs);
  const int code = errno;
  for (size_t i = 0;
       fd < 0 && refused(code) && i < sizeof(dirs) / sizeof(*dirs); i++) {
    fd = in_directory(dirs[i], runs);
  }
  errno = code;
  return fd;
}
