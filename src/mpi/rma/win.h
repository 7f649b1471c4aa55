/* Windows: memory of the members of a communicator that others read and change
   without their help. Where the target lives in this process, the origin moves
   the data itself, at the call; elsewhere by messages (win_remote.c). */
#ifndef PEMS_MPI_RMA_WIN_H
#define PEMS_MPI_RMA_WIN_H

#include "mpi/datatype/layout.h"
#include "mpi/object/comm.h"
#include "mpi_abi/abi.h"
#include "mpi_abi/handle.h"
#include "os/lock.h"
#include "vp/run_queue.h"

#include <mpi.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct request;

/* What a member shows: known to all. A dynamic window's begins at address 0. */
struct win_memory {
  char *base;
  size_t size;
  MPI_Aint unit;
  short apart;            /* its info says alloc_shared_noncontig */
  short failed;           /* it has no memory */
  struct segment *shared; /* of the first member: what all have, or NULL */
};

/* A region of a dynamic window. */
struct win_region {
  struct win_region *next;
  char *base;
  size_t size;
};

/* A member in this process, as a target. */
struct win_member {
  struct vp *vp;
  struct lock changing; /* accumulates, held during their I/O, no longer */
  /* Under the scheduler's lock: */
  struct run_queue_waiting
      waiting; /* its VP, for all that concerns the window */
  struct win_region *regions;
  int *posts;    /* by peer: its posts that this member has not used, or NULL */
  int completes; /* by origins, of its exposure epoch */
  int sharers;   /* origins that have a shared lock on it alone */
  bool exclusive;  /* an origin has an exclusive lock */
  uint64_t looked; /* win_lock.c: the last look at the queue */
  bool shared_waits, exclusive_waits; /* what that look has passed */
  /* win_watch.c: */
  struct win_member *_Atomic watches; /* whose memory its VP reads in vain */
  atomic_bool watched;                /* some VP may read this one's so */
  /* win_kept.c: */
  atomic_bool kept;          /* a checkpoint has its memory; what of that has */
  uintptr_t changed, beyond; /* changed since lies between: under the lock */
};

/* What the members of a window in this process share. */
struct window {
  uint64_t id; /* that of its own communicator's team */
  struct window *next;
  int flavor;
  int size;                  /* members */
  struct win_memory *memory; /* by peer */
  int n;                     /* of them here */
  struct win_member *member; /* by index */
  struct segment *shared;    /* memory of MPI_Win_allocate_shared, or NULL */
  /* Under the scheduler's lock: */
  int joined, left;
  struct win_lock *first, **last; /* those that wait for locks, oldest first */
  int all;                        /* origins that have locked all members */
  int exclusives;                 /* members with an exclusive lock */
  uint64_t looks;
};

/* A process with members, as a member sees it. */
struct win_link {
  int ops;    /* under way: the answer is missing; under the scheduler's lock */
  bool owing; /* messages were sent that may not have been handled yet */
  size_t sent; /* bytes in them */
};

enum win_epoch { EPOCH_NONE, EPOCH_FENCE, EPOCH_START, EPOCH_ALL };

/* A member's handle. */
struct win {
  struct handle handle;
  struct window *window;
  struct comm *comm; /* its own: a copy without the program's attributes */
  struct vp *vp;
  struct win_member *me;
  struct win_link *links; /* by process of the job; NULL where P = 1 */
  int flavor;
  bool lockless; /* no_locks */

  /* As an origin: */
  enum win_epoch epoch;  /* but for single locks */
  bool used;             /* the epoch of a fence: by an access */
  bool unchecked;        /* EPOCH_ALL: MPI_MODE_NOCHECK */
  struct group *access;  /* EPOCH_START */
  unsigned char *locked; /* by peer: enum win_hold; NULL: none so far */
  int locks;             /* of them held */
  /* As a target: */
  struct group *exposure; /* MPI_Win_post, or NULL */

  /* Who asks in vain, again and again, lets others run: */
  uint64_t accesses; /* so far */
  uint64_t noted;    /* of them, when the VP last called without one */
  uint64_t waits;    /* vp->waits when it last asked */
  uint64_t seen;     /* what the last read found, and where: a hash */

