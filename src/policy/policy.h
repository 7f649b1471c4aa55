/* Who runs next, and whose context leaves memory: one table of functions for
   each value of --pems-order. A new policy is a file policy_NAME.c that defines
   policy_NAME, and a word in POLICIES.

   Every ready VP has a turn; those with a smaller one come first. Contexts that
   have to make room are compared in pairs. All functions are called under
   locks, often: they look at their arguments only. Thread-safe. */
#ifndef PEMS_POLICY_POLICY_H
#define PEMS_POLICY_POLICY_H

#include <stdbool.h>
#include <stdint.h>

/* What policies know of a context. */
struct policy_use {
  bool wanted;        /* its VP is ready to run */
  uint64_t turn;      /* of its VP, when that was made ready last */
  uint64_t last_used; /* grows with each use of any context */
  /* Of one whose VP waits, when one has to leave memory: how far those are that
     it waits for from what it waits for, and how many. */
  unsigned far;
  int missing;
  /* Of one whose VP is ready, when one is to come in: VPs in memory that wait
     for this one alone; and have others come before it for long? */
  int frees;
  bool overdue;
  uint64_t since; /* contexts that had come in when its VP was made ready */
};

struct policy {
  /* The turn of VP `index` of n, which becomes ready after having waited
     `waits` times: greater than all of those who have waited less often, so
     that nobody is left behind; two VPs never have the same. */
  uint64_t (*turn)(uint64_t waits, int index, int n);
  /* The ready VP with the smallest turn runs next, wherever its context is, and
     contexts come in by turn. Otherwise VPs whose contexts are in memory run
     first, and contexts come in from the disk that is least busy. */
  bool in_turn;
  /* A VP that waits in a collective call runs again before those that have not
     come to it: what they send may wait for it. */
  bool receivers_first;
  /* Is a, rather than b, to come in, where neither is urgent? */
  bool (*load_rather)(const struct policy_use *a, const struct policy_use *b);
  /* Is a, rather than b, to leave memory? */
  bool (*evict_rather)(const struct policy_use *a, const struct policy_use *b);
};

/* All policies; the first is the default. */
#define POLICIES(X) X(alternate) X(id)

#define POLICY_DECLARE(name) extern const struct policy policy_##name;
POLICIES(POLICY_DECLARE)
#undef POLICY_DECLARE

/* By their position in POLICIES. */
extern const struct policy *const policy_table[];
enum {
#define POLICY_ONE_MORE(name) +1
  POLICY_COUNT = 0 POLICIES(POLICY_ONE_MORE)
#undef POLICY_ONE_MORE
};

/* Their names: "alternate|id". */
#define POLICY_WORD(name) "|" #name
#define POLICY_WORDS (&(POLICIES(POLICY_WORD))[1])

#endif
