/* A list at each level, whose links carry a mark: Harris 2001, Fraser 2004,
   Herlihy and Shavit 2008.

   A node is taken by whoever sets TAKEN first; that is all a task needs. It
   stays where it is as one of the dead, until there are some of them in a row
   and somebody removes them: who sets REMOVING marks its links from the top
   level down, and then passes all levels, where runs of marked nodes are cut
   out with one exchange. So a level's link is marked before those below it:
   whoever stands on a node that was not marked at a level may go down from it.

   Its memory is given back when nobody links it any more (who added it may
   still be linking it at upper levels: ADDED) and who removes it has marked all
   its links (MARKED). Whichever of the two comes last passes all levels once
   more: now the node can be in none of them, nor get into one, and is given
   back. */
#include "tasks/skiplist.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "os/native.h"

enum { TAKEN = 1, ADDED = 2, REMOVING = 4, MARKED = 8 };

enum {
  DEAD_LEAST = TASK_SKIP_DEAD, /* at the beginning, before they are removed */
  DEAD_MOST = 64               /* that are removed at once */
};

/* Where a node is, or should be: at each level, what is before and after. */
struct binding {
  struct task_skip_node *before[TASK_SKIP_LEVELS];
  struct task_skip_node *after[TASK_SKIP_LEVELS];
};

/* --- nodes and links --- */

static struct task_skip_node *node_of(uintptr_t link) {
  return (struct task_skip_node *)(link & ~(uintptr_t)1);
}

/* Acquire: what a link leads to was written before it was linked. */
static uintptr_t get(struct task_skip_node *node, int level) {
  return atomic_load_explicit(&node->link[level], memory_order_acquire);
}

/* Release: for those who get to `to` by this link. */
static int put(struct task_skip_node *node, int level,
               struct task_skip_node *from, struct task_skip_node *to) {
  uintptr_t expected = (uintptr_t)from;
  return atomic_compare_exchange_strong_explicit(
      &node->link[level], &expected, (uintptr_t)to, memory_order_release,
      memory_order_relaxed);
}

static int height_of(const struct task_skip_node *node) {
  return (int)(node->number & 0xff);
}

/* Each level has half the nodes of that below it. */
static int height_from(uint64_t random) {
  return 1 + __builtin_ctzll(random | (UINT64_C(1) << (TASK_SKIP_LEVELS - 1)));
}

static size_t lines_of(const struct task_skiplist *list, int height) {
  const size_t bytes = sizeof(struct task_skip_node) +
                       (size_t)height * sizeof(uintptr_t) + list->task;
  return (bytes + TASK_LINE - 1) / TASK_LINE;
}

static void *task_of(struct task_skip_node *node) {
  return (void *)&node->link[height_of(node)];
}

static bool is_before(const struct task_skip_node *a,
                      const struct task_skip_node *b) {
  return a->priority < b->priority ||
         (a->priority == b->priority && a->number < b->number);
}

/* Sets bits of what was done with a node; what they were. Acquire and release:
   whoever comes last has all that the others did behind it. */
static uintptr_t done(struct task_skip_node *node, uintptr_t bits) {
  return atomic_fetch_or_explicit(&node->block.link, bits,
                                  memory_order_acq_rel);
}

static bool is_taken(struct task_skip_node *node) {
  return (atomic_load_explicit(&node->block.link, memory_order_relaxed) &
          TAKEN) != 0;
}

/* --- making --- */

int task_skiplist_open(struct task_skiplist *list, size_t stride, int threads) {
  const size_t bytes =
      sizeof(struct task_skip_node) + TASK_SKIP_LEVELS * sizeof(uintptr_t);
  *list = (struct task_skiplist){
      .task = stride - sizeof(struct task_record),
      .threads = threads,
      .reclaim = task_reclaim_new(threads),
      .head = native_aligned(TASK_LINE, bytes),
  };
  if (!list->reclaim || !list->head) {
    task_skiplist_close(list);
    return ENOMEM;
  }
  memset(list->head, 0, bytes);
  list->head->number = TASK_SKIP_LEVELS;
  return 0;
}

