/* Is it the suffix array of this text? */
#ifndef APPS_SUFFIX_ORDER_H
#define APPS_SUFFIX_ORDER_H

#include <stdint.h>

#include <pems/disk.h>
#include <pems/status.h>

struct suffix_order {
  const char *text;  /* path */
  const char *array; /* path: positions of 5 bytes, least significant first */
  uint64_t memory;   /* bytes */
  int threads;       /* 0: one per core */
  int bits;          /* of positions, at least; 0: as few as do */
  struct pems_disks *disks;
};

/* An array is right if it holds each position once, and each suffix but the
   first is behind the one before it: by its first byte or, if that is the same,
   because what follows that byte is. The latter is known from the array itself,
   so that comparing neighbours is enough (Burkhardt and Kärkkäinen, Fast
   Lightweight Suffix Array Construction and Checking, CPM 2003). Two sorts and
   some scans. 0 if it is right, EILSEQ if not (the text of *error says why), or
   another errno value if that could not be found out. */
int suffix_order(const struct suffix_order *order, struct pems_error *error);

#endif
