/* Requests: something a VP has started and will ask about. Point-to-point
   messages, nonblocking collectives, one-sided and file operations are all
   requests of their own class; MPI_Wait and its kin know no more than this. */
#ifndef PEMS_MPI_REQUEST_REQUEST_H
#define PEMS_MPI_REQUEST_REQUEST_H

#include "checkpoint/stream.h"
#include "mpi/object/comm.h"
#include "mpi/object/rank.h"
#include "mpi_abi/abi.h"
#include "mpi_abi/handle.h"

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>

struct coll;
struct request;
struct layout_span;

enum { PEER_NONE = -1, PEER_ANY = -2 };

/* What a request waits for, as its class tells: for a report of a deadlock. */
struct request_reason {
  const struct coll *coll; /* the collective call that it is part of; or */
  const char *what;        /* "for a message", */
  const char *by;          /* "from" */
  int peer;                /* in its communicator's team, PEER_ANY or _NONE */
  int tag;                 /* or MPI_ANY_TAG */
  bool tagged;
};

/* What one was in another process. */
struct request_before {
  const struct request_class *class;
  struct comm *comm; /* or NULL */
  const char *function;
  struct request **parts; /* they are there again */
  int n;
};

typedef void request_buffer_fn(void *arg, const struct request *r,
                               const struct layout_span *s, bool received);

struct request_class {
  const char *name; /* "receive": for reports */
  bool past;        /* once it is finished, its result is all that is left */
  bool collective;  /* it ends when all members have begun it */
  /* Called once by the owner, without the lock, after `done` and before the
     result is read: what is left to do in its own memory. May be NULL. */
  void (*finish)(struct request *r);
  /* Persistent requests: begins anew. NULL: not persistent. */
  void (*start)(struct request *r);
  /* MPI_Cancel of an active one, done or not; NULL: an error for this class.
     Sets r->result.cancelled and calls request_done when it could be
     withdrawn. */
  void (*cancel)(struct request *r);
  /* Releases what the request holds, not the request itself. May be NULL. */
  void (*release)(struct request *r);
  /* Says what an active one waits for (verify/deadlock_report.h), with the
     scheduler's lock, when nobody can go on. May be NULL. */
  void (*tell)(const struct request *r, struct request_reason *why);
  /* Calls f for each buffer that an active one uses (check/check_buffers.h).
   * May be NULL. */
  void (*buffers)(const struct request *r, request_buffer_fn *f, void *arg);
  /* In a checkpoint (p2p/p2p_save.h): what is its class's own, on any thread;
     and the same, made anew by its VP in another process, where classes lie at
     the same addresses: NULL after an error. NULL: it is saved in another way,
     or not at all. The first one, which may be NULL, says whether this one can
     be saved. */
  bool (*saves)(const struct request *r);
  void (*save)(const struct request *r, struct checkpoint_writer *to);
  struct request *(*load)(const struct request_before *was,
                          struct checkpoint_reader *from);
  /* Messages of which it is made: how many, which may change until it is done.
     A checkpoint has each of them, so it can be under way there. NULL: it has
     none, and is saved only while it is not. */
  int (*parts)(const struct request *r, struct request *const **parts);
};

/* What a status says. */
struct request_result {
  int source, tag; /* as the program sees them */
  int error;       /* MPI error class */
  MPI_Count bytes;
  bool cancelled;
};

/* What a thread that waits for requests waits for. */
struct arrivals {
  struct run_queue_waiting waiting;
  int awaited; /* of them to be done before it is woken */
  int more;    /* of them that may be done after that */
  bool any;    /* the first of several is enough */
  bool known;  /* residency knows of them (residency/awaited.h) */
};

