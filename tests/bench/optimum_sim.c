/* Simulates, on the traces of optimum_trace.c, what pems would move to and from
   its disks with less memory than a program touches, by several policies.

     optimum_sim [--dump] PREFIX RANKS FRACTION...

   Schedule: one rank runs at a time, until it needs a message that has not been
   sent yet, in sweeps that alternately ascend and descend. What a rank touches
   between two such stops is a turn; intervals whose wait is over at once belong
   together. As many turns as there are ranks count as a superstep. With k = 2
   the units of the turn before stay in memory, too, as those of a rank that
   runs beside.

   Memory is a fraction of the most units that were live at a time. A unit is
   read if it is not in memory and has been written out before, and written when
   it leaves changed. Units that the program frees leave for nothing.

     whole    contexts come and leave as a whole, the one that runs last leaves
     touched  the same, but only units that are touched come
     lru      units; the one leaves that was touched longest ago
     min      units; the one leaves that is touched last (Belady)
              Of units touched in the same turn clean ones leave first, here
              and below. MIN reads least; it does not always write least.
     others   units; predictors say at the end of a rank's turn in which of its
              next turns each of its units is touched. Units without a
              prediction leave first, the longest untouched first, then those of
              the turn that is furthest by the schedule. When a turn begins,
              the units that are predicted for it are read ahead.

   Where S is new, what was touched in the last turn is taken to be due in the
   next, but not read ahead. Predictors (S: the call site at which the rank
   waits now):

     last     what it touched in its last turn, nothing further ahead
     site     what it touched in the turn that followed S last time
     union2, union4   the union of the last 2, 4 such turns
     alike    as site, but of the last 16 turns that followed S the one before
              which it touched most nearly what it has touched now
     replay1  the sequence of turns that followed S last time, up to now, and
              again from its beginning
     replay2, replay4   the same, where the last 2, 4 sites were the same
     ralike1  the same, from the turn on that alike chooses
     ralike3  the same, where three turns before are compared
     gap      each unit is touched again after as many turns as last time

   --dump prints the turns instead: rank, site, and its units, a * where one is
   written. */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "optimum.h"

/* Turns that a prediction reaches, turns compared, fractions of memory. */
enum { AHEAD = 64, ALIKE = 16, FRACTIONS = 16 };
enum { UNITS_OF_MIB = (1 << 20) / OPTIMUM_UNIT };

static void *need(void *p) {
  if (!p) {
    fprintf(stderr, "optimum_sim: no memory\n");
    exit(1);
  }
  return p;
}

static void *zeros(size_t n, size_t size) {
  return need(calloc(n + 1, size));
}

/* --- arrays that grow --- */

struct array {
  uint32_t *at;
  size_t n, room;
};

static void push(struct array *a, uint32_t value) {
  if (a->n == a->room) {
    a->room = a->room ? 2 * a->room : 1024;
    a->at = need(realloc(a->at, a->room * sizeof(*a->at)));
  }
  a->at[a->n++] = value;
}

/* --- traces --- */

struct rank {
  uint64_t *word; /* of its trace; units are numbers of units from 0 on */
  size_t words, next;
  uint32_t first_unit, end_unit;
  uint32_t *needed;   /* messages of each rank that were taken, by kind */
  struct array turns; /* its turns, as numbers of turns of all */
  uint64_t site;      /* at which it waits */
};

static struct rank *rank;
static uint32_t ranks, units;
static uint64_t
    *address;          /* of each unit, / OPTIMUM_UNIT; ranks have their own */
static uint32_t *sent; /* [kind][from][to] */

