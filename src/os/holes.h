/* Addresses that nothing uses: while they are taken, the system puts what it
   maps where the caller wants it. */
#ifndef PEMS_OS_HOLES_H
#define PEMS_OS_HOLES_H

#include <stddef.h>
#include <stdint.h>

/* A zeroed struct is none. */
struct holes {
  struct hole {
    void *at;
    size_t n;
  } *item;
  int n;
};

/* Takes all free addresses from `from` on, up to where the system begins when
   it looks for some; they cost no memory. 0 or an errno value, then nothing is
   taken. Not thread-safe. */
int holes_fill(struct holes *h, uintptr_t from);
/* Gives them back. */
void holes_free(struct holes *h);

#endif
