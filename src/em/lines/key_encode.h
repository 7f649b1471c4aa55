/* A line's fields as one string: memcmp orders lines by it. */
#ifndef PEMS_EM_LINES_KEY_ENCODE_H
#define PEMS_EM_LINES_KEY_ENCODE_H

#include <stddef.h>

#include "em/lines/key_bytes.h"
#include "em/lines/key_order.h"
#include "em/lines/key_text.h"

/* Appends the string of a line; o->descending is not in it. Not for
   o->whole, where it is the line. If out->full, there is none. ENOMEM or 0. */
int key_encode(const struct key_order *o, const unsigned char *line, size_t n,
               struct key_scratch *scratch, struct key_bytes *out);

/* Compares lines with equal strings as o->ties has it: < 0, 0 or > 0. With
   KEY_TIES_LOCALE the byte behind each is 0. */
int key_compare_ties(const struct key_order *o, const unsigned char *a,
                     size_t a_n, const unsigned char *b, size_t b_n);

#endif
