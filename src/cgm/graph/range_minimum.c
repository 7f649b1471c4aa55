#include "cgm/graph/range_minimum.h"

enum { BLOCK = 64 };

static uint64_t less(const struct cgm_minima *m, uint64_t a, uint64_t b) {
  return m->at[b].depth < m->at[a].depth ? b : a;
}

static uint64_t scan(const struct cgm_minima *m, uint64_t first,
                     uint64_t last) {
  uint64_t best = first;
  for (uint64_t i = first + 1; i <= last; i++) {
    best = less(m, best, i);
  }
  return best;
}

static unsigned log2_of(uint64_t n) {
  return 63U - (unsigned)__builtin_clzll(n);
}

static void fill(struct cgm_minima *m) {
  uint64_t *row = m->table.at;
  for (uint64_t b = 0; b < m->blocks; b++) {
    const uint64_t end = (b + 1) * BLOCK;
    row[b] = scan(m, b * BLOCK, (end < m->n ? end : m->n) - 1);
  }
  for (uint64_t half = 1; 2 * half <= m->blocks; half *= 2) {
    uint64_t *const next = row + m->blocks;
    for (uint64_t b = 0; b + 2 * half <= m->blocks; b++) {
      next[b] = less(m, row[b], row[b + half]);
    }
    row = next;
  }
}

int pems_cgm_minima_open(struct pems_cgm *machine, struct cgm_minima *minima,
                         const struct cgm_shallow *at, uint64_t n) {
  *minima =
      (struct cgm_minima){.at = at, .n = n, .blocks = (n + BLOCK - 1) / BLOCK};
  if (n == 0) {
    return MPI_SUCCESS;
  }
  const int error = pems_cgm_new(machine, &minima->table,
                                 (log2_of(minima->blocks) + 1) * minima->blocks,
                                 sizeof(uint64_t));
  if (!error) {
    fill(minima);
  }
  return error;
}

void pems_cgm_minima_close(struct cgm_minima *minima) {
  pems_cgm_list_free(&minima->table);
}

uint64_t pems_cgm_minima_find(const struct cgm_minima *m, uint64_t first,
                              uint64_t last) {
  const uint64_t *const table = m->table.at;
  const uint64_t from = first / BLOCK + 1, end = last / BLOCK;
  if (from > end) {
    return scan(m, first, last);
  }
  uint64_t best =
      less(m, scan(m, first, from * BLOCK - 1), scan(m, end * BLOCK, last));
  if (from < end) {
    const unsigned power = log2_of(end - from);
    const uint64_t *const row = table + power * m->blocks;
    best = less(m, best, row[from]);
    best = less(m, best, row[end - ((uint64_t)1 << power)]);
  }
  return best;
}
