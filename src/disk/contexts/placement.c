/* All placements are one: pieces are dealt to disks in turn by a pattern that
   repeats, and on its disk a context is one run of bytes. */
#include "disk/contexts/placement.h"

#include <errno.h>
#include <stdbool.h>

#include "disk/contexts/disk.h"
#include "os/native.h"

/* A pattern of more turns would use more memory than it is worth. */
#define TURNS_MAX 65536

struct turn {
  int disk;
  uint32_t rank; /* earlier turns of the same disk */
};

struct placement {
  struct placement_shape s;
  uint64_t piece;    /* bytes */
  uint64_t pieces;   /* of a context; the last may be shorter */
  uint64_t shift;    /* a context starts so many turns after the one before */
  uint64_t length;   /* of the pattern */
  struct turn *turn; /* `length` of them */
  uint32_t *per;     /* turns of each disk in the pattern */
  uint64_t *bytes;   /* of the file of each disk */
  int64_t *base;     /* of context c on disk i at c * disks + i: where its
                        piece of turn 0 would lie in the file */
};

static uint64_t piece_of(const struct placement_shape *s) {
  return s->stripe && s->stripe < s->context_size ? s->stripe : s->context_size;
}

static uint64_t pieces_of(const struct placement_shape *s) {
  const uint64_t piece = piece_of(s);
  return s->context_size / piece + (s->context_size % piece != 0);
}

/* Turns of a disk among the first x. */
static uint64_t turns_before(const struct placement *p, int disk, uint64_t x) {
  uint64_t n = x / p->length * p->per[disk];
  for (uint64_t i = 0, rest = x % p->length; i < rest; i++) {
    n += p->turn[i].disk == disk;
  }
  return n;
}

/* The same for all disks. Patterns as long as the sequence are walked once, for
   contexts come in order. */
struct walk {
  uint64_t x;
  uint64_t *n; /* turns of each disk before x */
};

static void walk_to(const struct placement *p, struct walk *w, uint64_t x) {
  if (x - w->x >= p->length) {
    for (int i = 0; i < p->s.disks; i++) {
      w->n[i] = turns_before(p, i, x);
    }
    w->x = x;
  }
  for (; w->x < x; w->x++) {
    w->n[p->turn[w->x % p->length].disk]++;
  }
}

static uint64_t start_of(const struct placement *p, int context) {
  return (uint64_t)context * p->shift;
}

/* Places context c behind what is there; `w` stands at its first turn. */
static void place_context(struct placement *p, int c, struct walk *w) {
  const int disks = p->s.disks;
  const uint64_t start = start_of(p, c), end = start + p->pieces;
  int64_t *const base = p->base + (size_t)c * (size_t)disks;
  const uint64_t tail = p->s.context_size - (p->pieces - 1) * p->piece;
  for (int i = 0; i < disks; i++) {
    base[i] = (int64_t)(p->bytes[i] - w->n[i] * p->piece);
  }
  walk_to(p, w, end);
  const int last = p->turn[(end - 1) % p->length].disk;
  for (int i = 0; i < disks; i++) {
    p->bytes[i] = (uint64_t)base[i] + w->n[i] * p->piece;
  }
  p->bytes[last] -= p->piece - tail;
}

static int place_contexts(struct placement *p) {
  struct walk w = {.n = native_zalloc((size_t)p->s.disks, sizeof(*w.n))};
  if (!w.n) {
    return ENOMEM;
  }
  for (int c = 0; c < p->s.n; c++) {
    const uint64_t start = start_of(p, c);
    if (start < w.x) {
      for (int i = 0; i < p->s.disks; i++) {
        w.n[i] = turns_before(p, i, start);
      }
    } else {
      walk_to(p, &w, start);
    }
    w.x = start;
    place_context(p, c, &w);
  }
  native_free(w.n);
  return 0;
}

/* Deals the turns, per[i] to disk i, as regularly as can be: to whom most is
   owed, who had the last one being put off. */
static void deal(struct placement *p) {
  uint32_t *const given = p->per + p->s.disks;
  const int64_t length = (int64_t)p->length;
  int last = -1;
  for (int64_t x = 0; x < length; x++) {
    int best = 0;
    int64_t most = INT64_MIN;
    for (int i = 0; i < p->s.disks; i++) {
      const int64_t owed = p->per[i] * (x + 1) - given[i] * length -
                           (i == last ? length / 2 : 0);
      if (given[i] < p->per[i] && owed > most) {
        most = owed;
        best = i;
      }
    }
    p->turn[x] = (struct turn){.disk = best, .rank = given[best]++};
    last = best;
  }
}

