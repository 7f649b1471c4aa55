/* Merging sorted lines by a tree of losers that knows common prefixes: each
   byte is compared about once (Ng and Kakehi, Merging string sequences by
   longest common prefixes, 2008; Bingmann, Eberle and Sanders 2017). */
#ifndef PEMS_EM_LINES_LINE_MERGE_H
#define PEMS_EM_LINES_LINE_MERGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "em/lines/key_order.h"
#include "em/lines/line_cursor.h"

/* One thread. */
struct line_merge;

/* Goes to the first line of n >= 1 cursors, which stay the caller's. Equal
   lines come in the order of the cursors. ENOMEM, or an error of a cursor. */
int line_merge_new(struct line_merge **merge, const struct key_order *o,
                   struct line_cursor *cursor, size_t n,
                   struct pems_error *error);
/* NULL is allowed. */
void line_merge_free(struct line_merge *m);

/* The next line, NULL at the end, and how much its string has in common with
   the one before. With o->unique only the first of equal ones. It is valid
   until the next call. */
int line_merge_next(struct line_merge *m, const struct line_view **view,
                    size_t *common, struct pems_error *error);

#endif
