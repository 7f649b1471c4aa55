/* Which disk the next block of a stream goes to. */
#ifndef PEMS_DISK_DEALER_H
#define PEMS_DISK_DEALER_H

#include <pems/disk.h>

/* Disks that a store can have. */
#define DISK_MOST 1024

/* The disk for the next block, of `disks` (1 to DISK_MOST). The random order of
   a randomised cyclic stream is one for its whole life, so that any D blocks in
   succession lie on different disks (Vitter and Hutchinson, Distribution Sort
   with Randomized Cycling, SODA 2001). */
int dealer_next(struct pems_dealer *dealer, int disks);

#endif
