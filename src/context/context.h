/* A VP's memory: a heap range and the program's writable data, resident in
   memory or lying on disk. */
#ifndef PEMS_CONTEXT_CONTEXT_H
#define PEMS_CONTEXT_CONTEXT_H

#include "base/ranges.h"
#include "config/options.h"
#include "context/boundary.h"
#include "context/heap/heap.h"
#include "context/image/image.h"
#include "context/protections.h"
#include "os/lock.h"
#include "policy/policy.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct self;
struct unit;
struct oversize;
struct working_set;

enum context_state {
  CONTEXT_IN,     /* resident */
  CONTEXT_OUT,    /* on disk; its pages are inaccessible */
  CONTEXT_COMING, /* being read */
  CONTEXT_GOING,  /* being written */
};

/* Looks at how much of a context exists (residency/victim.c). Zeroed: none yet.
 */
struct context_measure {
  uint64_t writes; /* times that others were to write to it */
  unsigned rest;   /* times that its VP runs until it is looked at again */
  unsigned last_rest;
};

/* What residency/density.c knows of a context. */
enum context_density {
  DENSITY_UNKNOWN,
  DENSITY_DENSE,  /* it uses most of each 2 MiB that it touches, */
  DENSITY_SPARSE, /* or less than half */
};

/* What residency/lazy.c knows of a context. Zeroed: nothing known. Changed by
   whoever moves the context, or under io_lock. */
/* What residency/prediction.c knows of one place where a context's VP waits.
   Zeroed: nothing. */
struct context_prediction {
  uintptr_t site;
  uint64_t last_used;     /* 0: never */
  struct ranges touched;  /* when that was last measured, and what came later */
  struct ranges written;  /* of that */
  uint64_t bytes;         /* of pages that were found then */
  bool known;             /* `touched` may be read in advance */
  uint8_t history;        /* bits, the last time in the lowest: much more was */
  unsigned age, last_age; /* residences until it is to be measured anew */
  bool doubted;      /* the last time it was much less: once is not enough */
  unsigned borrowed; /* residences that went by what is known of others */
  unsigned rest, last_rest; /* residences to pass before the next prediction */
  /* What others have found, residency/lesson.h: */
  uint64_t lesson; /* the last that was told, or taken over */
  unsigned told;   /* times in turn that it was taken over */
  bool untried;    /* it was, and not used yet */
  bool apart;      /* this context touches something else than others */
  /* Of residences that were read as a whole: */
  struct ranges dirty; /* what was written: rounded to units, and what more came
                          later; if `dirty_known` */
  bool dirty_known;
  unsigned wholes;                    /* so many, up to a few */
  unsigned dirty_age, last_dirty_age; /* until that is looked at anew */
};

/* Pages that were touched. */
struct context_found {
  struct ranges touched; /* rounded to units */
  struct ranges written; /* of them the units of which much was written */
  uint64_t bytes;        /* that were touched */
};

enum { CONTEXT_PREDICTIONS = 48 };

struct context_predictions {
  struct context_prediction *item; /* CONTEXT_PREDICTIONS, or NULL: none yet */
  uint64_t uses;
};

/* What residency/lazy.c knows of a context. Zeroed: nothing is mapped. */
struct context_lazy {
  struct ranges mapped; /* of its addresses: they show the file until written */
  uint64_t mapped_bytes; /* of them at the start of this residence */
  size_t pieces;         /* in which they were mapped then */
  struct context_predictions predictions;
  struct context_prediction *prediction; /* of where it waited, or NULL: it was
                                            read as a whole, and not watched */
  struct context_prediction *place; /* of all that it waits for there, or NULL:
                                       that is the same */
  struct context_prediction *from;  /* of the two, what is expected by */
  const struct ranges *expected, *expected_written; /* while it comes */
  bool predicting;     /* what that says was read in advance this time */
  uint64_t whole;      /* bytes that were read as a whole and watched; or 0 */
  struct ranges quiet; /* of that, what is not expected to be written */
  /* Bytes that the system read for the VP's thread while the program ran, this
     residence, and until it began to run: */
  uint64_t read, read_before;
  const struct self *running; /* the thread that was let run last, or NULL */
  struct context_found found; /* by the survey of this residence */
};

/* What a residence took. */
struct context_took {
  bool mapped, ready;        /* as residency/way.h says */
  uint64_t bytes;            /* that were on disk when it began */
  uint64_t moved, moved_ns;  /* bytes, as it came and left */
  uint64_t faults, fault_ns; /* of its VP; that the system took for them */
  uint64_t read, waited_ns;  /* bytes read for those; waiting for them */
  unsigned waits;            /* times that its VP waited meanwhile */
};