void task_skiplist_close(struct task_skiplist *list) {
  task_reclaim_free(list->reclaim);
  native_free(list->head);
  *list = (struct task_skiplist){0};
}

void task_skiplist_join(struct task_skiplist *list, struct task_skip_user *user,
                        int thread) {
  *user = (struct task_skip_user){
      .list = list,
      .guard = task_reclaim_guard(list->reclaim, thread),
      .number = (uint64_t)thread,
  };
}

/* --- finding --- */

/* The first node after `before` at a level that is not marked there; those
   between are cut out. 0 if that failed, or if `before` itself is marked. */
static bool next_alive(struct task_skip_node *before, int level,
                       struct task_skip_node **after) {
  const uintptr_t link = get(before, level);
  if (link & 1) {
    return false;
  }
  struct task_skip_node *const first = node_of(link), *node = first;
  uintptr_t next;
  while (node && ((next = get(node, level)) & 1)) {
    node = node_of(next);
  }
  *after = node;
  return node == first || put(before, level, first, node);
}

static bool find_once(struct task_skiplist *list,
                      const struct task_skip_node *wanted,
                      struct binding *place) {
  struct task_skip_node *before = list->head, *after;
  for (int level = TASK_SKIP_LEVELS; level-- > 0;) {
    for (;;) {
      if (!next_alive(before, level, &after)) {
        return false;
      }
      if (!after || !is_before(after, wanted)) {
        break;
      }
      before = after;
    }
    place->before[level] = before;
    place->after[level] = after;
  }
  return true;
}

/* Finds the place of a node, and cuts it out wherever it is marked. */
static void find(struct task_skiplist *list,
                 const struct task_skip_node *wanted, struct binding *place) {
  while (!find_once(list, wanted, place))
    ;
}

/* --- adding --- */

static struct task_skip_node *make(struct task_skip_user *user,
                                   const struct task_record *record,
                                   uint64_t random) {
  const struct task_skiplist *const list = user->list;
  const int height = height_from(random);
  struct task_skip_node *const node =
      task_guard_take(user->guard, lines_of(list, height));
  if (!node) {
    return NULL;
  }
  node->number = user->number << 8 | (uint64_t)height;
  user->number += (uint64_t)list->threads;
  node->priority = record->priority;
  memcpy(task_of(node), record->task, list->task);
  return node;
}

/* At level 0: from then on it is in the list. */
static void link_bottom(struct task_skiplist *list, struct task_skip_node *node,
                        struct binding *place) {
  do {
    find(list, node, place);
    for (int level = 0; level < height_of(node); level++) {
      atomic_store_explicit(&node->link[level], (uintptr_t)place->after[level],
                            memory_order_relaxed);
    }
  } while (!put(place->before[0], 0, place->after[0], node));
}

/* At one more level; 0 if it is being removed. */
static bool link_above(struct task_skiplist *list, struct task_skip_node *node,
                       int level, struct binding *place) {
  for (;;) {
    const uintptr_t link = get(node, level);
    struct task_skip_node *const after = place->after[level];
    if (link & 1 ||
        (node_of(link) != after && !put(node, level, node_of(link), after))) {
      return false;
    }
    if (put(place->before[level], level, after, node)) {
      return true;
    }
    find(list, node, place);
  }
}

int task_skiplist_add(struct task_skip_user *user,
                      const struct task_record *record, uint64_t random) {
  struct task_skiplist *const list = user->list;
  struct task_skip_node *const node = make(user, record, random);
  if (!node) {
    return ENOMEM;
  }
  struct binding place;
  const int height = height_of(node);
  task_guard_enter(user->guard);
  link_bottom(list, node, &place);
  int level = 1;
  while (level < height && link_above(list, node, level, &place)) {
    level++;
  }
  if (done(node, ADDED) & MARKED) {
    find(list, node, &place);
    task_guard_give(user->guard, node, lines_of(list, height));
  }
  task_guard_leave(user->guard);
  return 0;
}

/* --- removing --- */

static void mark(struct task_skip_node *node) {
  for (int level = height_of(node); level-- > 0;) {
    atomic_fetch_or_explicit(&node->link[level], 1, memory_order_acq_rel);
  }
}

