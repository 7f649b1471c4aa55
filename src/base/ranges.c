#include "base/ranges.h"

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

static int make_room(struct ranges *r) {
  if (r->n < r->room) {
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

/* Replaces items [from, to) by nothing. */
static void cut(struct ranges *r, size_t from, size_t to) {
  memmove(r->item + from, r->item + to, (r->n - to) * sizeof(*r->item));
  r->n -= to - from;
}

static void insert(struct ranges *r, size_t at, struct range item) {
  memmove(r->item + at + 1, r->item + at, (r->n - at) * sizeof(*r->item));
  r->item[at] = item;
  r->n++;
}

int ranges_add(struct ranges *r, uintptr_t start, uintptr_t end) {
  if (start >= end) {
    return 0;
  }
  if (make_room(r) != 0) {
    return -1;
  }
  /* The first range that touches or follows `start`; adjacency joins. */
  size_t first = ranges_find(r, start);
  if (first > 0 && r->item[first - 1].end == start) {
    first--;
  }
  size_t last = first;
  struct range joined = {start, end};
  while (last < r->n && r->item[last].start <= end) {
    if (r->item[last].start < joined.start) {
      joined.start = r->item[last].start;
    }
    if (r->item[last].end > joined.end) {
      joined.end = r->item[last].end;
    }
    last++;
  }
  cut(r, first, last);
  insert(r, first, joined);
  return 0;
}

int ranges_remove(struct ranges *r, uintptr_t start, uintptr_t end) {
  if (start >= end) {
    return 0;
  }
  if (make_room(r) != 0) {
    return -1;
  }
  size_t i = ranges_find(r, start);
  if (i < r->n && r->item[i].start < start && r->item[i].end > end) {
    const struct range tail = {end, r->item[i].end};
    r->item[i].end = start;
    insert(r, i + 1, tail);
    return 0;
  }
  if (i < r->n && r->item[i].start < start) {
    r->item[i++].end = start;
  }
  size_t last = i;
  while (last < r->n && r->item[last].end <= end) {
    last++;
  }
  if (last < r->n && r->item[last].start < end) {
    r->item[last].start = end;
  }
  cut(r, i, last);
  return 0;
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
