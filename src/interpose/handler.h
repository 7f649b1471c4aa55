/* Signal handlers of ranks. The kernel knows one action of a signal for the
   whole process; here each rank has its own, and its handler runs on the rank's
   own thread, when that is outside pems and its memory is there. */
#ifndef PEMS_INTERPOSE_HANDLER_H
#define PEMS_INTERPOSE_HANDLER_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct checkpoint_in;
struct checkpoint_out;
struct pems_error;
struct vp;

/* What the program of one VP has set. */
struct handlers;

/* What the kernel would do with a signal that nobody has an action for: says
   which rank it was (`vp`, or NULL: none, or any), and ends the job. `frame` is
   the ucontext_t of the calling thread where the signal came, or NULL. It
   returns in a process that the program forked. */
typedef void handlers_die_fn(const struct vp *vp, int number,
                             const siginfo_t *info, const void *frame);

/* Once, before VPs run: for `n` VPs. From now on `die` speaks for signals that
   would end the process. */
void handlers_start(struct vp *vp, int n, handlers_die_fn *die);

/* On the VP's main thread, when its program begins, and when it has ended. */
void handlers_begin(struct vp *vp);
void handlers_end(struct vp *vp);

/* The rank's actions in a checkpoint (checkpoint/blocks.h). On its main thread;
   the second one after handlers_begin. Return 0, or an errno value with *error
   filled in. */
int handlers_save(const struct vp *vp, struct checkpoint_out *o,
                  struct pems_error *error);
int handlers_load(struct vp *vp, struct checkpoint_in *in,
                  struct pems_error *error);
/* As sigaction, for the calling rank. */
int handlers_set(int number, const struct sigaction *action,
                 struct sigaction *old);
/* The calling thread's mask has changed: signals that are blocked wait for the
   rank, which may take them without a handler. */
void handlers_masked(void);
/* The set of signals, as the kernel has it, that no thread of the program may
   block: the kernel would end the process where they are pems's own affair. */
uint64_t handlers_needed(void);
/* The calling rank sends the signal to itself: to its main thread. Returns 0,
   or -1 with errno set. */
int handlers_send(int number, int code, union sigval value);
/* The thread that signals of the calling rank go to. */
pid_t handlers_thread(void);

/* The value of the timers that stand for setitimer's: what handlers see of
   them is what the kernel says of an interval timer. */
extern char handlers_itimer;

/* The real functions: this library's own calls, and those in a forked child. */
int handlers_real_set(int number, const struct sigaction *action,
                      struct sigaction *old);

#endif
