#define _GNU_SOURCE
#include "interpose/record_lock.h"

#include "base/message.h"
#include "base/need.h"
#include "base/ranges.h"
#include "base/self.h"
#include "interpose/handler.h"
#include "interpose/real.h"
#include "os/lock.h"
#include "os/lock_holder.h"
#include "os/native.h"
#include "vp/run_queue.h"
#include "vp/side_stack.h"
#include "vp/vp.h"

#include <errno.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Of one rank, on a file. */
struct record_locks {
  struct record_locks *next;
  struct stat file;
  int fd;                /* the description that has them, and no other lock */
  struct ranges held[2]; /* for reading, for writing */
};

/* A rank that waits. */
struct want {
  struct want *next;
  struct vp *vp;
  struct stat file;
  struct range range;
  bool writes;
  bool seen; /* by who looks for a cycle */
};

/* Also what the kernel has for ranks: their lists and it agree. */
static struct lock lock = LOCK_INITIALIZER(LOCK_RECORD_LOCKS);
static struct want *wants;

/* fcntl of libc's: this library's own calls reach it past the replacement. */
static int control(int fd, int command, void *argument) {
  INTERPOSE_REAL(fcntl)
  return real(fd, command, argument);
}

static int close_real(int fd) {
  INTERPOSE_REAL(close)
  return real(fd);
}

/* --- which file, which bytes --- */

static bool is_file(const struct stat *a, const struct stat *b) {
  return a->st_ino == b->st_ino && a->st_dev == b->st_dev;
}

static struct record_locks *find_locked(const struct vp *vp,
                                        const struct stat *file) {
  struct record_locks *r = vp->record_locks;
  while (r && !is_file(&r->file, file)) {
    r = r->next;
  }
  return r;
}

static bool is_ours(const struct stat *st) {
  return S_ISREG(st->st_mode) || S_ISDIR(st->st_mode);
}

bool record_lock_is(int fd, int command) {
  struct stat st;
  return (command == F_SETLK || command == F_SETLKW || command == F_GETLK) &&
         !self_native() && vp_in_job() && fstat(fd, &st) == 0 && is_ours(&st);
}

/* Where the description that has the locks has no place of its own. Returns 0
   or an errno value. */
static int settle(int fd, const struct stat *st, struct flock *l) {
  off_t base = 0;
  if (l->l_whence == SEEK_CUR) {
    base = lseek(fd, 0, SEEK_CUR);
  } else if (l->l_whence == SEEK_END) {
    base = st->st_size;
  } else if (l->l_whence != SEEK_SET) {
    return EINVAL;
  }
  l->l_whence = SEEK_SET;
  l->l_pid = 0;
  return base < 0                                                ? errno
         : __builtin_add_overflow(base, l->l_start, &l->l_start) ? EOVERFLOW
                                                                 : 0;
}

/* Of a lock that the kernel would take. */
static struct range range_of(const struct flock *l) {
  const uintptr_t start = (uintptr_t)l->l_start;
  return l->l_len < 0 ? (struct range){start + (uintptr_t)l->l_len, start, 0}
                      : (struct range){start,
                                       l->l_len ? start + (uintptr_t)l->l_len
                                                : (uintptr_t)INT64_MAX + 1,
                                       0};
}

static bool overlaps(const struct ranges *held, struct range r) {
  const size_t i = ranges_find(held, r.start);
  return i < held->n && held->item[i].start < r.end;
}

static bool is_in_the_way(const struct record_locks *r, bool writes,
                          struct range range) {
  return overlaps(&r->held[1], range) ||
         (writes && overlaps(&r->held[0], range));
}

/* --- the description --- */

/* The child has copies of descriptors whose locks are none of its own. */
static void in_child(void) {
  for (int i = 0; i < vps.n; i++) {
    for (struct record_locks *r = vps.item[i].record_locks; r; r = r->next) {
      close_real(r->fd);
    }
  }
}

static void prepare(void) {
  pthread_atfork(NULL, NULL, in_child);
}

/* For locks of both kinds, where the file may be written to, or for those that
   fd may have. -1: errno says why. */
static int open_again(int fd) {
  char name[64];
  const int flags = O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
  snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
  const int both = open(name, O_RDWR | flags);
  return both >= 0
             ? both
             : open(name, (control(fd, F_GETFL, NULL) & O_ACCMODE) | flags);
}

static struct record_locks *add_locked(struct vp *vp, int fd,
                                       const struct stat *file) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  const int own = open_again(fd);
  if (own < 0) {
    return NULL;
  }
  pthread_once(&once, prepare);
  struct record_locks *const r = need_zalloc(1, sizeof(*r), "record locks");
  *r = (struct record_locks){vp->record_locks, *file, own, {{0}, {0}}};
  vp->record_locks = r;
  return r;
}

