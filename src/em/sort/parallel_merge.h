/* Merging pieces that are in memory, by a team. */
#ifndef PEMS_EM_SORT_PARALLEL_MERGE_H
#define PEMS_EM_SORT_PARALLEL_MERGE_H

#include <stddef.h>

#include "em/core/team.h"
#include "em/kernel/kernel.h"

/* What is merged, and with what; the memory is the caller's. */
struct parallel_merge {
  const struct pems_record *record;
  const struct kernel *kernel;
  struct team *team;
  const struct kernel_piece *piece;
  int pieces;
  size_t *end;      /* room for `pieces`: how much of each was merged */
  char *work;       /* parallel_merge_work bytes for each member of the team */
  size_t work_each; /* that is */
  int last;         /* records come out in the user's form */
};

/* Bytes of work memory per member for at most so many pieces: whole pages. */
size_t parallel_merge_work(const struct pems_record *record,
                           const struct kernel *kernel, size_t pieces);

/* Merges the first n of the `there` records in the pieces to `out`: equal parts
   by multisequence selection, one for each member (Dementiev and Sanders 2003;
   Beckmann, Dementiev and Singler 2009, section 2). */
void parallel_merge(const struct parallel_merge *b, size_t there, size_t n,
                    char *out);

#endif
