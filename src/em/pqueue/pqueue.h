/* What the parts of a priority queue share.

   Records are in the user's form in the insertion area and, while they are
   popped one by one, at the beginning of the extract buffer; everywhere else in
   the kernel's stored form (em/kernel/kernel.h). Functions that can fail return
   0 or an errno value and fill in *error, which is not NULL. */
#ifndef PEMS_EM_PQUEUE_PQUEUE_H
#define PEMS_EM_PQUEUE_PQUEUE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "em/core/arena.h"
#include "em/kernel/record.h"
#include "em/pqueue/disk_arrays.h"
#include "em/pqueue/memory_arrays.h"
#include "em/pqueue/pqueue_plan.h"
#include "em/sort/sort.h"
#include "os/lock.h"
#include "pems/pqueue.h"

/* Where pushes go: records in the order in which they came. The first `heap`
   of them are a heap; of the first `seen` it is known which is the least. */
struct pqueue_area {
  char *base; /* a range of the arena, or NULL */
  size_t bytes;
  size_t room; /* records; behind them is memory to sort them */
  size_t n;
  size_t heap;
  size_t seen, least;
  bool sorted; /* in place: only to be written, or to be an array, now */
  int copying; /* threads that have a place and are not done copying */
};

/* What one thread pushes in a bulk, before it goes to the area. */
struct pqueue_lane {
  _Alignas(64) char *records;
  size_t n, room; /* there are, and there is space for */
};

/* A sorted range that is being written: an external array when it is done. */
struct pqueue_pending {
  struct run run;
  char *range; /* NULL: there is none */
  size_t bytes;
  size_t requests;
};

/* Records that were merged in advance, to be popped one by one. */
struct pqueue_buffer {
  char *range; /* of the arena, or NULL */
  size_t bytes;
  char *at; /* the first of n */
  size_t n;
  size_t open; /* the first so many are in the user's form, the others stored */
};

enum pqueue_mode { PQ_SINGLE, PQ_BULK, PQ_LIMIT };

/* Single records that a queue keeps. */
enum { RECORDS = 5 };

/* Where the first record is. */
enum pqueue_top { PQ_UNKNOWN, PQ_NONE, PQ_HEAP, PQ_BUFFER, PQ_ARRAY };

/* Bulks of at most so many records are popped one by one: merging begins with
   lists and waking threads, which takes as long as so many pops. */
enum { PQ_FEW = 64 };

struct pems_pqueue {
  unsigned born;                /* forked_now, then */
  struct pems_pqueue_options o; /* memory and threads are chosen */
  struct pqueue_plan plan;      /* and all other sizes */
  struct sort s; /* kernel, team, disks, memory, runs (being merged), B */
  struct record_order order;
  struct arena arena;
  char *own_room;   /* its memory, unless the caller gave it */
  struct lock lock; /* of the area, during a bulk */
  pthread_cond_t copied;
  enum pqueue_mode mode;
  _Atomic int failed; /* the first error, in `error` */
  struct pems_error error;
  struct pqueue_area area;
  struct pqueue_lane *lane; /* one per thread */
  char *lanes;              /* their memory */
  char *large_lanes;        /* a range for those of a large bulk, or NULL */
  size_t large_bytes;       /* of it */
  struct memory_arrays arrays;
  struct pqueue_buffer buffer;
  struct disk_arrays *external;
  struct pqueue_pending pending;
  struct pems_request *requests; /* of `pending`: for all blocks of the arena */
  char *reserve;                 /* a range for writing blocks of merges */
  size_t reserve_bytes;
  size_t noted;               /* bytes of lists that stay as they are */
  struct kernel_piece *piece; /* plan.pieces of each */
  int *piece_slot;            /* of the array, or -1 */
  size_t *piece_end;
  char *work; /* plan.work_each bytes for each member of the team */
  enum pqueue_top top;
  const char *first;   /* that record, unless it is unknown */
  char *head;          /* first record of the arrays, in the user's form: */
  const char *head_at; /* that at this place, */
  uint64_t head_added; /* when so many had come */
  char *held;  /* before a limit: the first record, if it was looked at */
  bool holds;  /* whether it was */
  size_t sure; /* of the extract buffer, so many that come next before it */
  char *limit; /* in the user's form, and stored */
  char *limit_stored;
  char *least_stored; /* of the area */
  char *few;          /* where these records are */
  uint64_t size;
  size_t before_limit; /* records that the last pop with a limit has given */
  struct pems_pqueue_counts counts;
  struct pems_disk_counts io_before;
};

