#define _GNU_SOURCE
#include "checkpoint/wanted.h"

#include "base/failure.h"
#include "checkpoint/shelf.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STEP_MS = 20, PATIENCE_MS = 60000, ROOM = PATH_MAX + 8 };

static void name(const char *dir, char path[ROOM]) {
  (void)snprintf(path, ROOM, "%s/wanted", dir);
}

static int nobody(const char *dir, struct pems_error *error) {
  return failure(error, ESRCH,
                 "checkpoint: %s: no job writes there: name the directory of "
                 "its --pems-checkpoint",
                 dir);
}

/* The job may end before it looks. */
static int await(const char *dir, const char *path, struct pems_error *error) {
  for (int ms = 0; access(path, F_OK) == 0; ms += STEP_MS) {
    const bool ended = shelf_is_free(path, false, NULL) == 0;
    if (!ended && ms < PATIENCE_MS) {
      usleep(STEP_MS * 1000);
    } else if (unlink(path) == 0) {
      return ended ? nobody(dir, error)
                   : failure(error, ETIMEDOUT,
                             "checkpoint: %s: the job there does not answer: "
                             "see whether it is stopped",
                             dir);
    }
  }
  return 0;
}

int wanted_ask(const char *dir, struct pems_error *error) {
  char full[PATH_MAX], path[ROOM];
  if (!realpath(dir, full)) {
    return failure(error, errno, "checkpoint: %s: %s", dir, strerror(errno));
  }
  name(full, path);
  if (shelf_is_free(path, false, NULL) == 0) {
    return nobody(dir, error);
  }
  const int fd = open(path, O_WRONLY | O_CREAT | O_NONBLOCK | O_CLOEXEC, 0600);
  if (fd < 0) {
    return failure(error, errno, "checkpoint: %s: %s", path, strerror(errno));
  }
  close(fd);
  return await(dir, path, error);
}

bool wanted_take(const char *dir) {
  char path[ROOM];
  name(dir, path);
  return unlink(path) == 0;
}
