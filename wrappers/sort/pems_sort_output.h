/* Where pems-sort writes to: a file, standard output, a pipe or a device. */
#ifndef PEMS_WRAPPERS_PEMS_SORT_OUTPUT_H
#define PEMS_WRAPPERS_PEMS_SORT_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pems/sort.h"
#include "wrappers/sort/pems_sort_options.h"

/* Written in two pieces: while one is filled the other goes. One thread. */
struct sort_output;

/* Whether it is written as it comes, and cannot be read again: standard output,
   a pipe, a device. */
bool sort_output_plain(const char *path);

/* Begins c->output; a file appears when it is committed. `bytes`: that it will
   have, 0: unknown. The rest as sort_input_open. */
int sort_output_open(struct sort_output **out, const struct sort_command *c,
                     size_t piece, uint64_t bytes, struct pems_error *error);
/* What was not committed is gone. NULL is allowed. */
void sort_output_close(struct sort_output *out);

/* Appends n records of `size` bytes. */
int sort_output_put(struct sort_output *out, const void *records, size_t size,
                    size_t n, struct pems_error *error);
/* All was put. */
int sort_output_commit(struct sort_output *out, struct pems_error *error);

void sort_output_counts(const struct sort_output *out,
                        struct pems_disk_counts *counts);

#endif
