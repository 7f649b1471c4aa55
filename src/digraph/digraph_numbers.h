/* Node numbers of up to 64 bits that a file has, and the rank of each in their
   order: what nodes are called in the graph. */
#ifndef PEMS_DIGRAPH_DIGRAPH_NUMBERS_H
#define PEMS_DIGRAPH_DIGRAPH_NUMBERS_H

#include <stdbool.h>
#include <stdint.h>

#include <pems/status.h>

/* An open hash table. */
struct digraph_numbers {
  uint64_t *number; /* 0: no number; else one more than it */
  uint32_t *rank;   /* of the number there; NULL before digraph_numbers_rank */
  uint64_t mask;
  uint64_t n; /* numbers */
};

/* Functions that return an int: 0, ENOMEM, or EINVAL for too many. */
int digraph_numbers_begin(struct digraph_numbers *s, struct pems_error *error);
void digraph_numbers_free(struct digraph_numbers *s);

/* *added (or NULL): whether it was not there. No number is UINT64_MAX. */
int digraph_numbers_add(struct digraph_numbers *s, uint64_t number, bool *added,
                        struct pems_error *error);
/* After the last one was added. `path`: for errors. */
int digraph_numbers_rank(struct digraph_numbers *s, const char *path,
                         struct pems_error *error);
/* False where it is none of them. */
bool digraph_numbers_find(const struct digraph_numbers *s, uint64_t number,
                          uint32_t *rank);

#endif