/* A placement with a pattern of `length` turns that has to be dealt yet. */
static struct placement *placement_new(const struct placement_shape *s,
                                       uint64_t length, uint64_t shift) {
  const size_t disks = (size_t)s->disks;
  struct placement *const p = native_alloc(sizeof(*p));
  if (!p) {
    return NULL;
  }
  *p = (struct placement){
      .s = *s,
      .piece = piece_of(s),
      .pieces = pieces_of(s),
      .shift = shift,
      .length = length,
      .turn = native_zalloc(length, sizeof(*p->turn)),
      .per = native_zalloc(2 * disks, sizeof(*p->per)),
      .bytes = native_zalloc(disks, sizeof(*p->bytes)),
      .base = native_zalloc((size_t)s->n * disks + 1, sizeof(*p->base)),
  };
  if (p->turn && p->per && p->bytes && p->base) {
    return p;
  }
  placement_free(p);
  return NULL;
}

static int finish(struct placement **out, struct placement *p) {
  deal(p);
  const int error = place_contexts(p);
  if (error) {
    placement_free(p);
  } else {
    *out = p;
  }
  return error;
}

/* True if all of the contexts are so much that files cannot hold them. */
static bool too_large(const struct placement_shape *s) {
  uint64_t all;
  return __builtin_mul_overflow(s->context_size, (uint64_t)s->n, &all) ||
         all > INT64_MAX;
}

int placement_even(struct placement **p, const struct placement_shape *s) {
  if (too_large(s)) {
    return ENOSPC;
  }
  struct placement *const even = placement_new(s, (uint64_t)s->disks, 1);
  if (!even) {
    return ENOMEM;
  }
  for (int i = 0; i < s->disks; i++) {
    even->per[i] = 1;
  }
  return finish(p, even);
}

/* Of `turns`, those that each device gets; at most `most[i]`. False if that
   cannot be. */
static bool share(uint64_t turns, int disks, const uint64_t *room,
                  const uint64_t *most, const int *device, uint32_t *got) {
  long double all = 0;
  uint64_t left = turns;
  for (int i = 0; i < disks; i++) {
    all += device[i] == i ? room[i] : 0;
  }
  for (int i = 0; i < disks; i++) {
    if (device[i] != i) {
      continue;
    }
    uint64_t n = (uint64_t)((long double)turns * room[i] / (all ? all : 1));
    n = n < most[i] ? n : most[i];
    n = n < left ? n : left;
    got[i] = (uint32_t)n;
    left -= n;
  }
  while (left) {
    /* To whom that leaves most. */
    int best = -1;
    long double emptiest = 2;
    for (int i = 0; i < disks; i++) {
      const long double full = (got[i] + 1.0L) / (most[i] ? most[i] : 1);
      if (device[i] == i && got[i] < most[i] && full < emptiest) {
        best = i;
        emptiest = full;
      }
    }
    if (best < 0) {
      return false;
    }
    got[best]++;
    left--;
  }
  return true;
}

/* Splits what each device got between the disks on it. */
static void split(int disks, const int *device, uint32_t *got) {
  for (int d = 0; d < disks; d++) {
    if (device[d] != d) {
      continue;
    }
    uint32_t sharers = 0;
    const uint32_t all = got[d];
    for (int i = d; i < disks; i++) {
      sharers += device[i] == d;
    }
    for (int i = d, k = 0; i < disks; i++) {
      if (device[i] == d) {
        got[i] = all / sharers + ((uint32_t)k++ < all % sharers);
      }
    }
  }
}

static bool fits(const struct placement *p, const uint64_t *room,
                 const int *device) {
  for (int d = 0; d < p->s.disks; d++) {
    uint64_t need = 0;
    for (int i = d; i < p->s.disks; i++) {
      need += device[i] == d ? p->bytes[i] : 0;
    }
    if (need > room[d]) {
      return false;
    }
  }
  return true;
}