static inline size_t pq_size(const struct pems_pqueue *q) {
  return q->s.o.record.size;
}

/* --- pqueue_area.c: what was pushed --- */

/* About so many will be added: an area that is empty but too small for them is
   given up for a larger one. */
void pqueue_area_expect(struct pems_pqueue *q, uint64_t n);
/* The least of the area's records, in the user's form; NULL if it is empty. */
const char *pqueue_area_least(struct pems_pqueue *q);
/* All of them become a heap. */
void pqueue_area_heap(struct pems_pqueue *q);
/* Removes the first record of the heap, which all of them are. */
void pqueue_area_pop(struct pems_pqueue *q);
/* They become an internal array, where there are records and a slot is free;
   false if there is no memory. */
bool pqueue_area_to_array(struct pems_pqueue *q);
/* Whether they lie in order, as stored records, or did so the other way round:
   then they need no sorting. They must go somewhere else now. */
bool pqueue_area_in_order(struct pems_pqueue *q);
/* Sorts them, unless they are sorted; what that means is up to the kernel. */
void pqueue_area_sort_records(struct pems_pqueue *q);
/* Copies [first, first + n) of those sorted, with the team. */
void pqueue_area_emit(struct pems_pqueue *q, size_t first, size_t n, char *out);
/* They are gone. */
void pqueue_area_forget(struct pems_pqueue *q);
/* Bytes that a new area should have at least; takes a range for one, of at
   least so many bytes: false if there is none. */
size_t pqueue_area_wanted(const struct pems_pqueue *q);
bool pqueue_area_take(struct pems_pqueue *q, size_t least);
/* Gives it back, with what it holds. */
void pqueue_area_release(struct pems_pqueue *q);
/* Gives memory that the area does not need back to the arena. */
void pqueue_area_trim(struct pems_pqueue *q);

/* --- pqueue_buffer.c: what comes out next --- */

/* The rest of the extract buffer becomes an internal array; there is a slot. */
void pqueue_buffer_give_up(struct pems_pqueue *q);
/* Gives the memory of the extract buffer, which is empty, back. */
void pqueue_buffer_drop(struct pems_pqueue *q);
/* The first records of the extract buffer get the user's form. */
void pqueue_buffer_open(struct pems_pqueue *q);
/* All of its records get their stored form. */
void pqueue_buffer_close(struct pems_pqueue *q);
/* Whether a record of the extract buffer is behind one of the area. */
bool pqueue_buffer_overlaps_area(struct pems_pqueue *q);
/* The least record of the area, in stored form; NULL if it is empty. */
const char *pqueue_buffer_least(struct pems_pqueue *q);

/* --- pqueue_merge.c --- */

/* Merges the first n of `there` records in the first so many of q->piece to
   `out`; q->piece_end tells how many of each that were. `last`: in the user's
   form. */
void pqueue_merge_pieces(struct pems_pqueue *q, int pieces, size_t there,
                         size_t n, char *out, bool last);

/* --- pqueue_lane.c: what threads push --- */

/* A bulk of about n records begins (0: nobody knows): all lanes are empty.
   Lanes that hold all go to the area whole, in the order of the threads: where
   these share out a bulk that is in order, so is the area. */
void pqueue_lanes_begin(struct pems_pqueue *q, uint64_t n);
/* It is over, and the lanes are empty again. */
void pqueue_lanes_end(struct pems_pqueue *q);

/* --- pqueue_flush.c: to the disks --- */

