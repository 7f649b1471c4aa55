#include "net/deferred.h"

#include "base/need.h"
#include "config/memory_used.h"
#include "os/native.h"

#include <stdalign.h>
#include <string.h>

struct kept {
  struct kept *next;
  int process;
  size_t n;
  alignas(16) char bytes[];
};

/* What is kept of one kind and key: never nothing. */
struct line {
  struct line *next; /* in its bucket */
  enum am_kind kind;
  uint64_t key;
  struct kept *first, **last;
};

enum { BUCKET_BITS = 10, BUCKETS = 1 << BUCKET_BITS };

static struct {
  struct line *bucket[BUCKETS];
  size_t lines;
} deferred;

static struct line **bucket_of(enum am_kind kind, uint64_t key) {
  const uint64_t mixed = (key * AM_KINDS + kind) * UINT64_C(0x9e3779b97f4a7c15);
  return &deferred.bucket[mixed >> (64 - BUCKET_BITS)];
}

static struct line *line_of(enum am_kind kind, uint64_t key) {
  struct line *line = *bucket_of(kind, key);
  while (line && (line->kind != kind || line->key != key)) {
    line = line->next;
  }
  return line;
}

static struct line *line_new(enum am_kind kind, uint64_t key) {
  struct line **const bucket = bucket_of(kind, key);
  struct line *const line = need_alloc(sizeof(*line), "a message");
  *line = (struct line){.next = *bucket, .kind = kind, .key = key};
  line->last = &line->first;
  *bucket = line;
  deferred.lines++;
  return line;
}

bool deferred_any(enum am_kind kind, uint64_t key) {
  return deferred.lines && line_of(kind, key);
}

void deferred_keep(enum am_kind kind, int process, uint64_t key,
                   const char *bytes, size_t n) {
  struct line *line = line_of(kind, key);
  if (!line) {
    line = line_new(kind, key);
  }
  struct kept *const kept = need_alloc(sizeof(*kept) + n, "a message");
  *kept = (struct kept){.process = process, .n = n};
  memory_used_add(MEMORY_LETTERS, n);
  memcpy(kept->bytes, bytes, n);
  *line->last = kept;
  line->last = &kept->next;
}

static void free_first(struct line *line) {
  struct kept *const kept = line->first;
  line->first = kept->next;
  memory_used_sub(MEMORY_LETTERS, kept->n);
  native_free(kept);
}

/* Of those of a bucket; removes lines that are left empty. */
static void offer(struct line **at, deferred_take *take) {
  for (struct line *line; (line = *at);) {
    for (const struct kept *m; (m = line->first);) {
      if (!take(line->kind, m->process, line->key, m->bytes, m->n)) {
        break;
      }
      free_first(line);
    }
    if (line->first) {
      at = &line->next;
      continue;
    }
    *at = line->next;
    native_free(line);
    deferred.lines--;
  }
}

void deferred_offer(deferred_take *take) {
  for (int i = 0; i < BUCKETS && deferred.lines; i++) {
    offer(&deferred.bucket[i], take);
  }
}

static bool dropped(enum am_kind kind, int process, uint64_t key,
                    const char *bytes, size_t n) {
  (void)kind, (void)process, (void)key, (void)bytes, (void)n;
  return true;
}

void deferred_drop(void) {
  deferred_offer(dropped);
}
