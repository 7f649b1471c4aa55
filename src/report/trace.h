/* What every VP did when: the record behind --pems-report. Off, every call here
   is one predictable branch; on, a change of state costs a look at the clock
   and a few stores to memory of that VP alone. */
#ifndef PEMS_REPORT_TRACE_H
#define PEMS_REPORT_TRACE_H

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

/* Who has ended a wait, where that is no rank of this process. */
enum { TRACE_ELSEWHERE = -1 };

extern bool trace_on;

/* Starts recording `n` VPs, those of ranks first_rank..; every one is in
   TRACE_SLOT. Memory is bounded (trace_memory): beyond some 10^6 intervals in
   all, the trace keeps sums but no more single intervals; beyond some 10^5
   pairs of a VP and a superstep, neighbouring supersteps are summed together.
   Nothing is lost from the sums. Returns 0, or -1 if out of memory (then
   nothing is recorded). Not thread-safe. */
int trace_start(int n, int first_rank);
/* The most bytes that recording n VPs takes; they are used up only as the
   record grows. */
size_t trace_memory(int n);
/* Nanoseconds of CLOCK_REALTIME when the recording started: 0 on the time axis,
   unless trace_set_zero gives another moment, not later. The processes of a job
   agree on the least of theirs before they write. */
uint64_t trace_zero(void);
void trace_set_zero(uint64_t realtime);
/* A line for the summary, such as "k", "2"; both are copied. Those beyond 32
   are dropped, as are notes while nothing is recorded. Not thread-safe. */
void trace_note(const char *name, const char *value);

/* What the page of the report compares the run with; for process 0. Not
   thread-safe. */
struct trace_facts {
  int k;              /* ranks that run at once in a process */
  uint64_t resident;  /* bytes of memory for the contexts of a process */
  uint64_t disk_rate; /* bytes per second of all disks of a process, measured
                         before (config/measured.h); 0: not known */
  bool lazy;          /* contexts are read as they are touched */
  uint64_t lacked;    /* bytes more with which all contexts of a process would
                         have stayed in memory; 0: not known */
};
void trace_set_facts(const struct trace_facts *facts);
/* The last of them, which is known at the end. */
void trace_set_lacked(uint64_t bytes);

/* Frees the record. Nobody else may be in a function of this header. */
void trace_end(void);

/* The state that the VP is in, for those who return to it; TRACE_COMPUTE when
   nothing is recorded. Under the same rules as trace_enter. */
enum trace_state trace_state_of(int vp);

void trace_enter_slow(int vp, enum trace_state state, uint64_t now);
void trace_allocate_slow(int vp);
void trace_add_slow(int vp, enum trace_bytes kind, uint64_t n);
void trace_move_slow(int vp, bool out, uint64_t begin, uint64_t end,
                     uint64_t bytes);
void trace_woken_slow(int vp, int by);
void trace_resident_slow(uint64_t bytes);
void trace_superstep_slow(int vp, const char *what);
void trace_leave_slow(int vp);
uint64_t trace_now(void);

/* VP `vp` (its number in this process) is in another state from now on. Any
   thread may say so, but calls of trace_enter, trace_superstep and trace_leave
   for one VP are ordered: one happens before the next. */
static inline void trace_enter(int vp, enum trace_state state) {
  if (__builtin_expect(trace_on, 0)) {
    trace_enter_slow(vp, state, trace_now());
  }
}
/* Enters TRACE_DISK for the sake of memory that the program allocates, not of a
   call of MPI. */
static inline void trace_allocate(int vp) {
  if (__builtin_expect(trace_on, 0)) {
    trace_allocate_slow(vp);
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
/* `by`, a rank or TRACE_ELSEWHERE, has done what the VP waits for: to be told
   before the VP leaves TRACE_OTHERS. */
static inline void trace_woken(int vp, int by) {
  if (__builtin_expect(trace_on, 0)) {
    trace_woken_slow(vp, by);
  }
}
/* So many bytes of contexts are in memory from now on. Calls are ordered. */
static inline void trace_resident(uint64_t bytes) {
  if (__builtin_expect(trace_on, 0)) {
    trace_resident_slow(bytes);
  }
}
/* The VP makes its next collective call, `what` (a string that stays): its next
   superstep begins, in TRACE_DELIVER. What came before the first call is
   superstep 0. */
static inline void trace_superstep(int vp, const char *what) {
  if (__builtin_expect(trace_on, 0)) {
    trace_superstep_slow(vp, what);
  }
}
/* The VP has ended: what follows is nobody's time. */
static inline void trace_leave(int vp) {
  if (__builtin_expect(trace_on, 0)) {
    trace_leave_slow(vp);
  }
}

#endif
