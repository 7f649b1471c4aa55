#define _GNU_SOURCE
#include "induce.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 1 << 20, BATCH = 4096 };

/* The text, from its end to its beginning. */
struct text {
  FILE *file;
  const char *path;
  uint64_t begin;       /* position of block[WINDOW] */
  unsigned char *block; /* BLOCK bytes, and WINDOW before them */
};

/* Suffix ranks by position, from the last. */
struct rank {
  uint64_t position, rank;
};

static FILE *open_file(const char *path) {
  FILE *const file = fopen(path, "rb");
  if (!file) {
    induce_refuse("cannot read", path, errno);
  }
  return file;
}

/* Reads the block that ends at `end`. */
static void read_block(struct text *t, uint64_t end) {
  const uint64_t begin = end > BLOCK ? end - BLOCK : 0;
  const uint64_t before = window_count(begin);
  const size_t n = (size_t)(end - begin + before);
  t->begin = begin;
  if (fseeko(t->file, (off_t)(begin - before), SEEK_SET) ||
      fread(t->block + WINDOW - before, 1, n, t->file) != n) {
    induce_refuse("cannot read", t->path, errno);
  }
}

/* The bytes before a position of the block, or right behind it. */
static uint64_t window_at(const struct text *t, uint64_t position) {
  const uint64_t count = window_count(position);
  uint64_t window = 0;
  for (uint64_t i = 1; i <= count; i++) {
    window |= (uint64_t)t->block[WINDOW + position - t->begin - i]
              << 8 * (i - 1);
  }
  return window;
}

/* --- ranks --- */

static struct pems_sorter *ranks_by_position(const struct induce *in) {
  struct pems_sorter *const s =
      induce_sorter(in, (struct pems_record){.size = sizeof(struct rank),
                                             .key = PEMS_KEY_U64,
                                             .descending = 1});
  FILE *const file = open_file(in->sorted);
  static char positions[BATCH * POSITION_SIZE];
  static struct rank rank[BATCH];
  struct pems_error error;
  uint64_t at = 0;
  for (size_t n; (n = fread(positions, POSITION_SIZE, BATCH, file)) > 0;) {
    for (size_t i = 0; i < n; i++) {
      rank[i] = (struct rank){position_get(positions, i), at++};
    }
    induce_must(pems_sorter_push(s, rank, n, &error), &error);
  }
  if (ferror(file) || at != in->n) {
    induce_refuse("not as many suffixes as the text has bytes", in->sorted, 0);
  }
  fclose(file);
  induce_must(pems_sorter_finish(s, &error), &error);
  return s;
}

/* --- what is seen, from right to left --- */

struct scan {
  struct induce *in;
  struct text text;
  int next;        /* the byte behind, -1 at the end */
  enum phase type; /* of the suffix behind */
  uint64_t run;    /* how often its first byte is repeated */
  uint64_t rank;   /* its rank */
  uint64_t left;   /* bytes in the window that it has when its turn comes */
};

static void put_lms(struct scan *s, uint64_t position) {
  struct suffix lms = {
      .key = s->rank,
      .place = place_of(position, window_count(position), (uint64_t)s->next),
      .window = window_at(&s->text, position)};
  struct pems_error error;
  s->left = window_count(position);
  s->in->lms_count++;
  if (position == s->in->n) {
    lms.place = place_of(position, s->left, 0);
    s->in->last = lms;
    return;
  }
  induce_must(pems_sorter_push(s->in->lms, &lms, 1, &error), &error);
}

static void put_window(struct scan *s, uint64_t position, uint64_t byte) {
  const uint64_t turned = s->type == PHASE_L ? byte : BYTES - 1 - byte;
  const struct window window = {position, key_of(turned, s->run),
                                window_at(&s->text, position)};
  struct pems_error error;
  s->in->window_count[s->type]++;
  induce_must(pems_sorter_push(s->in->windows[s->type], &window, 1, &error),
              &error);
}

static void look(struct scan *s, uint64_t position, uint64_t rank) {
  const int byte = s->text.block[WINDOW + position - s->text.begin];
  const enum phase type = byte > s->next   ? PHASE_L
                          : byte < s->next ? PHASE_S
                                           : s->type;
  if (type == PHASE_L && s->type == PHASE_S) {
    put_lms(s, position + 1);
  }
  s->run = byte == s->next ? s->run + 1 : 0;
  s->next = byte;
  s->type = type;
  s->rank = rank;
  s->in->bucket[byte][type]++;
  if (--s->left == 0 && position > 0) {
    put_window(s, position, (uint64_t)byte);
    s->left = window_count(position);
  }
}

static void begin(struct induce *in) {
  const struct pems_record by_key = {.size = sizeof(struct suffix),
                                     .key = PEMS_KEY_U64};
  const struct pems_record by_turn = {.size = sizeof(struct window),
                                      .key = PEMS_KEY_U128};
  in->lms = induce_sorter(in, by_key);
  for (int i = 0; i < PHASES; i++) {
    in->windows[i] = induce_sorter(in, by_turn);
  }
}

void induce_scan(struct induce *in) {
  struct pems_sorter *const ranks = ranks_by_position(in);
  struct scan s = {.in = in, .next = -1, .type = PHASE_S};
  struct pems_error error = {0};
  begin(in);
  s.text = (struct text){.file = open_file(in->text),
                         .path = in->text,
                         .begin = in->n,
                         .block = malloc(BLOCK + WINDOW)};
  if (!s.text.block) {
    induce_refuse("no memory for", in->text, errno);
  }
  for (uint64_t at = in->n; at-- > 0;) {
    const struct rank *const rank = pems_sorter_next(ranks, &error);
    if (!rank || rank->position != at) {
      induce_refuse("not a suffix array of the text", in->sorted, 0);
    }
    if (at < s.text.begin) {
      read_block(&s.text, at + 1);
    }
    look(&s, at, rank->rank);
  }
  pems_sorter_free(ranks);
  fclose(s.text.file);
  free(s.text.block);
  induce_must(pems_sorter_finish(in->lms, &error), &error);
  for (int i = 0; i < PHASES; i++) {
    induce_must(pems_sorter_finish(in->windows[i], &error), &error);
  }
}
