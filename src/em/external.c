/* The blocks of an array are in order: those used up, those taken in, those
   asked for (hinted), and the rest. Three tournaments play by the smallest
   records of blocks: `next`, who has the smallest that is not asked for;
   `last`, who has the largest of those that are asked for only, which is the
   first to be given up; `limit`, who has the smallest that is not taken in. All
   blocks that are taken in begin before the merge limit or with a record equal
   to it, so that of each array all of them but the last can be merged wholly.
 */
#include "em/external.h"

#include <errno.h>
#include <string.h>

#include "base/counters.h"
#include "base/failure.h"
#include "base/native.h"
#include "em/request_list.h"
#include "em/sort.h"
#include "em/tournament.h"

/* What is searched first for the end of a piece: it is often near. */
#define NEAR ((size_t)32) /* records */

/* A block in memory or on its way. */
struct slot {
  struct pems_request request;
  char *buf;
  size_t first, count;      /* its records [first, count) are left */
  struct slot *prev, *next; /* of the same array; free ones by `next` */
  int array;
};

struct array {
  struct run run;
  int level;           /* -1: none, the place is free */
  size_t first;        /* blocks before this one are used up */
  size_t gone;         /* records of that one that are gone */
  size_t taken;        /* blocks before this one are taken in */
  size_t hinted;       /* blocks before this one are asked for */
  struct slot *head;   /* of block `first`, or NULL */
  struct slot *tail;   /* the last that is taken in, or NULL */
  struct slot *end;    /* the last of all, or NULL */
  size_t safe;         /* records of the tail's block up to the merge limit, */
  uint64_t safe_since; /* if that has not moved since */
  int place;           /* in `active`, if there is a tail */
};

struct external {
  struct external_options o;
  struct external_counts counts;
  struct array *array;
  int places, room; /* of arrays: in use or free, and there is space for */
  size_t arrays;
  int *active; /* arrays with blocks that are taken in */
  int actives;
  struct tournament next, last, limit;
  uint64_t moved;   /* how often the merge limit has */
  uint64_t records; /* left */
  size_t loaded;    /* records in blocks that are taken in, */
  size_t tails;     /* and those of them that are in the last of an array */
  size_t budget, held;
  struct slot *free;
  size_t slots, slot_room; /* there are, free ones, too */
  struct slot **piece;     /* of the last external_pieces; slot_room */
  int pieces;
  int idle;                  /* hinting has nothing to do, unless */
  size_t idle_free;          /* this changes, where it ran out of memory */
  struct request_list start; /* within one call */
};

static size_t record_size(const struct external *x) {
  return x->o.runs->record_size;
}

static int order(const struct external *x, const void *a, const void *b) {
  return x->o.kernel->compare(x->o.record, a, b);
}

static void note(const struct external *x, size_t bytes) {
  memory_note(x->o.runs->memory, (int64_t)bytes);
}

static size_t left_in(const struct slot *s) {
  return s->count - s->first;
}

static const char *first_of(const struct external *x, const struct slot *s) {
  return s->buf + s->first * record_size(x);
}

/* --- the tournaments --- */

static const char *least_of(const struct external *x, int i, size_t block) {
  return x->array[i].run.least + block * record_size(x);
}

static const char *next_key(const struct external *x, int i) {
  return least_of(x, i, x->array[i].hinted);
}

static const char *last_key(const struct external *x, int i) {
  return least_of(x, i, x->array[i].hinted - 1);
}

static const char *limit_key(const struct external *x, int i) {
  return least_of(x, i, x->array[i].taken);
}

static int next_before(const void *x, int a, int b) {
  return order(x, next_key(x, a), next_key(x, b)) < 0;
}

static int last_before(const void *x, int a, int b) {
  return order(x, last_key(x, a), last_key(x, b)) > 0;
}

static int limit_before(const void *x, int a, int b) {
  return order(x, limit_key(x, a), limit_key(x, b)) < 0;
}

