#include "em/pqueue/disk_arrays.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/failure.h"
#include "em/pqueue/array_blocks.h"
#include "em/sort/sort.h"
#include "os/clock.h"
#include "os/native.h"

/* What is searched first for the end of a piece: it is often near. */
#define NEAR ((size_t)32) /* records */
/* Fewer blocks that are used up stay in an array's lists. */
enum { TRIM = 16 };

/* --- taking in --- */

static void activate(struct disk_arrays *x, int i) {
  x->array[i].place = x->actives;
  x->active[x->actives++] = i;
}

static void deactivate(struct disk_arrays *x, int i) {
  const int other = x->active[--x->actives];
  x->active[x->array[i].place] = other;
  x->array[other].place = x->array[i].place;
}

/* The first block of array i that is asked for only, which has come, is now
   taken in. */
static void take_in(struct disk_arrays *x, int i) {
  struct disk_array *const a = &x->array[i];
  struct disk_array_slot *const s = a->tail ? a->tail->next : a->head;
  if (a->tail) {
    x->tails -= left_in(a->tail);
  } else {
    activate(x, i);
  }
  a->tail = s;
  a->taken++;
  x->tails += left_in(s);
  x->loaded += left_in(s);
  array_blocks_taken(x, i);
}

/* The last block of array i that was taken in is asked for only. */
static void put_out(struct disk_arrays *x, int i) {
  struct disk_array *const a = &x->array[i];
  struct disk_array_slot *const s = a->tail;
  a->tail = s->prev;
  a->taken--;
  x->tails -= left_in(s);
  x->loaded -= left_in(s);
  if (a->tail) {
    x->tails += left_in(a->tail);
  } else {
    deactivate(x, i);
  }
  array_blocks_taken(x, i);
}

/* Records that can be merged for sure. */
static size_t ready(const struct disk_arrays *x) {
  return tournament_winner(&x->limit) < 0 ? x->loaded : x->loaded - x->tails;
}

const void *disk_arrays_limit(const struct disk_arrays *x) {
  const int i = tournament_winner(&x->limit);
  return i < 0 ? NULL : limit_key(x, i);
}

/* Whether there is any at all. */
static bool any_ready(const struct disk_arrays *x) {
  const void *const limit = disk_arrays_limit(x);
  for (int i = 0; i < x->actives; i++) {
    if (!limit ||
        order(x, first_of(x, x->array[x->active[i]].head), limit) <= 0) {
      return true;
    }
  }
  return false;
}

/* Asks for the block that is needed next, of array i, whatever must be given up
   for it. ENOBUFS if there is no room in the arena; ENOMEM if the system has
   no memory for a slot, which making room would not change. */
static int ask_now(struct disk_arrays *x, int i) {
  for (;;) {
    const bool full = x->held >= array_blocks_allowed(x);
    if (!full && array_blocks_ask(x, i)) {
      break;
    }
    if (tournament_winner(&x->last) < 0 ||
        !array_blocks_give_up_last(x, true)) {
      return full || x->free ? ENOBUFS : ENOMEM;
    }
  }
  request_list_start(&x->start);
  return 0;
}

/* The next block of array i, waited for if need be. */
static int load_next(struct disk_arrays *x, int i, struct pems_error *error) {
  struct disk_array *const a = &x->array[i];
  struct disk_array_slot *const s = a->tail ? a->tail->next : a->head;
  if (!pems_request_test(&s->request)) {
    const uint64_t begin = clock_ns();
    array_blocks_wait(x, s);
    x->counts.read_wait_ns += clock_ns() - begin;
  }
  if (s->request.error) {
    return sort_io_failure(error, s->request.error, "reading a sorted array");
  }
  take_in(x, i);
  return 0;
}

/* Whether the next block of array i is here. */
static int has_come(const struct disk_arrays *x, int i) {
  const struct disk_array *const a = &x->array[i];
  if (a->hinted == a->taken) {
    return 0;
  }
  return pems_request_test(&(a->tail ? a->tail->next : a->head)->request);
}

