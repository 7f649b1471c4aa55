/* Which blocks of sorted arrays are in memory or on their way there: what
   em/pqueue/disk_arrays.c and em/pqueue/array_blocks.c share. */
#ifndef PEMS_EM_PQUEUE_ARRAY_BLOCKS_H
#define PEMS_EM_PQUEUE_ARRAY_BLOCKS_H

#include "em/core/request_list.h"
#include "em/kernel/tournament.h"
#include "em/pqueue/disk_arrays.h"

#include <stdbool.h>

/* The blocks of an array are in order: those used up, those taken in, those
   asked for (hinted), and the rest. Three tournaments play by the smallest
   records of blocks: `next`, who has the smallest that is not asked for;
   `last`, who has the largest of those that are asked for only, which is the
   first to be given up; `limit`, who has the smallest that is not taken in. All
   blocks that are taken in begin before the merge limit or with a record equal
   to it, so that of each array all of them but the last can be merged wholly.
 */

/* A block in memory or on its way. */
struct disk_array_slot {
  struct pems_request request;
  char *buf;
  size_t first, count; /* its records [first, count) are left */
  struct disk_array_slot *prev,
      *next; /* of the same array; free ones by `next` */
  int array;
};

struct disk_array {
  struct run run;
  int level;                    /* -1: none, the place is free */
  size_t first;                 /* blocks before this one are used up */
  size_t gone;                  /* records of that one that are gone */
  size_t taken;                 /* blocks before this one are taken in */
  size_t hinted;                /* blocks before this one are asked for */
  struct disk_array_slot *head; /* of block `first`, or NULL */
  struct disk_array_slot *tail; /* the last that is taken in, or NULL */
  struct disk_array_slot *end;  /* the last of all, or NULL */
  size_t safe;         /* records of the tail's block up to the merge limit, */
  uint64_t safe_since; /* if that has not moved since */
  int place;           /* in `active`, if there is a tail */
};

struct disk_arrays {
  struct disk_arrays_options o;
  struct disk_arrays_counts counts;
  struct disk_array *array;
  int places, room; /* of arrays: in use or free, and there is space for */
  size_t arrays;
  int *active; /* arrays with blocks that are taken in */
  int actives;
  struct tournament next, last, limit;
  uint64_t moved;   /* how often the merge limit has */
  uint64_t records; /* left */
  size_t loaded;    /* records in blocks that are taken in, */
  size_t tails;     /* and those of them that are in the last of an array */
  size_t budget, held;
  struct disk_array_slot *free;
  size_t slots, slot_room; /* there are, free ones, too */
  struct disk_array_slot *
      *piece; /* of the last disk_arrays_pieces; slot_room */
  int pieces;
  int idle;                  /* hinting has nothing to do, unless */
  size_t idle_free;          /* this changes, where it ran out of memory */
  struct request_list start; /* within one call */
};

static inline size_t record_size(const struct disk_arrays *x) {
  return x->o.runs->record_size;
}

static inline int order(const struct disk_arrays *x, const void *a,
                        const void *b) {
  return x->o.kernel->compare(x->o.record, a, b);
}

static inline void note(const struct disk_arrays *x, int64_t bytes) {
  memory_note(x->o.runs->memory, bytes);
}

static inline size_t left_in(const struct disk_array_slot *s) {
  return s->count - s->first;
}

static inline const char *first_of(const struct disk_arrays *x,
                                   const struct disk_array_slot *s) {
  return s->buf + s->first * record_size(x);
}

static inline const char *least_of(const struct disk_arrays *x, int i,
                                   size_t block) {
  return x->array[i].run.least + block * record_size(x);
}

static inline const char *next_key(const struct disk_arrays *x, int i) {
  return least_of(x, i, x->array[i].hinted);
}

static inline const char *last_key(const struct disk_arrays *x, int i) {
  return least_of(x, i, x->array[i].hinted - 1);
}

static inline const char *limit_key(const struct disk_arrays *x, int i) {
  return least_of(x, i, x->array[i].taken);
}

/* No array, no block. */
void array_blocks_init(struct disk_arrays *x,
                       const struct disk_arrays_options *options);
/* Every block was given back. */
void array_blocks_destroy(struct disk_arrays *x);
/* Makes space for that many arrays. 0 or ENOMEM. */
int array_blocks_reserve(struct disk_arrays *x, int arrays);

/* After `hinted` of array i has changed, and after `taken` has. */
void array_blocks_hinted(struct disk_arrays *x, int i);
void array_blocks_taken(struct disk_arrays *x, int i);
/* Takes array i out of the game. */
void array_blocks_forget(struct disk_arrays *x, int i);

/* Asks for the next block of array i; false if there is no memory. It is in the
   list x->start. */
bool array_blocks_ask(struct disk_arrays *x, int i);
/* True if the request had not begun, and is done now. */
int array_blocks_cancel(struct disk_arrays *x, struct disk_array_slot *s);
/* Until the request is done, somehow. */
void array_blocks_wait(struct disk_arrays *x, struct disk_array_slot *s);
/* Gives a slot, that no array has any more, and its memory back. */
void array_blocks_put(struct disk_arrays *x, struct disk_array_slot *s);
/* Forgets the last block that array i has asked for: nothing is under way. */
void array_blocks_give_up(struct disk_arrays *x, int i);
/* The same for the largest of all that are asked for only, of which there is
   one. False if it has begun, and one is not to wait for that. */
bool array_blocks_give_up_last(struct disk_arrays *x, bool wait);
/* Blocks that may be held: one of each array, and one more to go on with. */
size_t array_blocks_allowed(const struct disk_arrays *x);

#endif