/* What residency/stay.c knows of a residence. Zeroed: it is not timed. */
struct context_stay {
  bool timed;
  uintptr_t site; /* where its VP waited */
  struct context_took took;
  int runs; /* times that its VP went on with its program, as far as timed */
  /* Of the VP's thread, when it went on with its program: */
  const struct self *running; /* the thread, or NULL: it does not run */
  uint64_t faults, major, system_ns, delay_ns, wall_ns, cpu_ns;
};

enum { CONTEXT_LEVELS = 64 };

/* Bytes that a context whose VP waits could give up, by how many waits of its
   VP pass until they are touched (residency/working_set.h). Under the residency
   lock. */
struct context_plan {
  bool made; /* since its VP ran */
  uint64_t bytes[CONTEXT_LEVELS];
};

/* A context that is in memory in part (residency/partial.c). Zeroed: all of it
   is, or nothing. Changed by whoever moves the context, or under io_lock. */
struct context_partial {
  struct ranges missing;   /* of lazy.mapped, what is on disk only, as far as
                              known: what was written there since is not */
  struct ranges filled;    /* read beside the rest, and watched for writes */
  struct ranges rewritten; /* was watched in vain */
  struct ranges expected;  /* to be touched next, while it comes */
  struct working_set *set; /* NULL: nothing is known */
  unsigned trims;          /* times that it gave up pages */
  size_t pieces;           /* of lazy.mapped, counted with those of others */
  bool waited;             /* its VP did, in the present call of MPI; its own */
  /* Under the residency lock: */
  struct context_plan plan;
  uint64_t trimming; /* of its charge, what it is giving up */
};

enum { CONTEXT_AWAITED = 16 };

/* What residency/awaited.c knows of whom a context's VP waits for. Zeroed:
   nothing. Changed under the scheduler's lock, read under the residency lock,
   which alone guards the last two. */
struct context_awaited {
  _Atomic bool known;
  _Atomic int n;    /* that it waits for yet */
  _Atomic int kept; /* of them, those that are in `who` */
  _Atomic int who[CONTEXT_AWAITED];
  int frees;        /* contexts in memory that wait for this one alone, */
  uint64_t counted; /* when they were counted last */
};

/* How much of a context is watched while it is in memory. */
enum context_track_share {
  TRACK_NONE,
  TRACK_SAMPLE, /* a thirty-second part, to learn what share is written */
  TRACK_QUIET,  /* what is not expected to be written */
  TRACK_ALL,
};

/* What residency/track.c knows of a context. Zeroed: nothing known. */
struct context_tracking {
  enum context_track_share share;
  uint64_t watched; /* bytes watched now */
  unsigned count;   /* residences so far; which units are sampled */
  unsigned rest;    /* residences until the next sample */
  unsigned last_rest;
  bool often_clean; /* what was learnt: watching all pays */
  /* TRACK_FAULT: bitmaps of the heap range's units, or NULL: */
  _Atomic uint64_t *watch;     /* they were protected */
  _Atomic uint64_t *unwritten; /* they still are */
};

/* What context/stack_part.h knows of a VP's stack. Set by the VP's thread. */
struct context_stack {
  char *low; /* lowest address; NULL: no part of it leaves memory, ever */
  char *end; /* what lies from here on is none of the program's */
  char *_Atomic from; /* the program's frames lie from here on, and nobody
                         else's up to `end`: its thread is in MPI; NULL: it is
                         not; `end`: it is, but all stays as it is */
  char *counted;      /* what lies from here on is part of the context */
  char *spare; /* end of the lowest part that came as the stack grew, and some
                  bytes: frames above do not need it. NULL: there is none */
  atomic_bool owes; /* it has grown where it could not be counted */
};

/* What calls/oversize.c knows of a context. Zeroed: it has no such block. */
struct context_oversize {
  _Atomic int n; /* changed under heap_lock, as is */
  struct oversize *first;
  /* When they were counted last, by the VP's thread: */
  long faults;    /* page faults of that */
  uint64_t waits; /* use.last_used */
};

/* What of a context store/crate.c has put together with others. Zeroed:
 * nothing.
 */
struct context_crate {
  struct ranges pages; /* in order, without gaps, */
  int disk;            /* in the annex of this disk, */
  uint64_t at;         /* from here on */
};

/* Does a context go into a crate when it leaves memory? */
enum context_weight { WEIGHT_UNKNOWN, WEIGHT_LIGHT, WEIGHT_HEAVY };

