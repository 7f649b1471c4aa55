/* What pems-sort reads: a file or standard input, as records. */
#ifndef PEMS_WRAPPERS_PEMS_SORT_INPUT_H
#define PEMS_WRAPPERS_PEMS_SORT_INPUT_H

#include <stddef.h>
#include <stdint.h>

#include "pems/sort.h"
#include "wrappers/sort/pems_sort_options.h"

/* Read in two pieces: while one is used the other comes. One thread. */
struct sort_input;

/* Opens c->input, of which it keeps the path. `piece`: bytes of each of two
   buffers, a multiple of PEMS_DISK_UNIT. 0 or an errno value, with *error
   filled in; then *in is NULL. */
int sort_input_open(struct sort_input **in, const struct sort_command *c,
                    size_t piece, struct pems_error *error);
/* NULL is allowed. */
void sort_input_close(struct sort_input *in);
/* Bytes of the file; 0 for standard input. */
uint64_t sort_input_size(const struct sort_input *in);

/* Puts the next records, `room` > 0 of them, to `space`; *n is how many there
   were: 0 only at the end. EINVAL for a record that is cut off. */
int sort_input_fill(struct sort_input *in, size_t size, void *space,
                    size_t room, size_t *n, struct pems_error *error);

void sort_input_counts(const struct sort_input *in,
                       struct pems_disk_counts *counts);

#endif
