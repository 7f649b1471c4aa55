/* What a checkpoint has of a rank's requests and messages: each record is
   followed by what it counts. */
#ifndef PEMS_MPI_P2P_P2P_RECORD_H
#define PEMS_MPI_P2P_P2P_RECORD_H

#include "mpi/request/request.h"

#include <stdint.h>

/* First: how many of what there are, in this order. */
struct p2p_record_rank {
  uint32_t buffers;  /* buffered_save */
  uint32_t requests; /* struct p2p_record_request, in the order of their
                        beginnings; but receives that are posted come after
                        others, in the order of their posting, and those that
                        have parts after these */
  uint32_t comms;    /* struct p2p_record_comm: those that have letters */
  uint32_t matched;  /* messages of MPI_Mprobe: struct p2p_record_letter */
};

/* Behind it: its layout (layout_kept.h). */
struct p2p_record_span {
  uint64_t base, count;
};

#define P2P_RECORD_NO_COMM UINT64_MAX

enum p2p_record_kind {
  P2P_RECORD_SEND,
  P2P_RECORD_RECEIVE,
  P2P_RECORD_PAST,  /* a result */
  P2P_RECORD_OTHER, /* behind it: its parts, and what its class says of it */
};

struct p2p_record_request {
  uint64_t number;         /* that no other one of the rank has */
  uint64_t comm;           /* id of its team, or P2P_RECORD_NO_COMM */
  uint64_t function, site; /* addresses, which are the same */
  uint64_t class;          /* address, of one that is another one */
  int32_t handle;          /* number, or 0 */
  uint8_t kind;            /* enum p2p_record_kind */
  bool persistent, active, finished, done, freed;
  uint8_t kept; /* 1 + its place for a call that was left, or 0 */
  struct request_result result;
  int32_t channel, mode, peer, tag; /* a receive's source is its peer */
  bool posted;                      /* a receive that waits */
  bool summed;
  uint64_t sum;
  uint64_t contents; /* bytes of them: of a copy that is sent, or of what was
                        received and is not in memory: behind the span */
  struct p2p_record_span span;
  uint32_t parts; /* of another one: behind it is the number of each */
};

struct p2p_record_comm {
  uint64_t comm; /* id of its team */
  uint64_t letters;
};

/* Behind it: its contents, if they are kept. */
struct p2p_record_letter {
  uint64_t comm;   /* of a matched one */
  uint64_t number; /* of the send that waits, a request of its source; or 0 */
  uint64_t bytes;
  int32_t handle; /* of a matched one: number */
  int32_t source, tag;
  uint8_t channel;
  bool kept;
};

#endif
