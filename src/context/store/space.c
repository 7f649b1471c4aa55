#include "context/store/space.h"

#include "config/machine.h"
#include "config/size.h"
#include "context/internal.h"
#include "context/store/store.h"
#include "os/bits.h"
#include "os/lock.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum {
  GRAIN = 64 << 10,
  /* A heap's grant grows by a quarter, by these bytes at least and at most:
     allocating takes the file system a moment, during which it moves nothing.
     What is granted too early, others cannot have. */
  LEAST_STEP = 256 << 10,
  MOST_STEP = 64 << 20,
  /* Less than this is not worth giving back. */
  TRIM = 16 << 20,
};

static struct {
  struct lock lock;     /* while nothing is on disk: all contexts' grants */
  _Atomic bool on_disk; /* grants are space on the disks, else in memory */
  uint64_t in_memory;   /* bytes of memory that all grants may take */
} space = {.lock = LOCK_INITIALIZER(LOCK_SPACE)};

void space_start(void) {
  space.on_disk = store_mapped() || contexts.evict_always || store_reserved();
  space.in_memory = 0;
}

void space_in_forked_child(void) {
  lock_init(&space.lock, LOCK_SPACE);
}

bool space_on_disk(void) {
  return space.on_disk;
}

/* Bytes of memory that the first n of c can take: whole granules. */
static uint64_t footprint(const struct context *c, uint64_t n) {
  const uint64_t data = image_parts_len(&c->image);
  const uint64_t heap = n > data ? n - data : 0;
  const size_t unit = heap > HUGE_PAGE ? HUGE_PAGE : GRAIN;
  return bits_min(n, data) + bits_align_up(heap, unit);
}

/* What to grant rather than just `bytes`. */
static uint64_t generous(const struct context *c, uint64_t bytes) {
  uint64_t step = c->granted / 4;
  step = step < LEAST_STEP ? LEAST_STEP : bits_min(step, MOST_STEP);
  const uint64_t more = c->granted ? c->granted + step : bytes;
  return bits_min(bits_align_up(more > bytes ? more : bytes, GRAIN),
                  contexts.mu);
}

/* Under both locks. */
static bool fits_in_memory(struct context *c, uint64_t bytes) {
  const uint64_t all =
      space.in_memory - footprint(c, c->granted) + footprint(c, bytes);
  if (all > contexts_own_room()) {
    return false;
  }
  space.in_memory = all;
  c->granted = bytes;
  return true;
}

/* From now on contexts may leave memory: what they have been granted there gets
   its place on the disks, or nothing does. */
static int leave_memory(const char **dir) {
  int error = 0, i = 0;
  for (; i < contexts.n && !error; i++) {
    error = store_grant(i, 0, contexts.item[i].granted, dir);
  }
  if (!error) {
    space.on_disk = true;
    return 0;
  }
  for (i--; i-- > 0;) {
    store_release(i, 0, contexts.item[i].granted);
  }
  return error;
}

/* In memory if it fits there with all others; else sees to it that grants are
   on disk. */
static int grant_in_memory(struct context *c, uint64_t bytes,
                           const char **dir) {
  int error = 0;
  lock_take(&space.lock);
  if (!space.on_disk && !fits_in_memory(c, generous(c, bytes)) &&
      !fits_in_memory(c, bytes)) {
    error = leave_memory(dir);
  }
  lock_give(&space.lock);
  return error;
}

static int grant_on_disk(struct context *c, uint64_t bytes, const char **dir) {
  const uint64_t more = generous(c, bytes);
  int error = store_grant(c->index, c->granted, more, dir);
  if (!error) {
    c->granted = more;
  } else if (more > bytes) {
    error = store_grant(c->index, c->granted, bytes, dir);
    c->granted = error ? c->granted : bytes;
  }
  return error;
}

/* A forked child's memory is its own, unless it is a mapped file. */
static bool needs_none(void) {
  return !store_exists() || store_reserved() ||
         (contexts.frozen && !store_mapped());
}

int space_grant(struct context *c, uint64_t bytes, const char **dir) {
  int error = 0;
  bytes = bits_align_up(bytes, PAGE);
  lock_take(&c->grant_lock);
  if (needs_none()) {
    c->granted = contexts.mu;
  }
  if (bytes > c->granted && !space.on_disk) {
    error = grant_in_memory(c, bytes, dir);
  }
  if (bytes > c->granted && !error) {
    error = grant_on_disk(c, bytes, dir);
  }
  lock_give(&c->grant_lock);
  return error;
}

/* `anyway`: also where all fits. */
static int move_to_disk(bool anyway) {
  int error = 0;
  const char *dir;
  lock_take(&space.lock);
  if (!needs_none() && !space.on_disk &&
      (anyway || space.in_memory > contexts_own_room())) {
    error = leave_memory(&dir);
  }
  lock_give(&space.lock);
  return error;
}

int space_shrunk(void) {
  return move_to_disk(false);
}

int space_move_to_disk(void) {
  return move_to_disk(true);
}

const char *space_refusal(int error, const char *dir, char *text, size_t size) {
  char left[16];
  if (error == EDQUOT) {
    snprintf(text, size, "more than your quota in %s", dir);
  } else if (error == ENOSPC) {
    snprintf(text, size, "no room in %s (%s free)", dir,
             size_format(machine_disk_free(dir), left, sizeof(left)));
  } else {
    snprintf(text, size, "%s: %s", dir, strerror(error));
  }
  const size_t used = strlen(text);
  snprintf(text + used, size - used,
           ": free some or name another directory with --pems-disk");
  return text;
}

/* The first `bytes` are all that c has. */
static void shrink(struct context *c, uint64_t bytes) {
  if (space.on_disk) {
    store_release(c->index, bytes, c->granted);
    c->granted = bytes;
    return;
  }
  lock_take(&space.lock);
  const bool on_disk = space.on_disk;
  if (!on_disk) {
    (void)fits_in_memory(c, bytes);
  }
  lock_give(&space.lock);
  if (on_disk) {
    shrink(c, bytes);
  }
}

void space_trim(struct context *c, const void *end) {
  uint64_t bytes = store_bytes_to(c, end);
  lock_take(&c->grant_lock);
  bytes = bits_align_up(bytes + bits_min(bytes / 4, MOST_STEP), GRAIN);
  if (!needs_none() && !store_mapped() && c->granted > bytes + TRIM) {
    shrink(c, bytes);
  }
  lock_give(&c->grant_lock);
}

void space_release(struct context *c) {
  lock_take(&c->grant_lock);
  if (!needs_none() && !store_mapped()) {
    shrink(c, 0);
  }
  lock_give(&c->grant_lock);
}

void space_limit_heap(struct context *c) {
  const size_t len = image_parts_len(&c->image);
  heap_limit(c->heap, c->granted - len,
             bits_align_down(contexts.mu - len, PAGE));
}
