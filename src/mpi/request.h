/* Requests: something a VP has started and will ask about. Point-to-point
   messages, nonblocking collectives, one-sided and file operations are all
   requests of their own class; MPI_Wait and its kin know no more than this. */
#ifndef PEMS_MPI_REQUEST_H
#define PEMS_MPI_REQUEST_H

#include "mpi/comm.h"
#include "mpi/handle.h"
#include "mpi/rank.h"

#include <mpi.h>
#include <stdbool.h>

struct request;

struct request_class {
  const char *name; /* "receive": for reports */
  /* Called once by the owner, without the lock, after `done` and before the
     result is read: what is left to do in its own memory. May be NULL. */
  void (*finish)(struct request *r);
  /* Persistent requests: begins anew. NULL: not persistent. */
  void (*start)(struct request *r);
  /* MPI_Cancel; NULL: an error for this class. Sets r->result.cancelled and
     calls request_done when it could be withdrawn. */
  void (*cancel)(struct request *r);
  /* Releases what the request holds, not the request itself. May be NULL. */
  void (*release)(struct request *r);
};

/* What a status says. */
struct result {
  int source, tag; /* as the program sees them */
  int error;       /* MPI error class */
  MPI_Count bytes;
  bool cancelled;
};

struct request {
  struct handle handle; /* HANDLE_REQUEST */
  const struct request_class *class;
  struct vp *vp;        /* whose it is */
  struct comm *comm;    /* in use until the request goes; or NULL */
  const char *function; /* "MPI_Irecv" */
  void *site;           /* where the program called it */
  bool persistent;
  bool active;   /* started, and its end was not reported yet */
  bool finished; /* finish was called */
  /* Under the scheduler's lock: */
  bool done;    /* all that others have to do for it has been done */
  bool awaited; /* its VP sleeps until it is */
  bool freed;   /* MPI_Request_free: goes when done */
  struct result result;
  struct request *next, *previous; /* in rank->requests */
};

/* A request of the calling VP, `size` bytes (struct request first, the rest
   zero), active, empty result (MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_SUCCESS, 0).
   comm may be NULL. */
void *request_new(size_t size, const struct request_class *class,
                  struct comm *comm, const char *function);
/* Its end, called once with the scheduler's lock held, on any thread: wakes its
   VP when that waits for nothing else. A freed request goes. */
void request_done(struct request *r);
/* The same without the lock, for one that is done when it begins. */
void request_done_now(struct request *r);

/* Waits until it is done, finishes it, and frees it; for calls that block.
   Returns its error; `result` may be NULL. */
int request_complete(struct request *r, struct result *result);
/* Waits for all n at once, then as above each; NULL entries are skipped. The
   first error. */
int request_complete_all(struct request **r, int n);

/* NULL for what is none; MPI_REQUEST_NULL is none. */
struct request *request_of(MPI_Request handle);
static inline MPI_Request request_handle(struct request *r) {
  return (MPI_Request)r;
}
/* Fills a status (MPI_STATUS_IGNORE is allowed). */
void status_set(MPI_Status *status, const struct result *result);

/* A call that asked in vain (MPI_Test, MPI_Iprobe, ...): lets others run, once
   the VP has done so a few times in a row. Without the lock. */
void request_polled(struct vp *vp);
/* One that did not ask in vain. */
void request_poll_over(struct vp *vp);
/* With the lock: something has happened that the VP may be polling for. */
void request_poll_wake(struct vp *vp);

#endif
