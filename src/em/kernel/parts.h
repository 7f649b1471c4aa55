/* Parts of an array, one for each member of a team that sorts it. */
#ifndef PEMS_EM_KERNEL_PARTS_H
#define PEMS_EM_KERNEL_PARTS_H

#include <stddef.h>

#include "em/core/team.h"
#include "em/kernel/losers.h"

/* Parts are merged again while they are emitted, on the stack of a thread:
   there are at most so many. */
enum { PARTS_MOST = LOSERS_SKIP, PARTS_LEAST = 4096 /* records in one */ };

/* How many parts n records make for k threads: none of 2^32 records. */
static inline int parts_count(size_t n, int k) {
  const size_t most = n / PARTS_LEAST + 1, least = (n >> 32) + 1;
  size_t count = (size_t)k < most ? (size_t)k : most;
  count = count < least ? least : count;
  return count < PARTS_MOST ? (int)count : PARTS_MOST;
}

/* Where part i of n records begins. */
static inline size_t part_begin(size_t n, int parts, int i) {
  return (size_t)((unsigned __int128)n * (unsigned)i / (unsigned)parts);
}

/* Sorting in parts: the argument of a team's tasks, one for each part. The work
   memory begins with their number, for who emits later. */
struct parts_job {
  const struct pems_record *r;
  char *records;
  size_t n;
  char *work;
  int parts;
};

/* Bytes at the beginning of the work memory. */
enum { PARTS_HEAD = 64 };

/* How many parts there are in what was sorted with this work memory. */
static inline int parts_of(const void *work) {
  return *(const int *)work;
}

/* Lets the team sort n records in parts. */
static inline void parts_sort(const struct pems_record *r, struct team *team,
                              void *records, size_t n, void *work,
                              team_fn *task) {
  const int parts = parts_count(n, team_size(team));
  *(int *)work = parts;
  team_run(team, parts, task, &(struct parts_job){r, records, n, work, parts});
}

#endif
