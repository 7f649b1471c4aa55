/* The header of files: their first line, which is not sorted. All files must
   have the same one. */
#ifndef PEMS_EM_LINES_LINE_HEADER_H
#define PEMS_EM_LINES_LINE_HEADER_H

#include <stdbool.h>
#include <stddef.h>

#include "pems/status.h"

/* Of a job: used by one thread at a time. Zeros but for the callback. */
struct line_header {
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

/* Takes bytes of a file's header from [at, at + n), up to `end`; *used of them.
   *whole: it is complete. EFBIG, ENOMEM; EINVAL for one that is not as the
   first one; and what `found` returns. */
int line_header_read(struct line_header *h, const char *name,
                     const unsigned char *at, size_t n, unsigned char end,
                     size_t *used, bool *whole, struct pems_error *error);
void line_header_free(struct line_header *h);

#endif
