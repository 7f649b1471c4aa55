#include "config/memory_plan.h"

#include "config/options.h"

#include "os/bits.h"

#include <stdbool.h>

#define KIB UINT64_C(1024)
#define MIB (1024 * KIB)

/* A VP's thread, for the kernel and the C library, pems's frames on its stack
   while it waits, its copy of the program image's read-only parts, and pems's
   own records of it. */
#define PER_VP (64 * KIB)

enum whole { OF_MEMORY, OF_SIGMA };

/* bytes = whole / divisor, at least `least` and at most `most`: those of sigma
   have at least what the least sigma, 64 KiB, gives them. */
static const struct rule {
  const char *name, *purpose;
  enum whole of;
  unsigned divisor;
  uint64_t least, most;
} rules[MEMORY_USES] = {
    [MEMORY_PEMS] = {"pems", "the program, MPI, stacks, records of ranks",
                     OF_MEMORY, 16, 0, UINT64_MAX},
    [MEMORY_STAGING] = {"staging", "buffers for unaligned messages", OF_MEMORY,
                        16, 0, 12 * MIB},
    [MEMORY_COMPRESS] = {"compress", "buffers for compressing contexts",
                         OF_MEMORY, 16, 0, 32 * MIB},
    [MEMORY_RECORDS] = {"records", "requests, datatypes, descriptions",
                        OF_MEMORY, 32, 0, 4 * MIB},
    [MEMORY_LETTERS] = {"letters", "messages before their receives", OF_SIGMA,
                        8, 8 * KIB, UINT64_MAX},
    [MEMORY_PACKED] = {"packed", "small messages and vectors of calls",
                       OF_SIGMA, 4, 16 * KIB, UINT64_MAX},
    [MEMORY_OLDEST] = {"oldest", "the same of each team's oldest call",
                       OF_SIGMA, 8, 8 * KIB, UINT64_MAX},
    [MEMORY_OUTGOING] = {"outgoing", "chunks to other processes", OF_SIGMA, 8,
                         8 * KIB, UINT64_MAX},
    [MEMORY_INCOMING] = {"incoming", "chunks from other processes", OF_SIGMA, 8,
                         8 * KIB, UINT64_MAX},
    [MEMORY_BOUNDARY] = {"boundary", "unaligned ends of messages", OF_SIGMA, 4,
                         16 * KIB, UINT64_MAX},
    [MEMORY_REPORT] = {"report", "what --pems-report keeps of the run",
                       OF_MEMORY, 1, 0, UINT64_MAX},
    [MEMORY_CONTEXTS] = {"contexts", "the ranks' own memory", OF_MEMORY, 1,
                         64 * KIB, UINT64_MAX},
};

static uint64_t between(uint64_t least, uint64_t x, uint64_t most) {
  return x < least ? least : bits_min(x, most);
}

static uint64_t by_rule(const struct memory_plan *m, enum memory_use use) {
  const struct rule *const r = &rules[use];
  const uint64_t whole = r->of == OF_SIGMA ? m->sigma : m->memory;
  return between(r->least, whole / r->divisor, r->most);
}

/* What MPI and pems take grows with the memory up to these bytes, with the
   staging buffers and records. */
static uint64_t pems_bytes(const struct memory_plan *m) {
  const uint64_t pool = bits_min(16 * MIB, m->memory / 8);
  return m->base + (uint64_t)m->vps * PER_VP + pool -
         by_rule(m, MEMORY_STAGING) - by_rule(m, MEMORY_RECORDS);
}

uint64_t memory_plan_overhead(const struct memory_plan *m) {
  uint64_t sum = 0;
  for (int use = 0; use < MEMORY_CONTEXTS; use++) {
    sum += memory_plan_bytes(m, (enum memory_use)use);
  }
  return sum;
}

/* Where it is not known whether compressing pays, it takes nothing from
   contexts: a part of the staging buffers is for it. */
