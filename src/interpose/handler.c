#define _GNU_SOURCE
#include "interpose/handler.h"

#include "base/failure.h"
#include "base/need.h"
#include "base/self.h"
#include "checkpoint/blocks.h"
#include "context/residency/track.h"
#include "context/store/failed_page.h"
#include "interpose/crash.h"
#include "mpi_below/watch.h"
#include "os/lock.h"
#include "os/native.h"
#include "vp/stack.h"
#include "vp/stack_growth.h"
#include "vp/vp.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>

enum { LAST = 64 }; /* the kernel's signals are 1 .. LAST */

/* A set of signals, as the kernel has it. */
typedef uint64_t set;

struct handlers {
  struct vp *vp;
  _Atomic pid_t thread; /* its main thread; 0: it has not begun, or ended */
  struct sigaction action[LAST + 1];
  _Atomic set handled; /* has a function */
  _Atomic set ignored;
  _Atomic set blocked; /* in its main thread: the program may await them */
};

static struct {
  struct lock lock; /* with all signals blocked */
  struct vp *vp;
  int n;
  _Atomic set routed; /* signals whose action in the kernel is on_signal */
  handlers_die_fn *die;
} all = {.lock = LOCK_INITIALIZER(LOCK_HANDLERS)};

char handlers_itimer;

/* The handlers of the rank whose main thread this is, or NULL. Not what `self`
   says: a thread may act for another rank for a while. */
static __thread struct handlers *mine
    __attribute__((tls_model("initial-exec")));

/* glibc's own name for it, which nothing interposes. */
extern int __sigaction(int number, const struct sigaction *action,
                       struct sigaction *old);

int handlers_real_set(int number, const struct sigaction *action,
                      struct sigaction *old) {
  return __sigaction(number, action, old);
}

/* --- sets --- */

static set bit(int number) {
  return UINT64_C(1) << (number - 1);
}

static set set_of(const sigset_t *s) {
  set x;
  memcpy(&x, s, sizeof(x));
  return x;
}

/* Raised by what a thread does itself. If one is blocked, the kernel ends the
   process; two may be pems's own affair (handlers_needed). */
static set faults(void) {
  return bit(SIGSEGV) | bit(SIGBUS) | bit(SIGFPE) | bit(SIGILL) | bit(SIGTRAP);
}

uint64_t handlers_needed(void) {
  return (track_by_faults() || stacks_grow() ? bit(SIGSEGV) : 0) |
         (failed_page_possible() || stacks_may_lack() ? bit(SIGBUS) : 0);
}

/* Signals that threads can be kept from: but for the C library's own two. */
static set every(void) {
  return ~(faults() | bit(SIGKILL) | bit(SIGSTOP) | bit(32) | bit(33));
}

static set change_mask(int how, set s) {
  set before = 0;
  syscall(SYS_rt_sigprocmask, how, &s, &before, sizeof(s));
  return before;
}

/* --- sending on --- */

/* The kernel lets a process give another of its threads only what looks like
   sigqueue's: si_errno, which is 0 else, tells what it was. */
enum { MARK = 0x70650000, MARKED = -65536 };

/* Queues it for one thread of this process. */
static int send_to(pid_t thread, int number, const siginfo_t *info) {
  siginfo_t marked = *info;
  marked.si_errno = MARK | (uint16_t)info->si_code;
  marked.si_code = SI_QUEUE;
  return (int)syscall(SYS_rt_tgsigqueueinfo, getpid(), thread, number, &marked);
}

/* Makes of it what it was. Returns whether it had been sent on. */
static bool unmark(siginfo_t *info) {
  if (info->si_code != SI_QUEUE || (info->si_errno & MARKED) != MARK) {
    return false;
  }
  info->si_code = (int16_t)(info->si_errno & ~MARKED);
  info->si_errno = 0;
  return true;
}

/* A timer that stands for setitimer's looks like that. */
static void unmark_itimer(siginfo_t *info) {
  if (info->si_code == SI_TIMER && info->si_ptr == &handlers_itimer) {
    info->si_code = SI_KERNEL;
    info->si_pid = 0;
    info->si_uid = 0;
  }
}

/* Does the rank want a signal that was sent to its process? One that merely
   blocks it may be about to wait for it, but cannot keep a job from being
   ended. */
static bool wants(const struct handlers *h, int number) {
  const set may_await =
      number == SIGTERM || number == SIGINT ? 0 : h->blocked & ~h->ignored;
  return h->thread && (h->handled | may_await) & bit(number);
}

