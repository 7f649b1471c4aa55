#define _GNU_SOURCE
#include "induce.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PIECE = 1 << 14, WRITES = 1 << 16 };

/* A window is asked for: by position; `rank` is what the suffix will induce
   with. */
struct wish {
  uint64_t position, rank;
};

/* The result: positions are put in ascending or descending order of ranks. */
struct writer {
  int file;
  const char *path;
  uint64_t base;       /* rank of the buffer's first */
  uint64_t begin, end; /* those that were put, from 0 */
  unsigned char *buffer;
};

struct step {
  struct induce *in;
  enum phase phase;
  struct pems_pqueue *queue;
  struct pems_pqueue *wishes;
  struct pems_sorter *ends; /* L suffixes that induce S ones, last first */
  struct writer out;
  uint64_t byte;  /* the first byte of what has its turn */
  uint64_t rank;  /* of what has its turn */
  uint64_t place; /* where it goes in the array */
  struct suffix *piece, *induced;
  size_t count; /* in `induced` */
  bool limited; /* the queue is within a limit */
};

/* --- the result --- */

static void write_out(struct writer *w) {
  const size_t bytes = (size_t)(w->end - w->begin) * POSITION_SIZE;
  const off_t at = (off_t)((w->base + w->begin) * POSITION_SIZE);
  if (w->end > w->begin && pwrite(w->file, w->buffer + w->begin * POSITION_SIZE,
                                  bytes, at) != (ssize_t)bytes) {
    induce_refuse("cannot write", w->path, errno);
  }
  w->begin = w->end = 0;
}

static void put(struct writer *w, uint64_t rank, uint64_t position) {
  const uint64_t base = rank / WRITES * WRITES;
  const uint64_t at = rank - base;
  if (base != w->base ||
      (w->end > w->begin && at != w->end && at + 1 != w->begin)) {
    write_out(w);
  }
  w->base = base;
  if (w->end == w->begin) {
    w->begin = at;
    w->end = at + 1;
  } else {
    w->begin = at < w->begin ? at : w->begin;
    w->end = at + 1 > w->end ? at + 1 : w->end;
  }
  position_put(w->buffer, at, position);
}

/* --- one suffix induces the one before it --- */

static void flush(struct step *s) {
  struct pems_error error;
  const int failed =
      s->limited
          ? pems_pqueue_limit_push(s->queue, s->induced, s->count, &error)
          : pems_pqueue_push(s->queue, s->induced, s->count, &error);
  induce_must(failed, &error);
  s->count = 0;
}

/* An L suffix, `rank`-th of its phase, whose predecessor is S. */
static void keep_end(struct step *s, const struct suffix *x, uint64_t rank) {
  const struct suffix end = {
      rank, place_of(position_of(x), count_of(x), s->byte), x->window};
  struct pems_error error;
  induce_must(pems_sorter_push(s->ends, &end, 1, &error), &error);
}

/* x, which begins with s->byte, has a window of one byte or more. */
static void induce(struct step *s, const struct suffix *x, uint64_t rank) {
  const uint64_t before = x->window & 0xff;
  const bool same = s->phase == PHASE_L ? before >= s->byte : before <= s->byte;
  if (!same) {
    if (s->phase == PHASE_L) {
      keep_end(s, x, rank);
    }
    return;
  }
  const uint64_t turned = s->phase == PHASE_L ? before : BYTES - 1 - before;
  s->induced[s->count++] = (struct suffix){
      key_of(turned, rank),
      place_of(position_of(x) - 1, count_of(x) - 1, before), x->window >> 8};
  if (s->count == PIECE) {
    flush(s);
  }
}

static void wish(struct step *s, uint64_t position, uint64_t rank) {
  const struct wish w = {position, rank};
  struct pems_error error;
  induce_must(pems_pqueue_push(s->wishes, &w, 1, &error), &error);
}

