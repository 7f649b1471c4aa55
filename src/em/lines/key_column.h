/* Columns of a line of a table: CSV (RFC 4180), or TSV, which has no quotes.

   A column that begins with a quote goes on to the next single one; two quotes
   stand for one; what follows the closing quote belongs to it, and a quote
   within a column that does not begin with one is a character as any other. */
#ifndef PEMS_EM_LINES_KEY_COLUMN_H
#define PEMS_EM_LINES_KEY_COLUMN_H

#include <stdbool.h>
#include <stddef.h>

#include "em/lines/key_order.h"
#include "em/lines/key_text.h"

/* Goes through a line, which must stay. A return at its end does not count. */
struct key_columns {
  const struct key_order *o; /* columns, quotes, separator */
  const unsigned char *line;
  size_t n;
  size_t at; /* where the next one begins; n + 1: there are no more */
};

struct key_columns key_columns_of(const struct key_order *o,
                                  const unsigned char *line, size_t n);
/* An empty line has one column. */
static inline bool key_columns_ended(const struct key_columns *c) {
  return c->at > c->n;
}
/* Leaves columns out. */
void key_columns_skip(struct key_columns *c, size_t columns);
/* The next one without its quotes, in the line or in KEY_SCRATCH_COLUMN; empty
   where there are no more. ENOMEM or 0. */
int key_columns_next(struct key_columns *c, struct key_scratch *scratch,
                     const unsigned char **text, size_t *n);

#endif
