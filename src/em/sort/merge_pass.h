/* Merge passes: until as few runs are left as can be merged at once. */
#ifndef PEMS_EM_SORT_MERGE_PASS_H
#define PEMS_EM_SORT_MERGE_PASS_H

#include "em/sort/merger.h"
#include "em/sort/run_writer.h"
#include "em/sort/sort.h"

/* Merges some of the runs until the rest can be merged in one go, within
   merge_memory; *plan says how. Where too many are left, only so many are
   merged first that what remains fits: neighbours, so that the order of equal
   records holds. Counts the passes, the last one too. */
int merge_pass_reduce(struct sort *s, struct sort_merge_plan *plan,
                      struct pems_error *error);

/* Writes all that comes out of a merge, to the end of the last write. */
int merge_pass_copy(struct sort *s, struct merger *m, struct run_writer *w,
                    struct pems_error *error);

/* Merges `count` runs from `first` on, whose blocks are given back, into *out,
   which is empty. The runs themselves stay to be dropped. */
int merge_pass_merge(struct sort *s, const struct sort_merge_plan *plan,
                     size_t first, size_t count, struct run *out,
                     struct pems_error *error);

#endif
