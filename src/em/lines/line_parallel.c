#include "em/lines/line_parallel.h"

#include <errno.h>
#include <stdalign.h>
#include <string.h>

#include "base/failure.h"
#include "base/limit.h"
#include "os/lock.h"
#include "os/native.h"
#include "os/thread.h"

enum {
  BATCHES = 4,        /* of a part: one is read, the others are filled */
  BATCH = 64 << 10,   /* bytes, at most, */
  LEAST_BATCH = 4096, /* and at least */
  SHARE = 16,         /* of the memory, for all batches */
  CACHE_LINE = 128,   /* two: the processor fetches them by pairs */
};

/* Before each line of a batch. */
struct head {
  uint32_t string_n, line_n, common;
};

struct batch {
  size_t filled;
  bool lent; /* one line that is too long for a batch, where it lies: */
  struct line_view view;
  size_t common;
};

/* What its two threads write for each line is not in the same cache line. */
struct part {
  struct line_parallel *of;
  struct line_merge *merge;
  struct line_cursor *cursor;
  size_t n;
  unsigned char *memory; /* of all batches */
  pthread_t thread;
  bool started;

  /* Of the thread that merges: the batch that it fills. */
  alignas(CACHE_LINE) struct batch next;
  unsigned char *room;
  /* Of the thread that reads: the batch, and where in it. */
  alignas(CACHE_LINE) struct batch now;
  const unsigned char *from;
  size_t at;
  bool reading;

  alignas(CACHE_LINE) struct lock lock; /* of all that follows */
  pthread_cond_t changed;
  struct batch batch[BATCHES];
  uint64_t filled, used; /* batches, so far */
  bool ended, stop;
  int failed; /* with: */
  struct pems_error error;
};

struct line_parallel {
  const struct key_order *o;
  struct memory *memory;
  size_t batch; /* bytes */
  struct part *part;
  struct line_cursor *cursor; /* of each part */
  size_t parts;
  struct line_merge *last;
};

/* --- filling batches --- */

static unsigned char *room_of(const struct part *p, uint64_t batch) {
  return p->memory + batch % BATCHES * p->of->batch;
}

/* Hands the batch over, and waits until a batch is free, or all are; false:
   nobody reads them. */
static bool hand_over(struct part *p, uint64_t left) {
  lock_take(&p->lock);
  p->batch[p->filled++ % BATCHES] = p->next;
  pthread_cond_signal(&p->changed);
  while (!p->stop && p->filled - p->used > left) {
    lock_wait(&p->changed, &p->lock);
  }
  const bool goes_on = !p->stop;
  p->room = room_of(p, p->filled);
  lock_give(&p->lock);
  p->next = (struct batch){0};
  return goes_on;
}

static bool next_batch(struct part *p) {
  return p->next.filled == 0 || hand_over(p, BATCHES - 1);
}

/* The line stays where it is until it was read. */
static bool lend(struct part *p, const struct line_view *v, size_t common) {
  if (!next_batch(p)) {
    return false;
  }
  p->next = (struct batch){.lent = true, .view = *v, .common = common};
  return hand_over(p, 0);
}

static bool put(struct part *p, const struct line_view *v, size_t common) {
  const bool whole = p->of->o->whole;
  const size_t n = sizeof(struct head) + v->string_n + LINE_SPARE +
                   (whole ? 0 : v->line_n + LINE_SPARE);
  if (n > p->of->batch) {
    return lend(p, v, common);
  }
  if (n > p->of->batch - p->next.filled && !next_batch(p)) {
    return false;
  }
  const struct head head = {(uint32_t)v->string_n, (uint32_t)v->line_n,
                            (uint32_t)common};
  unsigned char *at = p->room + p->next.filled;
  memcpy(at, &head, sizeof(head));
  at += sizeof(head);
  memcpy(at, v->string, v->string_n);
  if (!whole) {
    memcpy(at + v->string_n + LINE_SPARE, v->line, v->line_n);
  }
  p->next.filled += n;
  return true;
}

static int merge_part(struct part *p, struct pems_error *error) {
  const struct line_view *v;
  size_t common;
  int failed = line_merge_new(&p->merge, p->of->o, p->cursor, p->n, error);
  while (!failed) {
    failed = line_merge_next(p->merge, &v, &common, error);
    if (failed || !v || !put(p, v, common)) {
      break;
    }
  }
  return failed;
}

static void *work(void *arg) {
  struct part *const p = arg;
  struct pems_error error = {0};
  const int failed = merge_part(p, &error);
  lock_take(&p->lock);
  if (p->next.filled && !p->stop) {
    p->batch[p->filled++ % BATCHES] = p->next;
  }
  p->failed = failed;
  p->error = error;
  p->ended = true;
  pthread_cond_signal(&p->changed);
  lock_give(&p->lock);
  return NULL;
}

/* --- reading them --- */

/* Gives the batch that was read back, and waits for the next one. */
static int next_filled(struct part *p, bool *there, struct pems_error *error) {
  lock_take(&p->lock);
  if (p->reading) {
    p->used++;
    pthread_cond_signal(&p->changed);
  }
  while (p->used == p->filled && !p->ended) {
    lock_wait(&p->changed, &p->lock);
  }
  *there = p->used < p->filled;
  const int failed = *there ? 0 : p->failed;
  if (failed && error) {
    *error = p->error;
  }
  p->now = p->batch[p->used % BATCHES];
  p->from = room_of(p, p->used);
  lock_give(&p->lock);
  p->reading = *there;
  p->at = 0;
  return failed;
}

