#include "mpi/p2p/early.h"

#include "base/need.h"
#include "mpi/p2p/endpoint.h"
#include "os/native.h"

struct item {
  struct item *next;
  int member;
  struct letter *letter;
};

/* What came for one team: never nothing, but for what was withdrawn. */
struct line {
  struct line *next;
  uint64_t id;
  struct item *first, **last;
};

enum { BUCKETS = 64 };

static struct line *bucket[BUCKETS];

static struct line **link_of(uint64_t id) {
  struct line **link = &bucket[id % BUCKETS];
  while (*link && (*link)->id != id) {
    link = &(*link)->next;
  }
  return link;
}

void early_keep(uint64_t id, int member, struct letter *l) {
  struct line **link = link_of(id);
  if (!*link) {
    *link = need_zalloc(1, sizeof(**link), "a message");
    (*link)->id = id;
    (*link)->last = &(*link)->first;
  }
  struct item *item = need_alloc(sizeof(*item), "a message");
  *item = (struct item){NULL, member, l};
  *(*link)->last = item;
  (*link)->last = &item->next;
}

static struct letter *take(struct line *line, struct item **at) {
  struct item *item = *at;
  struct letter *l = item->letter;
  *at = item->next;
  if (!*at) {
    line->last = at;
  }
  native_free(item);
  return l;
}

static void remove_line(struct line **link) {
  struct line *line = *link;
  *link = line->next;
  native_free(line);
}

void early_claim_locked(struct team *team) {
  struct line **link = link_of(team->id);
  struct line *line = *link;
  while (line && line->first) {
    const int index = team->index[line->first->member];
    endpoint_add_locked(endpoint_of(team, index), take(line, &line->first));
  }
  if (line) {
    remove_line(link);
  }
}

struct letter *early_withdraw(uint64_t id, int process, uint64_t remote) {
  struct line *line = *link_of(id);
  for (struct item **at = line ? &line->first : NULL; at && *at;
       at = &(*at)->next) {
    const struct letter *l = (*at)->letter;
    if (l->process == process && l->remote == remote) {
      return take(line, at);
    }
  }
  return NULL;
}

bool early_any(void) {
  bool any = false;
  for (int i = 0; i < BUCKETS; i++) {
    any |= bucket[i] != NULL;
  }
  return any;
}

void early_drop(void) {
  for (int i = 0; i < BUCKETS; i++) {
    while (bucket[i]) {
      while (bucket[i]->first) {
        letter_free(take(bucket[i], &bucket[i]->first));
      }
      remove_line(&bucket[i]);
    }
  }
}
