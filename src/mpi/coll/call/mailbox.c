#include "mpi/coll/call/mailbox.h"

#include "base/message.h"
#include "base/need.h"
#include "config/memory_used.h"
#include "mpi/coll/call/coll_memory.h"
#include "net/am.h"
#include "net/neighbour.h"
#include "os/bits.h"
#include "os/lock.h"
#include "vp/run_queue.h"

#include <pthread.h>
#include <string.h>

enum what {
  BYTES, /* a piece of a message */
  OFFER, /* of one that is to be read where it is; `sending` waits */
  TAKEN, /* it was, or was not to be had: the answer */
  LOST,
};

/* What stands before each piece of a message; its team is the key. */
struct header {
  uint64_t number;
  uint64_t total;
  uint64_t position;
  struct coll_caller caller; /* to be compared */
  uint32_t tag;
  uint32_t what;
  uint64_t sending; /* there */
  struct neighbour_offer offer;
};

/* Memory that is offered, until all of it has been taken. */
struct sending {
  int offers; /* not answered yet */
  bool lost;  /* one that did not hold */
  pthread_cond_t answered;
};

struct mailbox {
  struct mailbox *next;
  struct mailbox_key key;
  int process;
  bool known;         /* a piece has been copied */
  struct header call; /* its header */
  char *bytes;
  size_t n, have;
  pthread_cond_t *arrived; /* of the thread that waits for it, or NULL */
  struct run_queue_waiting waiting; /* VPs; under the scheduler's lock */
};

enum {
  BUCKETS = 256,
  PIECE = AM_LARGEST - sizeof(struct header),
};

static struct {
  struct lock lock;
  unsigned waiting;      /* threads that wait for a message that has not come */
  struct mailbox *spare; /* that are not in use */
  struct mailbox *bucket[BUCKETS];
} boxes = {.lock = LOCK_INITIALIZER(LOCK_MAILBOXES)};

static bool same(const struct mailbox *b, int process,
                 const struct mailbox_key *key) {
  return b->process == process && b->key.team == key->team &&
         b->key.number == key->number && b->key.tag == key->tag;
}

static struct mailbox **find_locked(int process,
                                    const struct mailbox_key *key) {
  const uint64_t hash =
      key->team + 31 * key->number + 7 * key->tag + (uint64_t)process;
  struct mailbox **link = &boxes.bucket[hash % BUCKETS];
  while (*link && !same(*link, process, key)) {
    link = &(*link)->next;
  }
  return link;
}

static void free_locked(struct mailbox *b) {
  b->next = boxes.spare;
  boxes.spare = b;
}

/* Puts one into the list of those to use. Without any lock. */
static void make_spare(void) {
  struct mailbox *const b = need_alloc(sizeof(*b), "message between processes");
  lock_take(&boxes.lock);
  free_locked(b);
  lock_give(&boxes.lock);
}

/* NULL: make_spare first. */
static struct mailbox *find_or_add_locked(int process,
                                          const struct mailbox_key *key) {
  struct mailbox **const link = find_locked(process, key);
  struct mailbox *const b = boxes.spare;
  if (!*link && b) {
    boxes.spare = b->next;
    *b = (struct mailbox){.key = *key, .process = process};
    *link = b;
  }
  return *link;
}

/* Releases the lock while it allocates. */
static struct mailbox *find_or_make_locked(int process,
                                           const struct mailbox_key *key) {
  struct mailbox *b;
  while (!(b = find_or_add_locked(process, key))) {
    lock_give(&boxes.lock);
    make_spare();
    lock_take(&boxes.lock);
  }
  return b;
}

static bool complete_locked(const struct mailbox *b) {
  return b->known && b->have == b->n;
}

/* Memory for the bytes, allocated without a lock: another piece may be first.
 */
static void make_room(struct mailbox *b, const struct header *h) {
  char *const bytes = coll_memory_take(h->total, "message between processes");
  lock_take(&boxes.lock);
  const bool first = !b->bytes;
  if (first) {
    b->n = h->total;
    b->call = *h;
    b->bytes = bytes;
    memory_used_add(MEMORY_OLDEST, h->total);
  }
  lock_give(&boxes.lock);
  if (!first) {
    coll_memory_give(bytes);
  }
}

/* n bytes have been copied. */
static void add_locked(struct mailbox *b, size_t n) {
  b->known = true;
  b->have += n;
  if (!complete_locked(b)) {
    return;
  }
  if (b->arrived) {
    boxes.waiting--;
    pthread_cond_signal(b->arrived);
    b->arrived = NULL;
  }
  run_queue_wake_locked(&b->waiting);
}

static void on_answer(const struct header *h) {
  struct sending *const s = (struct sending *)(uintptr_t)h->sending;
  lock_take(&boxes.lock);
  s->lost |= h->what == LOST;
  if (--s->offers == 0) {
    pthread_cond_signal(&s->answered);
  }
  lock_give(&boxes.lock);
}

/* False if it is not to be had. */
static bool take_piece(int process, const struct header *h, const char *bytes,
                       size_t n, char *to) {
  if (h->what == OFFER) {
    return neighbour_read(process, &h->offer, 0, to, n);
  }
  memcpy(to, bytes, n);
  return true;
}

static void answer(int process, const struct header *h, bool taken) {
  const struct header a = {.what = taken ? TAKEN : LOST, .sending = h->sending};
  am_send(process, AM_BOX, 0, &a, sizeof(a), NULL, 0);
}

