#define _GNU_SOURCE
#include "em/lines/line_chunk.h"

#include <errno.h>
#include <string.h>

#include "base/failure.h"
#include "em/lines/key_encode.h"

enum {
  SLOT = sizeof(line_slot),
  HEAD = sizeof(struct line_head),
  /* A chunk with less room for text than that part of it is full. */
  FULL_SHARE = 512,
  LEAST = 64,
};
/* Bytes that are read at a time: they stay in the cache while lines are looked
   for. */
#define PIECE ((size_t)256 << 10)

int line_chunk_new(struct line_chunk *c, const struct key_order *o,
                   size_t bytes, struct memory *memory,
                   struct pems_error *error) {
  *c = (struct line_chunk){.o = o, .memory = memory, .bytes = bytes};
  c->base = memory_get(memory, bytes);
  return c->base ? 0
                 : failure(error, ENOMEM,
                           "memory for sorting: %zu bytes for lines: give "
                           "more",
                           bytes);
}

void line_chunk_free(struct line_chunk *c) {
  if (c->base) {
    memory_put(c->memory, c->base, c->bytes);
  }
  c->base = NULL;
  key_scratch_free(&c->scratch);
}

/* --- filling --- */

/* Each byte may be a line, which has a slot. */
static size_t room_for_text(const struct line_chunk *c) {
  const size_t slots = (size_t)((unsigned char *)c->low - c->base);
  const size_t used = c->text + LINE_SPARE;
  const size_t room = slots > used ? (slots - used) / (SLOT + 1) : 0;
  return room > c->bytes / FULL_SHARE && room > LEAST ? room : 0;
}

/* Makes slots of the lines that end in the text from `from` on; returns where
   the first line begins that does not. */
static size_t find_lines(struct line_chunk *c, size_t line, size_t from) {
  const unsigned char *at = c->base + from, *const end = c->base + c->text;
  line_slot *low = c->low;
  while ((at = memchr(at, c->o->end, (size_t)(end - at)))) {
    const size_t n = (size_t)(at++ - c->base) - line;
    *--low = (line_slot){.index = line_slots_place(line, n)};
    line += n + 1;
    if (at == end) {
      break;
    }
  }
  c->low = low;
  return line;
}

static int too_long(const struct line_source *source, size_t n,
                    struct pems_error *error) {
  const int blamed = line_source_blame_quote(source, n, error);
  return blamed
             ? blamed
             : failure(
                   error, EFBIG,
                   "%s: a line of more than %zu bytes: does not fit: give more "
                   "memory (-S)",
                   line_source_name(source), n);
}

static void begin_chunk(struct line_chunk *c, struct line_carry *carry,
                        double share) {
  size_t strings = c->o->whole ? 0 : (size_t)((double)c->bytes * share);
  if (carry->n > c->bytes / 16 && strings > c->bytes / 2) {
    strings = c->bytes / 2; /* a line that goes on needs room, too */
  }
  c->keys = (c->bytes - strings - LINE_SPARE) / SLOT * SLOT;
  c->low = c->top = (line_slot *)(c->base + c->keys);
  c->text = carry->n;
  memcpy(c->base, carry->text, carry->n);
  carry->n = 0;
}

int line_chunk_fill(struct line_chunk *c, struct line_source *source,
                    struct line_carry *carry, size_t target, double share,
                    struct pems_error *error) {
  size_t room, n = 1, line = 0, from;
  begin_chunk(c, carry, share);
  while ((room = room_for_text(c)) > 0 && (c->text < target || !line)) {
    const size_t part = room < PIECE ? room : PIECE;
    const int failed =
        line_source_read(source, c->base + c->text, part, &n, error);
    if (failed || n == 0) {
      c->todo = c->top;
      c->key_at = c->keys + LINE_SPARE;
      return failed;
    }
    from = c->text;
    c->text += n;
    line = find_lines(c, line, from);
  }
  const size_t rest = c->text - line;
  if (c->low == c->top || rest > carry->room) {
    return too_long(source, rest, error);
  }
  memcpy(carry->text, c->base + line, rest);
  carry->n = rest;
  c->text = line;
  c->todo = c->top;
  c->key_at = c->keys + LINE_SPARE;
  return 0;
}

/* --- strings --- */

static struct line_slots lines_of(const struct line_chunk *c) {
  return (struct line_slots){.base = c->base, .end = c->o->end};
}

static struct line_slots strings_of(const struct line_chunk *c) {
  if (c->o->whole) {
    struct line_slots s = lines_of(c);
    s.descending = c->o->descending;
    return s;
  }
  return (struct line_slots){.base = c->base + c->keys,
                             .headed = true,
                             .descending = c->o->descending};
}

/* The string of the line of a slot; *full: it has no room. */
static int make_string(struct line_chunk *c, const struct line_slots *lines,
                       line_slot *slot, bool *full) {
  const uint64_t place = slot->index;
  struct key_bytes out = {c->base + c->key_at + HEAD,
                          c->base + c->bytes - LINE_SPARE, false};
  *full = out.at > out.end;
  if (*full) {
    return 0;
  }
  unsigned char *const from = out.at;
  const int failed =
      key_encode(c->o, line_slots_at(lines, place),
                 line_slots_length(lines, place), &c->scratch, &out);
  const struct line_head head = {place, (uint64_t)(out.at - from)};
  *full = out.full;
  if (!failed && !out.full) {
    memcpy(from - HEAD, &head, HEAD);
    slot->index = line_slots_place((size_t)(from - c->base) - c->keys, head.n);
    c->key_at = (size_t)(out.at - c->base);
  }
  return failed;
}