static int by_value(const void *a, const void *b) {
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

static bool is_unit(uint64_t word) {
  return optimum_kind(word) <= OPTIMUM_FREE;
}

/* Gives r's units numbers from `units` on. */
static void number_units(struct rank *r) {
  uint64_t *all = zeros(r->words, sizeof(*all));
  size_t n = 0, kept = 0;
  for (size_t i = 0; i < r->words; i++) {
    if (is_unit(r->word[i]) && optimum_kind(r->word[i]) != OPTIMUM_FREE) {
      all[n++] = r->word[i] & OPTIMUM_VALUE;
    }
  }
  qsort(all, n, sizeof(*all), by_value);
  for (size_t i = 0; i < n; i++) {
    if (!kept || all[kept - 1] != all[i]) {
      all[kept++] = all[i];
    }
  }
  for (size_t i = 0; i < r->words; i++) {
    if (is_unit(r->word[i])) {
      const uint64_t value = r->word[i] & OPTIMUM_VALUE;
      const uint64_t *at = bsearch(&value, all, kept, sizeof(*all), by_value);
      const enum optimum_kind kind = optimum_kind(r->word[i]);
      r->word[i] = at ? optimum_word(kind, units + (uint64_t)(at - all))
                      : optimum_word(OPTIMUM_FREE, OPTIMUM_VALUE);
    }
  }
  address = need(realloc(address, (units + kept + 1) * sizeof(*address)));
  memcpy(address + units, all, kept * sizeof(*all));
  free(all);
  r->first_unit = units;
  units += (uint32_t)kept;
  r->end_unit = units;
}

static void load(struct rank *r, const char *prefix, uint32_t number) {
  char name[4096];
  snprintf(name, sizeof(name), "%s.%u", prefix, number);
  FILE *f = fopen(name, "rb");
  if (!f || fseek(f, 0, SEEK_END)) {
    fprintf(stderr, "optimum_sim: %s: %s\n", name, strerror(errno));
    exit(1);
  }
  r->words = (size_t)ftell(f) / sizeof(*r->word);
  rewind(f);
  r->word = zeros(r->words, sizeof(*r->word));
  if (fread(r->word, sizeof(*r->word), r->words, f) != r->words) {
    fprintf(stderr, "optimum_sim: %s: cannot be read\n", name);
    exit(1);
  }
  fclose(f);
  r->needed = zeros(2 * (size_t)ranks, sizeof(*r->needed));
}

/* --- turns --- */

struct turn {
  uint32_t rank, own;      /* own: its number among the rank's turns */
  size_t freed, end_freed; /* in `frees` */
  size_t first, end;       /* in `touches` */
  uint64_t site;           /* at which the rank waited before */
  bool descends;           /* the sweep */
};

static struct turn *turn;
static uint32_t turns;
static size_t turn_room;
static struct array touches; /* units, twice their number, + 1 if written */
static struct array frees;
static struct array next_use; /* of each touch: a turn, or `turns`: none */
static uint32_t live_most;

/* When each unit was last noted in the turn that is being made. */
static uint32_t *noted_in;
static size_t *noted_at;

static void note_touch(uint32_t unit, bool written) {
  if (noted_in[unit] == turns + 1) {
    touches.at[noted_at[unit]] |= written;
  } else {
    noted_in[unit] = turns + 1;
    noted_at[unit] = touches.n;
    push(&touches, 2 * unit + written);
  }
}

static uint32_t *messages(bool group, uint32_t from, uint32_t to) {
  return &sent[((group ? (size_t)ranks : 0) + from) * ranks + to];
}

static void note_word(struct rank *r, uint64_t word) {
  const uint64_t value = word & OPTIMUM_VALUE;
  const enum optimum_kind kind = optimum_kind(word);
  switch (kind) {
  case OPTIMUM_READ:
  case OPTIMUM_WRITE:
    note_touch((uint32_t)value, kind == OPTIMUM_WRITE);
    break;
  case OPTIMUM_FREE:
    if (value != OPTIMUM_VALUE) {
      push(&frees, (uint32_t)value);
    }
    break;
  case OPTIMUM_SEND:
  case OPTIMUM_GROUP_SEND:
    ++*messages(kind == OPTIMUM_GROUP_SEND, (uint32_t)(r - rank),
                (uint32_t)value);
    break;
  default:
    break;
  }
}

static bool is_need(uint64_t word) {
  return optimum_kind(word) == OPTIMUM_NEED ||
         optimum_kind(word) == OPTIMUM_GROUP_NEED;
}

/* Counts in r->needed the messages named from r->next on; returns where they
   end. */
static size_t take(struct rank *r, uint32_t by) {
  size_t next = r->next;
  for (; next < r->words && is_need(r->word[next]); next++) {
    const bool group = optimum_kind(r->word[next]) == OPTIMUM_GROUP_NEED;
    r->needed[(group ? ranks : 0) + (r->word[next] & OPTIMUM_VALUE)] += by;
  }
  return next;
}

static bool has_all(const struct rank *r) {
  const uint32_t me = (uint32_t)(r - rank);
  for (uint32_t i = 0; i < 2 * ranks; i++) {
    if (r->needed[i] > *messages(i >= ranks, i % ranks, me)) {
      return false;
    }
  }
  return true;
}

/* Goes over the end of r's wait, if it is over. */
static bool goes_on(struct rank *r) {
  const size_t next = take(r, 1);
  if (has_all(r)) {
    r->next = next;
    return true;
  }
  take(r, UINT32_MAX); /* one less */
  return false;
}

/* r runs until it stops; false: it cannot. */
static bool run(struct rank *r, bool descends) {
  if (r->next == r->words || !goes_on(r)) {
    return false;
  }
  if (turns == turn_room) {
    turn_room = turn_room ? 2 * turn_room : 1024;
    turn = need(realloc(turn, turn_room * sizeof(*turn)));
  }
  struct turn *t = &turn[turns];
  *t = (struct turn){.rank = (uint32_t)(r - rank),
                     .own = (uint32_t)r->turns.n,
                     .freed = frees.n,
                     .first = touches.n,
                     .site = r->site,
                     .descends = descends};
  while (r->next < r->words) {
    const uint64_t w = r->word[r->next++];
    note_word(r, w);
    if (optimum_kind(w) == OPTIMUM_WAIT) {
      r->site = w & OPTIMUM_VALUE;
      if (!goes_on(r)) {
        break;
      }
    }
  }
  t->end = touches.n;
  t->end_freed = frees.n;
  push(&r->turns, turns++);
  return true;
}

static void make_turns(void) {
  noted_in = zeros(units, sizeof(*noted_in));
  noted_at = zeros(units, sizeof(*noted_at));
  sent = zeros(2 * (size_t)ranks * ranks, sizeof(*sent));
  bool descends = false, runs = true, ran = true;
  while (runs || ran) {
    ran = runs;
    runs = false;
    for (uint32_t i = 0; i < ranks; i++) {
      runs |= run(&rank[descends ? ranks - 1 - i : i], descends);
    }
    descends = !descends;
  }
}

/* Next uses, and the most units that live. A unit that is freed is not used
   next. */
static void look_ahead(void) {
  uint32_t *next = zeros(units, sizeof(*next));
  next_use.at = zeros(touches.n, sizeof(*next_use.at));
  for (uint32_t u = 0; u < units; u++) {
    next[u] = turns;
  }
  for (uint32_t i = turns; i-- > 0;) {
    for (size_t j = turn[i].first; j < turn[i].end; j++) {
      next_use.at[j] = next[touches.at[j] / 2];
      next[touches.at[j] / 2] = i;
    }
    for (size_t j = turn[i].freed; j < turn[i].end_freed; j++) {
      next[frees.at[j]] = turns;
    }
  }
  free(next);
  bool *live = zeros(units, sizeof(*live));
  uint32_t n = 0;
  for (uint32_t i = 0; i < turns; i++) {
    for (size_t j = turn[i].freed; j < turn[i].end_freed; j++) {
      n -= live[frees.at[j]];
      live[frees.at[j]] = false;
    }
    for (size_t j = turn[i].first; j < turn[i].end; j++) {
      n += !live[touches.at[j] / 2];
      live[touches.at[j] / 2] = true;
    }
    live_most = n > live_most ? n : live_most;
  }
  free(live);
}

/* --- memory, by units --- */

enum { IN = 1, DIRTY = 2, ON_DISK = 4 };
static const uint32_t NONE = UINT32_MAX;

/* Units that may leave are in lists, one for each turn in which they are next
   used, as far as is known, and one for those never used: number `turns`. */
struct memory {
  uint32_t room, used, k;
  uint64_t read, written;
  uint8_t *state;
  uint32_t *list, *before, *after; /* of each unit; list NONE: it must stay */
  uint32_t *pinned;                /* the turn, + 1, for which it must stay */
  uint32_t *head, *tail;           /* of each list */
  uint64_t *filled;                /* bits of the lists */
  uint32_t top;                    /* no word of `filled` above has bits */
};

static struct memory memory_new(uint32_t room, uint32_t k) {
  struct memory m = {.room = room, .k = k};
  m.state = zeros(units, 1);
  m.list = zeros(units, sizeof(*m.list));
  m.before = zeros(units, sizeof(*m.before));
  m.after = zeros(units, sizeof(*m.after));
  m.pinned = zeros(units, sizeof(*m.pinned));
  m.head = zeros(turns + 1, sizeof(*m.head));
  m.tail = zeros(turns + 1, sizeof(*m.tail));
  m.filled = zeros(turns / 64 + 1, sizeof(*m.filled));
  memset(m.list, 255, units * sizeof(*m.list));
  memset(m.head, 255, (turns + 1) * sizeof(*m.head));
  memset(m.tail, 255, (turns + 1) * sizeof(*m.tail));
  return m;
}

static void memory_free(struct memory *m) {
  free(m->state);
  free(m->list);
  free(m->before);
  free(m->after);
  free(m->pinned);
  free(m->head);
  free(m->tail);
  free(m->filled);
}

static void take_out(struct memory *m, uint32_t u) {
  const uint32_t list = m->list[u];
  if (list == NONE) {
    return;
  }
  const uint32_t before = m->before[u], after = m->after[u];
  *(before == NONE ? &m->head[list] : &m->after[before]) = after;
  *(after == NONE ? &m->tail[list] : &m->before[after]) = before;
  if (m->head[list] == NONE) {
    m->filled[list / 64] &= ~((uint64_t)1 << list % 64);
  }
  m->list[u] = NONE;
}

/* The first of a list leaves first: of those used in the same turn one that
   need not be written. */
static void put_in(struct memory *m, uint32_t u, uint32_t list) {
  const bool first = list < turns && !(m->state[u] & DIRTY);
  m->list[u] = list;
  m->before[u] = first ? NONE : m->tail[list];
  m->after[u] = first ? m->head[list] : NONE;
  const uint32_t before = m->before[u], after = m->after[u];
  *(before == NONE ? &m->head[list] : &m->after[before]) = u;
  *(after == NONE ? &m->tail[list] : &m->before[after]) = u;
  m->filled[list / 64] |= (uint64_t)1 << list % 64;
  m->top = list / 64 > m->top ? list / 64 : m->top;
}

static void leaves(struct memory *m, uint32_t u) {
  take_out(m, u);
  if (m->state[u] & DIRTY) {
    m->written++;
    m->state[u] = ON_DISK;
  }
  m->state[u] &= ON_DISK;
  m->used--;
}

/* Makes room for one more unit; false: all must stay. */
static bool make_room(struct memory *m, uint32_t more) {
  while (m->used + more > m->room) {
    while (m->top && !m->filled[m->top]) {
      m->top--;
    }
    if (!m->filled[m->top]) {
      return false;
    }
    const int bit = 63 - __builtin_clzll(m->filled[m->top]);
    leaves(m, m->head[m->top * 64 + (uint32_t)bit]);
  }
  return true;
}

static void comes(struct memory *m, uint32_t u) {
  make_room(m, 1);
  m->read += m->state[u] / ON_DISK;
  m->state[u] |= IN;
  m->used++;
}

static void drop(struct memory *m, uint32_t u) {
  if (m->state[u] & IN) {
    take_out(m, u);
    m->used--;
  }
  m->state[u] = 0;
}

/* --- predictors --- */

struct predictor {
  const char *name;
  uint32_t sites; /* that must be the same; 0: the last turn; NONE: gaps */
  uint32_t last;  /* of so many turns at such sites, the union */
  uint32_t ahead; /* turns */
  uint32_t alike; /* turns before that are compared; 0: the last such site */
};

static const struct predictor predictors[] = {
    {"last", 0, 1, 1, 0},
    {"site", 1, 1, 1, 0},
    {"union2", 1, 2, 1, 0},
    {"union4", 1, 4, 1, 0},
    {"alike", 1, 1, 1, 1},
    {"replay1", 1, 1, AHEAD, 0},
    {"replay2", 2, 1, AHEAD, 0},
    {"replay4", 4, 1, AHEAD, 0},
    {"ralike1", 1, 1, AHEAD, 1},
    {"ralike3", 1, 1, AHEAD, 3},
    {"gap", UINT32_MAX, 1, AHEAD, 0},
};

/* In how many of its rank's turns each unit is predicted to be touched: 1 is
   the next; 0: it is not. */
static uint32_t *due;
static uint32_t *touched_last, *touched_gap; /* by `gap`: own turns, + 1 */

struct past {
  uint32_t *last;     /* by hash: own turn, + 1 */
  uint32_t *previous; /* of each own turn: the one before with the same sites */
};

enum { SLOTS = 1 << 12 };

static uint64_t hash_sites(const uint32_t *own, uint32_t i, uint32_t n,
                           uint64_t now, uint32_t done) {
  uint64_t h = 0;
  for (uint32_t j = 0; j < n; j++) {
    const uint64_t site = i - j == done ? now : turn[own[i - j]].site;
    h = (h ^ site) * 0x9e3779b97f4a7c15u;
    h ^= h >> 29;
  }
  return h;
}

/* The own turn, + 1, before `done` that began at the same `n` sites. Searched
   backwards through those with the same hash; 0: none. */
static uint32_t find_same(struct past *p, const uint32_t *own, uint32_t done,
                          uint64_t now, uint32_t n) {
  if (done + 1 < n) {
    return 0;
  }
  const uint64_t h = hash_sites(own, done, n, now, done);
  uint32_t *slot = &p->last[h % SLOTS];
  const uint32_t found = *slot;
  p->previous[done] = found;
  *slot = done + 1;
  for (uint32_t j = found; j; j = p->previous[j - 1]) {
    if (j >= n && hash_sites(own, j - 1, n, now, done) == h) {
      return j;
    }
  }
  return 0;
}

static uint32_t find_earlier(const struct past *p, const uint32_t *own,
                             uint32_t j, uint32_t n, uint32_t done) {
  const uint64_t h = hash_sites(own, j - 1, n, 0, done);
  for (j = p->previous[j - 1]; j; j = p->previous[j - 1]) {
    if (j >= n && hash_sites(own, j - 1, n, 0, done) == h) {
      return j;
    }
  }
  return 0;
}

/* In how many units turns differ; those of `last` are marked. */
static uint32_t difference(const struct turn *last, const struct turn *t,
                           uint32_t mark) {
  uint32_t both = 0;
  for (size_t i = t->first; i < t->end; i++) {
    both += noted_in[touches.at[i] / 2] == mark;
  }
  return (uint32_t)(last->end - last->first + t->end - t->first - 2 * both);
}

/* Adds to sum[] how far the own turn `back` before each candidate is from that
   before the one to come. */
static void add_differences(const uint32_t *own, const uint32_t *candidate,
                            uint32_t n, uint32_t done, uint32_t back,
                            uint64_t *sum) {
  static uint32_t mark = UINT32_MAX;
  const struct turn *last = &turn[own[done - back]];
  mark--;
  for (size_t i = last->first; i < last->end; i++) {
    noted_in[touches.at[i] / 2] = mark;
  }
  for (uint32_t i = 0; i < n; i++) {
    sum[i] += candidate[i] > back
                  ? difference(last, &turn[own[candidate[i] - 1 - back]], mark)
                  : last->end - last->first;
  }
}

/* Of the last ALIKE turns at the same site as `same`, from this one on, the one
   before which the rank touched, in `depth` turns, most nearly what it has
   touched now. */
static uint32_t most_alike(const struct past *p, const uint32_t *own,
                           uint32_t same, uint32_t done, uint32_t depth) {
  uint32_t candidate[ALIKE], n = 0, found = 0;
  uint64_t sum[ALIKE] = {0};
  for (; same && n < ALIKE; same = find_earlier(p, own, same, 1, done)) {
    candidate[n++] = same;
  }
  for (uint32_t back = 1; back <= depth && back <= done; back++) {
    add_differences(own, candidate, n, done, back, sum);
  }
  for (uint32_t i = 1; i < n; i++) {
    found = sum[i] < sum[found] ? i : found;
  }
  return candidate[found];
}

static void due_by_turn(uint32_t number, uint32_t ahead) {
  const struct turn *t = &turn[number];
  for (size_t i = t->first; i < t->end; i++) {
    if (!due[touches.at[i] / 2]) {
      due[touches.at[i] / 2] = ahead;
    }
  }
}

static void due_by_gaps(const struct rank *r, uint32_t done) {
  for (uint32_t u = r->first_unit; u < r->end_unit; u++) {
    const uint32_t when = touched_last[u] + touched_gap[u]; /* + 1 */
    due[u] =
        touched_gap[u] && when > done && when - done <= AHEAD ? when - done : 0;
  }
}

/* Fills due for r's units when it has done so many turns and waits at `now`;
   false: that is a guess, too bad to read by. */
static bool predict(const struct predictor *p, struct past *past,
                    const struct rank *r, uint32_t done, uint64_t now) {
  const uint32_t *own = r->turns.at;
  memset(due + r->first_unit, 0, (r->end_unit - r->first_unit) * sizeof(*due));
  if (p->sites == NONE) {
    due_by_gaps(r, done);
    return true;
  }
  uint32_t same = p->sites ? find_same(past, own, done, now, p->sites) : 0;
  if (!same) { /* a new site, or `last` */
    due_by_turn(own[done - 1], 1);
    return !p->sites;
  }
  if (p->alike) {
    same = most_alike(past, own, same, done, p->alike);
  }
  const uint32_t period = done - (same - 1);
  for (uint32_t d = 0; d < p->ahead; d++) {
    due_by_turn(own[same - 1 + d % period], d + 1);
  }
  for (uint32_t i = 1; i < p->last && same; i++) {
    same = find_earlier(past, own, same, p->sites, done);
    if (same) {
      due_by_turn(own[same - 1], 1);
    }
  }
  return true;
}

/* The turn, of all, that is the d-th next one of the rank of t: sweeps
   alternate and all ranks run in each. */
static uint32_t expected(uint32_t number, uint32_t d) {
  const struct turn *t = &turn[number];
  const uint32_t back = t->descends ? t->rank : ranks - 1 - t->rank;
  const uint64_t after = (uint64_t)(d / 2) * 2 * ranks + d % 2 * (2 * back + 1);
  return number + after < turns ? (uint32_t)(number + after) : turns - 1;
}

/* --- pages --- */

enum way { BY_LRU, BY_MIN, BY_PREDICTION };

/* The units of turn `number` may leave again. */
static void release(struct memory *m, enum way way, uint32_t number) {
  const struct turn *t = &turn[number];
  const struct rank *r = &rank[t->rank];
  if (way != BY_PREDICTION) {
    for (size_t i = t->first; i < t->end; i++) {
      const uint32_t u = touches.at[i] / 2;
      if (m->pinned[u] == number + 1 && m->state[u] & IN) {
        put_in(m, u, way == BY_MIN ? next_use.at[i] : turns);
      }
    }
    make_room(m, 0);
    return;
  }
  uint32_t when[AHEAD + 1] = {turns};
  for (uint32_t d = 1; d <= AHEAD; d++) {
    when[d] = expected(number, d);
  }
  for (uint32_t u = r->first_unit; u < r->end_unit; u++) {
    if (m->state[u] & IN && m->pinned[u] <= number + 1 &&
        (m->list[u] == NONE || m->list[u] != when[due[u]])) {
      take_out(m, u);
      put_in(m, u, when[due[u]]);
    }
  }
  make_room(m, 0);
}

static void pin(struct memory *m, uint32_t u, uint32_t number) {
  take_out(m, u);
  m->pinned[u] = number + 1;
}

/* ahead: what is predicted for the turn. */
static void take_turn(struct memory *m, uint32_t number,
                      const struct array *ahead) {
  const struct turn *t = &turn[number];
  for (size_t i = 0; i < ahead->n; i++) {
    const uint32_t u = ahead->at[i];
    if (m->state[u] & IN) {
      pin(m, u, number);
    }
  }
  for (size_t i = 0; i < ahead->n; i++) {
    const uint32_t u = ahead->at[i];
    if (m->state[u] == ON_DISK && make_room(m, 1)) {
      comes(m, u);
      pin(m, u, number);
    }
  }
  for (size_t i = t->freed; i < t->end_freed; i++) {
    drop(m, frees.at[i]);
  }
  for (size_t i = t->first; i < t->end; i++) {
    const uint32_t u = touches.at[i] / 2;
    if (m->state[u] & IN) {
      pin(m, u, number);
    }
  }
  for (size_t i = t->first; i < t->end; i++) {
    const uint32_t u = touches.at[i] / 2;
    if (!(m->state[u] & IN)) {
      comes(m, u);
      pin(m, u, number);
    }
    if (touches.at[i] % 2) {
      m->state[u] |= DIRTY;
    }
  }
}

/* --- contexts --- */

static void context_leaves(struct memory *m, const struct rank *r) {
  for (uint32_t u = r->first_unit; u < r->end_unit; u++) {
    if (m->state[u] & IN) {
      leaves(m, u);
    }
  }
}

static bool in_memory(const struct memory *m, const struct rank *r) {
  for (uint32_t u = r->first_unit; u < r->end_unit; u++) {
    if (m->state[u] & IN) {
      return true;
    }
  }
  return false;
}

/* The context that runs last leaves, until `more` units fit. */
static void contexts_make_room(struct memory *m, const uint32_t *next,
                               uint32_t more, uint32_t now) {
  while (m->used + more > m->room) {
    const struct rank *victim = NULL;
    for (const struct rank *r = rank; r < rank + ranks; r++) {
      const bool runs = r - rank == turn[now].rank ||
                        (m->k == 2 && now && r - rank == turn[now - 1].rank);
      if (!runs && in_memory(m, r) &&
          (!victim || next[r - rank] > next[victim - rank])) {
        victim = r;
      }
    }
    if (!victim) {
      return;
    }
    context_leaves(m, victim);
  }
}

static void context_turn(struct memory *m, const uint32_t *next, bool whole,
                         uint32_t now) {
  const struct turn *t = &turn[now];
  const struct rank *r = &rank[t->rank];
  uint32_t more = 0;
  for (size_t i = t->freed; i < t->end_freed; i++) {
    drop(m, frees.at[i]);
  }
  for (size_t i = t->first; i < t->end; i++) {
    more += !(m->state[touches.at[i] / 2] & (whole ? IN | ON_DISK : IN));
  }
  for (uint32_t u = r->first_unit; whole && u < r->end_unit; u++) {
    more += m->state[u] == ON_DISK;
  }
  contexts_make_room(m, next, more, now);
  const uint32_t room = m->room;
  m->room = UINT32_MAX; /* comes() is not to look for victims */
  for (uint32_t u = r->first_unit; whole && u < r->end_unit; u++) {
    if (m->state[u] == ON_DISK) {
      comes(m, u);
    }
  }
  for (size_t i = t->first; i < t->end; i++) {
    const uint32_t u = touches.at[i] / 2;
    if (!(m->state[u] & IN)) {
      comes(m, u);
    }
    m->state[u] |= touches.at[i] % 2 ? DIRTY : 0;
  }
  m->room = room;
}

static void simulate_contexts(struct memory *m, bool whole) {
  uint32_t *next = zeros(ranks, sizeof(*next));
  for (uint32_t i = 0; i < turns; i++) {
    context_turn(m, next, whole, i);
    const struct array *own = &rank[turn[i].rank].turns;
    next[turn[i].rank] =
        turn[i].own + 1 < own->n ? own->at[turn[i].own + 1] : turns;
  }
  free(next);
}

/* --- results --- */

static double fraction[FRACTIONS];
static uint32_t fractions;
static uint64_t best[FRACTIONS][2]; /* MIN's, by k */

struct quality {
  uint64_t predicted, touched, right;
};

/* First touches of new units are nothing to predict. */
static void judge(struct quality *q, const struct turn *t, const bool *seen,
                  const struct array *ahead, uint32_t *mark, uint32_t number) {
  q->predicted += ahead->n;
  for (size_t i = 0; i < ahead->n; i++) {
    mark[ahead->at[i]] = number + 1;
  }
  for (size_t i = t->first; i < t->end; i++) {
    const uint32_t u = touches.at[i] / 2;
    q->touched += seen[u];
    q->right += seen[u] && mark[u] == number + 1;
  }
}

static void print(const char *app, const char *policy, const struct memory *m,
                  uint32_t f, const struct quality *q) {
  const double steps = (double)turns / ranks;
  const double mib = UNITS_OF_MIB;
  const uint64_t all = m->read + m->written;
  const uint64_t least = best[f][m->k - 1];
  printf("RESULT bench=optimum app=%s k=%u fraction=%.2f memory_mib=%.1f "
         "policy=%s read_mib=%.2f written_mib=%.2f ratio=%.2f",
         app, m->k, fraction[f], m->room / mib, policy,
         (double)m->read / mib / steps, (double)m->written / mib / steps,
         least ? (double)all / (double)least
         : all ? 99.99
               : 1);
  if (q) {
    printf(" precision=%.3f recall=%.3f",
           q->predicted ? (double)q->right / (double)q->predicted : 1,
           q->touched ? (double)q->right / (double)q->touched : 1);
  }
  printf("\n");
}

static uint32_t room_of(uint32_t f) {
  return (uint32_t)(fraction[f] * live_most);
}

static void compare_contexts(const char *app, const char *name, bool whole) {
  for (uint32_t f = 0; f < fractions; f++) {
    for (uint32_t k = 1; k <= 2; k++) {
      struct memory m = memory_new(room_of(f), k);
      simulate_contexts(&m, whole);
      print(app, name, &m, f, NULL);
      memory_free(&m);
    }
  }
}

static void compare_pages(const char *app, const char *name, enum way way) {
  const struct array nothing = {0};
  for (uint32_t f = 0; f < fractions; f++) {
    for (uint32_t k = 1; k <= 2; k++) {
      struct memory m = memory_new(room_of(f), k);
      for (uint32_t i = 0; i < turns; i++) {
        take_turn(&m, i, &nothing);
        if (i + 1 >= k) {
          release(&m, way, i + 1 - k);
        }
      }
      if (way == BY_MIN) {
        best[f][k - 1] = m.read + m.written;
      }
      print(app, name, &m, f, NULL);
      memory_free(&m);
    }
  }
}

/* The state of a predictor for all ranks. Predictions do not depend on memory:
   all memories are simulated together. */
struct run {
  struct memory m[FRACTIONS][2];
  struct past *past;   /* of each rank */
  struct array *ahead; /* for the next turn of each */
  struct quality quality;
  bool *seen;
  uint32_t *mark;
};

static void note_turn(struct run *s, const struct turn *t) {
  for (size_t i = t->freed; i < t->end_freed; i++) {
    const uint32_t u = frees.at[i];
    s->seen[u] = false;
    touched_last[u] = touched_gap[u] = 0;
  }
  for (size_t i = t->first; i < t->end; i++) {
    const uint32_t u = touches.at[i] / 2;
    touched_gap[u] = touched_last[u] ? t->own + 1 - touched_last[u] : 0;
    touched_last[u] = t->own + 1;
    s->seen[u] = true;
  }
}

static void predict_after(struct run *s, const struct predictor *p,
                          uint32_t number) {
  const struct turn *t = &turn[number];
  struct rank *r = &rank[t->rank];
  const uint32_t done = t->own + 1;
  const uint64_t now =
      done < r->turns.n ? turn[r->turns.at[done]].site : r->site;
  const bool known = predict(p, &s->past[t->rank], r, done, now);
  struct array *ahead = &s->ahead[t->rank];
  ahead->n = 0;
  for (uint32_t u = r->first_unit; u < r->end_unit; u++) {
    if (due[u] && !s->seen[u]) {
      due[u] = 0; /* freed since */
    }
    if (known && due[u] == 1) {
      push(ahead, u);
    }
  }
}

static void run_turn(struct run *s, const struct predictor *p, uint32_t i) {
  struct array *ahead = &s->ahead[turn[i].rank];
  judge(&s->quality, &turn[i], s->seen, ahead, s->mark, i);
  for (uint32_t f = 0; f < fractions; f++) {
    take_turn(&s->m[f][0], i, ahead);
    take_turn(&s->m[f][1], i, ahead);
  }
  note_turn(s, &turn[i]);
  /* With k = 2 the turn before is over only now; `due` of its rank stands since
     it ended, unless the same rank ran twice. */
  for (uint32_t f = 0; f < fractions && i; f++) {
    release(&s->m[f][1], BY_PREDICTION, i - 1);
  }
  predict_after(s, p, i);
  for (uint32_t f = 0; f < fractions; f++) {
    release(&s->m[f][0], BY_PREDICTION, i);
  }
}

static void run_start(struct run *s) {
  *s = (struct run){.past = zeros(ranks, sizeof(*s->past)),
                    .ahead = zeros(ranks, sizeof(*s->ahead)),
                    .seen = zeros(units, sizeof(*s->seen)),
                    .mark = zeros(units, sizeof(*s->mark))};
  for (uint32_t i = 0; i < ranks; i++) {
    s->past[i].last = zeros(SLOTS, sizeof(uint32_t));
    s->past[i].previous = zeros(rank[i].turns.n + 1, sizeof(uint32_t));
  }
  for (uint32_t f = 0; f < fractions; f++) {
    for (uint32_t k = 1; k <= 2; k++) {
      s->m[f][k - 1] = memory_new(room_of(f), k);
    }
  }
  memset(due, 0, units * sizeof(*due));
  memset(touched_last, 0, units * sizeof(*touched_last));
  memset(touched_gap, 0, units * sizeof(*touched_gap));
}

static void run_end(struct run *s) {
  for (uint32_t i = 0; i < ranks; i++) {
    free(s->past[i].last);
    free(s->past[i].previous);
    free(s->ahead[i].at);
  }
  for (uint32_t f = 0; f < fractions; f++) {
    memory_free(&s->m[f][0]);
    memory_free(&s->m[f][1]);
  }
  free(s->past);
  free(s->ahead);
  free(s->seen);
  free(s->mark);
}

static void compare_predictor(const char *app, const struct predictor *p) {
  struct run s;
  run_start(&s);
  for (uint32_t i = 0; i < turns; i++) {
    run_turn(&s, p, i);
  }
  for (uint32_t f = 0; f < fractions; f++) {
    print(app, p->name, &s.m[f][0], f, &s.quality);
    print(app, p->name, &s.m[f][1], f, &s.quality);
  }
  run_end(&s);
}

static void compare(const char *app) {
  printf("RESULT bench=optimum app=%s ranks=%u turns=%u supersteps=%.0f "
         "touched_mib=%.1f a_superstep_mib=%.2f\n",
         app, ranks, turns, (double)turns / ranks,
         (double)live_most / UNITS_OF_MIB,
         (double)touches.n / UNITS_OF_MIB * ranks / turns);
  due = zeros(units, sizeof(*due));
  touched_last = zeros(units, sizeof(*touched_last));
  touched_gap = zeros(units, sizeof(*touched_gap));
  compare_pages(app, "min", BY_MIN);
  compare_contexts(app, "whole", true);
  compare_contexts(app, "touched", false);
  compare_pages(app, "lru", BY_LRU);
  for (size_t i = 0; i < sizeof(predictors) / sizeof(*predictors); i++) {
    compare_predictor(app, &predictors[i]);
  }
}

static void dump(void) {
  for (uint32_t i = 0; i < turns; i++) {
    printf("turn %u rank %u site %llx:", i, turn[i].rank,
           (unsigned long long)turn[i].site);
    for (size_t j = turn[i].first; j < turn[i].end; j++) {
      const uint32_t u = touches.at[j] / 2;
      printf(" %llu%s", (unsigned long long)address[u],
             touches.at[j] % 2 ? "*" : "");
    }
    printf("\n");
  }
}

static uint32_t read_fractions(int n, char **text) {
  uint32_t read = 0;
  for (int i = 0; i < n && read < FRACTIONS; i++) {
    char *end;
    fraction[read] = strtod(text[i], &end);
    if (end == text[i] || *end || fraction[read] <= 0) {
      return 0;
    }
    read++;
  }
  return read;
}

int main(int argc, char **argv) {
  const bool dumps = argc > 1 && strcmp(argv[1], "--dump") == 0;
  char **argument = argv + dumps;
  const int n = argc - dumps;
  ranks = n > 2 ? (uint32_t)strtoul(argument[2], NULL, 10) : 0;
  fractions = n > 3 ? read_fractions(n - 3, argument + 3) : 0;
  if (!ranks || (!fractions && !dumps)) {
    fprintf(stderr, "usage: optimum_sim [--dump] PREFIX RANKS FRACTION...\n");
    return 2;
  }
  rank = zeros(ranks, sizeof(*rank));
  for (uint32_t i = 0; i < ranks; i++) {
    load(&rank[i], argument[1], i);
    number_units(&rank[i]);
  }
  make_turns();
  look_ahead();
  if (dumps) {
    dump();
  } else {
    const char *slash = strrchr(argument[1], '/');
    compare(slash ? slash + 1 : argument[1]);
  }
  return 0;
}
