/* As many lines as fit into a piece of memory: filled, sorted, gone through. */
#ifndef PEMS_EM_LINES_LINE_CHUNK_H
#define PEMS_EM_LINES_LINE_CHUNK_H

#include <stdbool.h>
#include <stddef.h>

#include "em/core/memory.h"
#include "em/lines/key_order.h"
#include "em/lines/key_text.h"
#include "em/lines/line_slots.h"
#include "em/lines/line_source.h"

/* Text at the beginning, slots that grow down towards it, then strings made of
   fields (unless a string is the line). */
struct line_chunk {
  const struct key_order *o;
  struct memory *memory;
  unsigned char *base;
  size_t bytes, text, keys; /* in all; filled; where strings begin */
  line_slot *low, *top;     /* slots of lines; the first line has the last */
  line_slot *todo;          /* behind those that have no string yet */
  size_t key_at;            /* behind the last string */
  size_t made;              /* strings */
  struct key_scratch scratch;
};

/* The beginning of a line that ends in a later chunk: at most a quarter of a
   chunk. */
struct line_carry {
  unsigned char *text;
  size_t n, room;
};

/* ENOMEM. */
int line_chunk_new(struct line_chunk *c, const struct key_order *o,
                   size_t bytes, struct memory *memory,
                   struct pems_error *error);
/* Also after a failure of line_chunk_new. */
void line_chunk_free(struct line_chunk *c);

/* Fills the chunk with the carry and what comes next, up to about `target`
   bytes of text; `share` of the memory, 0 to 1, is for strings. No lines: the
   source has ended. EFBIG: a line that does not fit. */
int line_chunk_fill(struct line_chunk *c, struct line_source *source,
                    struct line_carry *carry, size_t target, double share,
                    struct pems_error *error);

/* Makes strings of as many lines as have room, in the order of the input, and
   sorts these: they are at *slot then. Returns 0 with *n == 0 if all lines
   were sorted before. ENOMEM, EFBIG. */
int line_chunk_sort(struct line_chunk *c, line_slot **slot, size_t *n,
                    struct pems_error *error);

/* What a sorted slot stands for. */
struct line_view {
  const unsigned char *string, *line;
  size_t string_n, line_n;
};
void line_chunk_view(const struct line_chunk *c, const line_slot *slot,
                     struct line_view *view);
/* It will be looked at soon. */
static inline void line_chunk_prefetch(const struct line_chunk *c,
                                       const line_slot *slot) {
  __builtin_prefetch(c->base + (slot->index >> LINE_LENGTH_BITS));
  if (!c->o->whole) {
    __builtin_prefetch(c->base + c->keys + (slot->prefix >> LINE_LENGTH_BITS));
  }
}

/* How much of the memory strings needed, for the next chunk's share. */
double line_chunk_share(const struct line_chunk *c);

#endif
