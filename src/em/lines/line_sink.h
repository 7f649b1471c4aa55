/* Where sorted lines go: a file, which appears when all is written, or what
   cannot be replaced (standard output, a pipe, a device). */
#ifndef PEMS_EM_LINES_LINE_SINK_H
#define PEMS_EM_LINES_LINE_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "em/core/memory.h"
#include "pems/disk.h"

/* One piece is filled while the other one is written. One thread. */
struct line_sink;

/* Checks and begins `path` (NULL or LINE_STANDARD: standard output), which is
   kept. `io` and `depth` as in pems_disks_options. */
int line_sink_open(struct line_sink **sink, const char *path, const char *io,
                   int depth, struct pems_error *error);
/* Takes two pieces of memory, before the first line. ENOMEM. */
int line_sink_begin(struct line_sink *s, size_t piece, struct memory *memory,
                    struct pems_error *error);
/* Appends a line and its end. */
int line_sink_put(struct line_sink *s, const unsigned char *line, size_t n,
                  unsigned char end, struct pems_error *error);
/* Appends bytes that are no line. */
int line_sink_put_bytes(struct line_sink *s, const unsigned char *bytes,
                        size_t n, struct pems_error *error);
/* All was put. ENOSPC, EPIPE, ...; then a file is as it was before. */
int line_sink_commit(struct line_sink *s, struct pems_error *error);
/* What was not committed is gone. NULL is allowed. */
void line_sink_free(struct line_sink *s);

/* Bytes so far. */
uint64_t line_sink_bytes(const struct line_sink *s);

#endif
