#define _GNU_SOURCE
#include "os/lock.h"

#ifdef PEMS_DEBUG

#include "os/die.h"

#include <stdbool.h>
#include <stdio.h>

enum { MOST = 48 };

/* What this thread holds, in the order in which it was taken. */
static _Thread_local struct {
  struct {
    const struct lock *lock;
    const char *file;
    int line;
  } at[MOST];
  int n;
} held;

static const char *name_of(const struct lock *l) {
  static const char *const name[] = {"UNRANKED",
#define LOCK_NAME(name) #name,
                                     LOCK_RANKS(LOCK_NAME)
#undef LOCK_NAME
  };
  return (unsigned)l->rank < LOCK_COUNT ? name[l->rank] : "what is no lock";
}

static _Noreturn void complain(const char *what, const struct lock *l,
                               const char *file, int line, int other) {
  char text[512];
  int n = snprintf(text, sizeof(text), "pems: locks: %s: %s (%s:%d)", what,
                   name_of(l), file, line);
  if (other >= 0) {
    n += snprintf(text + n, sizeof(text) - n, ", which holds %s (%s:%d)",
                  name_of(held.at[other].lock), held.at[other].file,
                  held.at[other].line);
  }
  snprintf(text + n, sizeof(text) - n, ": see doc/locking.md\n");
  die_saying(text);
}

static int find(const struct lock *l) {
  int i = held.n - 1;
  while (i >= 0 && held.at[i].lock != l) {
    i--;
  }
  return i;
}

static void check(const struct lock *l, const char *file, int line) {
  if (l->rank <= LOCK_UNRANKED || l->rank >= LOCK_COUNT) {
    complain("not initialized", l, file, line, -1);
  }
  for (int i = 0; i < held.n; i++) {
    const struct lock *const other = held.at[i].lock;
    if (other == l) {
      complain("taken twice", l, file, line, i);
    }
    if (other->rank > l->rank) {
      complain("taken out of order", l, file, line, i);
    }
    if (other->rank == l->rank && other > l) {
      complain("taken out of the order of addresses", l, file, line, i);
    }
  }
  if (held.n == MOST) {
    complain("too many are held", l, file, line, held.n - 1);
  }
}

static void note(const struct lock *l, const char *file, int line) {
  held.at[held.n].lock = l;
  held.at[held.n].file = file;
  held.at[held.n].line = line;
  held.n++;
}

void lock_init(struct lock *l, enum lock_rank rank) {
  pthread_mutex_init(&l->mutex, NULL);
  l->rank = rank;
}

void lock_destroy_at(struct lock *l, const char *file, int line) {
  const int i = find(l);
  if (i >= 0 || pthread_mutex_destroy(&l->mutex) != 0) {
    complain("destroyed while it is held", l, file, line, i);
  }
  l->rank = LOCK_UNRANKED;
}

void lock_take_at(struct lock *l, const char *file, int line) {
  check(l, file, line);
  pthread_mutex_lock(&l->mutex);
  note(l, file, line);
}

void lock_give_at(struct lock *l, const char *file, int line) {
  const int i = find(l);
  if (i < 0) {
    complain("given by who does not hold it", l, file, line, held.n - 1);
  }
  for (int j = i; j + 1 < held.n; j++) {
    held.at[j] = held.at[j + 1];
  }
  held.n--;
  pthread_mutex_unlock(&l->mutex);
}

/* Waiting with a lock that is held for short times only would keep it from who
   is waited for. */
static void check_wait(const struct lock *l, const char *file, int line) {
  if (find(l) < 0) {
    complain("waited with by who does not hold it", l, file, line, held.n - 1);
  }
  for (int i = 0; i < held.n; i++) {
    if (held.at[i].lock != l && held.at[i].lock->rank > LOCK_LAST_LONG) {
      complain("waited with while another is held", l, file, line, i);
    }
  }
}

void lock_forbid_at(enum lock_rank rank, const char *file, int line) {
  for (int i = 0; i < held.n; i++) {
    if (held.at[i].lock->rank == rank) {
      complain("held where it is forbidden", held.at[i].lock, file, line, i);
    }
  }
}

void lock_wait_at(pthread_cond_t *cond, struct lock *l, const char *file,
                  int line) {
  check_wait(l, file, line);
  pthread_cond_wait(cond, &l->mutex);
}

int lock_wait_until_at(pthread_cond_t *cond, struct lock *l,
                       const struct timespec *until, const char *file,
                       int line) {
  check_wait(l, file, line);
  return pthread_cond_timedwait(cond, &l->mutex, until);
}

#endif