/* After `hinted` of array i has changed. */
static void play_hinted(struct external *x, int i) {
  const struct array *const a = &x->array[i];
  tournament_play(&x->next, i, a->hinted < a->run.blocks);
  tournament_play(&x->last, i, a->hinted > a->taken);
}

/* After `taken` of array i has changed. */
static void play_taken(struct external *x, int i) {
  const struct array *const a = &x->array[i];
  tournament_play(&x->last, i, a->hinted > a->taken);
  tournament_play(&x->limit, i, a->taken < a->run.blocks);
  x->moved++;
}

/* --- slots --- */

static struct slot *new_slot(struct external *x) {
  if (x->slots == x->slot_room) {
    const size_t room = x->slot_room ? 2 * x->slot_room : 16;
    struct slot **const piece =
        native_realloc(x->piece, room * sizeof(struct slot *));
    if (!piece)
      return NULL;
    note(x, (room - x->slot_room) * sizeof *piece);
    x->piece = piece;
    x->slot_room = room;
  }
  struct slot *const s = native_alloc(sizeof *s);
  if (!s)
    return NULL;
  note(x, sizeof *s);
  x->slots++;
  s->next = NULL;
  return s;
}

/* One with memory for a block, or NULL. */
static struct slot *get_slot(struct external *x) {
  if (!x->free)
    x->free = new_slot(x);
  struct slot *const s = x->free;
  if (!s)
    return NULL;
  s->buf = arena_get_high(x->o.arena, x->o.runs->block);
  if (!s->buf)
    return NULL;
  x->free = s->next;
  x->held++;
  return s;
}

static void put_slot(struct external *x, struct slot *s) {
  arena_put(x->o.arena, s->buf, x->o.runs->block);
  s->next = x->free;
  x->free = s;
  x->held--;
  x->idle = 0;
}

/* --- asking for blocks, and giving them up --- */

/* The next block of array i; false if there is no memory. It is in the list
   x->start. */
static int ask(struct external *x, int i) {
  struct array *const a = &x->array[i];
  struct slot *const s = get_slot(x);
  if (!s)
    return 0;
  const size_t block = a->hinted++;
  s->array = i;
  s->first = block == a->first ? a->gone : 0;
  s->count = run_block_records(x->o.runs, &a->run, block);
  s->prev = a->end;
  s->next = NULL;
  if (a->end)
    a->end->next = s;
  else
    a->head = s;
  a->end = s;
  s->request = (struct pems_request){
      .block = a->run.at[block],
      .buf = s->buf,
      .n = run_bytes(x->o.runs, s->count),
  };
  request_list_add(&x->start, &s->request);
  play_hinted(x, i);
  return 1;
}

static int cancel(struct external *x, struct slot *s) {
  return pems_request_cancel(x->o.runs->disks, &s->request);
}

static void wait_for(struct external *x, struct slot *s) {
  (void)pems_request_wait(x->o.runs->disks, &s->request);
}

/* Forgets the last block that array i has asked for: nothing is under way. */
static void give_up(struct external *x, int i) {
  struct array *const a = &x->array[i];
  struct slot *const s = a->end;
  a->end = s->prev;
  if (a->end)
    a->end->next = NULL;
  else
    a->head = NULL;
  a->hinted--;
  put_slot(x, s);
  play_hinted(x, i);
}

/* The same for the largest that is asked for only. False if it has begun, and
   one is not to wait for that. */
static int give_up_last(struct external *x, int wait) {
  const int i = tournament_winner(&x->last);
  struct slot *const s = x->array[i].end;
  if (!cancel(x, s) && !pems_request_test(&s->request)) {
    if (!wait)
      return 0;
    wait_for(x, s);
  }
  give_up(x, i);
  x->counts.cancelled++;
  return 1;
}

/* Blocks that may be held: one of each array, and one more to go on with. */
static size_t allowed(const struct external *x) {
  return x->budget > x->arrays ? x->budget : x->arrays + 1;
}

