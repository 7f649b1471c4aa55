/* What pems-sort reads: a file or standard input, as records. */
#ifndef PEMS_WRAPPERS_PEMS_SORT_INPUT_H
#define PEMS_WRAPPERS_PEMS_SORT_INPUT_H

#include <stddef.h>
#include <stdint.h>

#include "pems/sort.h"
#include "wrappers/pems_sort_options.h"

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
   were: 0 only at the end. A line becomes a record of `size` bytes: its own,
   zeros, and its length, high byte first; so memcmp orders records as the lines
   (the shorter of two is first if it is the beginning of the other). EINVAL for
   a line that is too long or a record that is cut off. */
int sort_input_fill(struct sort_input *in, size_t size, void *space,
                    size_t room, size_t *n, struct pems_error *error);

/* Reads all lines: how many there are and how long the longest is. EINVAL if it
   is longer than SORT_LONGEST_LINE. */
int sort_input_survey(struct sort_input *in, uint64_t *lines, size_t *longest,
                      struct pems_error *error);

void sort_input_counts(const struct sort_input *in,
                       struct pems_disk_counts *counts);

#endif
