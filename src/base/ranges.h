/* Sets of addresses as sorted, disjoint ranges. Each may have a value;
   neighbours have the same only where there is a gap between them. */
#ifndef PEMS_BASE_RANGES_H
#define PEMS_BASE_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct range {
  uintptr_t start;
  uintptr_t end; /* one past the last byte */
  int value;     /* 0 of what was added */
};

/* A zeroed struct is the empty set. Not thread-safe. */
struct ranges {
  struct range *item;
  size_t n;
  size_t room;
};

/* Adds / removes [start, end). Return 0, or -1 if memory is short (the set is
   then unchanged). */
int ranges_add(struct ranges *r, uintptr_t start, uintptr_t end);
int ranges_remove(struct ranges *r, uintptr_t start, uintptr_t end);
/* Adds all of `from`. 0, or -1 if memory is short: then a part is there. */
int ranges_add_all(struct ranges *r, const struct ranges *from);
/* Removes all of `of`, another set, likewise. */
int ranges_remove_all(struct ranges *r, const struct ranges *of);
/* Adds [start, end) with that value, whatever it had. 0 or -1, too. */
int ranges_mark(struct ranges *r, uintptr_t start, uintptr_t end, int value);
/* Empties the set and keeps its memory. */
void ranges_clear(struct ranges *r);
void ranges_free(struct ranges *r);

/* Index of the first range that ends after `at`; r->n if there is none. */
size_t ranges_find(const struct ranges *r, uintptr_t at);
/* Length of the piece that starts at `at`, at most up to `end`, and lies wholly
   inside or wholly outside the set; *inside tells which. */
size_t ranges_piece(const struct ranges *r, uintptr_t at, uintptr_t end,
                    bool *inside);
/* Bytes in the set. */
size_t ranges_total(const struct ranges *r);

#endif