static void shrink(struct external *x) {
  while (x->held > allowed(x) && tournament_winner(&x->last) >= 0 &&
         give_up_last(x, 0))
    ;
}

/* Asks for one more, if need be in the place of one that is needed later;
   false if there is none, or no room. */
static int hint_one(struct external *x) {
  const int i = tournament_winner(&x->next);
  if (i < 0)
    return 0;
  if (x->held < allowed(x) && ask(x, i)) {
    x->counts.hints++;
    return 1;
  }
  const int last = tournament_winner(&x->last);
  return last >= 0 && order(x, next_key(x, i), last_key(x, last)) < 0 &&
         give_up_last(x, 0);
}

void external_hint(struct external *x) {
  const size_t free = arena_free(x->o.arena);
  if (x->idle && free == x->idle_free)
    return;
  shrink(x);
  /* Those asked for here are never given up here: the next ones are not before
     them. */
  while (hint_one(x))
    ;
  request_list_start(&x->start);
  const int last = tournament_winner(&x->last);
  /* What has begun, and is to be given up, is so later. */
  x->idle = x->held <= allowed(x) &&
            (last < 0 || tournament_winner(&x->next) < 0 ||
             order(x, next_key(x, tournament_winner(&x->next)),
                   last_key(x, last)) >= 0);
  x->idle_free = arena_free(x->o.arena);
}

void external_budget(struct external *x, size_t blocks) {
  if (blocks != x->budget)
    x->idle = 0;
  x->budget = blocks;
  shrink(x);
}

/* Ends all that array i has asked for only, and forgets what is cancelled and
   what comes behind it. */
static void settle(struct external *x, int i) {
  const struct array *const a = &x->array[i];
  size_t kept = a->hinted, block = a->hinted;
  for (struct slot *s = a->end; s != a->tail; s = s->prev) {
    block--;
    if (cancel(x, s))
      kept = block;
    else
      wait_for(x, s);
  }
  while (a->hinted > kept) {
    give_up(x, i);
    x->counts.cancelled++;
  }
}

void external_settle(struct external *x) {
  for (int i = 0; i < x->places; i++)
    if (x->array[i].hinted > x->array[i].taken)
      settle(x, i);
}

/* --- taking in --- */

static void activate(struct external *x, int i) {
  x->array[i].place = x->actives;
  x->active[x->actives++] = i;
}

static void deactivate(struct external *x, int i) {
  const int other = x->active[--x->actives];
  x->active[x->array[i].place] = other;
  x->array[other].place = x->array[i].place;
}

/* The first block of array i that is asked for only, which has come, is now
   taken in. */
static void take_in(struct external *x, int i) {
  struct array *const a = &x->array[i];
  struct slot *const s = a->tail ? a->tail->next : a->head;
  if (a->tail)
    x->tails -= left_in(a->tail);
  else
    activate(x, i);
  a->tail = s;
  a->taken++;
  x->tails += left_in(s);
  x->loaded += left_in(s);
  play_taken(x, i);
}

/* The last block of array i that was taken in is asked for only. */
static void put_out(struct external *x, int i) {
  struct array *const a = &x->array[i];
  struct slot *const s = a->tail;
  a->tail = s->prev;
  a->taken--;
  x->tails -= left_in(s);
  x->loaded -= left_in(s);
  if (a->tail)
    x->tails += left_in(a->tail);
  else
    deactivate(x, i);
  play_taken(x, i);
}

/* Records that can be merged for sure. */
static size_t ready(const struct external *x) {
  return tournament_winner(&x->limit) < 0 ? x->loaded : x->loaded - x->tails;
}

const void *external_limit(const struct external *x) {
  const int i = tournament_winner(&x->limit);
  return i < 0 ? NULL : limit_key(x, i);
}

/* Whether there is any at all. */
static int any_ready(const struct external *x) {
  const void *const limit = external_limit(x);
  for (int i = 0; i < x->actives; i++)
    if (!limit ||
        order(x, first_of(x, x->array[x->active[i]].head), limit) <= 0)
      return 1;
  return 0;
}