struct context {
  int index;        /* local number, also its place on disk */
  int rank;         /* of its VP, for messages */
  char *range;      /* heap addresses, 2 MiB-aligned */
  size_t range_len; /* bytes reserved */
  struct heap *heap;
  struct lock heap_lock;
  struct context_oversize oversize;
  void **late_frees; /* frees that came while the context was not resident */
  size_t late_n, late_room;
  struct image image;
  struct context_stack stack;
  _Atomic uint64_t departures; /* how often it has begun to leave memory */
  _Atomic int refused; /* why an allocation has failed: ENOMEM (mu is used up),
                          ENOSPC or the like; 0: none has */
  struct lock grant_lock;
  _Atomic uint64_t granted; /* bytes that are sure to have a place (space.h);
                               changed under grant_lock */

  /* Under the residency lock. First what is looked at of all contexts whenever
     one is to move: */
  _Atomic bool adopted; /* has an image and a heap: set last of these */
  _Atomic bool fresh;   /* it was read since its VP waited last */
  bool held;            /* its VP runs: must stay resident */
  bool quiet;           /* its VP waits, and all threads of its program sleep */
  _Atomic int state;    /* enum context_state */
  struct policy_use use;
  int pins;      /* users of its present state */
  bool urgent;   /* a thread waits for it */
  bool idle;     /* its VP waits, and it is charged what it has touched: not
                    what it may touch when that runs */
  bool measured; /* that has been looked at since its VP ran */
  bool busy;     /* counted in ledger.busy */
  bool firm;     /* one of `growing` cannot let it leave memory meanwhile */
  bool ordered;  /* tests: it has to leave, and no mover has it yet */
  enum context_weight weight; /* of the last time */
  uint64_t charge;            /* bytes counted against the budget now */
  uint64_t need;              /* bytes that count when it is resident */
  uint64_t busy_until; /* clock_ns: its threads ran; nobody asks again before */
  struct context_awaited awaited;
  struct context_measure measure;
  struct context *next_growing;
  int growing;       /* threads that wait for memory that it needs more */
  uintptr_t depth;   /* of its stack where the program called MPI last */
  uint64_t awaits;   /* what its VP will wait for there, as a number; 0: nothing
                        of note */
  uintptr_t place;   /* where its VP waits and how deep: the same in all copies
                        of the program, so that one learns from another */
  uintptr_t site;    /* the same, and what for */
  uint64_t reserved; /* of `need`, bytes of blocks not allocated yet */
  struct segment_link *segments; /* memory that it shares with others; changed
                                    while it is held, or has ended */
  uint64_t shared; /* bytes of that which count with it when it is resident, as
                      they do with one of those that have it */
  _Atomic uint64_t *granules; /* bitmap: parts of the range in use */
  size_t granule_words;

  /* Changed only by whoever moves the context, or under io_lock: */
  struct lock io_lock;
  struct ranges on_disk; /* the store's: pages whose contents are on disk; all
                            others of an OUT context are zero */
  struct context_crate crate;
  bool guarded;           /* its pages are made inaccessible by guards, and its
                             mappings are there */
  struct unit *units;     /* the store's: how what is there is compressed */
  size_t units_used;      /* of them; behind are none */
  bool compressed;        /* when it left memory last */
  struct lock units_lock; /* who reads or changes compressed units of an OUT
                             context */
  struct ranges incoming; /* bytes that a message will overwrite: neither
                             written nor read until then */
  struct boundary boundary; /* unaligned ends of messages that were written to
                               an OUT context */
  struct context_tracking tracking;
  _Atomic int density; /* enum context_density; read at any time */
  struct context_lazy lazy;
  struct context_partial partial;
  struct context_stay stay;
  struct ranges protections;
  struct {
    uintptr_t start, now, end; /* `end`: of the pages taken for it */
  } program_break;             /* of sbrk; zeros: never asked for */
};

struct context *context_get(int index);

/* The context whose heap range holds p, or NULL. Lock-free. */
struct context *context_of(const void *p);
/* Addresses for a stack in c's range, from the guard on: bytes of both, or 0:
   contexts have been created without. */
size_t context_stack_range(const struct context *c, char **start);
/* Does what is at p belong to c, so that it may be on disk? Of a stack only
   what leaves memory as things are. */
bool context_owns(const struct context *c, const void *p);
/* Could it be so at another time? */
bool context_covers(const struct context *c, const void *p);

static inline bool context_resident(const struct context *c) {
  return c->state == CONTEXT_IN;
}

/* Can p, in a pinned context or elsewhere, be read without a disk? */
bool context_in_memory(const struct context *c, const void *p);

#endif