/* A suffix that the queue has given. */
static void take(struct step *s, const struct suffix *x) {
  const uint64_t position = position_of(x);
  put(&s->out, s->place, position);
  s->place += s->phase == PHASE_L ? 1 : UINT64_MAX;
  s->rank++;
  if (position == 0) {
    return;
  }
  if (count_of(x) == 0) {
    wish(s, position, s->rank);
  } else {
    induce(s, x, s->rank);
  }
}

/* --- rounds --- */

/* Takes all suffixes before `limit` from the queue: three ways. */
static uint64_t take_in_bulk(struct step *s, const struct suffix *limit) {
  uint64_t taken = 0;
  int more = 1;
  while (more) {
    struct pems_error error;
    size_t n;
    induce_must(pems_pqueue_bulk_pop_limit(s->queue, limit, s->piece, PIECE, &n,
                                           &more, &error),
                &error);
    for (size_t i = 0; i < n; i++) {
      take(s, &s->piece[i]);
    }
    flush(s);
    taken += n;
  }
  return taken;
}

static uint64_t take_within_limit(struct step *s, const struct suffix *limit) {
  struct pems_error error = {0};
  struct suffix x;
  uint64_t taken = 0;
  induce_must(pems_pqueue_limit_begin(s->queue, limit, 0, &error), &error);
  s->limited = true;
  for (; pems_pqueue_limit_top(s->queue, &error); taken++) {
    induce_must(pems_pqueue_limit_pop(s->queue, &x, &error), &error);
    take(s, &x);
  }
  induce_must(error.code, &error);
  flush(s);
  s->limited = false;
  induce_must(pems_pqueue_limit_end(s->queue, &error), &error);
  return taken;
}

static uint64_t take_one_by_one(struct step *s, const struct suffix *limit) {
  struct pems_error error = {0};
  const struct suffix *top;
  struct suffix x;
  uint64_t taken = 0;
  for (; (top = pems_pqueue_top(s->queue, &error)) && top->key < limit->key;
       taken++) {
    induce_must(pems_pqueue_pop(s->queue, &x, &error), &error);
    take(s, &x);
    flush(s);
  }
  induce_must(error.code, &error);
  return taken;
}

/* Those of a round are repetitions of their first byte as often as it says:
   what they induce with the same byte belongs to the next. */
static uint64_t take_round(struct step *s, uint64_t turned) {
  const struct suffix limit = {.key = key_of(turned, s->rank + 1)};
  switch (s->in->mode) {
  case BULK:
    return take_in_bulk(s, &limit);
  case LIMIT:
    return take_within_limit(s, &limit);
  default:
    return take_one_by_one(s, &limit);
  }
}

/* Gives a new window to each suffix of the round that wants one. */
static void grant(struct step *s, uint64_t when) {
  struct pems_sorter *const windows = s->in->windows[s->phase];
  struct pems_error error = {0};
  struct wish w;
  while (!pems_pqueue_empty(s->wishes)) {
    induce_must(pems_pqueue_pop(s->wishes, &w, &error), &error);
    const struct window *const next = pems_sorter_next(windows, &error);
    if (!next || next->when != when || next->position != w.position) {
      induce_refuse("not a suffix array of the text", s->in->sorted, 0);
    }
    const struct suffix x = {
        0, place_of(w.position, window_count(w.position), s->byte),
        next->window};
    induce(s, &x, w.rank);
  }
}

static void take_rounds(struct step *s) {
  const uint64_t turned = s->phase == PHASE_L ? s->byte : BYTES - 1 - s->byte;
  for (uint64_t round = 0; take_round(s, turned) > 0; round++) {
    grant(s, key_of(turned, round));
    flush(s);
    s->in->rounds[s->phase]++;
  }
}

/* --- phases --- */

/* Suffixes known beforehand that begin with the byte, of which *next is the
   first if there is one. */
static void take_seeds(struct step *s, struct pems_sorter *seeds,
                       const struct suffix **next) {
  struct pems_error error = {0};
  for (; *next && first_of(*next) == s->byte;
       *next = pems_sorter_next(seeds, &error)) {
    induce(s, *next, ++s->rank);
  }
  induce_must(error.code, &error);
  flush(s);
}

