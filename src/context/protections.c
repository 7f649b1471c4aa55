#define _GNU_SOURCE
#include "context/protections.h"

#include "os/native.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

enum { USUAL = PROT_READ | PROT_WRITE };

/* The first that ends after `at`, or n. */
static size_t find(const struct protections *all, uintptr_t at) {
  size_t low = 0, high = all->n;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (all->item[middle].end > at) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

/* A change adds two at most: its own, and the rest of one that it divides. */
static int make_room(struct protections *all) {
  if (all->n + 2 <= all->room) {
    return 0;
  }
  const size_t room = all->room ? 2 * all->room : 16;
  struct protection *item = native_realloc(all->item, room * sizeof(*item));
  if (!item) {
    return ENOMEM;
  }
  all->item = item;
  all->room = room;
  return 0;
}

static void insert(struct protections *all, size_t i, struct protection p) {
  memmove(&all->item[i + 1], &all->item[i], (all->n - i) * sizeof(p));
  all->item[i] = p;
  all->n++;
}

static void erase(struct protections *all, size_t i, size_t count) {
  all->n -= count;
  memmove(&all->item[i], &all->item[i + count],
          (all->n - i) * sizeof(*all->item));
}

/* Forgets what is known of [start, end); returns where it would be. */
static size_t cut(struct protections *all, uintptr_t start, uintptr_t end) {
  size_t i = find(all, start);
  if (i < all->n && all->item[i].start < start) {
    const struct protection old = all->item[i];
    all->item[i++].end = start;
    if (old.end > end) {
      insert(all, i, (struct protection){end, old.end, old.prot});
      return i;
    }
  }
  size_t last = i;
  while (last < all->n && all->item[last].end <= end) {
    last++;
  }
  erase(all, i, last - i);
  if (i < all->n && all->item[i].start < end) {
    all->item[i].start = end;
  }
  return i;
}

/* Neighbours that are alike are one: mappings are scarce. */
static void join(struct protections *all, size_t i) {
  struct protection *const p = &all->item[i];
  if (i + 1 < all->n && p[1].start == p->end && p[1].prot == p->prot) {
    p->end = p[1].end;
    erase(all, i + 1, 1);
  }
}

int protections_note(struct protections *all, uintptr_t start, uintptr_t end,
                     int prot) {
  if (start >= end || (prot == USUAL && all->n == 0)) {
    return 0;
  }
  if (make_room(all) != 0) {
    return ENOMEM;
  }
  const size_t i = cut(all, start, end);
  if (prot != USUAL) {
    insert(all, i, (struct protection){start, end, prot});
    join(all, i);
    if (i > 0) {
      join(all, i - 1);
    }
  }
  return 0;
}

size_t protections_piece(const struct protections *all, uintptr_t at,
                         uintptr_t end, int *prot) {
  const size_t i = find(all, at);
  uintptr_t stop = end;
  *prot = USUAL;
  if (i < all->n && all->item[i].start <= at) {
    *prot = all->item[i].prot;
    stop = all->item[i].end;
  } else if (i < all->n) {
    stop = all->item[i].start;
  }
  return (stop < end ? stop : end) - at;
}

bool protections_writable(const struct protections *all, uintptr_t at) {
  int prot;
  (void)protections_piece(all, at, at + 1, &prot);
  return prot & PROT_WRITE;
}

static int set(const struct protections *all, uintptr_t start, uintptr_t end,
               bool lifted) {
  for (size_t i = find(all, start); i < all->n && all->item[i].start < end;
       i++) {
    const struct protection p = all->item[i];
    const uintptr_t from = p.start > start ? p.start : start;
    const uintptr_t to = p.end < end ? p.end : end;
    if (mprotect((void *)from, to - from, lifted ? USUAL : p.prot) != 0) {
      return errno;
    }
  }
  return 0;
}

int protections_lift(const struct protections *all, uintptr_t start,
                     uintptr_t end) {
  return set(all, start, end, true);
}

int protections_restore(const struct protections *all, uintptr_t start,
                        uintptr_t end) {
  return set(all, start, end, false);
}

void protections_free(struct protections *all) {
  native_free(all->item);
  *all = (struct protections){0};
}
