#define _GNU_SOURCE
#include "vp/helpers.h"

#include "context/context.h"
#include "os/clock.h"
#include "os/lock.h"
#include "os/native.h"
#include "os/thread.h"
#include "vp/vp.h"

#include <limits.h>
#include <link.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

struct helper {
  pid_t id;
  bool ending;   /* its code has ended: the C library's is left */
  uint64_t runs; /* when it was looked at first */
};

struct helpers {
  struct lock lock;
  struct helper *thread; /* all of the VP's, its main thread first */
  int n, room;
  int starting; /* that have not begun yet */
  struct helpers_time ended;
  pid_t waiting;
  atomic_int telling; /* threads of the program that wait for the lock or have
                         it: they may be shown asleep, and go on at once */
};

static void tell_begins(struct helpers *h) {
  atomic_fetch_add(&h->telling, 1);
  lock_take(&h->lock);
}

static void tell_ends(struct helpers *h) {
  lock_give(&h->lock);
  atomic_fetch_sub(&h->telling, 1);
}

/* Once the main thread is there, only those that begin come, for whom
   helpers_starting has made room. */
static bool reserve_locked(struct helpers *h, int n) {
  if (n <= h->room) {
    return true;
  }
  struct helper *more = native_realloc(h->thread, 2 * n * sizeof(*more));
  if (more) {
    h->thread = more;
    h->room = 2 * n;
  }
  return more;
}

static struct helpers *helpers_new(void) {
  struct helpers *h = native_zalloc(1, sizeof(*h));
  if (h) {
    lock_init(&h->lock, LOCK_HELPERS);
    lock_take(&h->lock);
    const bool room = reserve_locked(h, 8);
    if (room) {
      h->thread[h->n++] = (struct helper){.id = gettid()};
    }
    lock_give(&h->lock);
    if (!room) { /* the VP's own thread would not be counted */
      lock_destroy(&h->lock);
      native_free(h);
      return NULL;
    }
  }
  return h;
}

/* Threads that end still free memory, which may be the context's. */
static bool is_gone(const struct helper *t) {
  return t->ending && syscall(SYS_tgkill, getpid(), t->id, 0) != 0;
}

static void forget_gone_locked(struct helpers *h) {
  int n = 0;
  for (int i = 0; i < h->n; i++) {
    if (!is_gone(&h->thread[i])) {
      h->thread[n++] = h->thread[i];
    }
  }
  h->n = n;
}

bool helpers_starting(struct vp *vp) {
  if (!vp->helpers) { /* only its main thread is there */
    vp->helpers = helpers_new();
  }
  struct helpers *h = vp->helpers;
  if (!h) {
    return false;
  }
  tell_begins(h);
  forget_gone_locked(h);
  const bool room = reserve_locked(h, h->n + h->starting + 1);
  h->starting += room;
  tell_ends(h);
  return room;
}

void helpers_not_started(struct vp *vp) {
  tell_begins(vp->helpers);
  vp->helpers->starting--;
  tell_ends(vp->helpers);
}

/* Writable data of libraries whose locks threads of all VPs take: whoever waits
   for one of these is about to go on. */
static struct {
  uintptr_t start, end;
} shared[16];
static int n_shared;

static int note_shared(struct dl_phdr_info *info, size_t size, void *arg) {
  (void)size, (void)arg;
  const char *const path = info->dlpi_name;
  if (!strstr(path, "/libc.so") && !strstr(path, "/ld-linux") &&
      !strstr(path, "/libpems")) {
    return 0;
  }
  for (int i = 0; i < info->dlpi_phnum && n_shared < 16; i++) {
    const ElfW(Phdr) *const h = &info->dlpi_phdr[i];
    if (h->p_type == PT_LOAD && h->p_flags & PF_W) {
      shared[n_shared].start = info->dlpi_addr + h->p_vaddr;
      shared[n_shared].end = info->dlpi_addr + h->p_vaddr + h->p_memsz;
      n_shared++;
    }
  }
  return 0;
}

static uint64_t ns_of(const struct timeval *t) {
  enum { MICRO = 1000000, NANO_EACH = 1000 };
  return ((uint64_t)t->tv_sec * MICRO + (uint64_t)t->tv_usec) * NANO_EACH;
}

/* The end of a thread is the last destructor of thread-specific data: those of
   the program still run its code. */
static pthread_key_t end_key;
static __thread int end_rounds;

static void on_end(void *arg) {
  struct helpers *h = arg;
  if (++end_rounds < PTHREAD_DESTRUCTOR_ITERATIONS) {
    pthread_setspecific(end_key, h);
    return;
  }
  const pid_t me = gettid();
  struct rusage used;
  (void)getrusage(RUSAGE_THREAD, &used);
  tell_begins(h);
  h->ended.user += ns_of(&used.ru_utime);
  h->ended.system += ns_of(&used.ru_stime);
  for (int i = 0; i < h->n; i++) {
    if (h->thread[i].id == me) {
      h->thread[i].ending = true;
    }
  }
  tell_ends(h);
}

static void prepare(void) {
  dl_iterate_phdr(note_shared, NULL);
  pthread_key_create(&end_key, on_end);
}

void helpers_begin(struct vp *vp) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  struct helpers *h = vp->helpers;
  pthread_once(&once, prepare);
  tell_begins(h);
  h->starting--;
  h->thread[h->n++] = (struct helper){.id = gettid()};
  tell_ends(h);
  pthread_setspecific(end_key, h);
}

void helpers_wait(struct vp *vp) {
  if (vp->helpers) {
    lock_take(&vp->helpers->lock);
    vp->helpers->waiting = gettid();
    lock_give(&vp->helpers->lock);
  }
}

