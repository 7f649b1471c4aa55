#define _GNU_SOURCE
#include "context/protections.h"

#include <errno.h>
#include <sys/mman.h>

enum { USUAL = PROT_READ | PROT_WRITE };

int protections_note(struct ranges *all, uintptr_t start, uintptr_t end,
                     int prot) {
  if (prot == USUAL && all->n == 0) {
    return 0;
  }
  const int code = prot == USUAL ? ranges_remove(all, start, end)
                                 : ranges_mark(all, start, end, prot);
  return code ? ENOMEM : 0;
}

size_t protections_piece(const struct ranges *all, uintptr_t at, uintptr_t end,
                         int *prot) {
  bool noted;
  const size_t n = ranges_piece(all, at, end, &noted);
  *prot = noted ? all->item[ranges_find(all, at)].value : USUAL;
  return n;
}

bool protections_writable(const struct ranges *all, uintptr_t at) {
  int prot;
  (void)protections_piece(all, at, at + 1, &prot);
  return prot & PROT_WRITE;
}

static int set(const struct ranges *all, uintptr_t start, uintptr_t end,
               bool lifted) {
  for (size_t i = ranges_find(all, start);
       i < all->n && all->item[i].start < end; i++) {
    const struct range p = all->item[i];
    const uintptr_t from = p.start > start ? p.start : start;
    const uintptr_t to = p.end < end ? p.end : end;
    if (mprotect((void *)from, to - from, lifted ? USUAL : p.value) != 0) {
      return errno;
    }
  }
  return 0;
}

int protections_lift(const struct ranges *all, uintptr_t start, uintptr_t end) {
  return set(all, start, end, true);
}

int protections_restore(const struct ranges *all, uintptr_t start,
                        uintptr_t end) {
  return set(all, start, end, false);
}
