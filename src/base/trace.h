/* What every VP did when: the record behind --pems-report. Off, every call here
   is one predictable branch. */
#ifndef PEMS_BASE_TRACE_H
#define PEMS_BASE_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a VP is doing: always exactly one of these. */
enum trace_state {
  TRACE_COMPUTE, /* its program runs */
  TRACE_DELIVER, /* in a collective call: copying, packing, delivering */
  TRACE_NETWORK, /* exchanging messages with other processes */
  TRACE_OTHERS,  /* waits for other VPs (or the network) */
  TRACE_SLOT,    /* ready: waits for a slot (one of the k tokens) */
  TRACE_SWAP,    /* ready: waits until its context is in memory */
  TRACE_DISK,    /* running: waits for a message to be read or written, or for
                    room for memory it allocates */
  TRACE_STATES,  /* how many */
};

/* Bytes that moved on behalf of a VP. */
enum trace_bytes {
  TRACE_IN,      /* its context was read */
  TRACE_OUT,     /* its context was written */
  TRACE_MEMORY,  /* messages copied in memory */
  TRACE_WRITTEN, /* messages written to a context on disk */
  TRACE_READ,    /* messages read from a context on disk */
  TRACE_SENT,    /* messages sent to other processes */
  TRACE_BYTES,   /* how many */
};

extern bool trace_on;

/* Starts recording `n` VPs, those of ranks first_rank..; every one is in
   TRACE_SLOT. Memory is bounded: beyond some 10^6 intervals in all, the trace
   keeps the sums of every superstep but no more single intervals. Returns 0, or
   -1 if out of memory (then nothing is recorded). */
int trace_start(int n, int first_rank);
/* Writes this process's files into `dir` (it exists): see REPORTS in pems(7).
   Returns 0, or -1 with one sentence in err. All VPs have ended. */
int trace_write(const char *dir, int process, int processes, char *err,
                size_t err_size);
void trace_end(void);

void trace_enter_slow(int vp, enum trace_state state, uint64_t now);
void trace_add_slow(int vp, enum trace_bytes kind, uint64_t n);
void trace_move_slow(int vp, bool out, uint64_t begin, uint64_t end,
                     uint64_t bytes);
void trace_superstep_slow(int vp, const char *what);
uint64_t trace_now(void);

/* VP `vp` (its number in this process) is in another state from now on. Calls
   for one VP never overlap. */
static inline void trace_enter(int vp, enum trace_state state) {
  if (__builtin_expect(trace_on, 0)) {
    trace_enter_slow(vp, state, trace_now());
  }
}
/* n bytes moved for `vp`. Thread-safe. */
static inline void trace_add(int vp, enum trace_bytes kind, uint64_t n) {
  if (__builtin_expect(trace_on, 0)) {
    trace_add_slow(vp, kind, n);
  }
}
/* The context of `vp` was written (out) or read between two times (trace_now),
   by whatever thread. Adds the bytes, too. Thread-safe; for one VP never
   overlapping. */
static inline void trace_move(int vp, bool out, uint64_t begin, uint64_t end,
                              uint64_t bytes) {
  if (__builtin_expect(trace_on, 0)) {
    trace_move_slow(vp, out, begin, end, bytes);
  }
}
/* The VP makes its next collective call, `what` (a string that stays): its next
   superstep begins. */
static inline void trace_superstep(int vp, const char *what) {
  if (__builtin_expect(trace_on, 0)) {
    trace_superstep_slow(vp, what);
  }
}

#endif
