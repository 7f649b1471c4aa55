#include "digraph/digraph_binary.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "digraph/digraph.h"
#include "digraph/digraph_input.h"

enum { BUFFER = 64 << 10 };

int digraph_binary_refuse(const struct digraph_binary *b, const char *format,
                          ...) {
  char what[300];
  va_list list;
  va_start(list, format);
  vsnprintf(what, sizeof(what), format, list);
  va_end(list);
  return digraph_failure(b->error, EINVAL, "%.200s: %s", b->path, what);
}

int digraph_binary_expect(const struct digraph_binary *b, uint64_t bytes) {
  return b->bytes == bytes
             ? 0
             : digraph_binary_refuse(b,
                                     "has %" PRIu64 " bytes, but should have "
                                     "%" PRIu64 ": get it again",
                                     b->bytes, bytes);
}

/* --- opening --- */

static int fill(struct digraph_binary *b) {
  size_t got;
  memmove(b->buffer, b->buffer + b->next, b->end - b->next);
  b->end -= b->next;
  b->next = 0;
  const int code = digraph_input_read(b->input, b->buffer + b->end,
                                      BUFFER - b->end, &got, b->error);
  b->end += got;
  return code;
}

/* Reads all that there is. */
static int measure(struct digraph_binary *b) {
  int code;
  do {
    b->next = b->end;
    code = fill(b);
    b->bytes += b->end;
  } while (!code && b->end > 0);
  b->next = b->end = 0;
  return code;
}

static int open_input(struct digraph_binary *b) {
  b->buffer = malloc(BUFFER);
  if (!b->buffer) {
    return digraph_failure(b->error, ENOMEM,
                           "no memory to read %.300s: free some", b->path);
  }
  return digraph_input_open(&b->input, b->path, b->error);
}

int digraph_binary_open(struct digraph_binary *b, const char *path,
                        struct pems_error *error) {
  struct stat is;
  *b = (struct digraph_binary){.path = path, .error = error};
  if (stat(path, &is) == 0 && !S_ISREG(is.st_mode) && !S_ISDIR(is.st_mode)) {
    return digraph_binary_refuse(
        b, "no regular file: a binary graph is read twice: give a file");
  }
  int code = open_input(b);
  b->bytes = code ? 0 : digraph_input_size(b->input);
  if (!code && !b->bytes) {
    code = measure(b);
    digraph_input_close(b->input);
    b->input = NULL;
    code = code ? code : digraph_input_open(&b->input, path, error);
  }
  if (code) {
    digraph_binary_close(b);
  }
  return code;
}

int digraph_binary_reopen(struct digraph_binary *b,
                          const struct digraph_binary *other, uint64_t at) {
  *b = (struct digraph_binary){
      .path = other->path, .bytes = other->bytes, .error = other->error};
  int code = open_input(b);
  while (!code && at > 0) {
    const size_t part = at < 4096 ? (size_t)at : 4096;
    code = digraph_binary_next(b, part) ? 0 : b->code;
    at -= part;
  }
  if (code) {
    digraph_binary_close(b);
  }
  return code;
}

void digraph_binary_close(struct digraph_binary *b) {
  digraph_input_close(b->input);
  free(b->buffer);
  *b = (struct digraph_binary){0};
}

/* --- reading --- */

const void *digraph_binary_next(struct digraph_binary *b, size_t n) {
  if (b->end - b->next < n) {
    b->code = fill(b);
    if (!b->code && b->end < n) {
      b->code =
          digraph_binary_refuse(b, "it has become shorter: read it again");
    }
    if (b->code) {
      return NULL;
    }
  }
  b->next += n;
  return b->buffer + b->next - n;
}

static int damaged(const struct digraph_binary *b, uint64_t node,
                   uint64_t offset) {
  return digraph_binary_refuse(
      b, "the offset of node %" PRIu64 " is damaged: %" PRIu64 ": get it again",
      node, offset);
}

static int read_offsets(struct digraph_binary *b, uint64_t *first,
                        uint64_t from, uint64_t nodes, uint64_t edges) {
  uint64_t before = 0;
  first[0] = 0;
  for (uint64_t v = from; v <= nodes; v++) {
    const void *const at = digraph_binary_next(b, sizeof(*first));
    if (!at) {
      return b->code;
    }
    memcpy(&first[v], at, sizeof(*first));
    if (first[v] < before || first[v] > edges || (v == 0 && first[v] > 0)) {
      return damaged(b, v, first[v]);
    }
    before = first[v];
  }
  return before == edges ? 0 : damaged(b, nodes, before);
}

int digraph_binary_offsets(struct digraph_binary *b, uint64_t nodes, uint64_t n,
                           uint64_t edges, uint64_t **first) {
  *first = digraph_memory((nodes + 1) * sizeof(**first), b->error);
  if (!*first) {
    return ENOMEM;
  }
  const int code = read_offsets(b, *first, nodes + 1 - n, nodes, edges);
  if (code) {
    free(*first);
    *first = NULL;
  }
  return code;
}

static int add_row(struct digraph_arcs *arcs, uint32_t node, uint64_t edges,
                   digraph_binary_edge *edge, void *arg) {
  int code = 0;
  for (uint64_t i = 0; i < edges && !code; i++) {
    struct digraph_arc arc = {.from = node};
    code = edge(arg, &arc);
    if (!code) {
      code = digraph_arcs_add(arcs, arc);
    }
  }
  return code;
}

int digraph_binary_rows(struct digraph_binary *b, struct digraph *g,
                        uint64_t nodes, const uint64_t *first, int both,
                        const struct digraph_budget *budget,
                        digraph_binary_edge *edge, void *arg) {
  struct digraph_arcs arcs;
  int code = digraph_arcs_begin(&arcs, b->path, nodes, first[nodes], both,
                                budget, b->error);
  if (code) {
    return code;
  }
  for (uint64_t v = 0; v < nodes && !code; v++) {
    code = add_row(&arcs, (uint32_t)v, first[v + 1] - first[v], edge, arg);
  }
  if (!code) {
    code = digraph_arcs_end(&arcs, g, NULL);
  }
  digraph_arcs_free(&arcs);
  return code;
}