struct request {
  struct handle handle; /* HANDLE_REQUEST */
  const struct request_class *class;
  size_t size;          /* bytes of it */
  struct vp *vp;        /* whose it is */
  struct comm *comm;    /* in use until the request goes; or NULL */
  const char *function; /* "MPI_Irecv" */
  void *site;           /* where the program called it; NULL: it did not */
  bool persistent;
  bool active;   /* started, and its end was not reported yet */
  bool finished; /* finish was called */
  /* Set under the scheduler's lock: */
  atomic_bool done; /* all that others have to do for it has been done: they do
                       not look at it any more */
  struct arrivals *awaited; /* a thread of its VP sleeps until it is, */
  int partner;              /* for whom, then: residency/awaited.h */
  bool beside;              /* or for others, and may ask for this one next */
  bool freed;               /* MPI_Request_free: its VP removes it when done */
  struct request *gone;     /* in rank->gone */
  struct request *whole;    /* of which it is a part, or NULL */
  int parts;                /* of it that are not done */
  struct request_result result;    /* by who ends it */
  struct request *next, *previous; /* in rank->requests */
};

/* A request of the calling VP, `size` bytes (struct request first, the rest
   zero), active, empty result (MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_SUCCESS, 0).
   comm may be NULL. NULL if memory is short: it is made before what it is for
   begins, so that the program's call can fail. */
void *request_new(size_t size, const struct request_class *class,
                  struct comm *comm, const char *function);
/* The calling VP has so many requests that each should take little memory. */
bool request_many(void);
/* r; but where there was no memory for it (NULL), the job ends: for a part of
   what others wait for. */
struct request *request_need(struct request *r);
/* One that is over, with an empty result, and takes no memory: a send of a
   program that is done when it is started. It may be given many times and ended
   as often. */
struct request *request_over(void);
/* Its end, called once (or once a start) with the scheduler's lock held, on any
   thread: wakes its VP when that waits for nothing else. The request may be
   gone when it returns. */
void request_done_locked(struct request *r);
/* The same without the lock, for one that is done when it begins, which nobody
   else knows of. */
void request_done_now(struct request *r);

/* A call that is left for a checkpoint, and made again, finds its requests
   then, also in another process: number i of them, 0 or 1. */
void request_keep(struct request *r, int i);
/* Takes it, or NULL: the call was not left. */
struct request *request_kept(int i);

/* One that was finished in another process. Not for NULL. */
struct request *request_past(struct comm *comm, const char *function);

/* Begins a persistent one that is not active. */
void request_restart(struct request *r);
/* r was made and not begun: it is persistent. NULL is allowed. */
struct request *request_persistent(struct request *r);

/* Nobody will ask about it any more: it goes when it is done. */
void request_let_go(struct request *r);
/* Waits for those that the calling VP has freed: MPI_Finalize. */
void requests_end(const char *function);

/* NULL for what is none; MPI_REQUEST_NULL is none. */
struct request *request_of(MPI_Request handle);
static inline MPI_Request request_handle(struct request *r) {
  return ABI_HANDLE(MPI_Request, r);
}
/* Gives the program its handle; MPI_ERR_NO_MEM for NULL: it was not made. */
static inline int request_give(struct request *r, MPI_Request *handle) {
  if (r) {
    *handle = request_handle(r);
  }
  return r ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}
/* Fills a status (MPI_STATUS_IGNORE is allowed) but for MPI_ERROR, which calls
   that complete one request leave alone. */
void request_status_set(MPI_Status *status,
                        const struct request_result *result);
/* What MPI says of nothing. */
struct request_result request_result_empty(void);

static inline bool request_is_done(const struct request *r) {
  return atomic_load_explicit(&r->done, memory_order_acquire);
}
/* What is left to do for one that is done, once. */
void request_finish(struct request *r);
/* Frees one that nobody else knows of, begun or not: its VP, without the lock.
   NULL is allowed. */
void request_end(struct request *r);
/* Frees what a rank keeps for more of them, when it has ended. */
void requests_forget(struct rank *rank);
/* Frees those that were freed before they were done. */
void requests_remove_gone(struct rank *rank);

/* A call that asked in vain (MPI_Test, MPI_Iprobe, ...) for `asked` things, of
   `among` that other calls of a loop may ask for: lets others run, once the VP
   has done so a few times in a row, and for all. Without the lock. */
void request_polled(struct vp *vp, int asked, int among);
/* One that did not ask in vain. */
void request_poll_over(struct vp *vp);
/* With the lock: something has happened that the VP may be polling for. */
void request_poll_wake_locked(struct vp *vp);

#endif
