#include "mpi/object/team.h"

#include "base/message.h"
#include "config/split.h"
#include "mpi/object/group.h"
#include "os/native.h"
#include "vp/run_queue.h"
#include "vp/vp.h"

#include <stdlib.h>
#include <string.h>

enum { BUCKETS = 1024 };

static struct team *bucket[BUCKETS];

static const struct team_user *user;

void team_serve(const struct team_user *u) {
  user = u;
}

static struct team **link_of(uint64_t id) {
  struct team **link = &bucket[id % BUCKETS];
  while (*link && (*link)->id != id) {
    link = &(*link)->next;
  }
  return link;
}

struct team *team_find_locked(uint64_t id) {
  return *link_of(id);
}

void team_each_locked(void (*f)(const struct team *team)) {
  for (int i = 0; i < BUCKETS; i++) {
    for (const struct team *t = bucket[i]; t; t = t->next) {
      f(t);
    }
  }
}

int team_process(int world) {
  return world < vps.plan.v ? split_process(vps.split, vps.plan.nprocs, world)
                            : (world - vps.plan.v) % vps.plan.nprocs;
}

static void find_local(struct team *t) {
  for (int peer = 0; peer < t->size; peer++) {
    t->index[peer] = -1;
    if (vp_of_rank(t->world[peer])) {
      t->index[peer] = t->n;
      t->local[t->n++] = peer;
    }
  }
}

static bool find_processes(struct team *t) {
  bool *there = native_zalloc(vps.plan.nprocs, sizeof(*there));
  if (!there) {
    return false;
  }
  for (int peer = 0; peer < t->size; peer++) {
    t->proc[peer] = team_process(t->world[peer]);
    there[t->proc[peer]] = true;
  }
  for (int q = 0; q < vps.plan.nprocs; q++) {
    if (there[q]) {
      t->procs[t->nprocs++] = q;
    }
  }
  native_free(there);
  return true;
}

static void team_free(struct team *t) {
  native_free(t->endpoints);
  group_release(t->groups[0]);
  group_release(t->groups[1]);
  native_free(t->world);
  native_free(t->local);
  native_free(t->index);
  native_free(t->proc);
  native_free(t->procs);
  native_free(t);
}

/* False: out of memory. What there is already team_free frees. */
static bool team_fill(struct team *t, const int *world) {
  const size_t bytes = t->size * sizeof(int);
  const bool two = t->size > t->first;
  t->groups[0] = group_new(world, t->first);
  t->groups[1] = two ? group_new(world + t->first, t->size - t->first) : NULL;
  t->world = native_alloc(bytes);
  t->local = native_alloc(bytes);
  t->index = native_alloc(bytes);
  t->proc = native_alloc(bytes);
  t->procs = native_alloc(vps.plan.nprocs * sizeof(int));
  if (!t->groups[0] || (two && !t->groups[1]) || !t->world || !t->local ||
      !t->index || !t->proc || !t->procs) {
    return false;
  }
  memcpy(t->world, world, bytes);
  find_local(t);
  t->endpoints = native_zalloc(t->n, sizeof(struct endpoint *));
  return t->endpoints && find_processes(t);
}

static struct team *team_new(uint64_t id, const int *world, int size,
                             int first) {
  struct team *t = native_zalloc(1, sizeof(*t));
  if (!t) {
    return NULL;
  }
  t->id = id;
  t->size = size;
  t->first = first;
  if (!team_fill(t, world)) {
    team_free(t);
    return NULL;
  }
  return t;
}

static void team_destroy(struct team *t) {
  if (user) {
    user->ended(t);
  }
  team_free(t);
}

/* Ids are made by mixing: that two teams get the same one is next to
   impossible, and must not go unseen. */
static void check_same(const struct team *t, const int *world, int size) {
  if (t->size != size || memcmp(t->world, world, size * sizeof(int)) != 0) {
    msg_fail(MSG_FAILED,
             "communicators: ranks that make one together disagree about its "
             "%d members: call the same functions with the same groups on all",
             size);
  }
}

struct team *team_join(uint64_t id, const int *world, int size, int first) {
  run_queue_lock();
  struct team **link = link_of(id);
  if (!*link) {
    *link = team_new(id, world, size, first);
    if (*link && user) {
      user->made(*link);
    }
  }
  struct team *t = *link;
  if (t) {
    check_same(t, world, size);
    t->joined++;
  }
  run_queue_unlock();
  return t;
}

void team_settle_locked(struct team *team) {
  if (team->left == team->n && !team->colls) {
    *link_of(team->id) = team->next;
    team_destroy(team);
  }
}

void team_leave(struct team *team) {
  run_queue_lock();
  team->left++;
  team_settle_locked(team);
  run_queue_unlock();
}

static uint64_t mix(uint64_t x) {
  x ^= x >> 30;
  x *= UINT64_C(0xbf58476d1ce4e5b9);
  x ^= x >> 27;
  x *= UINT64_C(0x94d049bb133111eb);
  return x ^ x >> 31;
}

uint64_t team_derive(uint64_t parent, uint64_t number, uint64_t leader) {
  const uint64_t golden = UINT64_C(0x9e3779b97f4a7c15);
  return mix(mix(mix(parent + golden) + number + golden) + leader + golden);
}
