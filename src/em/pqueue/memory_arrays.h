/* The sorted arrays of a priority queue that are in memory, by levels. */
#ifndef PEMS_EM_PQUEUE_MEMORY_ARRAYS_H
#define PEMS_EM_PQUEUE_MEMORY_ARRAYS_H

#include <stddef.h>
#include <stdint.h>

#include "em/core/arena.h"
#include "em/kernel/kernel.h"
#include "em/kernel/tournament.h"

/* Records in their stored form, and the range of the arena that they lie in,
   which is given back when all are gone. */
struct memory_array {
  char *at;
  size_t n; /* 0: the slot is free */
  char *range;
  size_t bytes;
  int level;
};

/* At most `most` of them, in slots; a tournament over the first record of each
   (Bingmann, Keh and Sanders 2015, section 3: "minimum of minima"). */
struct memory_arrays {
  const struct pems_record *record;
  const struct kernel *kernel;
  struct arena *arena;
  int most, count;
  int end;          /* slots from here on are free */
  uint64_t records; /* in all */
  uint64_t added;   /* arrays, so far */
  struct memory_array *array;
  struct tournament heads;
};

/* Without arrays. What is pointed to stays the caller's. 0 or ENOMEM. */
int memory_arrays_init(struct memory_arrays *a,
                       const struct pems_record *record,
                       const struct kernel *kernel, struct arena *arena,
                       int most);
/* Forgets all; the arena is not touched. */
void memory_arrays_destroy(struct memory_arrays *a);

/* A new one, of n > 0 records; there are fewer than `most`. Takes the range of
   `bytes` bytes over. */
void memory_arrays_add(struct memory_arrays *a, char *at, size_t n, char *range,
                       size_t bytes, int level);
/* The first n records of a slot are gone. */
void memory_arrays_gone(struct memory_arrays *a, int slot, size_t n);
/* The slot whose first record is the least; -1 if there is none. */
int memory_arrays_first(const struct memory_arrays *a);
/* How many there are of a level. */
int memory_arrays_of_level(const struct memory_arrays *a, int level);

#endif
