#define _GNU_SOURCE
#include "mpi/job/checkpoint_complete.h"

#include "base/failure.h"
#include "mpi/job/restart.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef int writer(const struct manifest *m, FILE *to,
                   struct pems_error *error);

static int write_identity(const struct manifest *m, FILE *to,
                          struct pems_error *error) {
  (void)m;
  return identity_write(restart_identity(), to, error);
}

/* Text that `write` makes, as a file. */
static int put(const char *folder, const char *file, writer *write,
               const struct manifest *m, struct checkpoint_sum *sum,
               struct pems_error *error) {
  char *text = NULL;
  size_t n = 0;
  FILE *const f = open_memstream(&text, &n);
  int code = f ? write(m, f, error) : failure(error, ENOMEM, "out of memory");
  if (f && fclose(f) != 0 && !code) {
    code = failure(error, ENOMEM, "out of memory");
  }
  code = code ? code : shelf_put(folder, file, text, n, error);
  *sum = manifest_sum(text, n);
  free(text);
  return code;
}

int checkpoint_complete(const struct shelf *shelf, struct manifest *m, int keep,
                        struct pems_error *error) {
  char folder[PATH_MAX];
  struct checkpoint_sum ignored;
  m->time = (uint64_t)time(NULL);
  int code = shelf_begin(shelf, m->sequence, folder, error);
  code = code ? code : shelf_look(folder, m, error);
  code = code ? code
              : put(folder, "identity", write_identity, m, &m->identity, error);
  code =
      code ? code : put(folder, "manifest", manifest_write, m, &ignored, error);
  return code ? code : shelf_commit(shelf, m->sequence, keep, error);
}