int placement_weighted(struct placement **p, const struct placement_shape *s,
                       const uint64_t *room, const int *device) {
  uint64_t turns, most[s->disks];
  if (too_large(s)) {
    return ENOSPC;
  }
  turns = pieces_of(s) * (uint64_t)s->n;
  turns = turns ? turns : 1;
  const bool exact = turns <= TURNS_MAX;
  turns = exact ? turns : TURNS_MAX;
  for (int i = 0; i < s->disks; i++) {
    most[i] = exact ? room[i] / piece_of(s) : room[i];
  }
  struct placement *new = placement_new(s, turns, pieces_of(s));
  if (!new) {
    return ENOMEM;
  }
  if (!share(turns, s->disks, room, most, device, new->per)) {
    placement_free(new);
    return ENOSPC;
  }
  split(s->disks, device, new->per);
  const int error = finish(&new, new);
  if (error) {
    return error;
  }
  if (!fits(new, room, device)) {
    placement_free(new);
    return ENOSPC;
  }
  *p = new;
  return 0;
}

void placement_free(struct placement *p) {
  if (!p) {
    return;
  }
  native_free(p->turn);
  native_free(p->per);
  native_free(p->bytes);
  native_free(p->base);
  native_free(p);
}

uint64_t placement_bytes(const struct placement *p, int disk) {
  return p->bytes[disk];
}

uint64_t placement_even_bytes(const struct placement_shape *s, int disk) {
  const uint64_t disks = (uint64_t)s->disks, n = (uint64_t)s->n;
  const uint64_t full = pieces_of(s) / disks, over = pieces_of(s) % disks;
  const uint64_t piece = piece_of(s);
  const uint64_t tail = s->context_size - (pieces_of(s) - 1) * piece;
  uint64_t bytes = 0;
  /* Those that start at the same disk are alike. */
  for (uint64_t start = 0; start < disks && start < n; start++) {
    const uint64_t alike = (n - 1 - start) / disks + 1;
    const uint64_t turn = ((uint64_t)disk + disks - start) % disks;
    const bool ends_here = (pieces_of(s) - 1) % disks == turn;
    uint64_t each = (full + (turn < over)) * piece;
    each -= ends_here ? piece - tail : 0;
    if (__builtin_mul_overflow(each, alike, &each) ||
        __builtin_add_overflow(bytes, each, &bytes)) {
      return UINT64_MAX;
    }
  }
  return bytes;
}

struct placement_spot placement_find(const struct placement *p, int context,
                                     uint64_t offset) {
  const uint64_t piece = offset / p->piece, within = offset % p->piece;
  const uint64_t x = start_of(p, context) + piece;
  const struct turn *const turn = &p->turn[x % p->length];
  const uint64_t rank = x / p->length * p->per[turn->disk] + turn->rank;
  const int64_t base =
      p->base[(size_t)context * (size_t)p->s.disks + (size_t)turn->disk];
  const uint64_t to_end = p->s.context_size - offset;
  const uint64_t rest = p->piece - within;
  return (struct placement_spot){
      .disk = turn->disk,
      .at = (uint64_t)base + rank * p->piece + within,
      .n = rest < to_end ? rest : to_end,
  };
}

int placement_home(const struct placement *p, int context) {
  const uint64_t start = start_of(p, context);
  const int first = p->turn[start % p->length].disk;
  if (p->per[first] == p->length) { /* who runs next is asked often */
    return first;
  }
  for (uint64_t i = 1; i < p->pieces && i < p->length; i++) {
    if (p->turn[(start + i) % p->length].disk != first) {
      return -1;
    }
  }
  return first;
}

/* Contexts of `size` bytes that the devices can hold, whole. */
static uint64_t whole_contexts(uint64_t size, int disks, const uint64_t *room,
                               const int *device) {
  uint64_t n = 0;
  for (int i = 0; i < disks; i++) {
    n += device[i] == i ? room[i] / size : 0;
  }
  return n;
}

uint64_t placement_most(int n, uint64_t stripe, int disks, const uint64_t *room,
                        const int *device) {
  uint64_t low = 0, high = UINT64_MAX / DISK_BLOCK / (uint64_t)n, all = 0;
  if (stripe) {
    /* All but one piece of each disk is sure to be used. */
    for (int i = 0; i < disks; i++) {
      const uint64_t sure = room[i] > stripe ? room[i] - stripe : 0;
      if (device[i] == i && __builtin_add_overflow(all, sure, &all)) {
        all = UINT64_MAX;
      }
    }
    return all;
  }
  while (low < high) {
    const uint64_t middle = low + (high - low) / 2 + 1;
    if (whole_contexts(middle * DISK_BLOCK, disks, room, device) >=
        (uint64_t)n) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low * DISK_BLOCK * (uint64_t)n;
}