static void read_line(struct part *p, struct line_cursor *c) {
  const bool whole = p->of->o->whole;
  struct head head;
  memcpy(&head, p->from + p->at, sizeof(head));
  const unsigned char *const string = p->from + p->at + sizeof(head);
  const unsigned char *const line =
      whole ? string : string + head.string_n + LINE_SPARE;
  c->view = (struct line_view){string, line, head.string_n, head.line_n};
  c->common = head.common;
  p->at = (size_t)(line - p->from) + head.line_n + LINE_SPARE;
}

static int next_of_part(struct line_cursor *c, bool *there,
                        struct pems_error *error) {
  struct part *const p = c->of.other;
  *there = true;
  if (!p->reading || p->at == p->now.filled) {
    const int failed = next_filled(p, there, error);
    if (failed || !*there) {
      return failed;
    }
  }
  if (p->now.lent) {
    c->view = p->now.view;
    c->common = p->now.common;
  } else {
    read_line(p, c);
  }
  return 0;
}

/* --- all of it --- */

static size_t batch_within(int threads, uint64_t limit) {
  const uint64_t most = limit / SHARE / BATCHES / (uint64_t)threads;
  size_t n = BATCH;
  while (n > most && n > LEAST_BATCH) {
    n /= 2;
  }
  return n > most ? 0 : n;
}

size_t line_parallel_memory(int threads, uint64_t limit) {
  return threads < 2 ? 0
                     : (size_t)threads * BATCHES * batch_within(threads, limit);
}

static int start(struct line_parallel *m, struct part *p,
                 struct pems_error *error) {
  static const struct thread_options options = {.name = "pems-merge"};
  p->memory = memory_get(m->memory, BATCHES * m->batch);
  if (!p->memory) {
    return failure(error, ENOMEM, "memory: to merge: too little: give more");
  }
  p->room = p->memory;
  lock_init(&p->lock, LOCK_LINE_PART);
  pthread_cond_init(&p->changed, NULL);
  const int failed = thread_start(&p->thread, work, p, &options);
  p->started = !failed;
  char advice[LIMIT_TEXT];
  return failed
             ? failure(
                   error, failed, "threads: to merge: %s: %s", strerror(failed),
                   limit_advice(advice, LIMIT_THREAD, failed, 0, "use fewer"))
             : 0;
}

/* The i-th part of `parts` has as many cursors as the others, or one more. */
static int start_parts(struct line_parallel *m, struct line_cursor *cursor,
                       size_t n, size_t parts, struct pems_error *error) {
  m->part = native_aligned(CACHE_LINE, parts * sizeof(*m->part));
  m->cursor = native_zalloc(parts, sizeof(*m->cursor));
  if (!m->part || !m->cursor) {
    return failure(error, ENOMEM, "memory: to merge: free some");
  }
  int failed = 0;
  for (size_t i = 0; i < parts && !failed; i++) {
    struct part *const p = &m->part[i];
    const size_t from = i * n / parts;
    *p = (struct part){
        .of = m, .cursor = cursor + from, .n = (i + 1) * n / parts - from};
    m->parts++;
    m->cursor[i] = (struct line_cursor){.next = next_of_part};
    m->cursor[i].of.other = p;
    failed = start(m, p, error);
  }
  return failed ? failed
                : line_merge_new(&m->last, m->o, m->cursor, parts, error);
}

int line_parallel_new(struct line_parallel **merge, const struct key_order *o,
                      struct line_cursor *cursor, size_t n, int threads,
                      struct memory *memory, struct pems_error *error) {
  struct line_parallel *const m = native_zalloc(1, sizeof(*m));
  *merge = NULL;
  if (!m) {
    return failure(error, ENOMEM, "memory: to merge: free some");
  }
  const int parts = (size_t)threads < n ? threads : (int)n;
  const size_t needed = line_parallel_memory(parts, memory->limit);
  m->o = o;
  m->memory = memory;
  m->batch = needed ? batch_within(parts, memory->limit) : 0;
  const int failed = needed && memory_fits(memory, needed)
                         ? start_parts(m, cursor, n, (size_t)parts, error)
                         : line_merge_new(&m->last, o, cursor, n, error);
  if (failed) {
    line_parallel_free(m);
  } else {
    *merge = m;
  }
  return failed;
}

static void stop(struct part *p) {
  if (!p->memory) {
    return;
  }
  lock_take(&p->lock);
  p->stop = true;
  pthread_cond_signal(&p->changed);
  lock_give(&p->lock);
  if (p->started) {
    pthread_join(p->thread, NULL);
  }
  line_merge_free(p->merge);
  pthread_cond_destroy(&p->changed);
  lock_destroy(&p->lock);
  memory_put(p->of->memory, p->memory, BATCHES * p->of->batch);
}

void line_parallel_free(struct line_parallel *m) {
  if (!m) {
    return;
  }
  line_merge_free(m->last);
  for (size_t i = 0; i < m->parts; i++) {
    stop(&m->part[i]);
  }
  native_free(m->part);
  native_free(m->cursor);
  native_free(m);
}

int line_parallel_next(struct line_parallel *m, const struct line_view **view,
                       size_t *common, struct pems_error *error) {
  return line_merge_next(m->last, view, common, error);
}
