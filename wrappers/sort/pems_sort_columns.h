/* Keys of pems-sort that are columns of a table, by number or by name. */
#ifndef PEMS_WRAPPERS_PEMS_SORT_COLUMNS_H
#define PEMS_WRAPPERS_PEMS_SORT_COLUMNS_H

#include "em/lines/key_order.h"
#include "em/lines/line_header.h"

/* What keys say until the header is known. */
struct sort_columns {
  struct key_order *order;
  char *name[KEY_MOST_FIELDS]; /* of each field's column, or NULL: a number */
};

/* Adds a key: COLUMN[:OPTIONS] or NUMBER[OPTIONS][,NUMBER[OPTIONS]], where
   COLUMN is a number, a name or a name in quotes. EINVAL. */
int sort_columns_add(struct sort_columns *c, const char *text,
                     struct pems_error *error);
/* A key that is a name, or NULL. */
const char *sort_columns_named(const struct sort_columns *c);
/* As line_header's `found`, with a struct sort_columns: looks names up. EINVAL
   for a column that is not there. */
int sort_columns_found(void *arg, const struct line_header *header,
                       struct pems_error *error);
void sort_columns_free(struct sort_columns *c);

#endif
