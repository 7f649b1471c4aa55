#include "base/need.h"
#include "mpi/coll/move/coll_remote_state.h"

#include "mpi_below/net.h"
#include "os/native.h"
#include "report/trace.h"

#include <string.h>

/* --- a call's state --- */

/* Lists the members of each other process, in one piece of memory. */
static void list_peers(struct coll_remote *c, const struct team *team) {
  c->peers = need_alloc(team->size * sizeof(int), "collective call");
  int *next = c->peers;
  for (int i = 0; i < team->nprocs; i++) {
    if (team->procs[i] == net_rank()) {
      continue;
    }
    struct coll_remote_slot *s = &c->slot[c->n++];
    s->crossing = c;
    s->process = team->procs[i];
    s->peers = next;
    for (int peer = 0; peer < team->size; peer++) {
      if (team->proc[peer] == s->process) {
        s->peers[s->n++] = peer;
      }
    }
    next += s->n;
  }
}

static void slot_start(struct coll_remote_slot *s, int members) {
  s->sent = need_zalloc(members, sizeof(*s->sent), "collective call");
  s->ready = need_zalloc(s->n, sizeof(*s->ready), "collective call");
  s->event =
      need_alloc((members + s->n + 1) * sizeof(*s->event), "collective call");
  s->unsent = need_zalloc(members, sizeof(*s->unsent), "collective call");
  s->lacking = need_zalloc(members, sizeof(*s->lacking), "collective call");
  s->due.time = 1;
}

static void free_mail(struct coll_remote_mail *m) {
  while (m) {
    struct coll_remote_mail *next = m->next;
    native_free(m);
    m = next;
  }
}

static void crossing_free(struct coll_remote *c) {
  for (int i = 0; i < c->n; i++) {
    struct coll_remote_slot *s = &c->slot[i];
    native_free(s->sent);
    native_free(s->ready);
    native_free(s->event);
    native_free(s->unsent);
    native_free(s->lacking);
  }
  for (int i = 0; i < c->coll->team->n; i++) {
    free_mail(c->mail[i]);
  }
  free_mail(c->to_all);
  native_free(c->mail);
  native_free(c->peers);
  native_free(c->slot);
  native_free(c);
}

void coll_remote_open_locked(struct coll *coll,
                             void (*over)(struct coll *coll)) {
  const struct team *team = coll->team;
  if (coll->crossing || !coll_networked(team)) {
    return;
  }
  struct coll_remote *c = need_zalloc(1, sizeof(*c), "collective call");
  c->coll = coll;
  c->over = over;
  c->left = team->nprocs - 1;
  c->slot = need_zalloc(c->left, sizeof(*c->slot), "collective call");
  c->mail = need_zalloc(team->n, sizeof(*c->mail), "collective call");
  list_peers(c, team);
  for (int i = 0; i < c->n; i++) {
    slot_start(&c->slot[i], team->n);
  }
  coll->crossing = c;
  coll->free_crossing = crossing_free;
}

/* --- members here --- */

int coll_remote_arrive_locked(struct coll *coll, struct coll_part *p) {
  struct coll_remote *c = coll->crossing;
  int waits = 0;
  c->moves = true;
  for (int i = 0; i < c->n; i++) {
    struct coll_remote_slot *s = &c->slot[i];
    s->lacking[p->index] = s->closed ? 0 : coll_remote_in_expected(s, p);
    waits += s->lacking[p->index] > 0;
    coll_remote_out_sender(s, p);
    waits += s->unsent[p->index] > 0;
  }
  return waits;
}

/* Does it expect a message from there that will hardly be a small one? */
static bool expects_large(const struct coll_remote_slot *s,
                          const struct coll_part *p) {
  struct layout_span m;
  const size_t small = coll_small(vps.plan.v_local, p->receive.n);
  for (int j = 0; j < s->n; j++) {
    if (coll_side_span(&p->receive, s->peers[j], &m) &&
        (span_size(&m) > small || span_size(&m) > COLL_REMOTE_SMALL)) {
      return true;
    }
  }
  return false;
}

