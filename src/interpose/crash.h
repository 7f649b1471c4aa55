/* Where a rank's program was when a signal stopped it. */
#ifndef PEMS_INTERPOSE_CRASH_H
#define PEMS_INTERPOSE_CRASH_H

#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

struct vp;

/* The address of the instruction at which a signal has come. */
uintptr_t crash_counter(const ucontext_t *context);
/* Writes ", in solve (solver.c:42)" to out, ", in solve+0x1c" where addr2line
   or the lines are not there, or "" where no function of the program is known.
   `context` is what the signal handler of this thread was given, or NULL
   where it has called a function of pems. A process of
   its own finds it, so that a stack or heap that is damaged can do no harm, and
   has a few seconds to do so. Uses no heap and takes no lock; for signal
   handlers. Returns out. */
const char *crash_place(const struct vp *vp, const void *context, char *out,
                        size_t size);

#endif
