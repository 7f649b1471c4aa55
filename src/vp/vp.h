/* Virtual processors: one thread and one context each. */
#ifndef PEMS_VP_VP_H
#define PEMS_VP_VP_H

#include "base/self.h"
#include "config/plan.h"
#include "context/calls/oversize.h"
#include "context/context.h"
#include "context/residency/lazy.h"
#include "context/residency/partial.h"
#include "context/stack_part.h"
#include "vp/looks.h"
#include "vp/run_queue_lock.h"
#include "vp/stack_growth.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct exits;
struct handlers;
struct helpers;
struct patients;
struct rank;
struct record_locks;
struct run_queue_waiter;
struct self;
struct stdio_streams;

enum vp_state {
  VP_READY,   /* wants to run */
  VP_RUNNING, /* one of the k; its context is or comes resident */
  VP_BLOCKED, /* waits for other VPs or the network */
  VP_DONE,    /* its program has ended */
};

/* For a checkpoint: a call that is left is made again. */
enum vp_leaving {
  VP_STAYS,
  VP_LEAVES,
  VP_LEAVES_ARRAYS, /* if its arrays are in memory that a checkpoint has: some
                       libraries make them for the call */
  VP_SETTLES, /* it waits for what is under way, before it stops: if no rank can
                 go on it gives up */
};

struct vp {
  int rank;  /* in MPI_COMM_WORLD */
  int index; /* among the VPs of this process */
  struct context *context;
  pthread_t thread;

  /* Under the scheduler's lock: */
  enum vp_state state;
  struct vp *next_patient; /* in a list of those that let others run first */
  struct patients *among;  /* which it is in, or NULL */
  uint64_t due_at;         /* starts of VPs before it was put there */
  bool guessed;            /* it was brought in although nothing had */
  const char *waits_in;    /* what it waits for, for messages */
  void *site;              /* and where its program called that */
  uint64_t waits;          /* how often it has waited, */
  uint64_t steps;          /* not counting looks in vain: its superstep */
  uint64_t awaited;        /* and been woken, looks in vain aside */
  uint64_t waited_call;    /* self.calls when it waited last, */
  bool asked;              /* asking in vain */
  uint64_t went_on;        /* CPU time of its thread then, or 0: all fits */
  uint64_t turn;           /* who runs first of those that are ready */
  uint64_t wanted_at;      /* when it became ready, if it was on disk then */
  uint64_t cost;           /* ns from there to its start, or 0 */
  struct looks looks;      /* what it computes between looks for messages */
  bool queued;             /* among those that may be started */
  int slot;                /* which of the k tokens it holds */
  struct run_queue_go go;
  bool awake; /* it waits, but has its slot: see run_queue_wait_locked */
  unsigned linger_rest; /* waits until it stays awake again for a moment */
  unsigned linger_last;
  struct run_queue_waiting *leaves; /* where it waits in a call that it would
                                       leave, or NULL */
  bool shared; /* several of its threads call MPI: run_queue.h */
  bool on;     /* one of them has it */
  int waiting; /* of them that wait for an event */
  struct run_queue_waiter *wanting; /* of them that can go on, in order */
  atomic_int entering; /* of them that are about to be among those */

