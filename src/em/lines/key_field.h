/* Where a field is in a line. */
#ifndef PEMS_EM_LINES_KEY_FIELD_H
#define PEMS_EM_LINES_KEY_FIELD_H

#include <stddef.h>

#include "em/lines/key_order.h"

/* The field is at line[*first] to line[*last - 1]; *first <= *last <= n.
   Thread-safe. */
void key_field_find(const struct key_order *o, const struct key_field *f,
                    const unsigned char *line, size_t n, size_t *first,
                    size_t *last);

#endif
