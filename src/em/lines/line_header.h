/* What files begin with that is not sorted: a header, their first line, which
   must be the same in all; and before it a byte order mark, which each may
   have.
 */
#ifndef PEMS_EM_LINES_LINE_HEADER_H
#define PEMS_EM_LINES_LINE_HEADER_H

#include <stdbool.h>
#include <stddef.h>

#include "pems/status.h"

/* Of a job: used by one thread at a time. Zeros but for the choices and
   the callback. */
struct line_header {
  bool row, marks;     /* choices: files have headers, and may have marks */
  bool begun, marked;  /* a file had bytes so far, and the first one a mark */
  unsigned char *text; /* without its end */
  size_t n;
  const char *name;    /* of the file it is from; NULL: none had bytes so far */
  unsigned char *next; /* the one that is being read */
  size_t next_n, room;
  /* Or NULL: called once with the first one, before any line is looked at.
     Returns 0 or fills in *error. */
  int (*found)(void *arg, const struct line_header *header,
               struct pems_error *error);
  void *arg;
};

/* Longest header, in bytes. */
#define LINE_HEADER_MOST ((size_t)1 << 20)

/* The first n bytes of a file, ENCODING_ENOUGH if it has as many: *used are
   those of the mark. EINVAL for text of UTF-16. */
int line_header_begin(struct line_header *h, const char *name,
                      const unsigned char *at, size_t n, size_t *used,
                      struct pems_error *error);
/* Takes bytes of a file's header from [at, at + n), up to `end`; *used of them.
   *whole: it is complete. EFBIG, ENOMEM; EINVAL for one that is not as the
   first one; and what `found` returns. */
int line_header_read(struct line_header *h, const char *name,
                     const unsigned char *at, size_t n, unsigned char end,
                     size_t *used, bool *whole, struct pems_error *error);
void line_header_free(struct line_header *h);

#endif