/* Asks for the block that is needed next, of array i, whatever must be given up
   for it. ENOBUFS if there is no memory. */
static int ask_now(struct external *x, int i) {
  while (x->held >= allowed(x) || !ask(x, i))
    if (tournament_winner(&x->last) < 0 || !give_up_last(x, 1))
      return ENOBUFS;
  request_list_start(&x->start);
  return 0;
}

/* The next block of array i, waited for if need be. */
static int load_next(struct external *x, int i, struct pems_error *error) {
  struct array *const a = &x->array[i];
  struct slot *const s = a->tail ? a->tail->next : a->head;
  if (!pems_request_test(&s->request)) {
    const uint64_t begin = clock_ns();
    wait_for(x, s);
    x->counts.read_wait_ns += clock_ns() - begin;
  }
  if (s->request.error)
    return sort_io_failure(error, s->request.error, "reading a sorted array");
  take_in(x, i);
  return 0;
}

/* Whether the next block of array i is here. */
static int has_come(const struct external *x, int i) {
  const struct array *const a = &x->array[i];
  if (a->hinted == a->taken)
    return 0;
  return pems_request_test(&(a->tail ? a->tail->next : a->head)->request);
}

int external_load(struct external *x, size_t wanted, size_t least,
                  struct pems_error *error) {
  external_hint(x);
  for (int i; (i = tournament_winner(&x->limit)) >= 0;) {
    const size_t there = ready(x);
    if (there >= wanted || (there >= least && !has_come(x, i)))
      break;
    if (x->array[i].hinted == x->array[i].taken && ask_now(x, i)) {
      if (any_ready(x))
        break;
      return failure(error, ENOBUFS,
                     "memory: a block of %zu bytes to be merged: free some",
                     x->o.runs->block);
    }
    const int failed = load_next(x, i, error);
    if (failed)
      return failed;
  }
  return 0;
}

/* --- what can be merged --- */

/* Records of what is left of a block before `key`, or not behind it. */
static size_t rank(const struct external *x, const struct slot *s,
                   const void *key, int equal) {
  const size_t size = record_size(x), n = left_in(s);
  const char *const at = first_of(x, s);
  size_t low = 0;
  for (size_t width = NEAR; low < n; width *= 8) {
    const size_t some = width < n - low ? width : n - low;
    const size_t found =
        x->o.kernel->rank(x->o.record, at + low * size, some, key, equal);
    low += found;
    if (found < some)
      break;
  }
  return low;
}

/* How many records of the tail of an array are safe to be merged. */
static size_t rank_tail(const struct external *x, struct array *a,
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
};

static void list(struct external *x, struct pieces *p, struct slot *s,
                 size_t n) {
  if (n == 0)
    return;
  x->piece[p->count] = s;
  p->piece[p->count++] = (struct kernel_piece){first_of(x, s), n};
  p->records += n;
}

/* Up to the merge limit, NULL if there is none. */
static void list_safe(struct external *x, struct pieces *p, struct array *a,
                      const void *limit) {
  for (struct slot *s = a->head; s != a->tail; s = s->next)
    list(x, p, s, left_in(s));
  list(x, p, a->tail, limit ? rank_tail(x, a, limit) : left_in(a->tail));
}

/* Up to `limit`, which is not behind the merge limit. */
static void list_before(struct external *x, struct pieces *p, struct array *a,
                        const void *limit, int equal) {
  struct slot *s = a->head;
  for (; s != a->tail; s = s->next) {
    const int c = order(x, first_of(x, s->next), limit);
    if (c > 0 || (c == 0 && !equal))
      break;
    list(x, p, s, left_in(s));
  }
  list(x, p, s, rank(x, s, limit, equal));
}

