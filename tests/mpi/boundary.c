/* Blocks that share pages with their neighbours: several calls fill one buffer
   piece by piece before its owner looks at it, and the owner writes between the
   pieces. Nothing may be lost or overwritten. */
#include "test.h"

enum { PAGE = 4096, LENGTHS = 9, GAPS = 5, PHASES = 3 };

static const int lengths[LENGTHS] = {
    1, 7, 100, PAGE - 1, PAGE, PAGE + 1, 5000, 3 * PAGE, 3 * PAGE + 5};
static const int gaps[GAPS] = {0, 1, 64, PAGE - 100, PAGE};

/* What rank `from` sends to rank `to` in a phase. */
static uint64_t content(int call, int phase, int from, int to) {
  return seed_of((uint64_t)call * PHASES + (uint64_t)phase, from, to);
}

struct buffer {
  int length, gap; /* bytes of a block, and between two */
  int skip;        /* bytes before the first */
  size_t bytes;
  char *data, *expected;
};

/* Blocks of a rank's phases lie side by side: block `phase` of each peer. */
static size_t place(const struct buffer *b, int peer, int phase) {
  return (size_t)b->skip +
         (size_t)(peer * PHASES + phase) * (size_t)(b->length + b->gap);
}

static void buffer_make(struct buffer *b, int call) {
  b->bytes = place(b, size, 0) + 64;
  b->data = malloc(b->bytes);
  b->expected = malloc(b->bytes);
  stream(b->data, b->bytes, content(call, 0, rank, size));
  memcpy(b->expected, b->data, b->bytes);
}

static void exchange(struct buffer *b, int call, int phase) {
  const size_t n = (size_t)size;
  int *counts = malloc(n * sizeof(*counts));
  int *from = malloc(n * sizeof(*from)), *to = malloc(n * sizeof(*to));
  char *out = malloc(n * (size_t)b->length);
  for (int i = 0; i < size; i++) {
    counts[i] = b->length;
    from[i] = i * b->length;
    to[i] = (int)place(b, i, phase);
    stream(out + from[i], (size_t)b->length, content(call, phase, rank, i));
    stream(b->expected + to[i], (size_t)b->length,
           content(call, phase, i, rank));
  }
  MPI_Alltoallv(out, counts, from, MPI_BYTE, b->data, counts, to, MPI_BYTE,
                MPI_COMM_WORLD);
  free(counts);
  free(from);
  free(to);
  free(out);
}

/* The owner changes one byte of each gap: its page is dirty in memory while
   messages arrive on both sides. */
static void write_gaps(struct buffer *b, int phase) {
  for (int i = 0; i < size && b->gap > 0; i++) {
    const size_t at = place(b, i, phase) + (size_t)b->length;
    b->data[at]++;
    b->expected[at]++;
  }
}

static void fill(int length, int gap, int skip, int call) {
  struct buffer b = {.length = length, .gap = gap, .skip = skip};
  buffer_make(&b, call);
  exchange(&b, call, 2);
  MPI_Barrier(MPI_COMM_WORLD);
  exchange(&b, call, 0);
  write_gaps(&b, 1);
  exchange(&b, call, 1);
  MPI_Barrier(MPI_COMM_WORLD);
  if (memcmp(b.data, b.expected, b.bytes) != 0) {
    size_t i = 0;
    while (b.data[i] == b.expected[i]) {
      i++;
    }
    fail("blocks of %d, gaps of %d, skip %d: byte %zu of %zu", length, gap,
         skip, i, b.bytes);
  }
  mix(b.data, b.bytes);
  free(b.data);
  free(b.expected);
}

int main(int argc, char **argv) {
  int call = 0;
  begin(&argc, &argv);
  for (int i = 0; i < LENGTHS; i++) {
    char title[32];
    for (int j = 0; j < GAPS; j++) {
      for (int skip = 0; skip < 3; skip++) {
        fill(lengths[i], gaps[j], skip * 1365, call++);
      }
    }
    snprintf(title, sizeof(title), "blocks of %d", lengths[i]);
    report(title);
  }
  return end();
}
