/* Forming runs: threads that fill, sort and write chunks of lines. */
#ifndef PEMS_EM_LINES_LINE_FORM_H
#define PEMS_EM_LINES_LINE_FORM_H

#include <stddef.h>
#include <stdint.h>

#include "em/lines/line_chunk.h"
#include "em/lines/line_plan.h"
#include "em/lines/line_runs.h"

struct line_form;

/* A sorted chunk that stays in memory. */
struct line_kept {
  uint64_t order; /* as of runs */
  const struct line_chunk *chunk;
  const line_slot *slot;
  size_t n;
};

/* Reads and sorts all of the input. Runs are added to `runs` (not in order)
   unless all lines fit into memory. Even after a failure line_form_free
   frees what there is. */
int line_form(struct line_form **form, const struct line_sort_options *o,
              const struct line_plan *plan, struct line_runs *runs,
              struct memory *memory, struct pems_error *error);
/* NULL is allowed. */
void line_form_free(struct line_form *f);

/* Chunks that are kept, in their order; *n of them. They are freed with f. */
const struct line_kept *line_form_kept(const struct line_form *f, size_t *n);
/* Bytes of all lines, after line_form. */
uint64_t line_form_bytes(const struct line_form *f);

#endif