void coll_remote_announce(struct coll *coll, const struct coll_part *p,
                          bool last) {
  if (last) {
    coll_remote_meet(coll);
    return;
  }
  struct coll_remote_wire w = coll_remote_wire(coll, CROSS_READY);
  w.peer = p->peer;
  for (int i = 0; i < coll->crossing->n; i++) {
    const struct coll_remote_slot *s = &coll->crossing->slot[i];
    if (expects_large(s, p)) {
      am_send(s->process, AM_CROSS, coll_remote_key(w.team, w.number), &w,
              sizeof(w), NULL, 0);
    }
  }
}

void coll_remote_meet(struct coll *coll) {
  struct coll_remote *c = coll->crossing;
  for (int i = 0, n = c->n; i < n; i++) {
    coll_remote_out_open(&c->slot[i]);
  }
}

static void take_mail(struct coll *coll, struct coll_part *p,
                      const struct coll_remote_mail *m) {
  struct layout_span to;
  const size_t room =
      coll_side_span(&p->receive, m->source, &to) ? span_size(&to) : 0;
  const size_t n = m->n < room ? m->n : room;
  if (n < m->n) {
    coll->error = MPI_ERR_TRUNCATE;
  }
  if (n) {
    span_unpack(&to, 0, m->data, n);
    trace_add(p->vp->index, TRACE_MEMORY, n);
  }
}

void coll_remote_take(struct coll *coll, struct coll_part *p) {
  struct coll_remote *c = coll->crossing;
  struct layout_span to;
  run_queue_lock();
  struct coll_remote_mail *mine = c->mail[p->index];
  const struct coll_remote_mail *all =
      c->to_all; /* grows in front, by whose are not ours */
  c->mail[p->index] = NULL;
  run_queue_unlock();
  for (const struct coll_remote_mail *m = mine; m; m = m->next) {
    take_mail(coll, p, m);
  }
  for (; all; all = all->next) {
    if (coll_side_span(&p->receive, all->source, &to)) {
      take_mail(coll, p, all);
    }
  }
  free_mail(mine);
}

/* --- what comes from other processes --- */

static struct coll_remote_slot *slot_of(struct coll_remote *c, int process) {
  int i = 0;
  while (c->slot[i].process != process) {
    i++;
  }
  return &c->slot[i];
}

static void take_locked(struct coll_remote_slot *s,
                        const struct coll_remote_wire *w, const char *bytes,
                        size_t n, struct coll_remote_mail *mail) {
  if (w->what == CROSS_READY) {
    coll_remote_out_ready(s, w->peer);
  } else if (w->what == CROSS_OPEN) {
    coll_remote_out_ready(s, ALL_OTHERS);
  }
  coll_remote_in_small_locked(s, bytes, n, mail);
  if (w->end) {
    coll_remote_in_end_locked(s, w->chunk);
  }
}

/* NULL if no member here has made the call yet. Locked. */
static struct coll_remote_slot *find_locked(int process,
                                            const struct coll_remote_wire *w) {
  const struct team *team = team_find_locked(w->team);
  const struct coll *coll = team ? coll_find_locked(team, w->number) : NULL;
  if (coll) {
    coll_compare(coll, &w->caller);
  }
  return coll && coll->crossing ? slot_of(coll->crossing, process) : NULL;
}

static bool handle(int process, uint64_t key, const char *bytes, size_t n) {
  struct coll_remote_wire w;
  (void)key;
  memcpy(&w, bytes, sizeof(w));
  bytes += sizeof(w);
  n -= sizeof(w);
  if (w.what == CROSS_TAKEN) {
    coll_remote_out_taken(process, w.kept, (const uint16_t *)bytes,
                          n / sizeof(uint16_t));
    return true;
  }
  run_queue_lock();
  struct coll_remote_slot *s = find_locked(process, &w);
  run_queue_unlock();
  /* The call is not over before it is taken: so the slot stays. */
  if (s && w.what == CROSS_CHUNK) {
    coll_remote_in_chunk(s, &w, bytes, n);
  } else if (s) {
    struct coll_remote_mail *const mail = coll_remote_in_unpack(bytes, n);
    run_queue_lock();
    take_locked(s, &w, bytes, n, mail);
    run_queue_unlock();
  }
  return s;
}

void coll_remote_prepare(void) {
  am_register(AM_CROSS, handle);
  coll_remote_out_start();
}
