#include "mpi/box.h"

#include "base/native.h"
#include "net/am.h"
#include "vp/sched.h"

#include <pthread.h>
#include <string.h>

/* What stands before each piece of a message; its team is the key. */
struct header {
  uint64_t number;
  uint64_t total;
  uint64_t position;
  uint64_t tag;
};

struct box {
  struct box *next;
  struct box_key key;
  int process;
  bool known; /* a piece has come: how long it is */
  char *bytes;
  size_t n, have;
  struct waiting waiting; /* VPs; under the scheduler's lock */
};

enum { BUCKETS = 256, PIECE = AM_LARGEST - sizeof(struct header) };

static struct {
  pthread_mutex_t lock;
  pthread_cond_t arrived;
  struct box *bucket[BUCKETS];
} boxes = {.lock = PTHREAD_MUTEX_INITIALIZER,
           .arrived = PTHREAD_COND_INITIALIZER};

static bool same(const struct box *b, int process, const struct box_key *key) {
  return b->process == process && b->key.team == key->team &&
         b->key.number == key->number && b->key.tag == key->tag;
}

static struct box **find(int process, const struct box_key *key) {
  const uint64_t hash =
      key->team + 31 * key->number + 7 * key->tag + (uint64_t)process;
  struct box **link = &boxes.bucket[hash % BUCKETS];
  while (*link && !same(*link, process, key)) {
    link = &(*link)->next;
  }
  return link;
}

static struct box *find_or_make(int process, const struct box_key *key) {
  struct box **link = find(process, key);
  if (!*link) {
    *link = native_zneed(1, sizeof(**link), "message between processes");
    (*link)->key = *key;
    (*link)->process = process;
  }
  return *link;
}

static void add(struct box *b, const struct header *h, const char *bytes,
                size_t n) {
  if (!b->known) {
    b->known = true;
    b->n = h->total;
    b->bytes =
        native_need(h->total ? h->total : 1, "message between processes");
  }
  memcpy(b->bytes + h->position, bytes, n);
  b->have += n;
}

static bool complete(const struct box *b) {
  return b->known && b->have == b->n;
}

static bool handle(int process, uint64_t team, const char *bytes, size_t n) {
  struct header h;
  memcpy(&h, bytes, sizeof(h));
  const struct box_key key = {team, h.number, (uint32_t)h.tag};
  sched_lock();
  pthread_mutex_lock(&boxes.lock);
  struct box *b = find_or_make(process, &key);
  add(b, &h, bytes + sizeof(h), n - sizeof(h));
  if (complete(b)) {
    pthread_cond_broadcast(&boxes.arrived);
    sched_wake(&b->waiting);
  }
  pthread_mutex_unlock(&boxes.lock);
  sched_unlock();
  return true;
}

void box_start(void) {
  am_register(AM_BOX, handle);
}

void box_send(int process, struct box_key key, const void *bytes, size_t n) {
  size_t at = 0;
  do {
    const size_t m = n - at < PIECE ? n - at : PIECE;
    const struct header h = {key.number, n, at, key.tag};
    am_send(process, AM_BOX, key.team, &h, sizeof(h), (const char *)bytes + at,
            m);
    at += m;
    if (at < n) {
      am_wait_room(process);
    }
  } while (at < n);
}

/* Takes the message if it is complete. The boxes' lock is held. */
static char *take(int process, const struct box_key *key, size_t *n) {
  struct box **link = find(process, key);
  struct box *b = *link;
  if (!b || !complete(b)) {
    return NULL;
  }
  char *bytes = b->bytes;
  *n = b->n;
  *link = b->next;
  native_free(b);
  return bytes;
}

void *box_take(int process, struct box_key key, size_t *n) {
  char *bytes;
  pthread_mutex_lock(&boxes.lock);
  while (!(bytes = take(process, &key, n))) {
    pthread_cond_wait(&boxes.arrived, &boxes.lock);
  }
  pthread_mutex_unlock(&boxes.lock);
  return bytes;
}

void *box_take_vp(struct vp *vp, int process, struct box_key key, size_t *n,
                  const char *what) {
  for (;;) {
    pthread_mutex_lock(&boxes.lock);
    char *bytes = take(process, &key, n);
    struct box *b = bytes ? NULL : find_or_make(process, &key);
    pthread_mutex_unlock(&boxes.lock);
    if (bytes) {
      return bytes;
    }
    sched_wait(vp, &b->waiting, what);
  }
}
