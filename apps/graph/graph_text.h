/* Text files with numbers in lines, read fast: a line is a place in a large
   buffer, and numbers are scanned by hand. */
#ifndef APPS_GRAPH_GRAPH_TEXT_H
#define APPS_GRAPH_GRAPH_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pems/status.h>

struct graph_text {
  const char *path;
  uint64_t line;  /* the number of this one, from 1 */
  uint64_t bytes; /* of the file; 0: it cannot be told */
  const char *at; /* what is next in this line, which '\n' ends */

  /* Private. */
  int fd;
  char *buffer;
  char *next, *end; /* of the buffer: the next line, what is filled */
  int last;         /* the file has no more */
  struct pems_error *error;
};

/* Errors go to `error`, which stays the caller's. */
int graph_text_open(struct graph_text *t, const char *path,
                    struct pems_error *error);
void graph_text_close(struct graph_text *t);

/* Goes to the next line that has more than blanks. Returns 0; ENODATA, without
   an error, at the end of the file; or another errno value. */
int graph_text_line(struct graph_text *t);

/* The error "<path>:<line>: ..."; returns EINVAL. */
int graph_text_refuse(const struct graph_text *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Whether nothing more is in the line; skips blanks. */
bool graph_text_ended(struct graph_text *t);

/* The next word of the line, if it is this one (in any case of letters). */
bool graph_text_word(struct graph_text *t, const char *word);

/* The next number: at least `least`, at most `most`. `what` it is, for errors;
   0 or EINVAL. */
int graph_text_number(struct graph_text *t, const char *what, uint64_t least,
                      uint64_t most, uint64_t *number);
int graph_text_signed(struct graph_text *t, const char *what, int32_t *number);

/* The next number, with a point and an exponent if it likes, times `scale` and
   rounded, as a weight. Where something was rounded off, *rounded becomes 1. */
int graph_text_weight(struct graph_text *t, double scale, uint32_t *weight,
                      int *rounded);

/* Nothing else may be in the line. 0 or EINVAL. */
int graph_text_done(struct graph_text *t);

#endif
