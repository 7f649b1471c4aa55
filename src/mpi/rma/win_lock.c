/* Locks of windows. Who asks first gets first what others do not have, but for
   those that hold other locks of the window: they must not wait for who waits
   for them. */
#include "mpi/rma/win.h"

/* Can it be had, whoever waits? */
static bool is_free(const struct win_lock *lock) {
  const struct window *w = lock->window;
  if (lock->target == LOCK_ALL) {
    return w->exclusives == 0;
  }
  const struct win_member *m = &w->member[lock->target];
  return !m->exclusive && (!lock->exclusive || (!m->sharers && !w->all));
}

static void take(const struct win_lock *lock) {
  struct window *w = lock->window;
  if (lock->target == LOCK_ALL) {
    w->all++;
  } else if (lock->exclusive) {
    w->member[lock->target].exclusive = true;
    w->exclusives++;
  } else {
    w->member[lock->target].sharers++;
  }
}

/* What a look at the queue has passed so far. */
struct look {
  bool all, exclusive; /* one waits for all members, for an exclusive lock */
};

/* What those before have said about the member of this one. */
static struct win_member *looked_at(const struct win_lock *lock) {
  struct window *w = lock->window;
  struct win_member *m = &w->member[lock->target];
  if (m->looked != w->looks) {
    m->looked = w->looks;
    m->shared_waits = m->exclusive_waits = false;
  }
  return m;
}

/* Is there one before it that it would delay? */
static bool is_behind(const struct look *look, const struct win_lock *lock) {
  if (lock->holder) {
    return false;
  }
  if (lock->target == LOCK_ALL) {
    return look->exclusive;
  }
  const struct win_member *m = looked_at(lock);
  return m->exclusive_waits ||
         (lock->exclusive && (m->shared_waits || look->all));
}

static void pass(struct look *look, const struct win_lock *lock) {
  if (lock->target == LOCK_ALL) {
    look->all = true;
  } else if (lock->exclusive) {
    looked_at(lock)->exclusive_waits = true;
    look->exclusive = true;
  } else {
    looked_at(lock)->shared_waits = true;
  }
}

static void look(struct window *w) {
  struct look passed = {false, false};
  struct win_lock **link = &w->first;
  w->looks++;
  while (*link) {
    struct win_lock *lock = *link;
    if (is_free(lock) && !is_behind(&passed, lock)) {
      *link = lock->next;
      take(lock);
      lock->granted(lock);
    } else {
      pass(&passed, lock);
      link = &lock->next;
    }
  }
  w->last = link;
}

void win_lock_ask(struct win_lock *lock) {
  struct window *w = lock->window;
  lock->next = NULL;
  *w->last = lock;
  w->last = &lock->next;
  look(w);
}

void win_lock_release(struct window *w, int target, bool exclusive) {
  if (target == LOCK_ALL) {
    w->all--;
  } else if (exclusive) {
    w->member[target].exclusive = false;
    w->exclusives--;
  } else {
    w->member[target].sharers--;
  }
  look(w);
}
