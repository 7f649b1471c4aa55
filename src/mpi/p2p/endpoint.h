/* Where messages and receives of one member of a team meet: who matches whom.
   All under the scheduler's lock. */
#ifndef PEMS_MPI_P2P_ENDPOINT_H
#define PEMS_MPI_P2P_ENDPOINT_H

#include "mpi/object/team.h"
#include "mpi/p2p/letter.h"
#include "mpi/p2p/p2p.h"
#include "mpi/request/request.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HASHES = 16, TINY = 128 };

struct endpoint_list {
  struct letter_link *first, *last;
};

/* What a receive or a probe asks for. */
struct endpoint_pattern {
  enum p2p_channel channel;
  int source, tag; /* or MPI_ANY_SOURCE, MPI_ANY_TAG */
};

struct endpoint_receive {
  struct request request;
  struct endpoint_pattern pattern;
  struct layout_span span;
  bool held;                 /* its layout is held */
  struct endpoint *endpoint; /* where it waits, else NULL */
  struct letter_link link;
  uint64_t number;       /* in the order of posting */
  struct letter *letter; /* that it will unpack itself */
  size_t expected, got;  /* bytes of what another process sends */
  bool unsaved;    /* a checkpoint has its memory as of when it was not done */
  bool has_tiny;   /* the message is here: */
  char tiny[TINY]; /* not there if the VP has many requests */
};

/* A thread that waits for a letter. */
struct endpoint_probe {
  struct endpoint_probe *next;
  struct endpoint_pattern wanted;
  struct run_queue_waiting waiting;
};

struct endpoint {
  struct vp *vp;
  struct endpoint_probe *probes; /* of its threads that wait */
  uint64_t posted;               /* receives so far */
  /* Letters that no receive was posted for, in the order of their arrival: all,
     and by source. Receives by source, and those of any. */
  struct endpoint_meeting {
    struct endpoint_list letters, by_source[HASHES];
    struct endpoint_list any, receives[HASHES];
  } *meeting[CHANNELS]; /* NULL: never used */
};

/* That of a member in this process; made when it is first asked for. */
struct endpoint *endpoint_of(struct team *team, int index);
void endpoint_free(struct endpoint *e); /* and its letters; NULL is allowed */

/* The first posted receive that takes such a message, no longer posted; or
   NULL. */
struct endpoint_receive *endpoint_match_locked(struct endpoint *e,
                                               enum p2p_channel channel,
                                               int source, int tag);
void endpoint_post_locked(struct endpoint *e, struct endpoint_receive *r);
void endpoint_unpost_locked(struct endpoint_receive *r);

/* The first letter of a pattern, or NULL. */
struct letter *endpoint_find_locked(struct endpoint *e,
                                    const struct endpoint_pattern *p);
/* Wakes a VP that probes. */
void endpoint_add_locked(struct endpoint *e, struct letter *l);
void endpoint_remove_locked(struct endpoint *e, struct letter *l);
/* The letter of another process's send, or NULL. */
struct letter *endpoint_find_remote_locked(struct endpoint *e,
                                           enum p2p_channel channel,
                                           int process, uint64_t remote);

/* The letter behind l, of any channel, the first for NULL; or NULL. Also
   without the lock where nothing is under way. */
struct letter *endpoint_next(const struct endpoint *e, const struct letter *l);

/* May a tiny message be put there? */
bool endpoint_takes_tiny(const struct endpoint_receive *r);
/* Notes what is received. */
void endpoint_result(struct endpoint_receive *r, int source, int tag,
                     size_t bytes);
/* With the lock: contents for a receive that was posted. Takes over the letter.
 */
void endpoint_give_locked(struct endpoint_receive *r, struct letter *l);

#endif