/* n bytes of a message. */
static void on_piece(int process, uint64_t team, const struct header *h,
                     const char *bytes, size_t n) {
  const struct mailbox_key key = {team, h->number, h->tag, NULL};
  lock_take(&boxes.lock);
  struct mailbox *const b = find_or_make_locked(process, &key);
  const bool room = b->bytes;
  lock_give(&boxes.lock);
  if (!room) {
    make_room(b, h);
  }
  /* Not complete without this piece: nobody takes it meanwhile. */
  const bool taken = take_piece(process, h, bytes, n, b->bytes + h->position);
  if (taken) {
    run_queue_lock();
    lock_take(&boxes.lock);
    add_locked(b, n);
    lock_give(&boxes.lock);
    run_queue_unlock();
  }
  if (h->what == OFFER) {
    answer(process, h, taken);
  }
}

static bool handle(int process, uint64_t team, const char *bytes, size_t n) {
  struct header h;
  memcpy(&h, bytes, sizeof(h));
  bytes += sizeof(h);
  n -= sizeof(h);
  if (h.what == BYTES) {
    on_piece(process, team, &h, bytes, n);
  } else if (h.what == OFFER) {
    on_piece(process, team, &h, NULL,
             bits_min(h.total - h.position, NEIGHBOUR_MOST));
  } else {
    on_answer(&h);
  }
  return true;
}

void mailbox_start(void) {
  am_register(AM_BOX, handle);
}

struct mailbox_key mailbox_key(const struct coll *coll, uint32_t tag) {
  return (struct mailbox_key){coll->team->id, coll->number, tag, coll};
}

unsigned mailbox_waiting(void) {
  lock_take(&boxes.lock);
  const unsigned waiting = boxes.waiting;
  lock_give(&boxes.lock);
  return waiting;
}

static struct header header_of(const struct mailbox_key *key, size_t n) {
  struct header h = {.number = key->number, .total = n, .tag = key->tag};
  if (key->coll) {
    h.caller = coll_caller(key->coll);
  }
  return h;
}

/* True if the other process has read all of it. */
static bool send_offers(int process, const struct mailbox_key *key,
                        const char *bytes, size_t n) {
  struct sending s = {.offers =
                          (int)((n + NEIGHBOUR_MOST - 1) / NEIGHBOUR_MOST),
                      .answered = PTHREAD_COND_INITIALIZER};
  struct header h = header_of(key, n);
  h.what = OFFER;
  h.sending = (uintptr_t)&s;
  for (; h.position < n; h.position += NEIGHBOUR_MOST) {
    h.offer = neighbour_offer(bytes + h.position, NULL);
    am_send(process, AM_BOX, key->team, &h, sizeof(h), NULL, 0);
  }
  lock_take(&boxes.lock);
  while (s.offers) {
    lock_wait(&s.answered, &boxes.lock);
  }
  lock_give(&boxes.lock);
  pthread_cond_destroy(&s.answered);
  return !s.lost;
}

void mailbox_send(int process, struct mailbox_key key, const void *bytes,
                  size_t n) {
  size_t at = 0;
  struct header h = header_of(&key, n);
  if (n > MAILBOX_VP && neighbour(process)) {
    if (!send_offers(process, &key, bytes, n)) {
      msg_fail_here(MSG_FAILED,
                    "network: memory that process %d of this host was to "
                    "read could not be read: --pems-between=copy does without",
                    process);
    }
    return;
  }
  do {
    const size_t m = n - at < PIECE ? n - at : PIECE;
    h.position = at;
    am_send(process, AM_BOX, key.team, &h, sizeof(h), (const char *)bytes + at,
            m);
    at += m;
    if (at < n) {
      am_wait_room(process);
    }
  } while (at < n);
}

/* Takes the message if it is complete. */
static char *take_locked(int process, const struct mailbox_key *key,
                         size_t *n) {
  struct mailbox **link = find_locked(process, key);
  struct mailbox *b = *link;
  if (!b || !complete_locked(b)) {
    return NULL;
  }
  if (key->coll) {
    coll_compare(key->coll, &b->call.caller);
  }
  char *bytes = b->bytes;
  *n = b->n;
  memory_used_sub(MEMORY_OLDEST, b->n);
  *link = b->next;
  free_locked(b);
  return bytes;
}

static void await_locked(struct mailbox *b) {
  pthread_cond_t arrived = PTHREAD_COND_INITIALIZER;
  b->arrived = &arrived;
  boxes.waiting++;
  while (!complete_locked(b)) {
    lock_wait(&arrived, &boxes.lock);
  }
  pthread_cond_destroy(&arrived);
}

void *mailbox_take(int process, struct mailbox_key key, size_t *n) {
  lock_take(&boxes.lock);
  struct mailbox *b = find_or_make_locked(process, &key);
  if (!complete_locked(b)) {
    await_locked(b);
  }
  char *bytes = take_locked(process, &key, n);
  lock_give(&boxes.lock);
  return bytes;
}

void *mailbox_take_vp_locked(struct vp *vp, int process, struct mailbox_key key,
                             size_t *n, const char *what) {
  for (;;) {
    lock_take(&boxes.lock);
    char *const bytes = take_locked(process, &key, n);
    struct mailbox *const b = bytes ? NULL : find_or_add_locked(process, &key);
    lock_give(&boxes.lock);
    if (bytes) {
      return bytes;
    }
    if (b) {
      run_queue_wait_locked(vp, &b->waiting, what);
    } else {
      run_queue_unlock();
      make_spare();
      run_queue_lock();
    }
  }
}