  /* Its program's own: */
  int argc;
  char **argv;
  char **envp;        /* until it is changed; perhaps that of all */
  sigjmp_buf leave;   /* where exit() goes */
  sigjmp_buf outside; /* and where its program ends, in this process */
  char *stack_begin;  /* end of its program's frames */
  long unsaved;  /* what of MPI no checkpoint can save: sessions and the like */
  long native;   /* blocks of the C library's on its behalf, */
  long mapped;   /* and mappings, both not in its context */
  long attached; /* segments of System V's shared memory */
  atomic_int files; /* descriptors that it may have: interpose/descriptor.h */
  struct file_mapping *file_mappings; /* or NULL: interpose/file_mapping.h */
  struct record_locks *record_locks;  /* or NULL: interpose/record_lock.h */
  struct stdio_streams *streams; /* open ones, or NULL: interpose/stdio.h */
  struct unwind_table *_Atomic tables; /* interpose/unwind.h */
  uint64_t superstep; /* calls at which a checkpoint could be taken, so far */
  uint64_t ahead; /* 1 + the checkpoint whose call it is in while others still
                     write to it, or 0 */
  bool between;   /* it has stopped for one between supersteps */
  bool late;      /* it stops only later: others wait for calls of it */
  bool gives_up;  /* what it waits for to stop does not come */
  enum vp_leaving leaving; /* may the call that it is in be left? */
  const void *array;       /* which it takes, if that matters */
  struct exits *exits;     /* to call when it ends, or NULL: exits.h */
  bool resumes;            /* it goes on where another process has stopped */
  bool destruct;           /* exit was exit, not _exit */
  bool line_begun[2];      /* on stdout and stderr: interpose/tag.h */
  bool tags_errors;        /* what it writes to stderr has its rank */
  int status;              /* what it ended with */
  bool program_ended;      /* main returned, or exit was called */
  bool left_threads;       /* that its program started and that still run */
  int end_rounds;          /* of destructors of thread-specific data */
  void *stack;             /* lowest address of its stack, and bytes */
  size_t stack_size;
  _Atomic uint32_t dropped;  /* posted: it has given back what it begins with */
  char *side_stack;          /* side_stack.h: lowest address, or NULL */
  void *signal_stack;        /* for handlers when its stack has overflown */
  struct handlers *handlers; /* of signals */

  /* Its MPI state (src/mpi): */
  bool initialized; /* MPI_Init was called */
  bool finalized;   /* MPI_Finalize was called */
  int thread_level; /* MPI_THREAD_... that was provided */
  struct helpers
      *_Atomic helpers; /* its program's threads, or NULL: there were none */
  atomic_int busy;      /* of them that are in pems, may wait for its locks, and
                           then go on with the program */
  struct self *_Atomic in_mpi; /* its thread that is in MPI, from SERIALIZED on;
                                  or NULL */
  struct rank *mpi;            /* what else it has of MPI: mpi/object/rank.h */

  /* Of one that MPI_Comm_spawn starts (vp/dormant.h): */
  bool dormant;        /* not yet: under the scheduler's lock */
  atomic_bool started; /* its thread was */
  void (*prepare)(
      struct vp *vp); /* on its thread, before its program; or NULL */
};

/* All VPs of this process. */
struct vps {
  struct vp *item;
  int n;          /* VPs here */
  int dormant;    /* of them, the last ones: they wait for MPI_Comm_spawn */
  int process;    /* this one */
  int universe;   /* VPs in all processes, or 0: none is dormant */
  int first_rank; /* rank of item[0]; ranks are contiguous */
  int *split;     /* which process has which ranks: config/split.h */
  struct plan plan;
  const struct policy *policy; /* who runs next */
};
extern struct vps vps;

/* The VP of a rank, or NULL if it lives in another process. Ranks from plan.v
   on are those of dormant VPs, which are dealt in turn. */
static inline struct vp *vp_of_rank(int rank) {
  const int own = vps.n - vps.dormant, i = rank - vps.first_rank;
  if (!vps.dormant || rank < vps.plan.v) {
    return i >= 0 && i < own ? &vps.item[i] : 0;
  }
  const int turn = rank - vps.plan.v, nprocs = vps.plan.nprocs;
  return turn % nprocs == vps.process && turn / nprocs < vps.dormant
             ? &vps.item[own + turn / nprocs]
             : 0;
}
static inline int vp_rank(int index) {
  const int own = vps.n - vps.dormant;
  return index < own
             ? vps.first_rank + index
             : vps.plan.v + (index - own) * vps.plan.nprocs + vps.process;
}
/* Ranks of the job, dormant ones included. */
static inline int vp_ranks(void) {
  return vps.universe ? vps.universe : vps.plan.v;
}

/* What stands between a VP's program and the system: the steps of it that a VP
   takes, on its own thread but for `install`. */
