#include "context/heap/heap_pages.h"

#include <stdint.h>
#include <string.h>

/* In the map; slabs have far fewer pages. */
enum { MARK = 255 };

static uint8_t *mark_of(const struct heap_slabs *s, const void *p) {
  return s->map + (size_t)((const char *)p - s->space->base) / HEAP_SLAB_PAGE;
}

/* Each page counts as a piece, since each can be given back by itself. */
static void note(struct heap_slabs *s, char *at, size_t n) {
  memset(mark_of(s, at), MARK, n / HEAP_SLAB_PAGE);
  s->space->pieces += n / HEAP_SLAB_PAGE - 1;
}

char *heap_pages_take(struct heap_slabs *s, size_t n, size_t align) {
  char *const at = heap_space_take(
      s->space, n, align > HEAP_SLAB_PAGE ? align : HEAP_SLAB_PAGE, 0);
  if (at != NULL) {
    note(s, at, n);
  }
  return at;
}

bool heap_pages_take_at(struct heap_slabs *s, char *at, size_t n) {
  if (!heap_space_is_free(s->space, at, n)) {
    return false;
  }
  heap_space_take_at(s->space, at, n);
  note(s, at, n);
  return true;
}

size_t heap_pages_piece(const struct heap_slabs *s, const char *at,
                        const char *end, bool *taken) {
  const uint8_t *const first = mark_of(s, at);
  const uint8_t *const last = mark_of(s, end);
  const uint8_t *mark = first;
  *taken = *first == MARK;
  while (mark < last && (*mark == MARK) == *taken) {
    mark++;
  }
  return (size_t)(mark - first) * HEAP_SLAB_PAGE;
}

size_t heap_pages_give(struct heap_slabs *s, char *at, size_t n) {
  char *const end = at + n;
  size_t given = 0;
  while (at < end) {
    bool taken;
    const size_t piece = heap_pages_piece(s, at, end, &taken);
    if (taken) {
      memset(mark_of(s, at), 0, piece / HEAP_SLAB_PAGE);
      heap_space_give_end(s->space, at, piece);
      s->space->pieces -= piece / HEAP_SLAB_PAGE;
      given += piece;
    }
    at += piece;
  }
  return given;
}

bool heap_pages_has(const struct heap_slabs *s, const void *p) {
  return *mark_of(s, p) == MARK;
}