int disk_arrays_load(struct disk_arrays *x, size_t wanted, size_t least,
                     struct pems_error *error) {
  disk_arrays_hint(x);
  for (int i; (i = tournament_winner(&x->limit)) >= 0;) {
    const size_t there = ready(x);
    if (there >= wanted || (there >= least && !has_come(x, i))) {
      break;
    }
    const bool asked = x->array[i].hinted > x->array[i].taken;
    int failed = asked ? 0 : ask_now(x, i);
    if (failed) {
      return any_ready(x)
                 ? 0
                 : failure(error, failed,
                           "memory: a block of %zu bytes to be merged: free "
                           "some",
                           x->o.runs->block);
    }
    failed = load_next(x, i, error);
    if (failed) {
      return failed;
    }
  }
  return 0;
}

/* --- what can be merged --- */

/* Records of what is left of a block, of `most` of them at most, before `key`,
   or not behind it. */
static size_t rank(const struct disk_arrays *x, const struct disk_array_slot *s,
                   size_t most, const void *key, int equal) {
  const size_t size = record_size(x), n = most < left_in(s) ? most : left_in(s);
  const char *const at = first_of(x, s);
  size_t low = 0;
  for (size_t width = NEAR; low < n; width *= 8) {
    const size_t some = width < n - low ? width : n - low;
    const size_t found =
        x->o.kernel->rank(x->o.record, at + low * size, some, key, equal);
    low += found;
    if (found < some) {
      break;
    }
  }
  return low;
}

/* How many records of the tail of an array are safe to be merged. */
static size_t rank_tail(const struct disk_arrays *x, struct disk_array *a,
                        const void *limit) {
  if (a->safe_since != x->moved) {
    a->safe =
        a->tail->first + x->o.kernel->rank(x->o.record, first_of(x, a->tail),
                                           left_in(a->tail), limit, 1);
    a->safe_since = x->moved;
  }
  return a->safe > a->tail->first ? a->safe - a->tail->first : 0;
}

struct pieces {
  struct kernel_piece *piece;
  int count;
  size_t records;
  size_t room; /* records of this array yet */
};

static void list(struct disk_arrays *x, struct pieces *p,
                 struct disk_array_slot *s, size_t n) {
  if (n > p->room) {
    n = p->room;
  }
  if (n == 0) {
    return;
  }
  x->piece[p->count] = s;
  p->piece[p->count++] = (struct kernel_piece){first_of(x, s), n};
  p->records += n;
  p->room -= n;
}

/* Up to the merge limit, NULL if there is none. */
static void list_safe(struct disk_arrays *x, struct pieces *p,
                      struct disk_array *a, const void *limit) {
  struct disk_array_slot *s = a->head;
  for (; s != a->tail && p->room > 0; s = s->next) {
    list(x, p, s, left_in(s));
  }
  if (p->room > 0) {
    list(x, p, s, limit ? rank_tail(x, a, limit) : left_in(s));
  }
}

/* Up to `limit`, which is not behind the merge limit. */
static void list_before(struct disk_arrays *x, struct pieces *p,
                        struct disk_array *a, const void *limit, int equal) {
  struct disk_array_slot *s = a->head;
  for (; s != a->tail && left_in(s) < p->room; s = s->next) {
    const int c = order(x, first_of(x, s->next), limit);
    if (c > 0 || (c == 0 && !equal)) {
      break;
    }
    list(x, p, s, left_in(s));
  }
  list(x, p, s, rank(x, s, p->room, limit, equal));
}

int disk_arrays_pieces(struct disk_arrays *x, const void *limit, int equal,
                       size_t most, struct kernel_piece *piece,
                       size_t *records) {
  const void *const merge_limit = disk_arrays_limit(x);
  const int c = limit && merge_limit ? order(x, limit, merge_limit) : -1;
  const bool nearer = limit && (c < 0 || (c == 0 && !equal));
  struct pieces p = {.piece = piece};
  for (int i = 0; i < x->actives; i++) {
    struct disk_array *const a = &x->array[x->active[i]];
    p.room = most;
    if (nearer) {
      list_before(x, &p, a, limit, equal);
    } else {
      list_safe(x, &p, a, merge_limit);
    }
  }
  *records = p.records;
  return x->pieces = p.count;
}

