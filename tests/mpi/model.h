/* What every byte of a program's memory must be: blocks, and of each a short
   log of what was put where. A byte is a function of a key and its place in
   what was put there, so nothing is kept of the contents themselves. */
#ifndef TESTS_MPI_MODEL_H
#define TESTS_MPI_MODEL_H

#include "test.h"

#include <inttypes.h>
#include <stdbool.h>

/* Keys of contents; all others are made by key_of. */
enum { ZERO, UNKNOWN, FIRST_KEY };

/* Where bytes come from: the stream of a key, from byte `from` on. With fold,
   each of its words is the sum of that word of so many keys (fold_key). */
struct source {
  uint64_t key, from;
  int fold;
};

/* Bytes [at, at + n) of a block were overwritten; with a stride, only the first
   `run` of every `stride` bytes. */
struct piece {
  size_t at, n, stride, run;
  struct source source;
  const char *how; /* what did it */
  int step, peer;  /* in which superstep, from which rank or -1 */
};

enum { PIECES = 56, CHUNK = 4096 };

struct block {
  unsigned char *bytes;
  size_t n;
  const char *kind; /* how it was allocated */
  int fixed;        /* a variable: never freed */
  int pieces;
  struct piece log[PIECES]; /* the first is all of the block */
};

/* Set by the program, for messages. */
static uint64_t model_seed;
static int model_step;

static inline uint64_t scramble(uint64_t x) {
  x ^= x >> 32;
  x *= 0xd6e8feb86659fd93u;
  x ^= x >> 32;
  x *= 0xd6e8feb86659fd93u;
  return x ^ x >> 32;
}

static inline uint64_t key_of(uint64_t a, uint64_t b, uint64_t c, uint64_t d) {
  const uint64_t key =
      scramble(scramble(scramble(scramble(a + 1) + b) + c) + d);
  return key < FIRST_KEY ? FIRST_KEY : key;
}

/* The key of rank r's part of a sum. */
static inline uint64_t fold_key(uint64_t key, int r) {
  return key_of(key, 1, (uint64_t)r, 0);
}

static inline uint64_t stream_word(uint64_t key, uint64_t i) {
  uint64_t x = key + i * 0x9e3779b97f4a7c15u;
  x ^= x >> 32;
  x *= 0xd6e8feb86659fd93u;
  return x ^ x >> 29;
}

static inline uint64_t source_word(const struct source *s, uint64_t i) {
  if (s->key == ZERO || s->key == UNKNOWN) {
    return 0;
  }
  if (!s->fold) {
    return stream_word(s->key, i);
  }
  uint64_t sum = 0;
  for (int r = 0; r < s->fold; r++) {
    sum += stream_word(fold_key(s->key, r), i);
  }
  return sum;
}

/* Bytes [skip, skip + n) of a source. */
static inline void source_bytes(const struct source *s, size_t skip,
                                unsigned char *out, size_t n) {
  uint64_t place = s->from + skip;
  while (n > 0) {
    const size_t within = place % 8;
    size_t some = 8 - within;
    if (some > n) {
      some = n;
    }
    const uint64_t word = source_word(s, place / 8);
    if (some == 8) {
      memcpy(out, &word, 8);
    } else {
      memcpy(out, (const char *)&word + within, some);
    }
    out += some, place += some, n -= some;
  }
}

static inline size_t smaller(size_t a, size_t b) {
  return a < b ? a : b;
}

/* Calls `visit` for each run of bytes of a piece within [from, to), offsets in
   the block. */
static inline void piece_runs(const struct piece *p, size_t from, size_t to,
                              void (*visit)(const struct piece *p, size_t at,
                                            size_t n, void *arg),
                              void *arg) {
  if (from < p->at) {
    from = p->at;
  }
  to = smaller(to, p->at + p->n);
  if (!p->stride) {
    if (from < to) {
      visit(p, from, to - from, arg);
    }
    return;
  }
  while (from < to) {
    const size_t within = (from - p->at) % p->stride;
    const size_t next = from - within + p->stride;
    const size_t end = smaller(from - within + p->run, to);
    if (from < end) {
      visit(p, from, end - from, arg);
    }
    from = next;
  }
}

/* What part of a block must look like. */
struct expected {
  size_t at, n; /* in the block, at most CHUNK */
  bool all_known;
  unsigned char bytes[CHUNK], known[CHUNK];
};

static inline void expect_run(const struct piece *p, size_t at, size_t n,
                              void *arg) {
  struct expected *const e = arg;
  const int known = p->source.key != UNKNOWN;
  source_bytes(&p->source, at - p->at, e->bytes + (at - e->at), n);
  memset(e->known + (at - e->at), known, n);
  if (!known) {
    e->all_known = false;
  }
}

/* As it was after the first `pieces` pieces of the log. */
static inline void expect(const struct block *b, int pieces, size_t at,
                          size_t n, struct expected *e) {
  e->at = at, e->n = n, e->all_known = true;
  for (int i = 0; i < pieces; i++) {
    piece_runs(&b->log[i], at, at + n, expect_run, e);
  }
}

