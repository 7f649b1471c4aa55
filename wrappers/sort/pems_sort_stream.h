/* Sorting and checking by pushing and pulling: what is not a file of records.
 */
#ifndef PEMS_WRAPPERS_PEMS_SORT_STREAM_H
#define PEMS_WRAPPERS_PEMS_SORT_STREAM_H

#include "pems/sort.h"
#include "wrappers/sort/pems_sort_options.h"

/* Bytes of memory that reading and writing take of a budget (0: of the one that
   pems chooses): the sorter gets the rest. */
uint64_t sort_stream_memory(uint64_t budget);

/* Sorts c->input into c->output; c->sort.memory is the whole budget. `before`
   and `after`, if not NULL, become what was pushed and pulled. 0 or an errno
   value, with *error filled in. */
int sort_stream(const struct sort_command *c, struct pems_sort_counts *counts,
                struct pems_sort_check *before, struct pems_sort_check *after,
                struct pems_error *error);

/* As pems_sort_check_file for c->input, whatever it is. */
int sort_stream_check(const struct sort_command *c,
                      struct pems_sort_check *check, struct pems_error *error);

#endif