static uint64_t compress_bytes(const struct memory_plan *m) {
  enum { PART = 4 };
  return m->compress == COMPRESS_NONE   ? 0
         : m->compress == COMPRESS_AUTO ? by_rule(m, MEMORY_STAGING) / PART
                                        : by_rule(m, MEMORY_COMPRESS);
}

static uint64_t staging_bytes(const struct memory_plan *m) {
  return by_rule(m, MEMORY_STAGING) -
         (m->compress == COMPRESS_AUTO ? compress_bytes(m) : 0);
}

uint64_t memory_plan_bytes(const struct memory_plan *m, enum memory_use use) {
  if (use == MEMORY_COMPRESS) {
    return compress_bytes(m);
  }
  if (use == MEMORY_STAGING) {
    return staging_bytes(m);
  }
  if (use == MEMORY_PEMS) {
    return pems_bytes(m);
  }
  if (use == MEMORY_REPORT) {
    return m->report;
  }
  if ((use == MEMORY_OUTGOING || use == MEMORY_INCOMING) && m->peers == 0) {
    return 0;
  }
  if (use == MEMORY_CONTEXTS) {
    const uint64_t taken = memory_plan_overhead(m);
    return m->memory > taken ? m->memory - taken : 0;
  }
  return by_rule(m, use);
}

uint64_t memory_plan_kept(const struct memory_plan *m, enum memory_use use) {
  enum { PART = 4 };
  const uint64_t all = memory_plan_bytes(m, use);
  const bool gives =
      use == MEMORY_LETTERS || use == MEMORY_BOUNDARY || use == MEMORY_STAGING;
  return gives ? all / PART : all;
}

uint64_t memory_plan_lent(const struct memory_plan *m) {
  uint64_t sum = 0;
  for (int use = 0; use < MEMORY_CONTEXTS; use++) {
    sum += memory_plan_bytes(m, (enum memory_use)use) -
           memory_plan_kept(m, (enum memory_use)use);
  }
  return sum;
}

struct memory_share memory_plan_share(const struct memory_plan *m,
                                      enum memory_use use) {
  const struct rule *const r = &rules[use];
  return (struct memory_share){.name = r->name,
                               .purpose = r->purpose,
                               .bytes = memory_plan_bytes(m, use),
                               .least = r->least,
                               .most = r->most};
}

uint64_t memory_plan_sigma(uint64_t memory) {
  const uint64_t sigma =
      bits_round_down(bits_min(64 * MIB, memory / 8), 64 * KIB);
  return sigma ? sigma : 64 * KIB;
}

/* --- parts of shares --- */

uint64_t memory_plan_packed(const struct memory_plan *m, int senders,
                            int messages) {
  return memory_plan_bytes(m, MEMORY_PACKED) / (uint64_t)senders /
         (uint64_t)(messages > 0 ? messages : 1);
}

uint64_t memory_plan_vector(const struct memory_plan *m, int runs) {
  enum { OWN = 3 }; /* the sum, what is added, and what is sent */
  return memory_plan_bytes(m, MEMORY_OLDEST) / (uint64_t)(OWN + runs);
}

uint64_t memory_plan_chunk(const struct memory_plan *m) {
  const uint64_t peers = m->peers > 0 ? (uint64_t)m->peers : 1;
  const uint64_t n =
      memory_plan_bytes(m, MEMORY_OUTGOING) / MEMORY_CHUNKS / peers;
  return between(4 * KIB, n & ~UINT64_C(7), 8 * MIB);
}

uint64_t memory_plan_letter(const struct memory_plan *m) {
  return between(KIB, memory_plan_bytes(m, MEMORY_LETTERS) / 2, 64 * KIB);
}

uint64_t memory_plan_flow(const struct memory_plan *m) {
  const uint64_t sharers = m->peers > 1 ? (uint64_t)m->peers : 1;
  return between(256 * KIB, memory_plan_bytes(m, MEMORY_LETTERS) / sharers,
                 UINT64_MAX);
}
