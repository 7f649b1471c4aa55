/* Who waits for whom: of VPs that wait for messages, those of the process that
   have not sent or taken them yet. It says who will soon go on and had better
   stay in memory, and who is to come in first, since others wait for it. */
#ifndef PEMS_CONTEXT_RESIDENCY_AWAITED_H
#define PEMS_CONTEXT_RESIDENCY_AWAITED_H

#include "context/context.h"

/* Instead of a context's index. */
enum {
  AWAITED_ANY = -1,       /* whoever comes first */
  AWAITED_ELSEWHERE = -2, /* a rank of another process */
  AWAITED_UNKNOWN = -3,   /* several, or something else */
  AWAITED_NOTHING = -4,   /* is not noted */
};

/* By one thread at a time for each context: c's VP is about to wait for `who`;
   that has come; it waits for nothing any more. */
void awaited_add(struct context *c, int who);
void awaited_came(struct context *c, int who);
void awaited_none(struct context *c);

/* With the ledger's lock. Says in c->use how far c's VP is from going on. */
void awaited_look_locked(struct context *c);
/* Counts for how many contexts in memory each is the only one that is waited
   for; and what was counted last for c. */
void awaited_count_locked(void);
int awaited_frees_locked(const struct context *c);

#endif
