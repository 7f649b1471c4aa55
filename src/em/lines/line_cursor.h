/* Sorted lines that come one by one: of a run, of a chunk in memory, of a
   sorted file. */
#ifndef PEMS_EM_LINES_LINE_CURSOR_H
#define PEMS_EM_LINES_LINE_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "em/lines/line_chunk.h"
#include "em/lines/line_reader.h"
#include "em/lines/line_run.h"

/* One thread. The current line is valid until the next one is asked for. */
struct line_cursor {
  struct line_view view;
  size_t common; /* bytes of the string that are those of the one before */
  int (*next)(struct line_cursor *c, bool *there, struct pems_error *error);
  void (*free)(struct line_cursor *c);
  union {
    struct line_run_in run;
    struct {
      const struct line_chunk *chunk;
      const line_slot *slot;
      size_t left;
    } chunk;
    struct {
      struct line_reader reader;
      struct line_space before;
    } file;
    void *other; /* of who has set `next` */
  } of;
};

/* Before the first line. After a failure, free is allowed. The chunk stays the
   caller's, the run is used up. */
int line_cursor_of_run(struct line_cursor *c, struct line_run *run,
                       size_t piece, struct memory *memory,
                       struct pems_error *error);
void line_cursor_of_chunk(struct line_cursor *c, const struct line_chunk *chunk,
                          const line_slot *slot, size_t n);
/* The source becomes the cursor's. */
void line_cursor_of_file(struct line_cursor *c, const struct key_order *o,
                         struct line_source *source, size_t limit);

#endif