/* What is sent to the process is for all its ranks that want it, as mpirun
   sends a signal on to each rank. Nobody may be there any more that had a
   handler: then it came too late. */
static void to_ranks(int number, const siginfo_t *info) {
  bool wanted = false, known = false, alive = false;
  for (int i = 0; i < all.n; i++) {
    const struct handlers *h = all.vp[i].handlers;
    if (wants(h, number)) {
      wanted = true;
      send_to(h->thread, number, info);
    }
    alive |= h->thread && !(h->ignored & bit(number));
    known |= (h->handled | h->ignored) & bit(number);
  }
  if (wanted) {
    (void)(number == SIGTERM && watch_ended_by(info->si_pid));
  } else if (!known || ((number == SIGTERM || number == SIGINT) && alive)) {
    all.die(NULL, number, info, NULL);
  }
}

/* --- taking --- */

static bool ends_nothing(int number) {
  return number == SIGCHLD || number == SIGURG || number == SIGWINCH ||
         number == SIGCONT;
}

static bool stops(int number) {
  return number == SIGTSTP || number == SIGTTIN || number == SIGTTOU;
}

static void by_default(const struct handlers *h, int number,
                       const siginfo_t *info, const ucontext_t *frame) {
  if (stops(number)) {
    syscall(SYS_kill, getpid(), SIGSTOP);
  } else if (!ends_nothing(number)) {
    all.die(h->vp, number, info, frame);
  }
}

static void reset(struct handlers *h, int number) {
  h->action[number].sa_handler = SIG_DFL;
  h->action[number].sa_flags &= ~SA_SIGINFO;
  h->handled &= ~bit(number);
}

/* Calls the rank's function, with the mask that it asked for. The way back is
   the kernel's, with the mask in the frame, which the function may change; or
   it jumps. A fault may have come in pems, on behalf of the program. */
static void run(struct handlers *h, int number, siginfo_t *info,
                ucontext_t *frame) {
  const struct sigaction action = h->action[number];
  const int inside = self.inside;
  if (action.sa_handler == SIG_IGN) {
    return;
  }
  if (action.sa_handler == SIG_DFL) {
    by_default(h, number, info, frame);
    return;
  }
  if (action.sa_flags & SA_RESETHAND) {
    reset(h, number);
  }
  set mask = set_of(&frame->uc_sigmask) | set_of(&action.sa_mask);
  if (!(action.sa_flags & SA_NODEFER)) {
    mask |= bit(number);
  }
  mask &= ~handlers_needed();
  unmark_itimer(info);
  self.inside = 0;
  change_mask(SIG_SETMASK, mask);
  if (action.sa_flags & SA_SIGINFO) {
    action.sa_sigaction(number, info, frame);
  } else {
    action.sa_handler(number);
  }
  change_mask(SIG_SETMASK, every());
  self.inside = inside;
}

/* The rank is in pems, and its memory may be on disk: the kernel keeps the
   signal, and the thread takes it when it comes out. */
static void hold(int number, const siginfo_t *info, ucontext_t *frame) {
  set mask = set_of(&frame->uc_sigmask) | bit(number);
  memcpy(&frame->uc_sigmask, &mask, sizeof(mask));
  self_held |= bit(number);
  send_to(gettid(), number, info);
}

static void release(void) {
  const set held = self_held;
  self_held = 0;
  change_mask(SIG_UNBLOCK, held);
}

/* By what the thread itself has done just now. */
static bool synchronous(int number, const siginfo_t *info) {
  return number == SIGABRT ? info->si_code == SI_TKILL
                           : bit(number) & faults() && info->si_code > 0;
}

static void take(struct handlers *h, int number, siginfo_t *info,
                 ucontext_t *frame) {
  if (!vp_in_job()) {
    run(h, number, info, frame);
  } else if (self.helper && h->vp->state != VP_RUNNING) {
    send_to(h->thread, number, info);
  } else if (self.inside == 0 && self.vp == h->vp) {
    run(h, number, info, frame);
  } else {
    hold(number, info, frame);
  }
}

/* Is it for this thread, or for the process as a whole? */
static bool is_for_thread(const siginfo_t *info) {
  return info->si_code == SI_TKILL || info->si_code == SI_TIMER ||
         (info->si_code == SI_USER && info->si_pid == getpid()) || !vp_in_job();
}

/* Pages that were only watched, that a stack grows by, or that the disk did not
   give at once: the thread tries again. */