int external_pieces(struct external *x, const void *limit, int equal,
                    struct kernel_piece *piece, size_t *records) {
  const void *const merge_limit = external_limit(x);
  const int c = limit && merge_limit ? order(x, limit, merge_limit) : -1;
  const int nearer = limit && (c < 0 || (c == 0 && !equal));
  struct pieces p = {.piece = piece};
  for (int i = 0; i < x->actives; i++) {
    struct array *const a = &x->array[x->active[i]];
    if (nearer)
      list_before(x, &p, a, limit, equal);
    else
      list_safe(x, &p, a, merge_limit);
  }
  *records = p.records;
  return x->pieces = p.count;
}

/* --- what is gone --- */

/* Takes array i, of which nothing is in memory, out of the game. */
static void forget(struct external *x, int i) {
  struct array *const a = &x->array[i];
  tournament_play(&x->next, i, 0);
  tournament_play(&x->last, i, 0);
  tournament_play(&x->limit, i, 0);
  *a = (struct array){.level = -1};
  x->arrays--;
  x->moved++;
  x->idle = 0;
}

/* The first block of array i is used up; with the last one, all of it. */
static void use_up(struct external *x, int i) {
  struct array *const a = &x->array[i];
  struct slot *const s = a->head;
  run_free_block(x->o.runs, &a->run, a->first++);
  a->gone = 0;
  a->head = s->next;
  if (a->head)
    a->head->prev = NULL;
  else
    a->end = NULL;
  if (a->tail == s) {
    a->tail = NULL;
    deactivate(x, i);
  }
  put_slot(x, s);
  if (a->first == a->run.blocks) {
    runs_drop(x->o.runs, &a->run);
    forget(x, i);
  }
}

void external_advance(struct external *x, const size_t *gone) {
  for (int p = 0; p < x->pieces; p++) {
    struct slot *const s = x->piece[p];
    struct array *const a = &x->array[s->array];
    s->first += gone[p];
    a->gone += gone[p];
    x->records -= gone[p];
    x->loaded -= gone[p];
    if (s == a->tail)
      x->tails -= gone[p];
    if (left_in(s) == 0)
      use_up(x, s->array);
  }
  x->pieces = 0;
}

/* --- arrays --- */

/* Makes space for one more. */
static int grow(struct external *x) {
  const int room = x->room ? 2 * x->room : 16;
  struct array *const array =
      native_realloc(x->array, (size_t)room * sizeof *array);
  if (!array)
    return ENOMEM;
  x->array = array;
  int *const active = native_realloc(x->active, (size_t)room * sizeof *active);
  if (!active)
    return ENOMEM;
  x->active = active;
  if (tournament_reserve(&x->next, room) ||
      tournament_reserve(&x->last, room) || tournament_reserve(&x->limit, room))
    return ENOMEM;
  note(x, (size_t)(room - x->room) *
              (sizeof *array + sizeof *active + 6 * sizeof(int)));
  x->room = room;
  return 0;
}

/* A free place, or -1. */
static int find_place(struct external *x) {
  for (int i = 0; i < x->places; i++)
    if (x->array[i].level < 0)
      return i;
  if (x->places == x->room && grow(x))
    return -1;
  x->array[x->places] = (struct array){.level = -1};
  return x->places++;
}

/* What was taken in behind the new merge limit is so no longer; and what waits
   behind it for a disk is to be asked for after it. */
static void replay(struct external *x, const void *least) {
  for (int i = 0; i < x->places; i++)
    while (x->array[i].tail &&
           order(x, least_of(x, i, x->array[i].taken - 1), least) > 0)
      put_out(x, i);
  for (int i; (i = tournament_winner(&x->last)) >= 0 &&
              order(x, last_key(x, i), least) > 0;) {
    if (!cancel(x, x->array[i].end))
      break;
    give_up(x, i);
    x->counts.cancelled++;
  }
}

