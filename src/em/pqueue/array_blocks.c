#include "em/pqueue/array_blocks.h"

#include <errno.h>
#include <stdbool.h>

#include "os/native.h"

/* --- the tournaments --- */

static bool next_before(const void *x, int a, int b) {
  return order(x, next_key(x, a), next_key(x, b)) < 0;
}

static bool last_before(const void *x, int a, int b) {
  return order(x, last_key(x, a), last_key(x, b)) > 0;
}

static bool limit_before(const void *x, int a, int b) {
  return order(x, limit_key(x, a), limit_key(x, b)) < 0;
}

void array_blocks_hinted(struct disk_arrays *x, int i) {
  const struct disk_array *const a = &x->array[i];
  tournament_play(&x->next, i, a->hinted < a->run.blocks);
  tournament_play(&x->last, i, a->hinted > a->taken);
}

void array_blocks_taken(struct disk_arrays *x, int i) {
  const struct disk_array *const a = &x->array[i];
  tournament_play(&x->last, i, a->hinted > a->taken);
  tournament_play(&x->limit, i, a->taken < a->run.blocks);
  x->moved++;
}

void array_blocks_forget(struct disk_arrays *x, int i) {
  tournament_play(&x->next, i, 0);
  tournament_play(&x->last, i, 0);
  tournament_play(&x->limit, i, 0);
  x->moved++;
}

/* --- slots --- */

static struct disk_array_slot *new_slot(struct disk_arrays *x) {
  if (x->slots == x->slot_room) {
    const size_t room = x->slot_room ? 2 * x->slot_room : 16;
    struct disk_array_slot **const piece =
        native_realloc(x->piece, room * sizeof(struct disk_array_slot *));
    if (!piece) {
      return NULL;
    }
    note(x, (int64_t)((room - x->slot_room) * sizeof(*piece)));
    x->piece = piece;
    x->slot_room = room;
  }
  struct disk_array_slot *const s = native_alloc(sizeof(*s));
  if (!s) {
    return NULL;
  }
  note(x, sizeof(*s));
  x->slots++;
  s->next = NULL;
  return s;
}

/* One with memory for a block, or NULL. */
static struct disk_array_slot *get_slot(struct disk_arrays *x) {
  if (!x->free) {
    x->free = new_slot(x);
  }
  struct disk_array_slot *const s = x->free;
  if (!s) {
    return NULL;
  }
  s->buf = arena_get_high(x->o.arena, x->o.runs->block);
  if (!s->buf) {
    return NULL;
  }
  x->free = s->next;
  x->held++;
  return s;
}

void array_blocks_put(struct disk_arrays *x, struct disk_array_slot *s) {
  arena_put(x->o.arena, s->buf, x->o.runs->block);
  s->next = x->free;
  x->free = s;
  x->held--;
  x->idle = 0;
}

/* --- asking for blocks, and giving them up --- */

bool array_blocks_ask(struct disk_arrays *x, int i) {
  struct disk_array *const a = &x->array[i];
  struct disk_array_slot *const s = get_slot(x);
  if (!s) {
    return false;
  }
  const size_t block = a->hinted++;
  s->array = i;
  s->first = block == a->first ? a->gone : 0;
  s->count = run_block_records(x->o.runs, &a->run, block);
  s->prev = a->end;
  s->next = NULL;
  if (a->end) {
    a->end->next = s;
  } else {
    a->head = s;
  }
  a->end = s;
  s->request = (struct pems_request){
      .block = a->run.at[block],
      .buf = s->buf,
      .n = run_bytes(x->o.runs, s->count),
  };
  request_list_add(&x->start, &s->request);
  array_blocks_hinted(x, i);
  return true;
}

int array_blocks_cancel(struct disk_arrays *x, struct disk_array_slot *s) {
  return pems_request_cancel(x->o.runs->disks, &s->request);
}

void array_blocks_wait(struct disk_arrays *x, struct disk_array_slot *s) {
  (void)pems_request_wait(x->o.runs->disks, &s->request);
}

void array_blocks_give_up(struct disk_arrays *x, int i) {
  struct disk_array *const a = &x->array[i];
  struct disk_array_slot *const s = a->end;
  a->end = s->prev;
  if (a->end) {
    a->end->next = NULL;
  } else {
    a->head = NULL;
  }
  a->hinted--;
  array_blocks_put(x, s);
  array_blocks_hinted(x, i);
}

