/* A merge whose parts are merged ahead, each in a thread of its own: neighbours
   among the cursors are a part, whose lines pass to the last merge in batches.
 */
#ifndef PEMS_EM_LINES_LINE_PARALLEL_H
#define PEMS_EM_LINES_LINE_PARALLEL_H

#include <stddef.h>
#include <stdint.h>

#include "em/core/memory.h"
#include "em/lines/line_merge.h"

/* One thread calls it. */
struct line_parallel;

/* Bytes of memory that it takes for that many threads within a limit. */
size_t line_parallel_memory(int threads, uint64_t limit);

/* As line_merge_new. With one thread or cursor, or where the memory has no
   room, nothing is merged ahead. The cursors are used by other threads until
   line_parallel_free. */
int line_parallel_new(struct line_parallel **merge, const struct key_order *o,
                      struct line_cursor *cursor, size_t n, int threads,
                      struct memory *memory, struct pems_error *error);
/* NULL is allowed. */
void line_parallel_free(struct line_parallel *p);

/* As line_merge_next. */
int line_parallel_next(struct line_parallel *p, const struct line_view **view,
                       size_t *common, struct pems_error *error);

#endif