struct vp_interposer {
  void (*install)(void);        /* once, before VPs run */
  void *(*stack_new)(void);     /* for handlers, should its own overflow */
  void (*begin)(struct vp *vp); /* its program begins */
  void (*destruct)(void);       /* its program ends: thread_local objects; once
                                   more when a destructor has left by exit */
  void (*flush)(void);          /* then: what streams have not written */
  void (*forget)(const struct vp *vp); /* its main has returned */
  void (*end)(struct vp *vp);
  void (*stack_free)(void *stack);
};

/* Starts the thread of every VP that is not dormant, waits until all have ended
   and no dormant one can start any more, and returns the status of the first
   (by rank) that was not zero. In `dir` is room for their stacks. */
int vps_run(const char *dir, const struct vp_interposer *with);

/* Do threads of programs that have ended still run? They use their contexts. */
bool vps_left_threads(void);

/* If not NULL, VPs do not begin their programs: each calls this instead, on
   another stack, and it goes on where the program has stopped in another
   process (vp/resume.h). */
extern void (*vp_restart)(void);
/* For that: makes the calling VP's thread-local data, as they begin. */
void vp_begin_data(const struct vp *vp);
/* If not NULL, it is called at the entry of blocking collective calls with the
   handle of the communicator; moves: in the call no code of the program runs.
 */
extern void (*vp_superstep)(uintptr_t comm, bool moves);
/* At its end, if vp->ahead was set: returns when the VP may leave it. */
extern void (*vp_superstep_over)(void);

/* VPs are to stop at the entry of their next call for a message, and those that
   wait in one are to leave it: set under the scheduler's lock. */
extern atomic_bool vp_stops;
/* Then: the calling VP stops, at the entry of a call that takes the array, or
   NULL: none. */
extern void (*vp_stop)(const void *array);
/* Is that in memory that a checkpoint has? */
extern bool (*vp_may_leave)(const void *array);
/* What a call returns that was left: no error of MPI. */
#define VP_LEFT (-0x70656d73)
static inline bool vp_is_to_stop(void) {
  return atomic_load_explicit(&vp_stops, memory_order_relaxed);
}

/* Ends the calling VP with `status`: its atexit handlers and destructors run
   when `destruct`, its output is flushed. Does not return. */
_Noreturn void vp_exit(int status, bool destruct);

/* exit() in a process that a VP's program forked. */
_Noreturn void vp_end_child(int status);

/* Around each call of MPI, for what is learnt about a program's memory, and for
   its stack: `apart`, CONTEXT_STACK_APART bytes, lies between its frames and
   those of pems. What the first returns is for the second. */
static inline bool vp_program_stops(struct vp *vp, char *apart) {
  if (!vp->context) {
    return false;
  }
  lazy_stop(vp->context);
  vp->context->depth = (uintptr_t)vp->stack_begin - (uintptr_t)apart;
  partial_stops(vp->context);
  if (context_stack_uneven(vp->context, apart)) {
    stack_growth_settle(vp, apart);
  }
  if (vp->context->oversize.n && !self.helper) {
    oversize_settle(vp->context, vp->helpers);
  }
  return context_stack_leave(vp->context, apart);
}
static inline void vp_program_goes_on(const struct vp *vp, bool left) {
  if (vp->context) {
    partial_goes_on(vp->context);
    lazy_run(vp->context);
  }
  if (left) {
    context_stack_back(vp->context);
  }
}

/* Around what a thread of a VP does in pems without being in MPI. Takes and
   returns the calling thread's VP, or NULL: it has no other threads. */
static inline struct vp *vp_busy(struct vp *vp) {
  if (!vp || !vp->helpers) {
    return NULL;
  }
  atomic_fetch_add(&vp->busy, 1);
  return vp;
}
static inline void vp_not_busy(struct vp *vp) {
  if (vp) {
    atomic_fetch_sub(&vp->busy, 1);
  }
}

/* True once vps_run has started, in the job's own process (not in a child that
   the program forked). */
bool vp_in_job(void);

#endif
