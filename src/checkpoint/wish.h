/* When checkpoints are wanted, and where: --pems-checkpoint. */
#ifndef PEMS_CHECKPOINT_WISH_H
#define PEMS_CHECKPOINT_WISH_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include <pems/status.h>

struct wish {
  char dir[PATH_MAX];
  uint64_t supersteps; /* one every so many; 0: not by their number */
  uint64_t seconds;    /* one as often; 0: not by time */
  int keep;            /* so many */
  bool on_term;        /* and one for SIGTERM, which then ends the job */
};

/* "DIR[,every=N|every=30m][,keep=N][,on-term]". 0, or EINVAL with *error filled
 * in. */
int wish_parse(struct wish *w, const char *text, struct pems_error *error);

#endif