  struct errhandler errhandler;
  struct attributes *attributes; /* or NULL */
  MPI_Info info;                 /* own */
  char name[MPI_MAX_OBJECT_NAME];
};

/* An access epoch that the program has to end. */
static inline bool win_is_accessing(const struct win *win) {
  return win->locks > 0 || win->epoch == EPOCH_ALL || win->epoch == EPOCH_START;
}

enum win_hold { HOLD_NONE, HOLD_SHARED, HOLD_EXCLUSIVE, HOLD_UNCHECKED };

/* win.c ------------------------------------------------------------------- */

/* NULL for what is no window. */
static inline struct win *win_of(MPI_Win handle) {
  return handle_object(ABI_OBJECT(handle), HANDLE_WIN);
}
static inline MPI_Win win_handle(struct win *win) {
  return ABI_HANDLE(MPI_Win, win);
}
/* Calls the window's error handler, MPI_COMM_WORLD's where it is none. Returns
   code. */
int win_error(MPI_Win handle, int code, const char *function);

/* The window's info has changed. */
void win_heed_info(struct win *win);
/* Does the value of a key say yes? */
bool win_info_says(MPI_Info info, const char *key);

/* Windows of this process; with the scheduler's lock. */
struct window *window_find(uint64_t id);
/* The first member to come adds it. */
void window_add(struct window *window);
void window_remove(struct window *window);
/* The first one, and the next after one; NULL: there is none. */
struct window *window_next(const struct window *after);

static inline bool win_is_peer(const struct win *win, int rank) {
  return rank >= 0 && rank < win->window->size;
}
/* The member `peer`, or NULL: it lives in another process. */
static inline struct win_member *win_member(const struct win *win, int peer) {
  const int index = win->comm->team->index[peer];
  return index < 0 ? NULL : &win->window->member[index];
}

/* win_apply.c: what is done to a target, by its process ------------------- */

/* Packed bytes of a span of a VP's memory, wherever that is now; its VP may be
   running. */
void win_read(struct context *c, const struct layout_span *s, size_t position,
              char *out, size_t n);
void win_write(struct context *c, const struct layout_span *s, size_t position,
               const char *in, size_t n);
/* Between two VPs of the process. */
void win_copy(struct context *from, const struct layout_span *s,
              struct context *to, const struct layout_span *d);

/* An operation of accumulate calls, and what it works on: a predefined
   datatype, or MPI_DATATYPE_NULL where any will do (MPI_REPLACE, MPI_NO_OP). */
struct win_operator {
  MPI_Op op;
  MPI_Datatype basic;
  const struct layout *layout; /* of basic, or NULL */
  size_t grain;                /* bytes that are changed as one */
};
/* Changes n packed bytes (whole grains) of a span from `position` on, by `in`
   (not read for MPI_NO_OP); `old` (or NULL) is what was there before. One such
   change of a member happens after the other. in and old are aligned as from
   malloc. False if that is known to have changed nothing. */
bool win_change(struct win_member *m, const struct layout_span *target,
                size_t position, size_t n, const struct win_operator *o,
                const char *in, char *old);
/* Replaces the n bytes (16 at most) at p, if they are as those at `compare`, by
   those at `in`. False if they stay as they were. */
bool win_swap(struct win_member *m, char *p, size_t n, const char *compare,
              const char *in, char *old);

/* Memory of m has been changed by a call, which a checkpoint may have already
   (win_kept.h). */
void win_note_change(struct win_member *m, const struct layout_span *s);
static inline void win_written(struct win_member *m,
                               const struct layout_span *s) {
  if (handles_fixed) {
    win_note_change(m, s);
  }
}

/* win_type.c: what accumulate calls accept -------------------------------- */

bool win_op_is_predefined(MPI_Op op);
/* The only predefined datatype that `type` is made of, or MPI_DATATYPE_NULL. */
MPI_Datatype win_basic_type(MPI_Datatype type);
/* Fills *o. Returns MPI_SUCCESS or the error class that the MPI below gives. */
int win_operator_make(struct win_operator *o, MPI_Op op, MPI_Datatype origin,
                      MPI_Datatype target);