static int make_strings(struct line_chunk *c, struct pems_error *error) {
  const struct line_slots lines = lines_of(c);
  bool full = false;
  int failed = 0;
  c->key_at = c->keys + LINE_SPARE;
  line_slot *const from = c->todo;
  while (c->todo > c->low) {
    failed = make_string(c, &lines, c->todo - 1, &full);
    if (failed || full) {
      break;
    }
    c->todo--;
  }
  if (failed) {
    return failure(error, failed, "memory: for keys: %s: free some",
                   strerror(failed));
  }
  if (full && c->todo == from) {
    return failure(error, EFBIG,
                   "a key of more than %zu bytes: does not fit: give more "
                   "memory (-S)",
                   c->bytes - c->keys);
  }
  return 0;
}

/* --- sorting --- */

/* Marks a slot whose index is the line's place already. */
#define TIED (UINT64_C(1) << 63)

struct ties {
  const struct line_chunk *c;
  struct line_slots lines;
};

/* Both are followed by the byte that ends a line, in this chunk's memory. */
static int compare_lines(void *arg, const line_slot *a, const line_slot *b) {
  const struct ties *const t = arg;
  unsigned char *const x = t->c->base + (a->index >> LINE_LENGTH_BITS);
  unsigned char *const y = t->c->base + (b->index >> LINE_LENGTH_BITS);
  const size_t x_n = line_slots_length(&t->lines, a->index);
  const size_t y_n = line_slots_length(&t->lines, b->index);
  x[x_n] = y[y_n] = 0;
  const int order = key_compare_ties(t->c->o, x, x_n, y, y_n);
  x[x_n] = y[y_n] = t->c->o->end;
  return order ? order : (a->index > b->index) - (a->index < b->index);
}

/* Lines with equal strings: the string's place goes to all prefixes. */
static void sort_ties(void *arg, line_slot *slot, size_t n) {
  struct ties *const t = arg;
  const struct line_slots strings = strings_of(t->c);
  const uint64_t place = slot[0].index;
  for (size_t i = 0; i < n; i++) {
    slot[i].index = line_slots_head(&strings, slot[i].index).line;
  }
  if (t->c->o->ties == KEY_TIES_BYTES) {
    line_slots_sort(&t->lines, slot, n, NULL, NULL);
  } else {
    line_slots_sort_by(slot, n, compare_lines, t);
  }
  for (size_t i = 0; i < n; i++) {
    slot[i].prefix = place;
    slot[i].index |= TIED;
  }
}

/* From places of strings to places of lines, and of strings beside. */
static void show_lines(const struct line_chunk *c, line_slot *slot, size_t n) {
  const struct line_slots strings = strings_of(c);
  for (size_t i = 0; i < n; i++) {
    if (i + 16 < n) {
      __builtin_prefetch(line_slots_at(&strings, slot[i + 16].index & ~TIED) -
                         HEAD);
    }
    if (slot[i].index & TIED) {
      slot[i].index &= ~TIED;
    } else {
      slot[i].prefix = slot[i].index;
      slot[i].index = line_slots_head(&strings, slot[i].index).line;
    }
  }
}

int line_chunk_sort(struct line_chunk *c, line_slot **slot, size_t *n,
                    struct pems_error *error) {
  line_slot *const behind = c->todo;
  struct ties ties = {c, lines_of(c)};
  const struct line_slots strings = strings_of(c);
  if (c->o->whole) {
    c->todo = c->low;
  } else {
    const int failed = make_strings(c, error);
    if (failed) {
      return failed;
    }
  }
  *slot = c->todo;
  *n = c->made = (size_t)(behind - c->todo);
  ties.lines.descending = c->o->ties_reverse;
  line_slots_sort(&strings, *slot, *n,
                  c->o->ties == KEY_TIES_STAND ? NULL : sort_ties, &ties);
  if (!c->o->whole) {
    show_lines(c, *slot, *n);
  }
  return 0;
}

void line_chunk_view(const struct line_chunk *c, const line_slot *slot,
                     struct line_view *view) {
  const struct line_slots lines = lines_of(c);
  view->line = line_slots_at(&lines, slot->index);
  view->line_n = line_slots_length(&lines, slot->index);
  if (c->o->whole) {
    view->string = view->line;
    view->string_n = view->line_n;
  } else {
    const struct line_slots strings = strings_of(c);
    view->string = line_slots_at(&strings, slot->prefix);
    view->string_n = line_slots_length(&strings, slot->prefix);
  }
}

double line_chunk_share(const struct line_chunk *c) {
  const double lines = (double)(c->top - c->low);
  const double each = (double)(c->key_at - c->keys) / ((double)c->made + 1);
  const double strings = each * lines, others = (double)c->text + SLOT * lines;
  const double share = 1.05 * strings / (strings + others + 1);
  return share < 0.05 ? 0.05 : share > 0.9 ? 0.9 : share;
}
