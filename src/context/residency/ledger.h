/* What each context in memory is charged, its state, and the lock that guards
   both: what the sources of this room that decide share. */
#ifndef PEMS_CONTEXT_RESIDENCY_LEDGER_H
#define PEMS_CONTEXT_RESIDENCY_LEDGER_H

#include "context/context.h"

/* All under the lock, but for the atomic ones, which anyone may read. */
struct ledger {
  struct lock lock;
  pthread_cond_t changed; /* some state, pin count or the total changed */
  pthread_cond_t work;    /* perhaps something is to be moved */
  uint64_t used;          /* sum of all charges, and of contexts.beside */
  uint64_t untaken;       /* of them, of contexts that come in and have not yet
                             taken pages for it */
  uint64_t going;         /* charges of contexts that are being written */
  uint64_t tick;          /* counts uses, for least recently used */
  int busy;    /* contexts that change by themselves: see ledger_note */
  int growers; /* threads that wait for room */
  struct context *growing; /* the contexts for which they do, by next_growing */
  int rest; /* movers need not be told until so many VPs have gone on;
               0: of all that happens */
  _Atomic bool starved;        /* a context is to come in, and none may leave */
  int ran_then;                /* most VPs that ran when that was so */
  _Atomic int starved_growers; /* threads that wait for room, likewise */
  uint64_t lacked;  /* most bytes by which the budget was less than all contexts
                       needed, when one came in */
  _Atomic int out;  /* contexts on disk, or on their way there */
  _Atomic int idle; /* contexts charged what they have touched */
};
extern struct ledger ledger;

/* For contexts to come; once per process, also again after contexts_destroy. */
void ledger_start(void);

void ledger_lock(void);
void ledger_unlock(void);
/* What was granted must not be held by kept pages: frees these. Unlocks. */
void ledger_unlock_and_trim(void);
void ledger_wait_locked(void);
/* Perhaps something is to be moved: never so while all is in memory. */
void ledger_tell_movers_locked(void);
/* Something has changed. */
void ledger_tell_locked(void);
/* A VP has gone on, or waits, and its context may leave: movers are told only
   where that can matter (rest). */
void ledger_tell_went_on_locked(void);
void ledger_tell_released_locked(void);

/* Contexts are moved at all. */
bool ledger_moving(void);
/* What counts of `need`, with `shared` bytes that are no context's own: a
   context never counts more than mu, or rounding to granules could make it
   exceed the budget; nor both more than what copies of libraries have left of
   that, so that one fits always. */
uint64_t ledger_with_shared(uint64_t need, uint64_t shared);
/* Of all that c needs, and what is shared and counts with it. */
uint64_t ledger_needed_locked(const struct context *c);
/* A context comes in, for not all were in memory: how much was lacking? */
void ledger_note_lacked_locked(void);
/* A context that is to come in has no room, since those that run hold all. */
void ledger_starve_locked(void);
/* Do `bytes` more fit? */
bool ledger_fits_locked(uint64_t bytes);

/* After c's held, pins, growing or state were changed: counts it as busy if it
   runs, is pinned or moves and does not wait for room. */
void ledger_note_locked(struct context *c);
void ledger_set_state_locked(struct context *c, enum context_state state);
/* Charges c `more` bytes; once it has all that it needs, it is not idle. */
void ledger_charge_locked(struct context *c, uint64_t more);
/* c, which is GOING, has given its memory back, but for `left` bytes. Takes the
   lock. */
void ledger_gave_back(struct context *c, uint64_t left);
void ledger_uncharge_locked(struct context *c, uint64_t less);
/* c needs less than before. */
void ledger_settle_locked(struct context *c);
/* Bytes that `from` is charged are charged to `to` instead, which is in memory,
   comes or goes: as many as `to` can be charged. */
void ledger_pass_locked(struct context *from, struct context *to,
                        uint64_t bytes);
/* Copies of libraries take `bytes` of the budget: nobody waits for room for
   them, but who comes next does. False: contexts have to share with more than
   they have; nothing is counted. */
bool ledger_beside_locked(uint64_t bytes);
void ledger_not_beside_locked(uint64_t bytes);
/* c is charged only what it has touched, `bytes`, until its VP runs again. */
void ledger_set_idle_locked(struct context *c, uint64_t bytes);
/* c is in memory with all that it may touch: its VP may run. */
bool ledger_ready_locked(const struct context *c);
/* c begins to give up `bytes` of its memory, and has; `exist` is left. */
void ledger_trim_locked(struct context *c, uint64_t bytes);
void ledger_trimmed_locked(struct context *c, uint64_t exist);
/* c begins to leave memory, and has left it. */
void ledger_leave_locked(struct context *c);
void ledger_gone_locked(struct context *c);

/* Puts c into a list of *n, at most `most`, contexts, which are those that come
   first in an order. */
typedef bool ledger_before(const struct context *a, const struct context *b);
void ledger_insert(struct context **list, int *n, int most, struct context *c,
                   ledger_before *before);

#endif