void helpers_none_waits(struct vp *vp) {
  if (vp->helpers) {
    lock_take(&vp->helpers->lock);
    vp->helpers->waiting = 0;
    lock_give(&vp->helpers->lock);
  }
}

/* What the kernel says of a thread in a file of /proc, as a string. */
static bool tells(pid_t thread, const char *file, char *text, size_t size) {
  /* Nor RUN_QUEUE, but where tests evict whatever waits. */
  lock_forbid(LOCK_RESIDENCY);
  return thread_tells(thread, file, text, size);
}

/* The C library's heaps for threads begin at multiples of 64 MiB, with a lock.
 */
static bool is_shared(uintptr_t futex) {
  enum { HEAP = 64 << 20, HEAD = 4096 };
  for (int i = 0; i < n_shared; i++) {
    if (futex - shared[i].start < shared[i].end - shared[i].start) {
      return true;
    }
  }
  return futex % HEAP < HEAD && !context_of((const void *)futex);
}

/* The number of the system call in which a thread is, and its arguments; or
   that it runs. */
static bool sleeps(pid_t thread) {
  char text[256];
  long number = -1;
  unsigned long futex = 0, operation = 0, timeout = 1;
  if (!tells(thread, "syscall", text, sizeof(text))) {
    return false;
  }
  const int fields = sscanf(text, "%ld %lx %lx %*x %lx", &number, &futex,
                            &operation, &timeout);
  operation &= FUTEX_CMD_MASK;
  return fields == 4 && !is_shared(futex) && number == SYS_futex &&
         timeout == 0 &&
         (operation == FUTEX_WAIT || operation == FUTEX_WAIT_BITSET);
}

/* How often a thread has fallen asleep. Not its time on cores nor how often it
   got one: where a hypervisor takes a core away the kernel counts no time for a
   short run, and no turn for who is woken before it was taken off the queue.
   False for one that does not sleep: who has been woken by another core, but
   was not told yet, is still shown in its system call, and only its state
   tells. */
static bool count_runs(pid_t thread, uint64_t *runs) {
  static const char key[] = "\nvoluntary_ctxt_switches:";
  char text[4096];
  if (!tells(thread, "status", text, sizeof(text)) ||
      !strstr(text, "\nState:\tS")) {
    return false;
  }
  const char *const at = strstr(text, key);
  *runs = at ? strtoull(at + strlen(key), NULL, 10) : 0;
  return at;
}

/* Looks at one thread after the other: counts, then sees whether it sleeps. The
   second time the other way round, and it must not have run since the first
   count: else it could have run between the second count and look. */
static bool all_sleep_locked(struct helpers *h, bool still) {
  for (int i = 0; i < h->n; i++) {
    struct helper *const t = &h->thread[i];
    uint64_t runs;
    if (t->id == h->waiting) {
      continue;
    }
    if (t->ending || (still && !sleeps(t->id)) || !count_runs(t->id, &runs)) {
      return false;
    }
    if (still ? runs != t->runs : !sleeps(t->id)) {
      return false;
    }
    t->runs = runs;
  }
  return true;
}

/* That each was seen asleep is not enough: one may have been woken since by
   another that fell asleep before it was looked at. Between two looks none
   ran, nor was one about to: then there was an instant at which all slept, and
   nobody was left to wake them. One that waited for a lock of pems was busy in
   between, or telling that it ends or starts another. */
bool helpers_asleep(const struct vp *vp) {
  struct helpers *h = vp->helpers;
  if (!h) {
    return true;
  }
  lock_take(&h->lock);
  forget_gone_locked(h);
  const bool asleep = h->starting == 0 && all_sleep_locked(h, false) &&
                      !atomic_load(&vp->busy) && !atomic_load(&h->telling) &&
                      all_sleep_locked(h, true);
  lock_give(&h->lock);
  return asleep;
}

bool helpers_settle(struct vp *vp) {
  enum { TRIES = 10000 };
  const struct timespec pause = {0, 100000};
  bool asleep = false;
  helpers_wait(vp);
  for (int i = 0; i < TRIES && !(asleep = helpers_asleep(vp)); i++) {
    nanosleep(&pause, NULL);
  }
  return asleep;
}

/* --- processor time --- */

/* The kernel's name for the clock of a thread of this process. */
static clockid_t clock_of(pid_t thread) {
  enum { PER_THREAD = 6 };
  return (clockid_t)(~(unsigned)thread << 3 | PER_THREAD);
}

/* Fields of /proc/ID/stat; the name, the second, may have blanks. */
static uint64_t system_ns(pid_t thread) {
  enum { NANO = 1000000000 };
  char text[512];
  unsigned long ticks = 0;
  const char *const after = thread_tells(thread, "stat", text, sizeof(text))
                                ? strrchr(text, ')')
                                : NULL;
  if (!after ||
      sscanf(after + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %lu",
             &ticks) != 1) {
    return 0;
  }
  return ticks * (uint64_t)(NANO / sysconf(_SC_CLK_TCK));
}

void helpers_times(const struct vp *vp, struct helpers_time *to) {
  struct helpers *const h = vp->helpers;
  *to = (struct helpers_time){0, 0};
  if (!h) {
    return;
  }
  tell_begins(h);
  *to = h->ended;
  for (int i = 0; i < h->n; i++) {
    const struct helper *const t = &h->thread[i];
    if (!t->ending && t->id != gettid()) {
      const uint64_t all = clock_read_ns(clock_of(t->id));
      const uint64_t system = system_ns(t->id);
      to->system += system < all ? system : all;
      to->user += system < all ? all - system : 0;
    }
  }
  tell_ends(h);
}
