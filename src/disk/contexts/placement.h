/* Where contexts lie on D disks: computed once, from the space there. */
#ifndef PEMS_DISK_CONTEXTS_PLACEMENT_H
#define PEMS_DISK_CONTEXTS_PLACEMENT_H

#include <stddef.h>
#include <stdint.h>

struct placement;

/* What a placement is for. */
struct placement_shape {
  int n;                 /* contexts */
  uint64_t context_size; /* bytes */
  uint64_t stripe;       /* bytes per piece, 0: a context is one piece */
  int disks;             /* D, at least 1 */
};

/* Pieces go round the disks, each context beginning with the next disk. */
int placement_even(struct placement **p, const struct placement_shape *s);
/* Pieces are dealt to disks in proportion to the room there. `room[i]` are the
   bytes of the device that disk i is on, `device[i]` its number: the lowest
   disk on it. A disk never gets more than its share of what there is. ENOSPC
   where that cannot be. */
int placement_weighted(struct placement **p, const struct placement_shape *s,
                       const uint64_t *room, const int *device);
void placement_free(struct placement *p);

/* Bytes of the file of a disk; UINT64_MAX for 2^64 and more. */
uint64_t placement_bytes(const struct placement *p, int disk);
/* Bytes that placement_even needs in the file of a disk, without making it. */
uint64_t placement_even_bytes(const struct placement_shape *s, int disk);

/* A piece of a context, or the rest of one. */
struct placement_spot {
  int disk;
  uint64_t at; /* in the disk's file */
  uint64_t n;  /* bytes that lie there in one go */
};

/* Where `offset` of a context lies; both must exist. */
struct placement_spot placement_find(const struct placement *p, int context,
                                     uint64_t offset);
/* The disk of all of a context, or -1 if it is on several. */
int placement_home(const struct placement *p, int context);

/* The most bytes that n contexts (1 or more) of equal size can have in all. */
uint64_t placement_most(int n, uint64_t stripe, int disks, const uint64_t *room,
                        const int *device);

#endif
