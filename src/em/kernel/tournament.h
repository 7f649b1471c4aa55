/* A tournament whose winners are kept: who is first, after one player changed.
 */
#ifndef PEMS_EM_KERNEL_TOURNAMENT_H
#define PEMS_EM_KERNEL_TOURNAMENT_H

/* Whether player a is before player b; both are in the game. */
#include <stdbool.h>

typedef bool tournament_fn(const void *arg, int a, int b);

struct tournament {
  tournament_fn *before;
  const void *arg;
  int room; /* players that there is space for: a power of two */
  int *
      winner; /* of each node, 1 is the root; leaves from `room` on; -1: none */
};

/* Empty, without memory. */
void tournament_init(struct tournament *t, tournament_fn *before,
                     const void *arg);
void tournament_destroy(struct tournament *t);
/* Makes space for players 0 to n - 1; those there are stay. 0 or ENOMEM. */
int tournament_reserve(struct tournament *t, int n);
/* Player i is in the game, or out of it, or has changed: log2 of the players
   comparisons. i is below what was reserved. */
void tournament_play(struct tournament *t, int i, int in);
/* Who is first; -1 if nobody plays. */
int tournament_winner(const struct tournament *t);

#endif