/* A child may have a copy of the descriptor: locks do not wait for its end. */
static void remove_locked(struct record_locks **at) {
  struct record_locks *const r = *at;
  struct flock all = {.l_type = F_UNLCK, .l_whence = SEEK_SET};
  *at = r->next; /* a child that is forked now closes only what is open */
  control(r->fd, F_OFD_SETLK, &all);
  close_real(r->fd);
  ranges_free(&r->held[0]);
  ranges_free(&r->held[1]);
  native_free(r);
}

/* --- locks --- */

static void note_locked(struct record_locks *r, const struct flock *l) {
  const struct range at = range_of(l);
  bool bad = false;
  for (int i = 0; i < 2; i++) {
    const bool is = l->l_type == (i ? F_WRLCK : F_RDLCK);
    bad = (is ? ranges_add(&r->held[i], at.start, at.end)
              : ranges_remove(&r->held[i], at.start, at.end)) ||
          bad;
  }
  if (bad) {
    need_fail("record locks");
  }
}

/* Ranks that wait for the file may have it now. */
static void wake_locked(const struct vp *vp, const struct stat *file) {
  for (const struct want *w = wants; w; w = w->next) {
    if (w->vp != vp && is_file(&w->file, file)) {
      run_queue_lock();
      run_queue_unpause_locked(w->vp);
      run_queue_unlock();
    }
  }
}

/* Returns 0 or an errno value. */
static int check(int fd, short type) {
  const int flags = control(fd, F_GETFL, NULL), mode = flags & O_ACCMODE;
  if (type != F_RDLCK && type != F_WRLCK && type != F_UNLCK) {
    return EINVAL;
  }
  return (flags & O_PATH) || (type == F_RDLCK && mode == O_WRONLY) ||
                 (type == F_WRLCK && mode == O_RDONLY)
             ? EBADF
             : 0;
}

static void tell(int fd) {
  static atomic_flag told = ATOMIC_FLAG_INIT;
  if (!atomic_flag_test_and_set(&told)) {
    msg_notice("record locks: descriptor %d: its file cannot be opened again, "
               "as locks of a rank need: %s: its ranks get ENOLCK",
               fd, strerror(errno));
  }
}

/* Returns 0 or an errno value. */
static int set_locked(int fd, const struct stat *file, struct flock *l) {
  struct record_locks *r = find_locked(self.vp, file);
  const int wrong = check(fd, l->l_type);
  if (wrong || (!r && l->l_type == F_UNLCK)) {
    return wrong;
  }
  r = r ? r : add_locked(self.vp, fd, file);
  if (!r) {
    tell(fd);
    return ENOLCK;
  }
  if (control(r->fd, F_OFD_SETLK, l) != 0) {
    return errno == EBADF ? ENOLCK : errno;
  }
  note_locked(r, l);
  if (l->l_type != F_WRLCK) {
    wake_locked(self.vp, file);
  }
  return 0;
}

static int set(int fd, const struct stat *file, struct flock *l) {
  lock_take(&lock);
  const int code = set_locked(fd, file, l);
  lock_give(&lock);
  return code;
}

/* Has another rank of this process what is in the way? */
static bool is_here_locked(const struct stat *file, struct range range) {
  for (int i = 0; i < vps.n; i++) {
    const struct record_locks *const r = find_locked(&vps.item[i], file);
    if (r && &vps.item[i] != self.vp && is_in_the_way(r, true, range)) {
      return true;
    }
  }
  return false;
}

/* The kernel names no process for a lock that a description has. */
static int get(int fd, const struct stat *file, struct flock *l) {
  lock_take(&lock);
  const struct record_locks *const r = find_locked(self.vp, file);
  const int code = control(r ? r->fd : fd, F_OFD_GETLK, l) ? errno : 0;
  const bool found = !code && l->l_type != F_UNLCK && l->l_pid == -1;
  const bool here = found && is_here_locked(file, range_of(l));
  lock_give(&lock);
  if (found) {
    const struct range at = range_of(l);
    l->l_pid =
        here ? getpid()
             : lock_holder_find(file, (off_t)at.start,
                                at.end > INT64_MAX ? INT64_MAX : (off_t)at.end);
  }
  return code;
}

/* --- waiting --- */

/* Does a rank that is in its way wait, in the end, for `to`? */
static bool leads_back_locked(struct want *w, const struct vp *to) {
  w->seen = true;
  for (int i = 0; i < vps.n; i++) {
    const struct vp *const vp = &vps.item[i];
    const struct record_locks *const r = find_locked(vp, &w->file);
    if (vp == w->vp || !r || !is_in_the_way(r, w->writes, w->range)) {
      continue;
    }
    bool found = vp == to;
    for (struct want *next = wants; next && !found; next = next->next) {
      found = next->vp == vp && !next->seen && leads_back_locked(next, to);
    }
    if (found) {
      return true;
    }
  }
  return false;
}

static bool is_deadlock_locked(struct want *w) {
  for (struct want *other = wants; other; other = other->next) {
    other->seen = false;
  }
  return !w->vp->helpers && leads_back_locked(w, w->vp);
}

