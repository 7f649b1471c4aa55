/* Binary files, compressed or not, whose size is known before anything in them
   is believed: what is compressed is unpacked once only for that. */
#ifndef PEMS_DIGRAPH_DIGRAPH_BINARY_H
#define PEMS_DIGRAPH_DIGRAPH_BINARY_H

#include <stddef.h>
#include <stdint.h>

#include <pems/status.h>

#include "digraph/digraph_arcs.h"

struct digraph_input;

struct digraph_binary {
  const char *path;
  uint64_t bytes; /* in all */
  struct pems_error *error;
  int code; /* an errno value: of what failed */

  /* Private. */
  struct digraph_input *input;
  char *buffer;
  size_t next, end; /* of the buffer: what was not used yet */
};

/* Errors go to `error`, which stays the caller's. EINVAL for what is no regular
   file: it could not be read twice. */
int digraph_binary_open(struct digraph_binary *b, const char *path,
                        struct pems_error *error);
/* The same file once more, from this byte on. */
int digraph_binary_reopen(struct digraph_binary *b,
                          const struct digraph_binary *other, uint64_t at);
void digraph_binary_close(struct digraph_binary *b);

/* The next n bytes, at most 4096, until the next call, at any address; NULL: an
   error, whose errno value is b->code, also where the file has no more. */
const void *digraph_binary_next(struct digraph_binary *b, size_t n);

/* The error "<path>: ..."; returns EINVAL. */
int digraph_binary_refuse(const struct digraph_binary *b, const char *format,
                          ...) __attribute__((format(printf, 2, 3)));

/* Refuses the file where it has not so many bytes. */
int digraph_binary_expect(const struct digraph_binary *b, uint64_t bytes);

/* The next `n` offsets of rows, the last of nodes + 1 (the first is 0, also
   where the file has it not). None is less than the one before, and the last is
   `edges`, or the file is refused. *first is to be freed. 0 or an errno value.
 */
int digraph_binary_offsets(struct digraph_binary *b, uint64_t nodes, uint64_t n,
                           uint64_t edges, uint64_t **first);

/* What an edge of node arc->from leads to, and its weight, are next: reads
   them. 0 or an errno value. */
typedef int digraph_binary_edge(void *arg, struct digraph_arc *arc);

/* g from rows with such offsets, whose edges `edge` reads in order. 0 or an
   errno value. */
int digraph_binary_rows(struct digraph_binary *b, struct digraph *g,
                        uint64_t nodes, const uint64_t *first, int both,
                        const struct digraph_budget *budget,
                        digraph_binary_edge *edge, void *arg);

#endif
