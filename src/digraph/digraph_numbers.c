#include "digraph/digraph_numbers.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "digraph/digraph.h"
#include "digraph/generate.h"

enum { SLOTS_FIRST = 1 << 16 };

static uint64_t *find(const struct digraph_numbers *s, uint64_t number) {
  uint64_t at = generate_mix(number) & s->mask;
  while (s->number[at] != 0 && s->number[at] != number + 1) {
    at = (at + 1) & s->mask;
  }
  return &s->number[at];
}

static int table(struct digraph_numbers *s, uint64_t slots,
                 struct pems_error *error) {
  *s = (struct digraph_numbers){.mask = slots - 1};
  s->number = digraph_memory(slots * sizeof(*s->number), error);
  if (!s->number) {
    return ENOMEM;
  }
  memset(s->number, 0, slots * sizeof(*s->number));
  return 0;
}

int digraph_numbers_begin(struct digraph_numbers *s, struct pems_error *error) {
  return table(s, SLOTS_FIRST, error);
}

void digraph_numbers_free(struct digraph_numbers *s) {
  free(s->number);
  free(s->rank);
  *s = (struct digraph_numbers){0};
}

static int enlarge(struct digraph_numbers *s, struct pems_error *error) {
  struct digraph_numbers larger;
  if (table(&larger, 2 * (s->mask + 1), error)) {
    return ENOMEM;
  }
  for (uint64_t i = 0; i <= s->mask; i++) {
    if (s->number[i]) {
      *find(&larger, s->number[i] - 1) = s->number[i];
    }
  }
  free(s->number);
  s->number = larger.number;
  s->mask = larger.mask;
  return 0;
}

int digraph_numbers_add(struct digraph_numbers *s, uint64_t number, bool *added,
                        struct pems_error *error) {
  if (2 * s->n > s->mask && enlarge(s, error)) {
    return ENOMEM;
  }
  uint64_t *const at = find(s, number);
  if (added) {
    *added = *at == 0;
  }
  s->n += *at == 0;
  *at = number + 1;
  return 0;
}

static int compare(const void *a, const void *b) {
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

static void rank_all(struct digraph_numbers *s, uint64_t *sorted) {
  uint64_t n = 0;
  for (uint64_t i = 0; i <= s->mask; i++) {
    if (s->number[i]) {
      sorted[n++] = s->number[i] - 1;
    }
  }
  qsort(sorted, n, sizeof(*sorted), compare);
  for (uint64_t i = 0; i < n; i++) {
    s->rank[find(s, sorted[i]) - s->number] = (uint32_t)i;
  }
}

int digraph_numbers_rank(struct digraph_numbers *s, const char *path,
                         struct pems_error *error) {
  if (s->n > UINT32_MAX) {
    return digraph_failure(error, EINVAL,
                           "%.300s: too many nodes: %" PRIu64
                           ": give a graph of at most 4294967295",
                           path, s->n);
  }
  uint64_t *const sorted = digraph_memory(s->n * sizeof(*sorted), error);
  s->rank =
      sorted ? digraph_memory((s->mask + 1) * sizeof(*s->rank), error) : NULL;
  if (s->rank) {
    rank_all(s, sorted);
  }
  free(sorted);
  return s->rank ? 0 : ENOMEM;
}

bool digraph_numbers_find(const struct digraph_numbers *s, uint64_t number,
                          uint32_t *rank) {
  const uint64_t *const at = find(s, number);
  if (*at) {
    *rank = s->rank[at - s->number];
  }
  return *at != 0;
}
