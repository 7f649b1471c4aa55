/* The lines of a source, one by one, each with the string it is sorted by. */
#ifndef PEMS_EM_LINES_LINE_READER_H
#define PEMS_EM_LINES_LINE_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "em/lines/key_order.h"
#include "em/lines/key_text.h"
#include "em/lines/line_source.h"

/* Bytes that grow as they must, up to a limit. */
struct line_space {
  unsigned char *at;
  size_t room;
};

struct line_reader {
  const struct key_order *o;
  struct line_source *source;
  size_t limit;            /* bytes of a line or string, at most */
  struct line_space text;  /* from the source */
  size_t begin, filled;    /* of it: not used yet */
  struct line_space space; /* of the string, if it is not the line */
  struct key_scratch scratch;
  const unsigned char *line, *string; /* the current ones */
  size_t line_n, string_n;
};

/* The source is the reader's from now on, also after a failure. */
void line_reader_begin(struct line_reader *r, const struct key_order *o,
                       struct line_source *source, size_t limit);
void line_reader_free(struct line_reader *r);
/* Goes to the next line; *there is false at the end. What was before is
   overwritten. A byte behind line and string may be written, and 8 behind the
   string read. EFBIG, ENOMEM, errors of the source. */
int line_reader_next(struct line_reader *r, bool *there,
                     struct pems_error *error);

/* Makes room for n bytes more than LINE_SPARE. ENOMEM. */
int line_space_reserve(struct line_space *s, size_t n,
                       struct pems_error *error);

#endif