/* --- what is gone --- */

/* Nothing of array i is in memory, and its run is somebody else's. */
static void forget(struct disk_arrays *x, int i) {
  array_blocks_forget(x, i);
  x->array[i] = (struct disk_array){.level = -1};
  x->arrays--;
  x->idle = 0;
}

/* Forgets the blocks of a run that are gone. */
static void cut(const struct disk_arrays *x, struct run *run, size_t blocks,
                size_t gone) {
  const size_t size = record_size(x);
  run->blocks -= blocks;
  run->records -= (uint64_t)blocks * x->o.runs->per_block;
  run->skip = gone;
  memmove(run->at, run->at + blocks, run->blocks * sizeof(*run->at));
  memmove(run->least, run->least + blocks * size, run->blocks * size);
}

/* The lists of an array end before the array does. */
static void trim(struct disk_arrays *x, int i) {
  struct disk_array *const a = &x->array[i];
  if (a->first < TRIM || a->first < a->run.blocks / 2) {
    return;
  }
  cut(x, &a->run, a->first, 0);
  a->taken -= a->first;
  a->hinted -= a->first;
  a->first = 0;
  /* Where they cannot become smaller they stay as they are. */
  (void)run_resize(x->o.runs, &a->run, a->run.blocks);
}

/* The first block of array i is used up; with the last one, all of it. */
static void use_up(struct disk_arrays *x, int i) {
  struct disk_array *const a = &x->array[i];
  struct disk_array_slot *const s = a->head;
  run_free_block(x->o.runs, &a->run, a->first++);
  a->gone = 0;
  a->head = s->next;
  if (a->head) {
    a->head->prev = NULL;
  } else {
    a->end = NULL;
  }
  if (a->tail == s) {
    a->tail = NULL;
    deactivate(x, i);
  }
  array_blocks_put(x, s);
  if (a->first == a->run.blocks) {
    runs_drop(x->o.runs, &a->run);
    forget(x, i);
  } else {
    trim(x, i);
  }
}

void disk_arrays_advance(struct disk_arrays *x, const size_t *gone) {
  for (int p = 0; p < x->pieces; p++) {
    struct disk_array_slot *const s = x->piece[p];
    struct disk_array *const a = &x->array[s->array];
    s->first += gone[p];
    a->gone += gone[p];
    x->records -= gone[p];
    x->loaded -= gone[p];
    if (s == a->tail) {
      x->tails -= gone[p];
    }
    if (left_in(s) == 0) {
      use_up(x, s->array);
    }
  }
  x->pieces = 0;
}

/* --- arrays --- */

/* Makes space for one more. */
static int grow(struct disk_arrays *x) {
  const int room = x->room ? 2 * x->room : 16;
  struct disk_array *const array =
      native_realloc(x->array, (size_t)room * sizeof(*array));
  if (!array) {
    return ENOMEM;
  }
  x->array = array;
  int *const active = native_realloc(x->active, (size_t)room * sizeof(*active));
  if (!active) {
    return ENOMEM;
  }
  x->active = active;
  if (array_blocks_reserve(x, room)) {
    return ENOMEM;
  }
  note(x, (int64_t)((size_t)(room - x->room) *
                    (sizeof(*array) + sizeof(*active))));
  x->room = room;
  return 0;
}

/* A free place, or -1. */
static int find_place(struct disk_arrays *x) {
  for (int i = 0; i < x->places; i++) {
    if (x->array[i].level < 0) {
      return i;
    }
  }
  if (x->places == x->room && grow(x)) {
    return -1;
  }
  x->array[x->places] = (struct disk_array){.level = -1};
  return x->places++;
}

/* What was taken in behind the new merge limit is so no longer; and what waits
   behind it for a disk is to be asked for after it. */