/* False where the rank would wait for itself. Threads of it may go on. */
static bool want(struct want *w) {
  lock_take(&lock);
  const bool good = !is_deadlock_locked(w);
  if (good) {
    w->next = wants;
    wants = w;
  }
  lock_give(&lock);
  return good;
}

static void want_no_more(const struct want *w) {
  lock_take(&lock);
  struct want **at = &wants;
  while (*at != w) {
    at = &(*at)->next;
  }
  *at = w->next;
  lock_give(&lock);
}

/* Handlers run; false if the call is to end by them. */
static bool goes_on_after_signals(void) {
  const uint64_t held = self_held;
  bool restarts = true;
  for (int number = 1; number <= 64; number++) {
    struct sigaction is;
    if (held & (uint64_t)1 << (number - 1) &&
        handlers_set(number, NULL, &is) == 0) {
      restarts = restarts && is.sa_flags & SA_RESTART;
    }
  }
  self_leave();
  self_enter();
  return restarts;
}

/* Or may another thread of the rank be in MPI, and have its slot there? */
static bool has_slot(const struct vp *vp) {
  return vp->shared ||
         (!self.helper &&
          (!vp->helpers || vp->thread_level < MPI_THREAD_SERIALIZED));
}

/* A thread that has not the slot just sleeps. */
static void let_others_run(struct vp *vp) {
  const struct timespec moment = {0, 500000};
  if (has_slot(vp)) {
    if (vp->shared) {
      run_queue_thread_enter(vp);
    }
    run_queue_lock();
    run_queue_pause_locked(vp, "fcntl", 1, false);
    run_queue_unlock();
    if (vp->shared) {
      run_queue_thread_leave(vp);
    }
  }
  (void)nanosleep(&moment, NULL);
}

/* The lock, or an errno value. */
static int await(int fd, const struct stat *file, struct flock *l) {
  struct want w = {NULL, self.vp, *file, range_of(l), l->l_type == F_WRLCK,
                   false};
  int code;
  if (!want(&w)) {
    return EDEADLK;
  }
  while ((code = set(fd, file, l)) == EAGAIN || code == EACCES) {
    if (self_held && !goes_on_after_signals()) {
      code = EINTR;
      break;
    }
    let_others_run(self.vp);
  }
  want_no_more(&w);
  return code;
}

/* As a call of MPI in which the rank waits; where it has other threads that may
   be there, its stack stays. */
static int await_outside(int fd, const struct stat *file, struct flock *l) {
  struct vp *const vp = self.vp;
  if (vp->shared || !has_slot(vp)) {
    return await(fd, file, l);
  }
  char apart[CONTEXT_STACK_APART];
  const bool left = vp_program_stops(vp, apart);
  char *const aside = left ? NULL : side_stack_for(vp, apart);
  void *const before =
      aside ? side_stack_switch(aside, __builtin_alloca(16)) : NULL;
  const int code = await(fd, file, l);
  if (before) {
    side_stack_switch(before, NULL);
  }
  vp_program_goes_on(vp, left);
  return code;
}

static int act(int fd, int command, struct flock *l) {
  struct stat file;
  int code = fstat(fd, &file) ? errno : settle(fd, &file, l);
  if (code) {
    return code;
  }
  if (command == F_GETLK) {
    return get(fd, &file, l);
  }
  code = set(fd, &file, l);
  return command == F_SETLKW && (code == EAGAIN || code == EACCES)
             ? await_outside(fd, &file, l)
             : code;
}

/* Of a lock that is not there only the type changes. */
int record_lock_control(int fd, int command, struct flock *l) {
  struct flock own = *l;
  self_enter();
  const int code = act(fd, command, &own);
  self_leave();
  if (code) {
    errno = code;
    return -1;
  }
  if (command == F_GETLK && own.l_type == F_UNLCK) {
    l->l_type = F_UNLCK;
  } else if (command == F_GETLK) {
    *l = own;
  }
  return 0;
}

/* --- the end of locks --- */

void record_lock_close(int fd) {
  struct stat st;
  struct vp *const vp = self.vp;
  if (self_native() || !vp->record_locks || !vp_in_job() ||
      fstat(fd, &st) != 0) {
    return;
  }
  self_enter();
  lock_take(&lock);
  struct record_locks **at = &vp->record_locks;
  while (*at && !is_file(&(*at)->file, &st)) {
    at = &(*at)->next;
  }
  if (*at) {
    remove_locked(at);
    wake_locked(vp, &st);
  }
  lock_give(&lock);
  self_leave();
}

bool record_locks_held(const struct vp *vp) {
  bool held = false;
  lock_take(&lock);
  for (const struct record_locks *r = vp->record_locks; r; r = r->next) {
    held = held || r->held[0].n || r->held[1].n;
  }
  lock_give(&lock);
  return held;
}

void record_locks_end(struct vp *vp) {
  lock_take(&lock);
  while (vp->record_locks) {
    const struct stat file = vp->record_locks->file;
    remove_locked(&vp->record_locks);
    wake_locked(vp, &file);
  }
  lock_give(&lock);
}
