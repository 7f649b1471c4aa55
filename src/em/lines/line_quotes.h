/* Where lines of CSV end: newlines between quotes are part of them.

   Newlines that end a line become zero bytes, which CSV does not contain: so
   all that follows looks for one byte, as it does for lines of text. */
#ifndef PEMS_EM_LINES_LINE_QUOTES_H
#define PEMS_EM_LINES_LINE_QUOTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How far a file was read. */
struct line_quotes {
  unsigned char separator;
  unsigned char before; /* the last byte, as turned; at first 0 */
  bool inside;          /* quotes */
  bool closing;         /* the last byte was a quote inside quotes */
  uint64_t newlines;
  uint64_t opened; /* in which of the file's lines they opened, from 1 */
};

/* At the beginning of a file. */
void line_quotes_begin(struct line_quotes *q, unsigned char separator);
/* Turns newlines in the next n bytes. Returns false if there is a zero byte:
   `newlines` are those before it then. */
bool line_quotes_turn(struct line_quotes *q, unsigned char *at, size_t n);
/* The line of the file in which quotes opened that are open yet, or 0. */
static inline uint64_t line_quotes_open(const struct line_quotes *q) {
  return q->inside && !q->closing ? q->opened : 0;
}

#endif
