#include "em/kernel/tournament.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "os/native.h"

enum { NONE = -1, FIRST_ROOM = 16 };

void tournament_init(struct tournament *t, tournament_fn *before,
                     const void *arg) {
  *t = (struct tournament){.before = before, .arg = arg};
}

void tournament_destroy(struct tournament *t) {
  native_free(t->winner);
  t->winner = NULL;
  t->room = 0;
}

/* Copies the tree into one twice as wide, of which it becomes the left half:
   each level moves, and who won stays. */
static void embed(int *to, const int *from, int room) {
  for (int i = 0; i < 4 * room; i++) {
    to[i] = NONE;
  }
  if (room > 0) {
    to[1] = from[1];
  }
  for (int level = 1; level <= room; level *= 2) {
    memcpy(to + 2 * level, from + level, (size_t)level * sizeof(*to));
  }
}

int tournament_reserve(struct tournament *t, int n) {
  while (t->room < n) {
    const int room = t->room ? 2 * t->room : FIRST_ROOM;
    int *const winner = native_alloc(2 * (size_t)room * sizeof(*winner));
    if (!winner) {
      return ENOMEM;
    }
    if (t->room) {
      embed(winner, t->winner, t->room);
    } else {
      memset(winner, 0xff, 2 * (size_t)room * sizeof(*winner));
    }
    native_free(t->winner);
    t->winner = winner;
    t->room = room;
  }
  return 0;
}

/* Who wins in the two halves below a node. */
static int play_node(const struct tournament *t, int node) {
  const int a = t->winner[2 * node], b = t->winner[2 * node + 1];
  if (a == NONE || b == NONE) {
    return a == NONE ? b : a;
  }
  return t->before(t->arg, b, a) ? b : a;
}

void tournament_play(struct tournament *t, int i, int in) {
  int node = t->room + i;
  t->winner[node] = in ? i : NONE;
  while ((node /= 2) > 0) {
    const int winner = play_node(t, node);
    /* Above one who stays first, and is not the one that changed, nothing
       changes. */
    if (winner == t->winner[node] && winner != i) {
      break;
    }
    t->winner[node] = winner;
  }
}

int tournament_winner(const struct tournament *t) {
  return t->room ? t->winner[1] : NONE;
}
