/* The pages of small contexts, put together on disk.

   A context that has a few pages takes as many requests as one with many: so
   those of several, which leave memory together, are written as one, one after
   the other, in a place beside that of the contexts (disk/contexts/annex.h);
   and what lies there in a row comes back by one request. Which pages a context
   has in a crate does not change while it is on disk: what is written to
   these is written there. */
#ifndef PEMS_CONTEXT_STORE_CRATE_H
#define PEMS_CONTEXT_STORE_CRATE_H

#include "context/context.h"
#include "disk/contexts/annex.h"

enum {
  /* Bytes that a context has in a crate, at most. */
  CRATE_MOST = 64 << 10,
  /* Of the memory in which pages are put together. */
  CRATE_BUFFER = 256 << 10,
};

/* NULL: there is none. */
void crate_open(struct disks *disks);
bool crate_is_open(void);

/* Could the pages *keep of a context be put there? */
bool crate_fits(const struct ranges *keep);

/* A context that is moved with others. */
struct crate_move {
  struct context *c;
  struct ranges *keep; /* into a crate: its pages in memory, which fit */
  bool done;           /* it is there; else there was no room */
  bool asked;          /* for crate_put: look at this one */
};

/* Writes the pages of the contexts that are asked for, by means of CRATE_BUFFER
   bytes of `buffer`. Done when it returns: 0 or the errno value of a disk. With
   the io_lock of all. */
int crate_put(struct crate_move *m, int n, char *buffer);
/* Reads to their addresses all pages of those of the contexts that are on the
   crate; they are not there any more. Likewise. */
int crate_get(struct crate_move *m, int n, char *buffer);

/* Is c there? */
static inline bool crate_has(const struct context *c) {
  return c->crate.pages.n > 0;
}
/* Bytes of c there. */
uint64_t crate_bytes(const struct context *c);
/* c needs nothing of what it has there. */
void crate_forget(struct context *c);

/* How many bytes from `at` on, up to `end`, of a context on disk, are alike:
 *there, in a crate, in a row from *where on, or not. */
size_t crate_piece(const struct context *c, uintptr_t at, uintptr_t end,
                   bool *there, struct disks_annexed *where);
/* Moves n bytes of what is in a row there. 0 or an errno value. */
int crate_move_piece(bool write, struct disks_annexed where, void *memory,
                     size_t n);

#endif