bool array_blocks_give_up_last(struct disk_arrays *x, bool wait) {
  const int i = tournament_winner(&x->last);
  struct disk_array_slot *const s = x->array[i].end;
  if (!array_blocks_cancel(x, s) && !pems_request_test(&s->request)) {
    if (!wait) {
      return false;
    }
    array_blocks_wait(x, s);
  }
  array_blocks_give_up(x, i);
  x->counts.cancelled++;
  return true;
}

size_t array_blocks_allowed(const struct disk_arrays *x) {
  return x->budget > x->arrays ? x->budget : x->arrays + 1;
}

static void shrink(struct disk_arrays *x) {
  while (x->held > array_blocks_allowed(x) &&
         tournament_winner(&x->last) >= 0 &&
         array_blocks_give_up_last(x, false))
    ;
}

/* Asks for one more, if need be in the place of one that is needed later;
   false if there is none, or no room. */
static bool hint_one(struct disk_arrays *x) {
  const int i = tournament_winner(&x->next);
  if (i < 0) {
    return false;
  }
  if (x->held < array_blocks_allowed(x) && array_blocks_ask(x, i)) {
    x->counts.hints++;
    return true;
  }
  const int last = tournament_winner(&x->last);
  return last >= 0 && order(x, next_key(x, i), last_key(x, last)) < 0 &&
         array_blocks_give_up_last(x, false);
}

void disk_arrays_hint(struct disk_arrays *x) {
  const size_t free = arena_free(x->o.arena);
  if (x->idle && free == x->idle_free) {
    return;
  }
  shrink(x);
  /* Those asked for here are never given up here: the next ones are not before
     them. */
  while (hint_one(x))
    ;
  request_list_start(&x->start);
  const int last = tournament_winner(&x->last);
  /* What has begun, and is to be given up, is so later. */
  x->idle = x->held <= array_blocks_allowed(x) &&
            (last < 0 || tournament_winner(&x->next) < 0 ||
             order(x, next_key(x, tournament_winner(&x->next)),
                   last_key(x, last)) >= 0);
  x->idle_free = arena_free(x->o.arena);
}

void disk_arrays_budget(struct disk_arrays *x, size_t blocks) {
  if (blocks != x->budget) {
    x->idle = 0;
  }
  x->budget = blocks;
  shrink(x);
}

/* Ends all that array i has asked for only, and forgets what is cancelled and
   what comes behind it. */
static void settle(struct disk_arrays *x, int i) {
  const struct disk_array *const a = &x->array[i];
  size_t kept = a->hinted, block = a->hinted;
  for (struct disk_array_slot *s = a->end; s != a->tail; s = s->prev) {
    block--;
    if (array_blocks_cancel(x, s)) {
      kept = block;
    } else {
      array_blocks_wait(x, s);
    }
  }
  while (a->hinted > kept) {
    array_blocks_give_up(x, i);
    x->counts.cancelled++;
  }
}

void disk_arrays_settle(struct disk_arrays *x) {
  for (int i = 0; i < x->places; i++) {
    if (x->array[i].hinted > x->array[i].taken) {
      settle(x, i);
    }
  }
}

/* --- beginning and end --- */

void array_blocks_init(struct disk_arrays *x,
                       const struct disk_arrays_options *options) {
  x->o = *options;
  x->start.disks = options->runs->disks;
  tournament_init(&x->next, next_before, x);
  tournament_init(&x->last, last_before, x);
  tournament_init(&x->limit, limit_before, x);
}

void array_blocks_destroy(struct disk_arrays *x) {
  while (x->free) {
    struct disk_array_slot *const s = x->free;
    x->free = s->next;
    native_free(s);
  }
  note(x, -(int64_t)(x->slots * sizeof(struct disk_array_slot) +
                     x->slot_room * sizeof(struct disk_array_slot *) +
                     3 * (size_t)x->next.room * 2 * sizeof(int)));
  native_free(x->piece);
  tournament_destroy(&x->next);
  tournament_destroy(&x->last);
  tournament_destroy(&x->limit);
}

int array_blocks_reserve(struct disk_arrays *x, int arrays) {
  const int before = x->next.room;
  if (tournament_reserve(&x->limit, arrays) ||
      tournament_reserve(&x->last, arrays) ||
      tournament_reserve(&x->next, arrays)) {
    return ENOMEM;
  }
  note(x, (int64_t)(3 * (size_t)(x->next.room - before) * 2 * sizeof(int)));
  return 0;
}