static inline bool is_wrong(const struct expected *e,
                            const unsigned char *found, size_t i) {
  return e->known[i] && e->bytes[i] != found[i];
}

static inline bool is_as_expected(const struct expected *e,
                                  const unsigned char *found) {
  if (e->all_known) {
    return memcmp(e->bytes, found, e->n) == 0;
  }
  for (size_t i = 0; i < e->n; i++) {
    if (is_wrong(e, found, i)) {
      return false;
    }
  }
  return true;
}

static inline void note_run(const struct piece *p, size_t at, size_t n,
                            void *arg) {
  const struct piece **const last = arg;
  (void)at, (void)n;
  *last = p;
}

/* The last piece that covers a byte. */
static inline const struct piece *last_piece(const struct block *b, size_t at) {
  const struct piece *last = &b->log[0];
  for (int i = 0; i < b->pieces; i++) {
    piece_runs(&b->log[i], at, at + 1, note_run, &last);
  }
  return last;
}

/* Where the wrong byte may come from. */
static inline const char *origin(const struct block *b,
                                 const struct piece *last, size_t at,
                                 unsigned char found) {
  struct expected before;
  const int pieces = (int)(last - b->log);
  if (pieces > 0) {
    expect(b, pieces, at, 1, &before);
    if (before.known[0] && before.bytes[0] == found) {
      return ", as before that";
    }
  }
  return "";
}

/* One line about the first wrong byte, `found` at `at`; `where` names the copy
   of the block that was looked at. */
static inline void complain(const struct block *b, int number, size_t at,
                            unsigned char found, size_t wrong,
                            const char *where) {
  const struct piece *const last = last_piece(b, at);
  struct expected e;
  expect(b, b->pieces, at, 1, &e);
  if (failures++ >= 10) {
    return;
  }
  printf("rank %d: FAIL: seed %" PRIu64 ", superstep %d: %sblock %d, %zu bytes "
         "from %s at %p: byte %zu is %02x%s, not %02x; %zu bytes are wrong. "
         "Last: %s%s",
         rank, model_seed, model_step, where, number, b->n, b->kind,
         (const void *)b->bytes, at, found, origin(b, last, at, found),
         e.bytes[0], wrong, last->how, last->peer < 0 ? "" : " from rank ");
  if (last->peer >= 0) {
    printf("%d", last->peer);
  }
  printf(" in superstep %d, bytes [%zu, %zu)%s\n", last->step, last->at,
         last->at + last->n, last->stride ? " with a stride" : "");
}

/* Is `found` what bytes [at, at + n) of the block must be? */
static inline bool compare_bytes(const struct block *b, int number, size_t at,
                                 const unsigned char *found, size_t n,
                                 const char *where) {
  struct expected e;
  size_t wrong = 0, first = 0;
  for (size_t done = 0; done < n; done += e.n) {
    expect(b, b->pieces, at + done, smaller(n - done, CHUNK), &e);
    if (is_as_expected(&e, found + done)) {
      continue;
    }
    for (size_t i = 0; i < e.n; i++) {
      if (is_wrong(&e, found + done, i) && wrong++ == 0) {
        first = done + i;
      }
    }
  }
  if (wrong) {
    complain(b, number, at + first, found[first], wrong, where);
  }
  return wrong == 0;
}

/* Is there room in the log for so many more pieces? */
static inline bool has_room(const struct block *b, int pieces) {
  return b->pieces + pieces <= PIECES;
}

static inline bool is_hidden(const struct piece *old, const struct piece *p) {
  return !p->stride && old->at >= p->at && old->at + old->n <= p->at + p->n;
}

/* Notes that the bytes of a piece were put into the block. */
static inline void note(struct block *b, struct piece p) {
  int kept = 0;
  if (p.n == 0) {
    return;
  }
  p.step = model_step;
  for (int i = 0; i < b->pieces; i++) {
    if (!is_hidden(&b->log[i], &p)) {
      b->log[kept++] = b->log[i];
    }
  }
  if (kept == PIECES) {
    fprintf(stderr, "the log of a block of %zu bytes is full\n", b->n);
    abort();
  }
  b->log[kept++] = p;
  b->pieces = kept;
}

static inline void put_run(const struct piece *p, size_t at, size_t n,
                           void *arg) {
  struct block *const b = arg;
  if (p->source.key == ZERO) {
    memset(b->bytes + at, 0, n);
  } else {
    source_bytes(&p->source, at - p->at, b->bytes + at, n);
  }
}

/* Puts the bytes of a piece into the block by plain stores. */
static inline void put_piece(struct block *b, struct piece p) {
  p.peer = -1;
  piece_runs(&p, 0, b->n, put_run, b);
  note(b, p);
}

/* The block begins anew with these contents, which are there already. */
static inline void begin_block(struct block *b, uint64_t key, const char *how) {
  b->pieces = 0;
  note(b, (struct piece){
              .n = b->n, .source = {.key = key}, .how = how, .peer = -1});
}

static inline void put_all(struct block *b, uint64_t key) {
  put_piece(b, (struct piece){
                   .n = b->n, .source = {.key = key}, .how = "written whole"});
}

#endif
