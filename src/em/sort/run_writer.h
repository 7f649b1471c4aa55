/* Where a merge writes to: a new run, or a file, by two halves of a buffer. */
#ifndef PEMS_EM_SORT_RUN_WRITER_H
#define PEMS_EM_SORT_RUN_WRITER_H

#include <stddef.h>

#include "disk/file.h"
#include "em/sort/sort.h"

/* While one half is filled the other is written. One thread calls these
   functions. */
struct run_writer;

/* With `blocks` >= 2 blocks of memory of *s and, to a file, room for two
   records in whole units beside. To the blocks of *run, which is empty; or,
   where run is NULL, to `file` from its beginning. Both stay the caller's. */
int run_writer_new(struct run_writer **w, struct sort *s, int blocks,
                   struct run *run, struct disk_file *file,
                   struct pems_error *error);
/* Waits for what is under way. NULL is allowed. */
void run_writer_free(struct run_writer *w);

/* Space for *room >= 1 records, once it is free. */
int run_writer_space(struct run_writer *w, void **space, size_t *room,
                     struct pems_error *error);
/* n of them were filled in: all, but at the end. */
int run_writer_filled(struct run_writer *w, size_t n, struct pems_error *error);
/* All is written. */
int run_writer_finish(struct run_writer *w, struct pems_error *error);

#endif