static bool is_ours(int number, const siginfo_t *info,
                    const ucontext_t *frame) {
  return (number == SIGSEGV &&
          (track_fault(info->si_addr) ||
           stack_growth_fault(info->si_addr,
                              (const void *)crash_counter(frame)))) ||
         (number == SIGBUS && info->si_code == BUS_ADRERR &&
          (stacks_supply(info->si_addr) || failed_page_retry(info->si_addr)));
}

static void on_signal(int number, siginfo_t *info, void *context) {
  const int error = errno;
  const bool sent_on = unmark(info);
  struct handlers *h = mine                     ? mine
                       : self.helper && self.vp ? self.vp->handlers
                                                : NULL;
  if (!sent_on && synchronous(number, info)) {
    if (!is_ours(number, info, context)) {
      h ? run(h, number, info, context) : all.die(NULL, number, info, context);
    }
  } else if (h && (sent_on || is_for_thread(info))) {
    take(h, number, info, context);
  } else if (!sent_on) { /* else for a rank that has ended */
    to_ranks(number, info);
  }
  errno = error;
}

/* --- setting --- */

static void set_kernels(int number, int flags) {
  struct sigaction action = {.sa_sigaction = on_signal,
                             .sa_flags = SA_SIGINFO | SA_ONSTACK | flags};
  const set mask = every();
  memcpy(&action.sa_mask, &mask, sizeof(mask));
  __sigaction(number, &action, NULL);
  all.routed |= bit(number);
}

/* How many ranks have a function for it, and how many ignore it. */
static int count_handled(int number) {
  int n = 0;
  for (int i = 0; i < all.n; i++) {
    n += (all.vp[i].handlers->handled & bit(number)) != 0;
  }
  return n;
}

static int count_ignored(int number) {
  int n = 0;
  for (int i = 0; i < all.n; i++) {
    n += (all.vp[i].handlers->ignored & bit(number)) != 0;
  }
  return n;
}

static void leave_to_kernel(int number, void (*action)(int)) {
  const struct sigaction a = {.sa_handler = action};
  __sigaction(number, &a, NULL);
  all.routed &= ~bit(number);
}

/* The kernel has one action for all. What matters only to it, such as whether
   system calls go on, is that of who came last: ranks run the same program. */
static void tell_kernel(int number, const struct sigaction *action) {
  const int flags = SA_RESTART | SA_NOCLDSTOP | SA_NOCLDWAIT;
  const bool function =
      action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN;
  const int ignored = count_ignored(number);
  if (function) {
    set_kernels(number, action->sa_flags & flags);
  } else if (count_handled(number)) {
    return;
  } else if (ignored == all.n && !(bit(number) & faults())) {
    leave_to_kernel(number, SIG_IGN); /* what they start inherits that */
  } else if (!ignored && (ends_nothing(number) || stops(number))) {
    leave_to_kernel(number, SIG_DFL);
  } else {
    set_kernels(number, SA_RESTART);
  }
}

static void note(struct handlers *h, int number) {
  const struct sigaction *const a = &h->action[number];
  const set b = bit(number);
  if (a->sa_handler == SIG_IGN) {
    h->ignored |= b;
    h->handled &= ~b;
  } else if (a->sa_handler == SIG_DFL) {
    h->ignored &= ~b;
    h->handled &= ~b;
  } else {
    h->handled |= b;
    h->ignored &= ~b;
  }
}

int handlers_set(int number, const struct sigaction *action,
                 struct sigaction *old) {
  if (number < 1 || number > LAST || number == 32 || number == 33 ||
      (action && (number == SIGKILL || number == SIGSTOP))) {
    errno = EINVAL;
    return -1;
  }
  struct handlers *h = self.vp->handlers;
  const struct sigaction set_to = action ? *action : (struct sigaction){0};
  const set before = change_mask(SIG_BLOCK, every());
  lock_take(&all.lock);
  const struct sigaction was = h->action[number];
  if (action) {
    h->action[number] = set_to;
    note(h, number);
    tell_kernel(number, &set_to);
  }
  lock_give(&all.lock);
  change_mask(SIG_SETMASK, before);
  if (old) {
    *old = was;
  }
  return 0;
}

void handlers_masked(void) {
  if (mine && mine->vp == self.vp) {
    mine->blocked = change_mask(SIG_BLOCK, 0);
  }
}

int handlers_send(int number, int code, union sigval value) {
  siginfo_t info = {.si_signo = number, .si_code = code};
  info.si_pid = getpid();
  info.si_uid = getuid();
  info.si_value = value;
  return send_to(self.vp->handlers->thread, number, &info);
}

