/* SprayList (Alistarh, Kopinsky, Li, Shavit, PPoPP 2015): tasks in a skip list,
   and what comes is where a random walk along its beginning ends. The walk
   starts some levels up and goes a few steps at each, so that p threads end at
   different places: among about the first p log^3 p tasks. Once in p times a
   thread takes the very first, and removes those before that were taken. */
#include <errno.h>

#include "base/failure.h"
#include "os/native.h"
#include "tasks/skiplist.h"

enum {
  WALKS = 2, /* before the first one is taken */
  ON = 64    /* taken nodes that a walk goes on over at its end */
};

struct spraylist {
  struct task_skiplist list;
  int level;      /* where a walk begins: log p */
  int down;       /* levels that it goes down at once: log log p */
  uint32_t steps; /* at a level, at most: log^3 p */
};

struct sprayer {
  struct task_skip_user user;
  uint64_t taken[(sizeof(struct task_record) + PEMS_SCHED_TASK_MOST) / 8];
};

/* Rounded up. */
static int log_2(uint32_t n) {
  return n > 1 ? 32 - __builtin_clz(n - 1) : 0;
}

static int open(struct pems_sched *sched, struct pems_error *error) {
  struct spraylist *const s = native_zalloc(1, sizeof(*s));
  if (!s || task_skiplist_open(&s->list, sched->stride, sched->threads)) {
    native_free(s);
    return failure(error, ENOMEM,
                   "scheduler: no memory for a skip list of threads: %d: "
                   "use fewer threads",
                   sched->threads);
  }
  const int log = log_2((uint32_t)sched->threads);
  s->level = log;
  s->steps = (uint32_t)(log * log * log);
  s->down = log > 1 ? 31 - __builtin_clz((uint32_t)log) : 1;
  sched->state = s;
  return 0;
}

static void close(struct pems_sched *sched) {
  struct spraylist *const s = sched->state;
  if (!s) {
    return;
  }
  task_skiplist_close(&s->list);
  native_free(s);
  sched->state = NULL;
}

static int join(struct pems_sched_handle *handle, struct pems_error *error) {
  struct spraylist *const s = handle->sched->state;
  struct sprayer *const sprayer = native_aligned(TASK_LINE, sizeof(*sprayer));
  if (!sprayer) {
    return failure(error, ENOMEM,
                   "scheduler: no memory for a thread: %d: use fewer threads",
                   handle->thread);
  }
  task_skiplist_join(&s->list, &sprayer->user, handle->thread);
  handle->state = sprayer;
  return 0;
}

static void leave(struct pems_sched_handle *handle) {
  native_free(handle->state);
  handle->state = NULL;
}

static int push(struct pems_sched_handle *handle,
                const struct task_record *record) {
  struct sprayer *const sprayer = handle->state;
  if (!task_skiplist_add(&sprayer->user, record, task_random(handle))) {
    return 0;
  }
  const struct task_skiplist *const list = sprayer->user.list;
  return task_fail(handle->sched, ENOMEM,
                   "scheduler: no memory for a skip list beyond: %zu bytes: "
                   "give the process more memory, or push fewer tasks",
                   task_reclaim_bytes(list->reclaim));
}

/* Goes some steps along a level. Where the list ends the walk was too long, and
   goes on from the head. */
static struct task_skip_node *along(const struct spraylist *s,
                                    struct task_skip_node *node, int level,
                                    uint32_t steps) {
  while (node && steps--) {
    node = task_skip_next(node, level);
  }
  return node ? node : s->list.head;
}

static struct task_skip_node *walk(struct pems_sched_handle *handle,
                                   const struct spraylist *s) {
  struct task_skip_node *node = s->list.head;
  for (int level = s->level;; level = level > s->down ? level - s->down : 0) {
    node = along(s, node, level, task_random_below(handle, s->steps + 1));
    if (!level) {
      return node;
    }
  }
}

/* Takes the task where a walk ends, or one soon after it. If many were taken
   there, removes them: whoever takes the first might never get here, since new
   ones come before. */
static int spray(struct pems_sched_handle *handle, const struct spraylist *s) {
  struct sprayer *const sprayer = handle->state;
  struct task_record *const record = (struct task_record *)sprayer->taken;
  task_guard_enter(sprayer->user.guard);
  struct task_skip_node *first = walk(handle, s);
  if (first == s->list.head) {
    first = task_skip_follow(first);
  }
  struct task_skip_node *node = first;
  int on = 0, taken = 0;
  for (; node && on < ON && !taken; node = task_skip_follow(node), on++) {
    taken = task_skip_claim(&s->list, node, record);
  }
  if (on > TASK_SKIP_DEAD) {
    task_skip_remove(&sprayer->user, first);
  }
  task_guard_leave(sprayer->user.guard);
  return taken;
}

static const struct task_record *take(struct pems_sched_handle *handle) {
  const struct spraylist *const s = handle->sched->state;
  struct sprayer *const sprayer = handle->state;
  struct task_record *const record = (struct task_record *)sprayer->taken;
  const uint32_t p = (uint32_t)handle->sched->threads;
  if (p > 1 && task_random_below(handle, p)) {
    for (int i = 0; i < WALKS; i++) {
      if (spray(handle, s)) {
        return record;
      }
    }
  }
  return task_skiplist_take_first(&sprayer->user, record) ? record : NULL;
}

const struct task_kind task_spraylist = {
    .name = "spraylist",
    .open = open,
    .join = join,
    .leave = leave,
    .close = close,
    .push = push,
    .take = take,
};
