/* Who may use how much of a process's memory. Each consumer has a share, with a
   name, a minimum and a maximum; there is no other place that divides memory.
   All shares together are the memory of the process.

   Pure functions of the plan; thread-safe. Sizes are bytes. */
#ifndef PEMS_CONFIG_MEMORY_PLAN_H
#define PEMS_CONFIG_MEMORY_PLAN_H

#include <stdint.h>

/* Shares marked sigma are parts of it. */
enum memory_use {
  MEMORY_PEMS,     /* the program's text, MPI, stacks, records of VPs */
  MEMORY_STAGING,  /* buffers for what is not aligned, to and from disk */
  MEMORY_COMPRESS, /* buffers for compressing contexts, and what is compressed
                    */
  MEMORY_RECORDS,  /* requests, datatypes: what a program may have many of */
  MEMORY_LETTERS,  /* sigma: messages that came before their receives */
  MEMORY_PACKED,   /* sigma: packed messages and vectors of collective calls */
  MEMORY_OLDEST,   /* sigma: the same of the oldest call of each team */
  MEMORY_OUTGOING, /* sigma: chunks on their way to other processes */
  MEMORY_INCOMING, /* sigma: chunks that have come from them */
  MEMORY_BOUNDARY, /* sigma: unaligned ends of messages to contexts on disk */
  MEMORY_REPORT, /* what --pems-report keeps of the run, until it is written */
  MEMORY_CONTEXTS, /* what is left */
  MEMORY_USES,
};

/* Bytes of each VP's stack, its upper end, that count as its context's, beside
   mu. What is deeper counts within mu: vp/stack_growth.h. */
enum { MEMORY_PLAN_STACK = 128 << 10 };

struct memory_plan {
  uint64_t memory; /* of the process */
  uint64_t base;   /* what it uses before any VP exists */
  uint64_t report; /* what a report takes at most, or 0: none is wanted */
  uint64_t sigma;  /* PEMS2's shared buffer: for collective communication */
  int vps;         /* of this process */
  int peers;       /* other processes */
  int compress;    /* enum option_compress */
};

struct memory_share {
  const char *name;    /* one word */
  const char *purpose; /* what for */
  uint64_t bytes;
  uint64_t least, most; /* whatever the memory is; UINT64_MAX: no maximum */
};

/* The sigma of a process of so much memory, unless the user gives one. */
uint64_t memory_plan_sigma(uint64_t memory);

struct memory_share memory_plan_share(const struct memory_plan *m,
                                      enum memory_use use);
uint64_t memory_plan_bytes(const struct memory_plan *m, enum memory_use use);
/* All but contexts. */
uint64_t memory_plan_overhead(const struct memory_plan *m);
/* Bytes of a share that its consumer keeps while contexts use what is idle of
   it: a quarter where it can do with less for a moment, else all. */
uint64_t memory_plan_kept(const struct memory_plan *m, enum memory_use use);
/* Bytes that contexts have beside their share while all others are idle. */
uint64_t memory_plan_lent(const struct memory_plan *m);

/* --- parts of shares --- */

/* A message of at most so many bytes is packed, where `senders` VPs have
   `messages` each. */
uint64_t memory_plan_packed(const struct memory_plan *m, int senders,
                            int messages);
/* Bytes of a vector that is combined in pieces while `runs` others of its size
   are under way. */
uint64_t memory_plan_vector(const struct memory_plan *m, int runs);
/* Of a chunk to another process; MEMORY_CHUNKS of them may be on their way to
   each. A multiple of 8. */
enum { MEMORY_CHUNKS = 2 };
uint64_t memory_plan_chunk(const struct memory_plan *m);
/* The largest message that is copied to let its sender go on. */
uint64_t memory_plan_letter(const struct memory_plan *m);
/* Of such messages to one other process that it has not taken yet. */
uint64_t memory_plan_flow(const struct memory_plan *m);

#endif