static struct pems_pqueue *make_queue(const struct induce *in, size_t record,
                                      uint64_t memory) {
  const struct pems_pqueue_options options = {
      .record = {.size = record, .key = PEMS_KEY_U64},
      .memory = memory,
      .threads = in->threads,
      .disks = in->disks};
  struct pems_pqueue *queue;
  struct pems_error error;
  induce_must(pems_pqueue_new(&queue, &options, &error), &error);
  return queue;
}

static void begin(struct step *s, enum phase phase) {
  s->phase = phase;
  s->rank = 0;
  s->queue = make_queue(s->in, sizeof(struct suffix), s->in->memory / 2);
  s->wishes = make_queue(s->in, sizeof(struct wish), s->in->memory / 8);
}

static void end(struct step *s) {
  pems_pqueue_counts(s->queue, &s->in->counts[s->phase]);
  pems_pqueue_free(s->queue);
  pems_pqueue_free(s->wishes);
  pems_sorter_free(s->in->windows[s->phase]);
}

/* Bytes in ascending order: first the L suffixes, from the queue, then the LMS
   suffixes. */
static void phase_l(struct step *s) {
  struct pems_error error = {0};
  uint64_t first = 0;
  begin(s, PHASE_L);
  s->byte = 0; /* what precedes the end is always L */
  induce(s, &s->in->last, ++s->rank);
  flush(s);
  const struct suffix *lms = pems_sorter_next(s->in->lms, &error);
  induce_must(error.code, &error);
  for (s->byte = 0; s->byte < BYTES; s->byte++) {
    s->place = first;
    take_rounds(s);
    take_seeds(s, s->in->lms, &lms);
    first += s->in->bucket[s->byte][PHASE_L] + s->in->bucket[s->byte][PHASE_S];
  }
  pems_sorter_free(s->in->lms);
  end(s);
}

/* Bytes in descending order: first the S suffixes, from the queue, then the L
   suffixes that precede one. */
static void phase_s(struct step *s) {
  struct pems_error error = {0};
  uint64_t behind = s->in->n;
  begin(s, PHASE_S);
  induce_must(pems_sorter_finish(s->ends, &error), &error);
  const struct suffix *l = pems_sorter_next(s->ends, &error);
  induce_must(error.code, &error);
  for (s->byte = BYTES; s->byte-- > 0;) {
    s->place = behind - 1;
    take_rounds(s);
    take_seeds(s, s->ends, &l);
    behind -= s->in->bucket[s->byte][PHASE_L] + s->in->bucket[s->byte][PHASE_S];
  }
  pems_sorter_free(s->ends);
  end(s);
}

static void *allocate(const struct induce *in, size_t n) {
  void *const p = malloc(n);
  if (!p) {
    induce_refuse("no memory for", in->text, errno);
  }
  return p;
}

void induce_step(struct induce *in) {
  struct step s = {.in = in};
  s.out = (struct writer){
      .file = open(in->array, O_WRONLY | O_CREAT | O_TRUNC, 0666),
      .path = in->array,
      .buffer = allocate(in, (size_t)WRITES * POSITION_SIZE)};
  if (s.out.file < 0) {
    induce_refuse("cannot write", in->array, errno);
  }
  s.piece = allocate(in, PIECE * sizeof(*s.piece));
  s.induced = allocate(in, PIECE * sizeof(*s.induced));
  s.ends = induce_sorter(in, (struct pems_record){.size = sizeof(struct suffix),
                                                  .key = PEMS_KEY_U64,
                                                  .descending = 1});
  phase_l(&s);
  phase_s(&s);
  write_out(&s.out);
  if (close(s.out.file)) {
    induce_refuse("cannot write", in->array, errno);
  }
  free(s.out.buffer);
  free(s.piece);
  free(s.induced);
}
