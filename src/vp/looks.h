/* Does a rank that looks for messages again and again (MPI_Test, MPI_Iprobe)
   compute meanwhile? Then it has work, and is no waiter: it goes on while
   others wait for messages, and keeps its slot for a time slice while they are
   ready to run. */
#ifndef PEMS_VP_LOOKS_H
#define PEMS_VP_LOOKS_H

#include <stdbool.h>
#include <stdint.h>

enum {
  /* ns of processor time between two looks that are work, beside what the
     looks take themselves. A loop that only looks takes less than 1 us a turn,
     an event loop that reads some input 10 us and more. */
  LOOKS_WORK = 10000,
  LOOKS_EACH = 500,
  /* A rank that sleeps between looks has no work, whatever that takes: work is
     at least 1 / LOOKS_BUSY of the time, or so long that the rank may well have
     waited for a processor. */
  LOOKS_BUSY = 4,
  LOOKS_LONG = 1000 * 1000,
  /* Looks in a row without work: a step of work is often followed by some. */
  LOOKS_IN_VAIN = 16,
  /* ns of processor time that a rank with work keeps its slot for while others
     want it, and at most, where bringing it in has taken longer. */
  LOOKS_SLICE = 100 * 1000 * 1000,
  LOOKS_MOST = 2000 * 1000 * 1000,
};

/* A thread's processor time, and the time, both in ns. */
struct looks_time {
  uint64_t cpu, clock;
};

/* Zeroed: nothing is known. */
struct looks {
  struct looks_time ended; /* when the last look had ended, or 0 */
  unsigned vain;           /* looks in a row without work before them */
  bool works;
};

/* The VP looks for `asked` things, in vain, where others want its memory or
   its slot: notes whether it has computed since the last time. Its own thread.
   Times of zero: that is not known. */
void looks_begin(struct looks *l, int asked, struct looks_time now);
/* It goes on with its program. */
static inline void looks_end(struct looks *l, struct looks_time now) {
  l->ended = now;
}
/* Has it work? */
static inline bool looks_work(const struct looks *l) {
  return l->works;
}
/* Is its time slice over? It has its slot since `since`, and it took `cost` ns
   to bring it in. */
bool looks_slice_over(struct looks_time now, uint64_t since, uint64_t cost);

#endif
