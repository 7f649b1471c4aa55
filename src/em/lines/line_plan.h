/* What a sort of lines does with its memory. */
#ifndef PEMS_EM_LINES_LINE_PLAN_H
#define PEMS_EM_LINES_LINE_PLAN_H

#include <stddef.h>
#include <stdint.h>

/* All in bytes. */
struct line_plan {
  uint64_t memory;
  int workers;  /* threads that form runs; each has a chunk */
  size_t block; /* of runs: 4096 * 2^i */
  size_t input; /* of each of two pieces that are read */
  size_t chunk;
  size_t carry; /* the beginning of a line */
};

/* Plans for `memory`, at least LINE_SORT_LEAST, and that many threads; `codec`
   is the most memory that compressing a run takes. */
void line_plan_make(struct line_plan *p, uint64_t memory, int threads,
                    size_t codec);

/* The largest pieces in which `runs` runs can be read at once, with `fixed`
   bytes for their lines, within `memory`; 0 if they cannot. */
size_t line_plan_piece(const struct line_plan *p, uint64_t memory, size_t runs,
                       uint64_t fixed);

#endif