/* Sorts the area, and writes it as an external array, or starts to. */
int pqueue_flush_area(struct pems_pqueue *q, struct pems_error *error);
/* Writes all internal arrays, the extract buffer and, unless there is no memory
   to sort it beside them, the area as one external array. */
int pqueue_flush_all(struct pems_pqueue *q, struct pems_error *error);
/* Waits until what is pending is written; it becomes an external array. */
int pqueue_flush_finish(struct pems_pqueue *q, struct pems_error *error);
/* Waits for what is pending, and forgets it. */
void pqueue_flush_abandon(struct pems_pqueue *q);
/* Makes up for lists that have grown, and leaves room for those of a flush of
   all memory. */
void pqueue_lists_settle(struct pems_pqueue *q);
/* Makes the arena have a free range of n bytes, by the cheapest means. */
int pqueue_make_room(struct pems_pqueue *q, size_t n, struct pems_error *error);
/* Merges levels of internal arrays that have too many, if there is memory; and
   sees to it that there is a slot for one more. */
int pqueue_make_slot(struct pems_pqueue *q, struct pems_error *error);

/* --- pqueue_push.c: pushing --- */

/* Adds records; the caller has the lock during a bulk, which is given up while
   they are copied. */
int pqueue_push(struct pems_pqueue *q, const void *records, size_t n,
                struct pems_error *error);
/* Adds one outside of a bulk, if it is not large and there is room. */
static inline bool pqueue_push_one(struct pems_pqueue *q, const char *record) {
  enum { LARGE = 128 };
  struct pqueue_area *const a = &q->area;
  if (a->n == a->room || pq_size(q) > LARGE) {
    return false;
  }
  record_copy(a->base + a->n++ * pq_size(q), record, pq_size(q));
  return true;
}
/* The area's records become an internal array; where there is no memory for
   that arrays are written before, or at last they themselves. */
int pqueue_push_sort(struct pems_pqueue *q, struct pems_error *error);

/* --- pqueue_extract.c: merging --- */

/* Moves the first records, at most `max`, and if `limit` (stored form) is not
   NULL those before it, to `out` in the user's form, in order. *n is how many,
   fewer than max only if there are no more. `expected`: how many there will be,
   about; few of them come by way of the extract buffer. */
int pqueue_extract(struct pems_pqueue *q, void *out, size_t max,
                   size_t expected, const char *limit, size_t *n,
                   struct pems_error *error);
/* Bulks of so many records or fewer come by way of the extract buffer. */
size_t pqueue_extract_few(const struct pems_pqueue *q);
/* Whether there is a record before `limit`. */
int pqueue_extract_more(struct pems_pqueue *q, const char *limit, int *more,
                        struct pems_error *error);
/* Fills the extract buffer, which is empty, with the first records of arrays,
   internal and external, but not of the area. */
int pqueue_extract_refill(struct pems_pqueue *q, struct pems_error *error);
/* --- pqueue_top.c: one by one --- */

/* What of the area pqueue_top_find looks at. */
enum pqueue_top_area {
  TOP_WITHOUT_AREA,
  TOP_ORDERED_AREA, /* its records become a heap or an array */
  TOP_AREA,         /* so only if the first record is one of them */
};

/* Sets q->top and q->first. */
int pqueue_top_find(struct pems_pqueue *q, enum pqueue_top_area area,
                    struct pems_error *error);
/* Removes the first record, which is known and exists. */
void pqueue_top_pop(struct pems_pqueue *q);
/* How many records come out of the extract buffer, one after the other, before
   `limit`, if nothing is moved; the first record is known. */
size_t pqueue_top_sure(const struct pems_pqueue *q, const char *limit);
/* As extract, one by one; `limit` in the user's form. */
int pqueue_top_take(struct pems_pqueue *q, char *out, size_t max,
                    const char *limit, size_t *n, struct pems_error *error);
/* As pqueue_extract_more, with `limit` in the user's form. */
int pqueue_top_more(struct pems_pqueue *q, const char *limit, int *more,
                    struct pems_error *error);

#endif
