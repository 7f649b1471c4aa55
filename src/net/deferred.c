#include "net/deferred.h"

#include "base/need.h"
#include "config/memory_used.h"
#include "disk/spill.h"
#include "os/native.h"

#include <stdalign.h>
#include <string.h>

struct kept {
  struct kept *next;
  int process;
  size_t n;
  bool on_disk; /* at `place` of the file, not in `bytes` */
  uint64_t place;
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
  uint64_t bound;
  struct spill *spill; /* for what does not fit; or NULL */
} deferred;

void deferred_start(uint64_t bound, const char *dir) {
  deferred.bound = bound;
  deferred.spill = spill_open(dir);
}

void deferred_end(void) {
  spill_close(deferred.spill);
  deferred.spill = NULL;
}

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

bool deferred_some(void) {
  return deferred.lines > 0;
}

/* In memory, unless there is no room there, and some on the disk. */
static struct kept *kept_new(const char *bytes, size_t n) {
  uint64_t place = 0;
  const bool fits =
      !deferred.spill || memory_used_take(MEMORY_LETTERS, n, deferred.bound);
  const bool on_disk = !fits && n && spill_take(deferred.spill, n, &place);
  if (!deferred.spill || (!fits && !on_disk)) {
    memory_used_add(MEMORY_LETTERS, n);
  }
  struct kept *const kept =
      need_alloc(sizeof(*kept) + (on_disk ? 0 : n), "a message");
  *kept = (struct kept){.n = n, .on_disk = on_disk, .place = place};
  if (on_disk) {
    spill_write(deferred.spill, place, bytes, n);
  } else {
    memcpy(kept->bytes, bytes, n);
  }
  return kept;
}

void deferred_keep(enum am_kind kind, int process, uint64_t key,
                   const char *bytes, size_t n) {
  struct line *line = line_of(kind, key);
  if (!line) {
    line = line_new(kind, key);
  }
  struct kept *const kept = kept_new(bytes, n);
  kept->process = process;
  *line->last = kept;
  line->last = &kept->next;
}

static void free_first(struct line *line) {
  struct kept *const kept = line->first;
  line->first = kept->next;
  if (kept->on_disk) {
    spill_give(deferred.spill, kept->place, kept->n);
  } else {
    memory_used_sub(MEMORY_LETTERS, kept->n);
  }
  native_free(kept);
}

static bool offer_one(const struct line *line, const struct kept *m,
                      deferred_take *take) {
  if (!m->on_disk) {
    return take(line->kind, m->process, line->key, m->bytes, m->n);
  }
  char *const bytes = need_alloc(m->n, "a message");
  spill_read(deferred.spill, m->place, bytes, m->n);
  const bool taken = take(line->kind, m->process, line->key, bytes, m->n);
  native_free(bytes);
  return taken;
}

/* Of those of a bucket; removes lines that are left empty. */
static void offer(struct line **at, deferred_take *take) {
  for (struct line *line; (line = *at);) {
    for (const struct kept *m; (m = line->first);) {
      if (!offer_one(line, m, take)) {
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
