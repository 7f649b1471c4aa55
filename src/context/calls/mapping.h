/* Memory that a program maps (mmap and its kin), as pages of its rank's
   context: counted, granted and swapped like blocks of malloc.

   All are for threads of c's VP while c is held. Addresses and lengths are
   whole pages, lengths not 0; where others are allowed, it says so. Errors are
   errno values. */
#ifndef PEMS_CONTEXT_CALLS_MAPPING_H
#define PEMS_CONTEXT_CALLS_MAPPING_H

#include "context/context.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where [p, p + n), any bytes, lies. */
enum mapping_place {
  MAPPING_OUTSIDE, /* not in a context */
  MAPPING_HEAP,    /* all in c's range, or in an oversize block of c's: only
                      there pages can be mapped */
  MAPPING_DATA,    /* all in the data of c's copy of the program */
  MAPPING_ALIEN,   /* some of it is another's, or beyond c's range */
};
enum mapping_place mapping_place(struct context *c, const void *p, size_t n);

struct mapping_wish {
  void *at; /* NULL: anywhere; with `fixed` or as a hint, in c's range */
  size_t n;
  size_t align;    /* a power of two, at least PAGE */
  bool fixed;      /* there or nowhere: pages that were mapped are replaced */
  bool no_replace; /* fixed, but if some of it is in use: EEXIST */
  bool quiet;      /* no line to the user if there is no room */
};
/* Zeroed pages that can be read and written; NULL with *error. MAP_FIXED over
   what the program has from malloc is ENOMEM. */
void *mapping_new(struct context *c, const struct mapping_wish *wish,
                  int *error);
/* Gives back what of [p, p + n), in c's range, was mapped. */
int mapping_free(struct context *c, void *p, size_t n);
/* mremap: [p, p + n), all mapped, becomes `to` bytes, in place or, if it may
   move, elsewhere, or at `wish` if that is not NULL (which may not overlap it;
   what was mapped there is replaced). With `keep` the old pages stay, as
   zeros. NULL with *error: EFAULT if some of it was not mapped. */
struct mapping_resize {
  void *p;
  size_t n, to;
  bool may_move, keep;
  void *wish;
};
void *mapping_resize(struct context *c, const struct mapping_resize *how,
                     int *error);
/* [p, p + n), in c's range or data, becomes zeros, which take no memory. */
int mapping_zero(struct context *c, void *p, size_t n);
/* mprotect of [p, p + n), in c's range or data, until it is protected anew or
   given back. */
int mapping_protect(struct context *c, void *p, size_t n, int prot);
/* sbrk: the break before it is moved by `change` bytes, any number. The break
   is the context's own; its first pages are taken at the first call. */
void *mapping_break(struct context *c, intptr_t change, int *error);

#endif
