/* Text that is put together in a buffer of a fixed size: what does not fit is
   cut off. */
#ifndef PEMS_BASE_TEXT_H
#define PEMS_BASE_TEXT_H

#include <stddef.h>

struct text {
  char *buffer; /* always ends with '\0' */
  size_t size;  /* of it, at least 1 */
  size_t used;
};

struct text text_in(char *buffer, size_t size);
void text_add(struct text *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* "rank 3" or "ranks 0-3, 7" of n ascending numbers (equal ones count once). */
void text_ranks(struct text *t, const int *ranks, int n);

#endif
