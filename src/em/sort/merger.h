/* Merging runs from the disks: prediction, prefetching, parallel merging. */
#ifndef PEMS_EM_SORT_MERGER_H
#define PEMS_EM_SORT_MERGER_H

#include <stddef.h>

#include "em/sort/sort.h"

/* Multi-way merging with overlapped I/O (Dementiev and Sanders 2003, sections
   2.2 to 2.4): blocks are fetched in the order of prediction, or the optimal
   one for D disks, into any buffer that is free. What is there and before all
   that is not is cut into equal parts by multisequence selection, and merged by
   the team. One thread at a time calls these functions. */
struct merger;

/* Merges runs [first, first + count) of s->runs, whose blocks are given back as
   they are used up. `last`: records come out in the user's form. */
int merger_new(struct merger **m, struct sort *s,
               const struct sort_merge_plan *plan, size_t first, size_t count,
               int last, struct pems_error *error);
/* Waits for what is under way. NULL is allowed. */
void merger_free(struct merger *m);

/* Puts the next records in order to `out`, `room` > 0 of them; *n is how many
   there were, fewer only at the end. */
int merger_fill(struct merger *m, void *out, size_t room, size_t *n,
                struct pems_error *error);

#endif
