/* What a checkpoint is of, as text that people can read. */
#ifndef PEMS_CHECKPOINT_MANIFEST_H
#define PEMS_CHECKPOINT_MANIFEST_H

#include <stdint.h>
#include <stdio.h>

#include <pems/status.h>

#include "checkpoint/blocks.h"
#include "os/fixed.h"

/* Zeroed: nothing. */
struct manifest {
  char *program;   /* its path */
  char *directory; /* where it was started */
  char *hosts;     /* of all processes, each once: "a, b" */
  char **argument; /* of its command line, from its name on; ends with NULL */
  int arguments;
  int v;
  uint64_t superstep;
  uint64_t sequence;               /* of this checkpoint in its job */
  uint64_t time;                   /* seconds since 1970 */
  uint64_t stack_limit;            /* of processes */
  uint64_t context, stack, images; /* bytes: where contexts lie (layout) */
  uint64_t messages; /* ranks that have requests or messages under way */
  uint64_t landmark; /* where something of libpems is, to be sure */
  struct fixed_guards guards;
  struct checkpoint_sum identity; /* of the file beside it: bytes and sum */
  struct checkpoint_sum *rank;    /* v files */
  uint64_t sum;                   /* of the text, when it has been read */
};

/* All return 0, or an errno value with *error filled in; what is in *to then is
   to be freed, too. */
int manifest_write(const struct manifest *from, FILE *to,
                   struct pems_error *error);
/* `name` is what errors call it. */
int manifest_read(struct manifest *to, FILE *from, const char *name,
                  struct pems_error *error);
void manifest_free(struct manifest *which);

/* The sum of some bytes. */
struct checkpoint_sum manifest_sum(const void *p, size_t n);

#endif
