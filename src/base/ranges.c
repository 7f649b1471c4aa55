#include "base/ranges.h"

#include "base/invariant.h"
#include "os/native.h"

#include <string.h>

size_t ranges_find(const struct ranges *r, uintptr_t at) {
  size_t low = 0, high = r->n;
  while (low < high) {
    const size_t mid = low + (high - low) / 2;
    if (r->item[mid].end > at) {
      high = mid;
    } else {
      low = mid + 1;
    }
  }
  return low;
}

/* The i-th and its neighbours are in order, and not what one could be. */
static void check(const struct ranges *r, size_t i) {
  for (size_t at = i ? i - 1 : 0; at < r->n && at <= i + 1; at++) {
    const struct range *const p = &r->item[at];
    INVARIANT_IS(p->start, <, p->end);
    INVARIANT(at + 1 == r->n || p->end < p[1].start ||
              (p->end == p[1].start && p->value != p[1].value));
    (void)p;
  }
}

/* A change adds two at most: its own, and the rest of one that it divides. */
static int make_room(struct ranges *r) {
  if (r->n + 2 <= r->room) {
    return 0;
  }
  const size_t room = r->room ? 2 * r->room : 8;
  struct range *item = native_realloc(r->item, room * sizeof(*item));
  if (!item) {
    return -1;
  }
  r->item = item;
  r->room = room;
  return 0;
}

static void erase(struct ranges *r, size_t at, size_t count) {
  if (count) {
    r->n -= count;
    memmove(r->item + at, r->item + at + count, (r->n - at) * sizeof(*r->item));
  }
}

static void insert(struct ranges *r, size_t at, struct range item) {
  memmove(r->item + at + 1, r->item + at, (r->n - at) * sizeof(*r->item));
  r->item[at] = item;
  r->n++;
}

/* Takes [start, end) out; returns where it would be. */
static size_t cut(struct ranges *r, uintptr_t start, uintptr_t end) {
  size_t i = ranges_find(r, start);
  if (i < r->n && r->item[i].start < start) {
    struct range tail = r->item[i];
    r->item[i++].end = start;
    if (tail.end > end) {
      tail.start = end;
      insert(r, i, tail);
      return i;
    }
  }
  size_t last = i;
  while (last < r->n && r->item[last].end <= end) {
    last++;
  }
  erase(r, i, last - i);
  if (i < r->n && r->item[i].start < end) {
    r->item[i].start = end;
  }
  return i;
}

/* Neighbours that are alike become one. */
static void join(struct ranges *r, size_t i) {
  struct range *const p = &r->item[i];
  if (i + 1 < r->n && p[1].start == p->end && p[1].value == p->value) {
    p->end = p[1].end;
    erase(r, i + 1, 1);
  }
}

int ranges_mark(struct ranges *r, uintptr_t start, uintptr_t end, int value) {
  if (start >= end) {
    return 0;
  }
  if (make_room(r) != 0) {
    return -1;
  }
  const size_t i = cut(r, start, end);
  insert(r, i, (struct range){start, end, value});
  join(r, i);
  if (i > 0) {
    join(r, i - 1);
  }
  check(r, i);
  return 0;
}

int ranges_add(struct ranges *r, uintptr_t start, uintptr_t end) {
  return ranges_mark(r, start, end, 0);
}

int ranges_add_all(struct ranges *r, const struct ranges *from) {
  int code = 0;
  for (size_t i = 0; i < from->n && code == 0; i++) {
    code = ranges_add(r, from->item[i].start, from->item[i].end);
  }
  return code;
}

int ranges_remove(struct ranges *r, uintptr_t start, uintptr_t end) {
  if (start >= end) {
    return 0;
  }
  if (make_room(r) != 0) {
    return -1;
  }
  check(r, cut(r, start, end));
  return 0;
}

int ranges_remove_all(struct ranges *r, const struct ranges *of) {
  int code = 0;
  for (size_t i = 0; i < of->n && code == 0; i++) {
    code = ranges_remove(r, of->item[i].start, of->item[i].end);
  }
  return code;
}

void ranges_clear(struct ranges *r) {
  r->n = 0;
}

void ranges_free(struct ranges *r) {
  native_free(r->item);
  *r = (struct ranges){0};
}

size_t ranges_piece(const struct ranges *r, uintptr_t at, uintptr_t end,
                    bool *inside) {
  const size_t i = ranges_find(r, at);
  uintptr_t stop = end;
  *inside = i < r->n && r->item[i].start <= at;
  if (*inside && r->item[i].end < end) {
    stop = r->item[i].end;
  } else if (!*inside && i < r->n && r->item[i].start < end) {
    stop = r->item[i].start;
  }
  return stop - at;
}

size_t ranges_total(const struct ranges *r) {
  size_t total = 0;
  for (size_t i = 0; i < r->n; i++) {
    total += r->item[i].end - r->item[i].start;
  }
  return total;
}