/* Cuts out all that is marked at a level up to a node. */
static void pass(struct task_skiplist *list, int level,
                 const struct task_skip_node *last) {
  struct task_skip_node *before = list->head, *after;
  for (;;) {
    if (!next_alive(before, level, &after)) {
      before = list->head;
    } else if (!after || !is_before(after, last)) {
      return;
    } else {
      before = after;
    }
  }
}

/* The dead that somebody removes. */
struct dead {
  struct task_skip_node *node[DEAD_MOST];
  int n;
  int height; /* of the highest */
};

/* Of the taken nodes from one on, those that nobody else removes, marked. */
static void mark_dead(struct dead *dead, struct task_skip_node *node) {
  dead->n = dead->height = 0;
  for (; node && is_taken(node) && dead->n < DEAD_MOST;
       node = task_skip_follow(node)) {
    if (done(node, REMOVING) & REMOVING) {
      continue;
    }
    mark(node);
    const int height = height_of(node);
    dead->height = height > dead->height ? height : dead->height;
    dead->node[dead->n++] = node;
  }
}

/* Leaves those that are still being added to who adds them. */
static void leave_unfinished(struct dead *dead) {
  int n = 0;
  for (int i = 0; i < dead->n; i++) {
    if (done(dead->node[i], MARKED) & ADDED) {
      dead->node[n++] = dead->node[i];
    }
  }
  dead->n = n;
}

static void give_back(struct task_skip_user *user, const struct dead *dead) {
  for (int i = 0; i < dead->n; i++) {
    task_guard_give(user->guard, dead->node[i],
                    lines_of(user->list, height_of(dead->node[i])));
  }
}

/* Those at the beginning: all at once. */
static void remove_first(struct task_skip_user *user) {
  struct dead dead;
  mark_dead(&dead, task_skip_follow(user->list->head));
  if (!dead.n) {
    return;
  }
  const struct task_skip_node *const last = dead.node[dead.n - 1];
  leave_unfinished(&dead);
  for (int level = dead.height; level-- > 0;) {
    pass(user->list, level, last);
  }
  give_back(user, &dead);
}

void task_skip_remove(struct task_skip_user *user,
                      struct task_skip_node *node) {
  struct dead dead;
  struct binding place;
  mark_dead(&dead, node);
  leave_unfinished(&dead);
  for (int i = 0; i < dead.n; i++) {
    find(user->list, dead.node[i], &place);
  }
  give_back(user, &dead);
}

/* --- taking --- */

bool task_skip_claim(const struct task_skiplist *list,
                     struct task_skip_node *node, struct task_record *record) {
  if (is_taken(node) || (done(node, TAKEN) & TAKEN)) {
    return false;
  }
  record->priority = node->priority;
  memcpy(record->task, task_of(node), list->task);
  return true;
}

struct task_skip_node *task_skip_follow(struct task_skip_node *node) {
  return node_of(get(node, 0));
}

struct task_skip_node *task_skip_next(struct task_skip_node *node, int level) {
  while ((node = node_of(get(node, level))) && (get(node, level) & 1))
    ;
  return node;
}

/* Takes the first that nobody had; how many of the dead there are then at the
   beginning, so far as it matters. */
static int take_first(struct task_skiplist *list, struct task_record *record,
                      int *taken) {
  int dead = 0;
  struct task_skip_node *node = task_skip_follow(list->head);
  for (*taken = 0; node && !*taken; node = task_skip_follow(node), dead++) {
    *taken = task_skip_claim(list, node, record);
  }
  /* What lies behind it may be dead, too, if new ones always come first. */
  for (; node && dead < DEAD_LEAST && is_taken(node); dead++) {
    node = task_skip_follow(node);
  }
  return dead;
}

int task_skiplist_take_first(struct task_skip_user *user,
                             struct task_record *record) {
  struct task_skiplist *const list = user->list;
  int taken;
  task_guard_enter(user->guard);
  if (take_first(list, record, &taken) >= DEAD_LEAST) {
    remove_first(user);
  }
  task_guard_leave(user->guard);
  return taken;
}
