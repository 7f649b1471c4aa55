/* What trace.c keeps, for those who write it out (report*.c). To be read when
   nothing is recorded any more. */
#ifndef PEMS_REPORT_TRACE_RECORD_H
#define PEMS_REPORT_TRACE_RECORD_H

#include "os/lock.h"
#include "report/trace.h"
#include "report/trace_calls.h"
#include "report/trace_series.h"

#include <pthread.h>
#include <stdatomic.h>

/* Time in ns, bytes by kind, and the time that transfers of the context took,
   which is nobody's state: they overlap with all of them. */
struct trace_sums {
  uint64_t time[TRACE_STATES];
  uint64_t bytes[TRACE_BYTES];
  uint64_t moving[2]; /* ns: in, out */
};
void trace_sums_add(struct trace_sums *to, const struct trace_sums *from);

/* What one VP did in `stride` consecutive supersteps. It ends where the next
   row begins, the last one when the VP ended. */
struct trace_row {
  uint64_t begin;   /* ns, as all times here: trace_now */
  const char *what; /* the call it begins with; trace_various for several */
  struct trace_sums sums;
};
extern const char trace_various[];

struct trace_interval {
  uint64_t begin; /* it ends where the next begins: trace_interval_end */
  uint32_t superstep;
  uint32_t state; /* enum trace_state */
};

struct trace_transfer {
  uint64_t begin;
  uint64_t end;
  uint64_t bytes; /* bit 63: out */
};
#define TRACE_IS_OUT (UINT64_C(1) << 63)

/* Intervals and transfers are kept in lists of chunks from one pool. */
enum {
  TRACE_CHUNK = 1024, /* bytes, about */
  TRACE_CHUNK_INTERVALS =
      (TRACE_CHUNK - sizeof(void *)) / sizeof(struct trace_interval),
  TRACE_CHUNK_TRANSFERS =
      (TRACE_CHUNK - sizeof(void *)) / sizeof(struct trace_transfer),
};
struct trace_chunk {
  struct trace_chunk *next;
  union {
    struct trace_interval interval[TRACE_CHUNK_INTERVALS];
    struct trace_transfer transfer[TRACE_CHUNK_TRANSFERS];
  };
};
struct trace_list {
  struct trace_chunk *first, *last;
  size_t n;       /* items */
  size_t dropped; /* items for which there was no room: none after the first */
};

/* One VP. The first group is its own (or the scheduler's, under its lock). */
struct trace_vp {
  uint64_t since; /* the state's time has been counted until then */
  enum trace_state state;
  bool ended;
  uint64_t superstep; /* that it is in */
  uint64_t stride;    /* supersteps in a row: a power of two */
  size_t n_rows;
  struct trace_row *row;
  uint64_t bytes_before[TRACE_BYTES]; /* of `bytes` that rows already have */
  uint64_t moving_before[2];
  struct trace_list intervals;
  uint64_t known_until; /* begin of the first interval that was dropped */
  int site;             /* of `calls`, since it left TRACE_COMPUTE */
  int woken_by;         /* since it is in TRACE_OTHERS */
  struct trace_calls calls;

  /* Everybody's. */
  _Alignas(128) _Atomic uint64_t bytes[TRACE_BYTES];
  _Atomic uint64_t moving[2];
  struct lock lock; /* for transfers */
  struct trace_list transfers;
};

enum { TRACE_NOTES = 32 };
struct trace_note {
  char name[32];
  char value[224];
};

struct trace_record {
  int n;
  int first_rank;
  size_t rows;             /* the most of one VP, an even number */
  uint64_t start;          /* trace_now */
  uint64_t start_realtime; /* the same moment */
  uint64_t zero;           /* realtime that is 0 in the files */
  struct trace_vp *vp;
  struct trace_note note[TRACE_NOTES];
  int notes;
  struct trace_facts facts;
  struct trace_series resident; /* bytes, under the lock of the residency */
  /* One mapping: VPs, rows, chunks. */
  void *memory;
  size_t memory_size;
  struct trace_chunk *chunk;
  size_t chunks;
  _Atomic size_t chunks_used;
};
extern struct trace_record trace_record;

/* Ends the time of all VPs that have not. */
void trace_finish(void);
/* What a trace_now is on the time axis of the job, in ns. */
uint64_t trace_since_zero(uint64_t now);

/* The end of row i of a VP. */
uint64_t trace_row_end(const struct trace_vp *v, size_t i);

/* The end of an interval, given the one after it, or NULL for the last. */
uint64_t trace_interval_end(const struct trace_vp *v,
                            const struct trace_interval *next);

/* Walks over a list: an item's number and its chunk. */
struct trace_cursor {
  const struct trace_list *list;
  const struct trace_chunk *chunk;
  size_t i;
};
static inline struct trace_cursor trace_walk(const struct trace_list *list) {
  return (struct trace_cursor){list, list->first, 0};
}
/* The next item, or NULL. */
static inline const struct trace_interval *
trace_next_interval(struct trace_cursor *c) {
  if (c->i == c->list->n) {
    return NULL;
  }
  const size_t at = c->i++ % TRACE_CHUNK_INTERVALS;
  if (at == 0 && c->i > 1) {
    c->chunk = c->chunk->next;
  }
  return &c->chunk->interval[at];
}
static inline const struct trace_transfer *
trace_next_transfer(struct trace_cursor *c) {
  if (c->i == c->list->n) {
    return NULL;
  }
  const size_t at = c->i++ % TRACE_CHUNK_TRANSFERS;
  if (at == 0 && c->i > 1) {
    c->chunk = c->chunk->next;
  }
  return &c->chunk->transfer[at];
}

#endif