/* win_lock.c: locks of the members of a process --------------------------- */

enum { LOCK_ALL = -1 };

struct win_lock {
  struct win_lock *next; /* in the queue */
  struct window *window;
  int target;     /* index, or LOCK_ALL: shared */
  bool exclusive; /* else shared */
  bool holder;    /* who asks has other locks: nobody who waits is before it */
  void (*granted)(struct win_lock *lock); /* may free it */
};

/* All with the scheduler's lock. Calls lock->granted now or later. */
void win_lock_ask(struct win_lock *lock);
void win_lock_release(struct window *window, int target, bool exclusive);

/* win_watch.c ------------------------------------------------------------- */

/* The VP has read memory of a member of this process, which was as it had read
   it before if `vain`: the VP may do nothing but wait for it to change. */
void win_asked(struct win *win, struct win_member *target, bool vain);
/* Memory of m was changed by a call: for those that wait for that. Without the
   lock. */
void win_changed(struct window *window, struct win_member *m);

/* win_create.c ------------------------------------------------------------ */

/* The handle of a rank that had it in another process: what only that has it
   gets from who asks, what others show they say later. NULL: out of memory. */
struct win *win_again(struct comm *own, int flavor,
                      const struct win_memory *mine);
/* Its VP, which runs, has the memory of MPI_Win_allocate_shared, which member 0
   has made. */
void win_join_shared(const struct win *win);

/* win_sync.c -------------------------------------------------------------- */

/* May win's VP access `target` now? MPI_SUCCESS or MPI_ERR_RMA_SYNC. */
int win_check_epoch(struct win *win, int target);
/* A post of member `origin`'s target, or the end of one's access: with the
   scheduler's lock. */
void win_posted_locked(struct window *window, struct win_member *m, int by);
void win_completed_locked(struct win_member *m);

/* win_remote.c: targets in other processes -------------------------------- */

/* Before am_start. */
void win_start_remote(void);

enum win_what {
  WIN_PUT,
  WIN_GET,
  WIN_CHANGE,
  WIN_FETCH, /* a change whose old value is wanted */
  WIN_SWAP,
  WIN_FLUSH,
  WIN_POST,
  WIN_COMPLETE,
  WIN_LOCK,
  WIN_UNLOCK,
  WIN_SHOW, /* memory of the origin, after a restart */
  WIN_DATA, /* answers */
  WIN_DONE,
  WIN_HERE,  /* the data are offered to the origin */
  WIN_AGAIN, /* an offer does not hold, or none is made: without one */
};

/* An access to a target in another process. */
struct win_access {
  enum win_what what;
  int target;                /* peer */
  struct layout_span place;  /* there */
  struct layout_span origin; /* what is sent */
  struct layout_span result; /* what is fetched goes here */
  size_t size;               /* packed bytes: of the shorter one */
  struct win_operator how;
  char swap[32];           /* WIN_SWAP: what is compared, then what replaces */
  struct request *request; /* done when the access is, or NULL */
};
/* Shows the memory of a member of this process to those of another. Any
   thread. */
void win_show(const struct window *window, int peer, int process);
/* Starts it; the buffers belong to it until win_await or win_flush. Takes over
   the layouts, which are held (or NULL). */
void win_access_start(struct win *win, const struct win_access *a);
/* Waits until all that win's VP has started at `process` is done at the origin
   (its buffers may be used), at the target. */
void win_await(struct win *win, int process, const char *function);
void win_flush(struct win *win, int process, const char *function);
void win_flush_all(struct win *win, const char *function);
/* Sends a WIN_POST or WIN_COMPLETE to a member elsewhere. */
void win_tell(struct win *win, enum win_what what, int target);
/* Asks for a lock of one member elsewhere, or of all of a process (`target`
   LOCK_ALL), waits for it; gives it back, having waited for all accesses. */
void win_lock_remote(struct win *win, int process, int target, bool exclusive,
                     const char *function);
void win_unlock_remote(struct win *win, int process, int target, bool exclusive,
                       const char *function);

#endif