int external_add(struct external *x, struct run *run, int level,
                 struct pems_error *error) {
  const int i = find_place(x);
  if (i < 0)
    return failure(error, ENOMEM,
                   "memory: %zu sorted arrays on the disks: free some of it",
                   x->arrays + 1);
  replay(x, run->least);
  x->array[i] = (struct array){.run = *run, .level = level, .gone = run->skip};
  x->records += run->records - run->skip;
  x->arrays++;
  x->idle = 0;
  *run = (struct run){0};
  play_hinted(x, i);
  play_taken(x, i);
  return 0;
}

/* Forgets what of array i is in memory. */
static void unload(struct external *x, int i) {
  struct array *const a = &x->array[i];
  while (a->tail)
    put_out(x, i);
  for (struct slot *s = a->end; s; s = s->prev)
    if (!cancel(x, s))
      wait_for(x, s);
  while (a->end)
    give_up(x, i);
}

/* Forgets the blocks of a run that are gone. */
static void cut(const struct external *x, struct run *run, size_t blocks,
                size_t gone) {
  const size_t size = record_size(x);
  run->blocks -= blocks;
  run->records -= (uint64_t)blocks * x->o.runs->per_block;
  run->skip = gone;
  memmove(run->at, run->at + blocks, run->blocks * sizeof *run->at);
  memmove(run->least, run->least + blocks * size, run->blocks * size);
}

int external_take(struct external *x, int level, struct run *run,
                  struct pems_error *error) {
  (void)error;
  for (int i = 0; i < x->places; i++) {
    struct array *const a = &x->array[i];
    if (a->level != level)
      continue;
    unload(x, i);
    cut(x, &a->run, a->first, a->gone);
    x->records -= a->run.records - a->run.skip;
    *run++ = a->run;
    forget(x, i);
  }
  return 0;
}

size_t external_arrays(const struct external *x) {
  return x->arrays;
}

size_t external_level_arrays(const struct external *x, int level) {
  size_t n = 0;
  for (int i = 0; i < x->places; i++)
    n += x->array[i].level == level;
  return n;
}

int external_levels(const struct external *x) {
  int highest = -1;
  for (int i = 0; i < x->places; i++)
    if (x->array[i].level > highest)
      highest = x->array[i].level;
  return highest;
}

uint64_t external_records(const struct external *x) {
  return x->records;
}

size_t external_held(const struct external *x) {
  return x->held;
}

void external_counts(const struct external *x, struct external_counts *counts) {
  *counts = x->counts;
}

/* --- beginning and end --- */

int external_new(struct external **x, const struct external_options *options,
                 struct pems_error *error) {
  struct external *const new = native_zalloc(1, sizeof *new);
  if (!new)
    return failure(error, ENOMEM,
                   "memory: sorted arrays on the disks: free some of it");
  new->o = *options;
  new->start.disks = options->runs->disks;
  tournament_init(&new->next, next_before, new);
  tournament_init(&new->last, last_before, new);
  tournament_init(&new->limit, limit_before, new);
  *x = new;
  return 0;
}

static void free_slots(struct external *x) {
  while (x->free) {
    struct slot *const s = x->free;
    x->free = s->next;
    native_free(s);
    memory_note(x->o.runs->memory, -(int64_t)sizeof *s);
  }
  memory_note(x->o.runs->memory,
              -(int64_t)(x->slot_room * sizeof(struct slot *)));
  native_free(x->piece);
}

void external_free(struct external *x) {
  if (!x)
    return;
  for (int i = 0; i < x->places; i++)
    if (x->array[i].level >= 0) {
      unload(x, i);
      struct run run = x->array[i].run;
      forget(x, i);
      runs_drop(x->o.runs, &run);
    }
  free_slots(x);
  memory_note(x->o.runs->memory,
              -(int64_t)((size_t)x->room * (sizeof(struct array) + sizeof(int) +
                                            6 * sizeof(int))));
  tournament_destroy(&x->next);
  tournament_destroy(&x->last);
  tournament_destroy(&x->limit);
  native_free(x->active);
  native_free(x->array);
  native_free(x);
}
