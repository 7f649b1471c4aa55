/* Replacement selection by batches: runs longer than memory. */
#ifndef PEMS_EM_SORT_REPLACEMENT_SELECTION_H
#define PEMS_EM_SORT_REPLACEMENT_SELECTION_H

#include <stddef.h>

#include "em/sort/sort.h"

/* Dementiev and Sanders 2003, section 2.1: instead of single records, chunks of
   an epsilon of the memory go through the queues Q (of the run that is written)
   and Q' (of the next). Both are collections of sorted sequences, each a list
   of small pages, so that what has been written makes room at once. A chunk is
   sorted and split where the run is now; then as many of the smallest records
   of Q are merged and written as the next chunk needs room. Random input gives
   runs of about twice the memory, input in order one. One thread calls these
   functions. */
struct replacement;

/* Copies records [first, first + n) of a sorted chunk, in stored form, to out.
 */
typedef void replacement_copy_fn(void *arg, size_t first, size_t n, void *out);

/* Takes `bytes` bytes of memory of *s; chunks will have at most `chunk`
   records. Runs are added to s->runs. ENOMEM: too few bytes for any, too. */
int replacement_new(struct replacement **q, struct sort *s, size_t bytes,
                    size_t chunk, struct pems_error *error);
/* Waits for what is under way. NULL is allowed. */
void replacement_free(struct replacement *q);
/* The least that `bytes` may be. */
size_t replacement_least(const struct pems_record *record,
                         const struct kernel *kernel, int threads, size_t block,
                         size_t chunk);

/* Adds a sorted chunk of n records. */
int replacement_add(struct replacement *q, size_t n, replacement_copy_fn *copy,
                    void *arg, struct pems_error *error);
/* Writes all that is left. */
int replacement_finish(struct replacement *q, struct pems_error *error);

#endif
