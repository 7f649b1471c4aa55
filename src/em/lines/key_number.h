/* Numbers in text as bytes that memcmp orders as the numbers. None of these
   strings is the beginning of another one. Thread-safe. */
#ifndef PEMS_EM_LINES_KEY_NUMBER_H
#define PEMS_EM_LINES_KEY_NUMBER_H

#include <stddef.h>

#include "em/lines/key_bytes.h"
#include "em/lines/key_order.h"

/* -n: blanks, a minus sign, digits, with a decimal point and separators of
   thousands, of any length; what has none is 0. */
void key_number_plain(const struct key_order *o, const unsigned char *text,
                      size_t n, struct key_bytes *out);
/* -h: by the sign, the unit behind the number (K, M, G, ...), the number. */
void key_number_human(const struct key_order *o, const unsigned char *text,
                      size_t n, struct key_bytes *out);
/* -g: what strtold reads; what it does not is first, then come NaNs. */
void key_number_general(const struct key_order *o, const unsigned char *text,
                        size_t n, struct key_bytes *out);

#endif
