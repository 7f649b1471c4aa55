/* Blocks of libc's allocator that count as those of check_memory.h do. Check
   uses that allocator, too: only what a test has seen allocated counts when it
   is freed. */
#ifndef TESTS_CHECK_SEEN_H
#define TESTS_CHECK_SEEN_H

#include <stdbool.h>
#include <stdlib.h>

#include "check_memory.h"

enum { SEEN_MOST = 65536 };
static void *seen_block[SEEN_MOST];

/* Puts `to` where `from` is (NULL: a free place); false if it is nowhere. */
static inline bool seen_move(const void *from, void *to) {
  for (int i = 0; i < SEEN_MOST; i++) {
    if (seen_block[i] == from) {
      seen_block[i] = to;
      return true;
    }
  }
  return false;
}

static inline void *seen_counted(void *p) {
  if (p && !seen_move(NULL, p)) {
    abort(); /* make the table larger */
  }
  return memory_counted(p);
}

/* To be called before it is freed. */
static inline void seen_freed(void *p) {
  if (p && seen_move(p, NULL)) {
    atomic_fetch_sub(&check_memory.live, 1);
  }
}

#endif
