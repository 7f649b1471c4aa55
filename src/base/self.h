/* Who is calling: a virtual processor's thread, and is it in MPI already? */
#ifndef PEMS_BASE_SELF_H
#define PEMS_BASE_SELF_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct vp;

struct self {
  struct vp *vp;        /* the VP this thread belongs to, NULL for none */
  int inside;           /* depth of calls into pems or the real MPI */
  void *site;           /* where the program called MPI last */
  const char *function; /* and which function */
  uint64_t calls;       /* how often it has called MPI */
  bool helper;          /* a thread that the VP's program started */
};

/* initial-exec: libpems is always loaded at program start. */
extern __thread struct self self __attribute__((tls_model("initial-exec")));

/* True where MPI_X must go to the real library: no VP's thread, or a call from
   within the real library. */
static inline bool self_native(void) {
  return self.vp == 0 || self.inside > 0;
}
static inline void self_enter(void) {
  self.inside++;
}
/* Signals that have come while the thread was inside (interpose/handler.h). Not
   in `self`, which is another one where a thread acts for another VP. */
extern __thread volatile uint64_t self_held
    __attribute__((tls_model("initial-exec")));
/* Lets their handlers run now. */
extern void (*self_release)(void);

static inline void self_leave(void) {
  const int inside = --self.inside;
  atomic_signal_fence(memory_order_seq_cst); /* with the thread's handler */
  if (!inside && self_held) {
    self_release();
  }
}

#endif
