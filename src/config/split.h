/* Which process of a job holds which ranks: contiguous blocks, in order. */
#ifndef PEMS_CONFIG_SPLIT_H
#define PEMS_CONFIG_SPLIT_H

#include <stdint.h>

/* What a process has for ranks (plan_offer). */
struct split_offer {
  uint64_t cores;   /* ranks that it runs at once, 1 or more */
  uint64_t disks;   /* its scratch directories, 1 or more */
  uint64_t least;   /* ranks that it must have where there are enough; 1 or
                       more */
  uint64_t room;    /* bytes for contexts: in memory or on its disks */
  uint64_t context; /* bytes of a context as it would like them, 1 or more */
  uint64_t given;   /* 1: the context's size was given; 0: it may be less */
};

/* Both fill first[0 .. nprocs]: process q holds first[q] .. first[q + 1] - 1.
   1 <= nprocs <= v. */

/* --pems-split=even: the first v mod P processes hold one rank more. */
void split_even(int *first, int nprocs, int v);

/* --pems-split=auto: in proportion to the cores; if processes have different
   numbers of disks, too, to the smaller of a process's shares of all cores and
   of all disks. No process gets less than one, or more than its room has
   contexts of the size that all would like. That is halved while the job has
   not room for v, or, where it was not given, for 2 v: then little differences
   in room change nothing. Rank by rank goes to who would be done first, the
   lower process of equals: so the longest time of a process, ranks / share, is
   the least possible, and equal offers make split_even. Steps: v * nprocs. */
void split_by_offers(int *first, int nprocs, int v,
                     const struct split_offer *offers);

/* The process that holds the rank. */
int split_process(const int *first, int nprocs, int rank);

#endif
