/* A VP's memory: a heap range and the program's writable data, resident in
   memory or lying on disk. */
#ifndef PEMS_CONTEXT_CONTEXT_H
#define PEMS_CONTEXT_CONTEXT_H

#include "base/ranges.h"
#include "config/options.h"
#include "context/boundary.h"
#include "context/heap/heap.h"
#include "context/image/image.h"
#include "context/residency/lazy.h"
#include "context/residency/track.h"
#include "disk/contexts/disk.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum context_state {
  CONTEXT_IN,     /* resident */
  CONTEXT_OUT,    /* on disk; its pages are inaccessible */
  CONTEXT_COMING, /* being read */
  CONTEXT_GOING,  /* being written */
};

struct context {
  int index;        /* local number, also its place on disk */
  int rank;         /* of its VP, for messages */
  char *range;      /* heap addresses, 2 MiB-aligned */
  size_t range_len; /* bytes reserved */
  struct heap *heap;
  pthread_mutex_t heap_lock;
  void **late_frees; /* frees that came while the context was not resident */
  size_t late_n, late_room;
  struct image image;
  _Atomic int refused; /* why an allocation has failed: ENOMEM (mu is used up),
                          ENOSPC or the like; 0: none has */
  pthread_mutex_t grant_lock;
  _Atomic uint64_t granted; /* bytes that are sure to have a place (space.h);
                               changed under grant_lock */

  /* Under the residency lock: */
  _Atomic int state;  /* enum context_state */
  bool held;          /* its VP runs: must stay resident */
  bool wanted;        /* its VP is ready to run */
  bool urgent;        /* a thread waits for it */
  uint64_t turn;      /* whose VP runs first: the smallest */
  uintptr_t site;     /* where its VP waits: the same in all copies of the
                         program, so that one learns from another */
  int pins;           /* users of its present state */
  int borrowers;      /* threads that wait until it is in memory */
  uint64_t charge;    /* bytes counted against the budget now */
  uint64_t need;      /* bytes that count when it is resident */
  uint64_t last_used; /* tick of its last use, for least recently used */
  _Atomic uint64_t *granules; /* bitmap: parts of the range in use */
  size_t granule_words;

  /* Changed only by whoever moves the context, or under io_lock: */
  pthread_mutex_t io_lock;
  struct ranges on_disk;  /* pages whose contents are on disk; all others of an
                             OUT context are zero */
  struct ranges incoming; /* bytes that a message will overwrite: neither
                             written nor read until then */
  struct boundary boundary; /* unaligned ends of messages that were written to
                               an OUT context */
  struct tracking tracking;
  struct lazy lazy;
};

/* Environment variable for tests: every context goes to disk whenever its VP
   waits, whatever the budget. */
#define CONTEXT_EVICT_ALWAYS "PEMS_TEST_EVICT_ALWAYS"

struct contexts_options {
  int n;
  size_t mu;           /* bytes of each */
  bool mu_chosen;      /* by the user, not by pems */
  uint64_t resident;   /* bytes of memory that they share */
  struct disks *disks; /* NULL: they are never moved */
  int k;               /* of them are used at once; 0: 1 */
  size_t bounce_count; /* threads that deliver at once, and bytes of staging
                          buffers for all of them */
  size_t bounce_bytes;
  size_t boundary_bytes; /* for boundary blocks */
  enum order order;
  enum swapin swapin;
  enum track track;
  /* Says where the heap range of context `index` is to have its memory, each
     time that it is mapped; or NULL. */
  void (*place)(int index, void *p, size_t n);
  bool strict; /* what cannot be had is an error, not a warning */
};

/* Sets up contexts, and the threads that move them. Returns 0, or -1 with a
   sentence in err. Once per process. */
int contexts_create(const struct contexts_options *o, char *err,
                    size_t err_size);
void contexts_destroy(void);
struct context *context_get(int index);

/* Gives the context its program copy (already loaded) and makes the heap ready.
   Returns 0, or -1 with a sentence in err. */
int context_adopt(struct context *c, const struct image *image, int rank,
                  char *err, size_t err_size);

/* The context whose heap range holds p, or NULL. Lock-free. */
struct context *context_of(const void *p);
/* Does [p, p + n) belong to c, so that it may be on disk? */
bool context_owns(const struct context *c, const void *p);

/* --- residency --- */

/* Called, with no lock held, whenever a context has come in that is wanted. */
void contexts_on_arrival(void (*f)(struct context *c));
/* Asks f, with a lock held, whether a context whose VP waits may leave memory:
   its answer may be another one a little later. */
void contexts_on_leaving(bool (*f)(const struct context *c));
/* c's VP is ready to run: those with the smallest `turn` come in first, in the
   background. Returns true if c is in memory now (which may change). */
bool context_want(struct context *c, uint64_t turn);
/* If c is in memory, keeps it there until context_release, and returns true. */
bool context_try_acquire(struct context *c);
/* The same, but waits until it is in memory. The caller must not hold any pin.
 */
void context_acquire(struct context *c);
/* c may now be evicted when someone needs its memory. */
void context_release(struct context *c);
/* c's VP has ended: its memory is given back, not written. */
void context_discard(struct context *c);
static inline bool context_resident(const struct context *c) {
  return c->state == CONTEXT_IN;
}
/* Called before [p, p + n) of a held context may be touched for the first time:
   counts its pages and makes room by evicting others. */
void context_claim(struct context *c, const void *p, size_t n);
/* Are contexts on disk, so that what is in memory may have to be written? */
bool contexts_crowded(void);
/* Bytes of all resident contexts now. */
uint64_t contexts_resident_bytes(void);

/* Keeps c in the state it is in (IN or OUT) until context_unpin. */
void context_pin(struct context *c);
void context_unpin(struct context *c);
/* Brings c into memory, whoever runs, and pins it there. Waits for nothing but
   I/O and room. */
void context_borrow(struct context *c);

/* Messages ---------------------------------------------------------------
   p may also be memory outside the context (a stack), which is always there. */

/* [p, p + n) of c will be overwritten by messages before c's VP looks at it
   (PEMS2, Algorithm 7.1.1 line 1: "swap out everything except the regions in
   R"). c must be held. */
void context_expect(struct context *c, const void *p, size_t n);
/* No more messages. What has not come is as it was, or zero: MPI's messages are
   as long as was said. */
void context_expect_end(struct context *c);

/* Can p, in a pinned context or elsewhere, be read without a disk? */
bool context_in_memory(const struct context *c, const void *p);
/* Copies from / to a pinned context wherever it is: by memory copy when IN,
   else by aligned direct I/O with the unaligned ends of writes kept in the
   boundary cache. Done when they return; delivery.h has those that are not. I/O
   errors end the job. */
void context_read(struct context *c, const void *p, void *out, size_t n);
void context_write(struct context *c, void *p, const void *in, size_t n);
/* [p, p + n) of a resident context was overwritten by other means. */
void context_received(struct context *c, const void *p, size_t n);

#endif