static void replay(struct disk_arrays *x, const void *least) {
  for (int i = 0; i < x->places; i++) {
    while (x->array[i].tail &&
           order(x, least_of(x, i, x->array[i].taken - 1), least) > 0) {
      put_out(x, i);
    }
  }
  for (int i; (i = tournament_winner(&x->last)) >= 0 &&
              order(x, last_key(x, i), least) > 0;) {
    if (!array_blocks_cancel(x, x->array[i].end)) {
      break;
    }
    array_blocks_give_up(x, i);
    x->counts.cancelled++;
  }
}

int disk_arrays_add(struct disk_arrays *x, struct run *run, int level,
                    struct pems_error *error) {
  const int i = find_place(x);
  if (i < 0) {
    return failure(error, ENOMEM,
                   "memory: %zu sorted arrays on the disks: free some of it",
                   x->arrays + 1);
  }
  replay(x, run->least);
  x->array[i] =
      (struct disk_array){.run = *run, .level = level, .gone = run->skip};
  x->records += run->records - run->skip;
  x->arrays++;
  x->idle = 0;
  *run = (struct run){0};
  array_blocks_hinted(x, i);
  array_blocks_taken(x, i);
  return 0;
}

/* Forgets what of array i is in memory. */
static void unload(struct disk_arrays *x, int i) {
  struct disk_array *const a = &x->array[i];
  while (a->tail) {
    put_out(x, i);
  }
  for (struct disk_array_slot *s = a->end; s; s = s->prev) {
    if (!array_blocks_cancel(x, s)) {
      array_blocks_wait(x, s);
    }
  }
  while (a->end) {
    array_blocks_give_up(x, i);
  }
}

void disk_arrays_unload(struct disk_arrays *x) {
  for (int i = 0; i < x->places; i++) {
    if (x->array[i].level >= 0) {
      unload(x, i);
    }
  }
}

void disk_arrays_take(struct disk_arrays *x, int level, struct run *run) {
  for (int i = 0; i < x->places; i++) {
    struct disk_array *const a = &x->array[i];
    if (a->level != level) {
      continue;
    }
    unload(x, i);
    cut(x, &a->run, a->first, a->gone);
    x->records -= a->run.records - a->run.skip;
    *run++ = a->run;
    forget(x, i);
  }
}

size_t disk_arrays_number(const struct disk_arrays *x) {
  return x->arrays;
}

size_t disk_arrays_level_arrays(const struct disk_arrays *x, int level) {
  size_t n = 0;
  for (int i = 0; i < x->places; i++) {
    n += x->array[i].level == level;
  }
  return n;
}

int disk_arrays_levels(const struct disk_arrays *x) {
  int highest = -1;
  for (int i = 0; i < x->places; i++) {
    if (x->array[i].level > highest) {
      highest = x->array[i].level;
    }
  }
  return highest;
}

uint64_t disk_arrays_records(const struct disk_arrays *x) {
  return x->records;
}

size_t disk_arrays_held(const struct disk_arrays *x) {
  return x->held;
}

void disk_arrays_counts(const struct disk_arrays *x,
                        struct disk_arrays_counts *counts) {
  *counts = x->counts;
}

/* --- beginning and end --- */

int disk_arrays_new(struct disk_arrays **x,
                    const struct disk_arrays_options *options,
                    struct pems_error *error) {
  struct disk_arrays *const new = native_zalloc(1, sizeof(*new));
  if (!new) {
    return failure(error, ENOMEM,
                   "memory: sorted arrays on the disks: free some of it");
  }
  array_blocks_init(new, options);
  *x = new;
  return 0;
}

void disk_arrays_free(struct disk_arrays *x) {
  if (!x) {
    return;
  }
  for (int i = 0; i < x->places; i++) {
    if (x->array[i].level >= 0) {
      unload(x, i);
      struct run run = x->array[i].run;
      forget(x, i);
      runs_drop(x->o.runs, &run);
    }
  }
  array_blocks_destroy(x);
  note(x,
       -(int64_t)((size_t)x->room * (sizeof(struct disk_array) + sizeof(int))));
  native_free(x->active);
  native_free(x->array);
  native_free(x);
}
