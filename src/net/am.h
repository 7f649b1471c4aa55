/* Active messages between processes: what arrives is handed to the handler of
   its kind, on one thread, in the order in which each process sent it. Two
   threads of pems carry them (P > 1 only): one receives, one sends streams. */
#ifndef PEMS_NET_AM_H
#define PEMS_NET_AM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum am_kind {
  AM_BOX,   /* collectives: mpi/coll/call/mailbox.c */
  AM_CROSS, /* collectives that move data: mpi/coll/move/coll_remote.c */
  AM_P2P,   /* mpi/p2p/p2p_remote.c */
  AM_WIN,   /* one-sided: mpi/rma/win_remote.c */
  AM_FILE,  /* shared file pointers */
  AM_NAME,  /* names of ports: mpi/comm/service.c */
  AM_SPAWN, /* ranks that start and end: mpi/comm/universe.c */
  AM_STATE, /* is everybody waiting: mpi/verify/deadlock.c */
  AM_SAVE,  /* when to stop for a checkpoint: mpi/job/checkpoint_ask.c */
  AM_CALLS, /* collective ones, then: mpi/job/checkpoint_calls.c */
  AM_STILL, /* does nothing move: mpi/verify/standstill.c */
  AM_CHECK, /* what ranks leave: mpi/verify/check_leaks.c */
  AM_KINDS,
};

enum { AM_LARGEST = 256 << 10 }; /* bytes of header and data of one message */

/* Takes a message. It may do I/O on contexts and send others, and must not wait
   for VPs. Returns false if what `key` names is not there yet: the message, and
   those of that kind and key after it, are kept and offered again after
   am_retry. `bytes` (header, then data) is valid during the call, and aligned
   to 16. */
typedef bool am_handler(int process, uint64_t key, const char *bytes, size_t n);
/* Before am_start. */
void am_register(enum am_kind kind, am_handler *handler);

/* Starts and stops the threads; called by all processes. am_stop returns when
   all that was sent anywhere has been handled. No effect where P = 1. */
void am_start(void);
void am_stop(void);

/* Sends header and data (header_n + n <= AM_LARGEST; n may be 0) to another
   process. Copies them; never waits. Thread-safe, and messages of one thread to
   one process keep their order. Calls the real MPI, which may take long: not
   with the scheduler's lock held. */
void am_send(int process, enum am_kind kind, uint64_t key, const void *header,
             size_t header_n, const void *data, size_t n);
/* The same for callers that hold that lock: the message leaves when they
   release it. */
void am_post_locked(int process, enum am_kind kind, uint64_t key,
                    const void *header, size_t header_n, const void *data,
                    size_t n);
/* Do so many bytes, header included, go to that process through memory that
   both share? They are copied twice then, and the sender's is free at once. */
bool am_is_short(int process, size_t n);
/* Waits until little is queued for `process`: for threads that send much, but
   not VPs with a slot, nor handlers. */
void am_wait_room(int process);
/* What a handler could not take may be offered again. Any thread, any lock. */
void am_retry(void);

/* Much data for one process: the sending thread asks for message after message
   when there is room. */
struct am_stream {
  struct am_stream *link; /* private */
  int process;
  enum am_kind kind;
  uint64_t key;
  /* Writes header and data of the next message, at most AM_LARGEST bytes, and
     returns how many; 0: that was all, and the stream's memory is the caller's
     again (it may free it right then). May do I/O on contexts. */
  size_t (*next)(struct am_stream *s, char *out);
};
void am_stream_start(struct am_stream *s);

/* By one thread of each process, which takes part in all of them: returns when
   all that was sent anywhere has been handled, and nobody sends more. At once
   where P = 1. */
void am_settle(void);
/* After that: are there messages here that no handler has taken? */
bool am_keeps(void);
/* How many messages have been sent and handled so far: equal sums over all
   processes, twice, and nothing moves any more. */
void am_counts(uint64_t *sent, uint64_t *handled);

#endif
