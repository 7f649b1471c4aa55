#include "mpi/p2p/endpoint.h"

#include "base/need.h"
#include "os/native.h"

/* --- lists --- */

static void append(struct endpoint_list *list, struct letter_link *l) {
  l->next = NULL;
  l->previous = list->last;
  *(list->last ? &list->last->next : &list->first) = l;
  list->last = l;
}

static void take_out(struct endpoint_list *list, struct letter_link *l) {
  *(l->previous ? &l->previous->next : &list->first) = l->next;
  *(l->next ? &l->next->previous : &list->last) = l->previous;
}

static struct letter *letter_all(struct letter_link *l) {
  return (struct letter *)((char *)l - offsetof(struct letter, all));
}

static struct letter *letter_same(struct letter_link *l) {
  return (struct letter *)((char *)l - offsetof(struct letter, same));
}

static struct endpoint_receive *receive_at(struct letter_link *l) {
  return (struct endpoint_receive *)((char *)l -
                                     offsetof(struct endpoint_receive, link));
}

static unsigned hash(int source) {
  return (unsigned)source % HASHES;
}

static bool takes(const struct endpoint_pattern *p, int source, int tag) {
  return (p->source == source || p->source == MPI_ANY_SOURCE) &&
         (p->tag == tag || p->tag == MPI_ANY_TAG);
}

/* --- endpoints --- */

struct endpoint *endpoint_of(struct team *team, int index) {
  struct endpoint **e = &team->endpoints[index];
  if (!*e) {
    *e = need_zalloc(1, sizeof(**e), "messages");
    (*e)->vp = vp_of_rank(team->world[team->local[index]]);
  }
  return *e;
}

static struct endpoint_meeting *meeting_of(struct endpoint *e,
                                           enum p2p_channel channel) {
  if (!e->meeting[channel]) {
    e->meeting[channel] =
        need_zalloc(1, sizeof(*e->meeting[channel]), "messages");
  }
  return e->meeting[channel];
}

void endpoint_free(struct endpoint *e) {
  for (int i = 0; e && i < CHANNELS; i++) {
    struct endpoint_meeting *m = e->meeting[i];
    while (m && m->letters.first) {
      struct letter *l = letter_all(m->letters.first);
      m->letters.first = l->all.next;
      letter_free(l);
    }
    native_free(m);
  }
  native_free(e);
}

/* --- receives --- */

static struct endpoint_receive *first_taker(const struct endpoint_list *list,
                                            int source, int tag) {
  for (struct letter_link *l = list->first; l; l = l->next) {
    struct endpoint_receive *r = receive_at(l);
    if (takes(&r->pattern, source, tag)) {
      return r;
    }
  }
  return NULL;
}

static struct endpoint_list *list_of(struct endpoint_meeting *m,
                                     const struct endpoint_pattern *p) {
  return p->source == MPI_ANY_SOURCE ? &m->any : &m->receives[hash(p->source)];
}

struct endpoint_receive *endpoint_match_locked(struct endpoint *e,
                                               enum p2p_channel channel,
                                               int source, int tag) {
  struct endpoint_meeting *m = meeting_of(e, channel);
  struct endpoint_receive *r =
      first_taker(&m->receives[hash(source)], source, tag);
  struct endpoint_receive *any = first_taker(&m->any, source, tag);
  if (any && (!r || any->number < r->number)) {
    r = any;
  }
  if (r) {
    endpoint_unpost_locked(r);
  }
  return r;
}

void endpoint_post_locked(struct endpoint *e, struct endpoint_receive *r) {
  r->number = ++e->posted;
  r->endpoint = e;
  append(list_of(meeting_of(e, r->pattern.channel), &r->pattern), &r->link);
}

void endpoint_unpost_locked(struct endpoint_receive *r) {
  struct endpoint_meeting *m = meeting_of(r->endpoint, r->pattern.channel);
  take_out(list_of(m, &r->pattern), &r->link);
  r->endpoint = NULL;
}

/* --- letters --- */

struct letter *endpoint_find_locked(struct endpoint *e,
                                    const struct endpoint_pattern *p) {
  struct endpoint_meeting *m = meeting_of(e, p->channel);
  const bool any = p->source == MPI_ANY_SOURCE;
  struct letter_link *link =
      any ? m->letters.first : m->by_source[hash(p->source)].first;
  for (; link; link = link->next) {
    struct letter *l = any ? letter_all(link) : letter_same(link);
    if (takes(p, l->source, l->tag)) {
      return l;
    }
  }
  return NULL;
}

void endpoint_add_locked(struct endpoint *e, struct letter *l) {
  struct endpoint_meeting *m = meeting_of(e, l->channel);
  append(&m->letters, &l->all);
  append(&m->by_source[hash(l->source)], &l->same);
  for (struct endpoint_probe *p = e->probes; p; p = p->next) {
    if (p->wanted.channel == (enum p2p_channel)l->channel &&
        takes(&p->wanted, l->source, l->tag)) {
      run_queue_wake_one_locked(&p->waiting, e->vp);
    }
  }
  request_poll_wake_locked(e->vp);
}

void endpoint_remove_locked(struct endpoint *e, struct letter *l) {
  struct endpoint_meeting *m = meeting_of(e, l->channel);
  take_out(&m->letters, &l->all);
  take_out(&m->by_source[hash(l->source)], &l->same);
}

struct letter *endpoint_find_remote_locked(struct endpoint *e,
                                           enum p2p_channel channel,
                                           int process, uint64_t remote) {
  struct endpoint_meeting *m = meeting_of(e, channel);
  for (struct letter_link *link = m->letters.first; link; link = link->next) {
    struct letter *l = letter_all(link);
    if (l->remote == remote && l->process == process) {
      return l;
    }
  }
  return NULL;
}

struct letter *endpoint_next(const struct endpoint *e, const struct letter *l) {
  int channel = l ? l->channel : -1;
  struct letter_link *next = l ? l->all.next : NULL;
  while (!next && ++channel < CHANNELS) {
    const struct endpoint_meeting *m = e->meeting[channel];
    next = m ? m->letters.first : NULL;
  }
  return next ? letter_all(next) : NULL;
}

bool endpoint_takes_tiny(const struct endpoint_receive *r) {
  return r->request.size >= sizeof(*r);
}

void endpoint_result(struct endpoint_receive *r, int source, int tag,
                     size_t bytes) {
  struct request_result *result = &r->request.result;
  const size_t room = span_size(&r->span);
  result->source = source;
  result->tag = tag;
  result->bytes = (MPI_Count)(bytes < room ? bytes : room);
  result->error = bytes > room ? MPI_ERR_TRUNCATE : MPI_SUCCESS;
}

/* With the lock: the receiver unpacks it when it looks. */
void endpoint_give_locked(struct endpoint_receive *r, struct letter *l) {
  endpoint_result(r, l->source, l->tag, l->bytes);
  r->letter = l;
  request_done_locked(&r->request);
}
