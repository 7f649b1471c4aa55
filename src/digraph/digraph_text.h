/* Text files with numbers in lines, read fast: a line is a place in a large
   buffer, and numbers are scanned by hand. */
#ifndef PEMS_DIGRAPH_DIGRAPH_TEXT_H
#define PEMS_DIGRAPH_DIGRAPH_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pems/status.h>

struct digraph_input;

struct digraph_text {
  const char *path;
  uint64_t line;  /* the number of this one, from 1 */
  uint64_t bytes; /* of the file; 0: it cannot be told */
  const char *at; /* what is next in this line, which '\n' ends */
  size_t longest; /* bytes that a line may have: 1 MiB, or as it is set */

  /* Private. */
  struct digraph_input *input;
  char *buffer;
  size_t room;      /* of the buffer: it grows with long lines */
  char *next, *end; /* of the buffer: the next line, what is filled */
  int last;         /* the file has no more */
  struct pems_error *error;
};

/* Errors go to `error`, which stays the caller's. A byte order mark of UTF-8 is
   left out; EINVAL for text of UTF-16. */
int digraph_text_open(struct digraph_text *t, const char *path,
                      struct pems_error *error);
void digraph_text_close(struct digraph_text *t);

/* Goes to the next line that has more than blanks. Returns 0; ENODATA, without
   an error, at the end of the file; or another errno value. */
int digraph_text_line(struct digraph_text *t);
/* The same, but to the next line whatever it has: digraph_text_ended tells
   whether that is nothing. */
int digraph_text_next(struct digraph_text *t);

/* The error "<path>:<line>: ..."; returns EINVAL. */
int digraph_text_refuse(const struct digraph_text *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Whether nothing more is in the line; skips blanks. */
bool digraph_text_ended(struct digraph_text *t);

/* Goes behind the next word of the line, if there is one. */
bool digraph_text_skip(struct digraph_text *t);

/* The next word of the line, if it is this one (in any case of letters). */
bool digraph_text_word(struct digraph_text *t, const char *word);

/* The next number: at least `least`, at most `most`. `what` it is, for errors;
   0 or EINVAL. */
int digraph_text_number(struct digraph_text *t, const char *what,
                        uint64_t least, uint64_t most, uint64_t *number);
int digraph_text_signed(struct digraph_text *t, const char *what,
                        int32_t *number);

/* The next number, with a point and an exponent if it likes, times `scale` and
   rounded, as a weight. Where something was rounded off, *rounded becomes 1. */
int digraph_text_weight(struct digraph_text *t, double scale, uint32_t *weight,
                        int *rounded);

/* Nothing else may be in the line. 0 or EINVAL. */
int digraph_text_done(struct digraph_text *t);

#endif