pid_t handlers_thread(void) {
  return self.vp->handlers->thread;
}

/* --- in checkpoints --- */

/* What the kernel does with a signal that a rank has said nothing of is the
   affair of who starts the job: of nohup, say. */
struct handlers_saved {
  set handled, ignored, blocked;
  struct sigaction action[LAST + 1];
};

int handlers_save(const struct vp *vp, struct checkpoint_out *o,
                  struct pems_error *error) {
  const struct handlers *const h = vp->handlers;
  struct handlers_saved *const s = native_zalloc(1, sizeof(*s));
  if (!s) {
    return failure(error, ENOMEM, "checkpoint: out of memory");
  }
  s->handled = h->handled;
  s->ignored = h->ignored;
  s->blocked = h->blocked;
  memcpy(s->action, h->action, sizeof(s->action));
  const int code =
      checkpoint_put(o, CHECKPOINT_SIGNALS, 0, s, sizeof(*s), error);
  native_free(s);
  return code;
}

static void load_actions(struct handlers *h, const struct handlers_saved *s) {
  const set before = change_mask(SIG_BLOCK, every());
  lock_take(&all.lock);
  for (int i = 1; i <= LAST; i++) {
    if ((s->handled | s->ignored) & bit(i)) {
      h->action[i] = s->action[i];
      note(h, i);
      tell_kernel(i, &h->action[i]);
    }
  }
  h->blocked = s->blocked;
  lock_give(&all.lock);
  change_mask(SIG_SETMASK, before);
}

int handlers_load(struct vp *vp, struct checkpoint_in *in,
                  struct pems_error *error) {
  void *saved;
  size_t n;
  int code = checkpoint_take(in, CHECKPOINT_SIGNALS, &saved, &n, error);
  if (code) {
    return code;
  }
  if (n == sizeof(struct handlers_saved)) {
    load_actions(vp->handlers, saved);
  } else {
    code = failure(error, EILSEQ, "checkpoint: %s: actions of signals: %zu",
                   in->path, n);
  }
  native_free(saved);
  return code;
}

/* --- the lives of ranks --- */

/* In a process that the program forked only the calling rank is left, and the
   kernel's actions are its own; but for SIGSEGV, which tracking may need. */
static void in_child(void) {
  const struct handlers *h = self.vp ? self.vp->handlers : NULL;
  for (int i = 1; h && i <= LAST; i++) {
    if (all.routed & bit(i) && i != SIGSEGV) {
      __sigaction(i, &h->action[i], NULL);
    }
  }
}

/* All that would end the process, so that none does without a word; but not
   SIGPIPE, by which programs end when nobody reads on. Something else may have
   been set before, by a tool. */
static bool takes_from_the_start(int number, const struct sigaction *now) {
  return !(bit(number) & ~(every() | faults())) && number != SIGPIPE &&
         !ends_nothing(number) && !stops(number) &&
         (now->sa_handler == SIG_DFL || bit(number) & faults() ||
          number == SIGABRT || number == SIGINT || number == SIGTERM);
}

static void create(struct vp *vp) {
  vp->handlers = need_zalloc(1, sizeof(struct handlers), "signals");
  vp->handlers->vp = vp;
  for (int i = 1; i <= LAST; i++) {
    struct sigaction now;
    if (__sigaction(i, NULL, &now) == 0 && now.sa_handler == SIG_IGN) {
      vp->handlers->action[i].sa_handler = SIG_IGN;
      vp->handlers->ignored |= bit(i);
    }
  }
}

void handlers_start(struct vp *vp, int n, handlers_die_fn *die) {
  pthread_atfork(NULL, NULL, in_child);
  for (int i = 0; i < n; i++) {
    create(&vp[i]);
  }
  all.die = die;
  all.vp = vp;
  all.n = n;
  self_release = release;
  for (int i = 1; i <= LAST; i++) {
    struct sigaction now;
    if (__sigaction(i, NULL, &now) == 0 && takes_from_the_start(i, &now)) {
      set_kernels(i, SA_RESTART);
    }
  }
}

void handlers_begin(struct vp *vp) {
  mine = vp->handlers;
  mine->blocked = change_mask(SIG_BLOCK, 0);
  mine->thread = gettid();
}

void handlers_end(struct vp *vp) {
  change_mask(SIG_SETMASK, every());
  vp->handlers->thread = 0;
  mine = NULL;
}
