#include "em/sort/parallel_merge.h"

#include <string.h>

#include "em/kernel/multiselect.h"
#include "em/kernel/parts.h"

/* In bytes: less is merged by one thread alone, rather than wake others. */
#define LEAST_PART ((size_t)64 << 10)
#define PAGE ((size_t)4096)

/* A merge and how it is cut. */
struct job {
  const struct parallel_merge *b;
  int parts;
  size_t n; /* records */
  char *out;
};

/* The end of a member's work memory: the pieces of its part. */
struct lists {
  struct kernel_piece *piece;
  size_t *from, *to;
};

static size_t lists_bytes(size_t pieces) {
  return pieces * (sizeof(struct kernel_piece) + 2 * sizeof(size_t));
}

size_t parallel_merge_work(const struct pems_record *record,
                           const struct kernel *kernel, size_t pieces) {
  const size_t n =
      kernel->merge_work(record, (int)pieces) + lists_bytes(pieces);
  return (n + PAGE - 1) / PAGE * PAGE;
}

static struct lists lists_of(const struct parallel_merge *b, int member) {
  char *const end = b->work + b->work_each * (size_t)(member + 1);
  struct lists l;
  l.piece = (struct kernel_piece *)end - b->pieces;
  l.from = (size_t *)l.piece - b->pieces;
  l.to = l.from - b->pieces;
  return l;
}

static void cut(const struct job *j, int part, size_t *at) {
  const struct parallel_merge *const b = j->b;
  const size_t n = (size_t)b->pieces;
  if (part == 0) {
    memset(at, 0, n * sizeof(*at));
  } else if (part == j->parts) {
    memcpy(at, b->end, n * sizeof(*at));
  } else {
    multiselect(b->record, b->kernel, b->piece, b->pieces,
                part_begin(j->n, j->parts, part), at);
  }
}

/* What comes from one piece only needs no merging. */
static void copy(const struct parallel_merge *b,
                 const struct kernel_piece *piece, char *out) {
  memcpy(out, piece->at, piece->n * b->record->size);
  if (b->last && b->kernel->decode) {
    b->kernel->decode(b->record, out, piece->n);
  }
}

static void merge_part(void *arg, int part, int member) {
  const struct job *const j = arg;
  const struct parallel_merge *const b = j->b;
  const size_t size = b->record->size;
  const struct lists l = lists_of(b, member);
  int pieces = 0;
  cut(j, part, l.from);
  cut(j, part + 1, l.to);
  for (int i = 0; i < b->pieces; i++) {
    if (l.to[i] > l.from[i]) {
      l.piece[pieces++] = (struct kernel_piece){
          b->piece[i].at + l.from[i] * size, l.to[i] - l.from[i]};
    }
  }
  char *const out = j->out + part_begin(j->n, j->parts, part) * size;
  if (pieces == 1) {
    copy(b, &l.piece[0], out);
  } else {
    b->kernel->merge(b->record, l.piece, pieces, out,
                     b->work + b->work_each * (size_t)member, b->last);
  }
}

void parallel_merge(const struct parallel_merge *b, size_t there, size_t n,
                    char *out) {
  const int k = team_size(b->team);
  const size_t bytes = n * b->record->size;
  struct job j = {b, bytes / LEAST_PART < (size_t)k ? 1 : k, n, out};
  if (n < there) {
    multiselect(b->record, b->kernel, b->piece, b->pieces, n, b->end);
  } else {
    for (int i = 0; i < b->pieces; i++) {
      b->end[i] = b->piece[i].n;
    }
  }
  team_run(b->team, j.parts, merge_part, &j);
}
