/* What the files of coll_remote.h share: one call's messages to and from each
   other process. Everything is under the scheduler's lock unless it says
   otherwise. */
#ifndef PEMS_MPI_COLL_MOVE_COLL_REMOTE_STATE_H
#define PEMS_MPI_COLL_MOVE_COLL_REMOTE_STATE_H

#include "mpi/coll/move/coll_remote.h"
#include "net/am.h"
#include "net/neighbour.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
  /* A message is small if it was packed by its sender and is no larger: it
     goes with others as soon as all here have made the call, and waits in
     memory for its receiver. */
  COLL_REMOTE_SMALL = 32 << 10,
};

/* The first bytes of every message. */
struct coll_remote_wire {
  uint64_t team, number; /* the call */
  struct coll_caller caller;
  uint8_t what; /* enum coll_remote_what */
  uint8_t end;  /* nothing but the chunks so far will come */
  int32_t peer;
  uint64_t chunk;    /* number of a chunk; or how many there have been */
  uint64_t total;    /* bytes of the chunk */
  uint64_t position; /* of what follows in it */
  uint64_t kept;     /* of a chunk with offers: what the sender knows it by */
};

enum coll_remote_what {
  CROSS_READY, /* `peer` has made the call: large messages for it may come */
  CROSS_OPEN,  /* all members there have; small messages follow */
  CROSS_SMALL, /* more small messages */
  CROSS_CHUNK, /* a piece of a chunk of large messages */
  CROSS_TAKEN, /* a chunk has been taken; of no call. What follows are the
                  numbers of the records whose offers did not hold */
  CROSS_END,   /* nothing else will come */
};

/* What stands before each message, or piece of a large one. */
struct coll_remote_record {
  int32_t source;      /* peer */
  int32_t destination; /* a peer, or EVERYBODY in the process */
  uint64_t position;   /* of the piece in the packed message */
  uint64_t n;          /* bytes of the piece that follow, padded to 8 */
  uint64_t total;      /* bytes of the message */
  uint64_t offered;    /* no: an offer of them follows */
};
enum { EVERYBODY = -1, NOBODY = -2 /* it is sent again */ };
enum { COLL_REMOTE_PIECES = 512 }; /* records in a chunk, at most */

/* A small message that came, until its receiver runs. */
struct coll_remote_mail {
  struct coll_remote_mail *next;
  int source; /* peer */
  size_t n;
  char data[];
};

/* Messages become due when both their sender (here) and their receiver (there)
   have made the call. Each such event gets the next number, and what becomes
   due by it is sent in this order. */
struct coll_remote_event {
  bool sender; /* here */
  int who;     /* its index; or the receiver's place in `peers`, or all that
                  had not come before */
};
enum { ALL_OTHERS = -1 };

/* Where sending stands: the message from member `i` here to peers[j] among
   those due by event `time`. */
struct coll_remote_due {
  uint32_t time;
  int i, j;
  size_t position; /* bytes of it that were given out */
};

/* Another process with members. */
struct coll_remote_slot {
  struct coll_remote *crossing;
  int process;
  int *peers; /* members there, ascending */
  int n;

  /* Out: */
  uint32_t clock;  /* events so far */
  uint32_t *sent;  /* by index here: when it made the call; 0: not yet */
  uint32_t *ready; /* by place in peers */
  struct coll_remote_event *event; /* by number - 1 */
  uint32_t opened;                 /* when all there had made it */
  struct coll_remote_due due;
  size_t *unsent; /* by index: bytes of large messages not read yet */
  size_t pending; /* their sum */
  bool small;     /* small messages are left... */
  int small_i;    /* ...from this member on, */
  int small_j;    /* to this one */
  bool told;      /* OPEN was sent */
  int jobs;       /* that send */
  uint64_t chunks;
  bool ended; /* all was sent, and END or OPEN has said so */

  /* In: */
  size_t *lacking; /* by index: bytes that are still to come */
  struct incoming *incoming;
  bool end;               /* the other side has ended, */
  uint64_t coming, taken; /* after so many chunks */
  bool closed;            /* all has come */
};

struct coll_remote {
  struct coll *coll;
  void (*over)(struct coll *coll);
  struct coll_remote_slot *slot;
  int n;
  int left;   /* slots that are not over */
  bool moves; /* there are messages: members have a struct coll_part */
  int *peers;
  struct coll_remote_mail **mail;  /* by index here */
  struct coll_remote_mail *to_all; /* for every member here */
};

/* The message goes by READY and in chunks, not with OPEN. */
bool coll_remote_is_large(const struct coll_part *p, int destination,
                          struct layout_span *m);
static inline bool coll_remote_to_everybody(const struct coll_part *p) {
  return p->send.shape == SIDE_ONE && p->send.only < 0;
}

/* --- coll_remote_out.c --- */

void coll_remote_out_start(void); /* once per process */
/* A member here has made the call, or `peer` there (or ALL_OTHERS): what is due
   by that is sent by a job. */
void coll_remote_out_sender(struct coll_remote_slot *s,
                            const struct coll_part *p);
void coll_remote_out_ready(struct coll_remote_slot *s, int peer);
/* All members here have made the call: tells the process. Without the lock. */
void coll_remote_out_open(struct coll_remote_slot *s);
/* A chunk was taken there. kept: with offers, the n numbers of records of which
   did not hold. Without the lock. */
void coll_remote_out_taken(int process, uint64_t kept, const uint16_t *failed,
                           size_t n);
struct coll_remote_wire coll_remote_wire(const struct coll *coll,
                                         enum coll_remote_what what);
uint64_t coll_remote_key(uint64_t team, uint64_t number);

/* --- coll_remote_in.c --- */

/* Bytes that the member is to receive from the process and have not come. */
size_t coll_remote_in_expected(const struct coll_remote_slot *s,
                               const struct coll_part *p);
/* Small messages came: these unpacked, without the lock. */
struct coll_remote_mail *coll_remote_in_unpack(const char *bytes, size_t n);
/* The same with it: hands them over, all that they were unpacked to. */
void coll_remote_in_small_locked(struct coll_remote_slot *s, const char *bytes,
                                 size_t n, struct coll_remote_mail *mail);
/* A piece of a chunk came. Without the lock, by the thread that receives. */
void coll_remote_in_chunk(struct coll_remote_slot *s,
                          const struct coll_remote_wire *w, const char *bytes,
                          size_t n);
/* Nothing but `chunks` chunks come. */
void coll_remote_in_end_locked(struct coll_remote_slot *s, uint64_t chunks);

/* One direction is complete: if both are, and everywhere, the call is over and
   may be gone. */
void coll_remote_check_over(struct coll_remote_slot *s);

static inline size_t coll_remote_padded(size_t n) {
  return (n + 7) & ~(size_t)7;
}
/* Bytes that follow the record. */
static inline size_t coll_remote_body(const struct coll_remote_record *r) {
  return r->offered ? sizeof(struct neighbour_offer) : coll_remote_padded(r->n);
}

#endif
