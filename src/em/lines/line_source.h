/* Files and pipes whose lines are sorted, one behind the other. */
#ifndef PEMS_EM_LINES_LINE_SOURCE_H
#define PEMS_EM_LINES_LINE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "em/core/memory.h"
#include "em/lines/line_header.h"
#include "pems/disk.h"

/* What stands for standard input and output. */
#define LINE_STANDARD "-"

/* Large files are read ahead. One thread. */
struct line_source;

struct line_source_options {
  const char *const *path; /* LINE_STANDARD, or a path: kept */
  size_t paths;
  unsigned char end; /* of lines: added to files that do not end with it */
  const char *io;    /* driver for large files, or NULL */
  int depth;
  size_t piece; /* bytes read at a time, a multiple of PEMS_DISK_UNIT */
  bool quotes;  /* CSV: `end` is 0, and newlines become it (line_quotes.h) */
  unsigned char separator;    /* of columns, for quotes */
  struct line_header *header; /* or NULL: files have neither it nor a mark */
};

/* Takes two pieces of memory; opens nothing. ENOMEM. */
int line_source_new(struct line_source **source,
                    const struct line_source_options *options,
                    struct memory *memory, struct pems_error *error);
/* NULL is allowed. */
void line_source_free(struct line_source *s);

/* Puts the next bytes, at most room > 0, to `to`; *n is 0 at the end only. All
   errors of the system. */
int line_source_read(struct line_source *s, void *to, size_t room, size_t *n,
                     struct pems_error *error);
/* The file that is read, for messages. */
const char *line_source_name(const struct line_source *s);
/* A line is too long for n bytes: if quotes are open that say where it went
   wrong, fills in *error and returns EFBIG, else 0. */
int line_source_blame_quote(const struct line_source *s, size_t n,
                            struct pems_error *error);
/* Number of files that were opened so far. */
size_t line_source_opened(const struct line_source *s);
/* All was read. False as long as that is not known. */
bool line_source_ended(const struct line_source *s);
/* Bytes of all files; 0 if one of them is not regular. */
uint64_t line_source_size(const struct line_source *s);

#endif
