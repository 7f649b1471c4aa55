#include "context/store/workspace.h"

#include "context/store/codec.h"
#include "os/lock.h"
#include "os/native.h"
#include "os/pages.h"

#include <pthread.h>

enum { BUFFERS = 2 * WORKSPACE_SLOTS + 1 };

static struct {
  struct lock lock;
  pthread_cond_t given; /* for who waits for one */
  struct workspace *free;
  int n;
} spaces = {.lock = LOCK_INITIALIZER(LOCK_WORKSPACES),
            .given = PTHREAD_COND_INITIALIZER};

static void destroy(struct workspace *w) {
  codec_free(w->codec);
  native_free(w->buffers);
  native_free(w);
}

static struct workspace *create(enum option_compress how, int level) {
  struct workspace *w = native_zalloc(1, sizeof(*w));
  if (!w) {
    return NULL;
  }
  w->codec = codec_new(how, level, WORKSPACE_UNIT);
  w->buffers = native_aligned(PAGE, (size_t)BUFFERS * WORKSPACE_UNIT);
  if (!w->codec || !w->buffers) {
    destroy(w);
    return NULL;
  }
  for (int i = 0; i < BUFFERS - 1; i++) {
    struct workspace_half *h = &w->half[i / WORKSPACE_SLOTS];
    h->slot[i % WORKSPACE_SLOTS].data = w->buffers + (size_t)i * WORKSPACE_UNIT;
  }
  w->plain = w->buffers + (size_t)(BUFFERS - 1) * WORKSPACE_UNIT;
  return w;
}

int workspaces_create(enum option_compress how, int level, int most,
                      size_t bytes) {
  size_t each;
  do {
    struct workspace *w = create(how, level);
    if (!w) {
      return -1;
    }
    each = (size_t)BUFFERS * WORKSPACE_UNIT + codec_memory(w->codec);
    w->next = spaces.free;
    spaces.free = w;
    spaces.n++;
  } while (spaces.n < most && (size_t)(spaces.n + 1) * each <= bytes);
  return 0;
}

void workspaces_destroy(void) {
  while (spaces.free) {
    struct workspace *w = spaces.free;
    spaces.free = w->next;
    destroy(w);
  }
  spaces.n = 0;
}

struct workspace *workspace_take(void) {
  lock_take(&spaces.lock);
  while (!spaces.free) {
    lock_wait(&spaces.given, &spaces.lock);
  }
  struct workspace *w = spaces.free;
  spaces.free = w->next;
  lock_give(&spaces.lock);
  for (int i = 0; i < 2; i++) {
    disk_batch_begin(&w->half[i].batch);
    w->half[i].n = 0;
  }
  w->now = 0;
  return w;
}

void workspace_give(struct workspace *w) {
  lock_take(&spaces.lock);
  w->next = spaces.free;
  spaces.free = w;
  pthread_cond_signal(&spaces.given);
  lock_give(&spaces.lock);
}

int workspaces_count(void) {
  return spaces.n;
}
