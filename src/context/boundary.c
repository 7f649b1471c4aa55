#include "context/boundary.h"

#include "config/memory_used.h"
#include "os/native.h"

#include <string.h>

enum { BLOCK = PAGE };

size_t boundary_memory(void) {
  return memory_used_now(MEMORY_BOUNDARY);
}

static size_t bucket_of(const struct boundary *b, uintptr_t address) {
  return (address / BLOCK * 0x9e3779b97f4a7c15u >> 20) & (b->buckets - 1);
}

static struct boundary_block *find(const struct boundary *b,
                                   uintptr_t address) {
  if (!b->n) {
    return NULL;
  }
  struct boundary_block *k = b->bucket[bucket_of(b, address)];
  while (k && k->address != address) {
    k = k->next;
  }
  return k;
}

static int grow(struct boundary *b) {
  struct boundary bigger = {.buckets = b->buckets ? 4 * b->buckets : 64};
  bigger.bucket = native_zalloc(bigger.buckets, sizeof(*bigger.bucket));
  if (!bigger.bucket) {
    return -1;
  }
  for (size_t i = 0; i < b->buckets; i++) {
    for (struct boundary_block *k = b->bucket[i], *next; k; k = next) {
      next = k->next;
      struct boundary_block **head =
          &bigger.bucket[bucket_of(&bigger, k->address)];
      k->next = *head;
      *head = k;
    }
  }
  native_free(b->bucket);
  b->bucket = bigger.bucket;
  b->buckets = bigger.buckets;
  return 0;
}

static struct boundary_block *add(struct boundary *b, uintptr_t address) {
  if (b->n >= b->buckets && grow(b) != 0) {
    return NULL;
  }
  struct boundary_block *k = native_alloc(sizeof(*k));
  if (!k) {
    return NULL;
  }
  struct boundary_block **head = &b->bucket[bucket_of(b, address)];
  k->next = *head;
  k->address = address;
  k->unknown = BLOCK;
  memset(k->known, 0, sizeof(k->known));
  *head = k;
  b->n++;
  memory_used_add(MEMORY_BOUNDARY, sizeof(*k));
  return k;
}

static uint64_t mask_of(size_t from, size_t to) {
  const uint64_t upto = to == 64 ? ~0ull : (1ull << to) - 1;
  return upto & ~((1ull << from) - 1);
}

static void mark_known(struct boundary_block *k, size_t from, size_t to) {
  for (size_t w = from / 64; w * 64 < to; w++) {
    const size_t low = from > w * 64 ? from - w * 64 : 0;
    const size_t high = to < w * 64 + 64 ? to - w * 64 : 64;
    const uint64_t fresh = mask_of(low, high) & ~k->known[w];
    k->known[w] |= fresh;
    k->unknown -= __builtin_popcountll(fresh);
  }
}

int boundary_put(struct boundary *b, uintptr_t p, const void *in, size_t n) {
  const uintptr_t address = p & ~(uintptr_t)(BLOCK - 1);
  struct boundary_block *k = find(b, address);
  if (!k && !(k = add(b, address))) {
    return -1;
  }
  memcpy(k->data + (p - address), in, n);
  mark_known(k, p - address, p - address + n);
  return k->unknown == 0;
}

static bool is_known(const uint64_t *known, size_t i) {
  return known[i / 64] >> (i % 64) & 1;
}

/* Copies the known bytes among [from, to) of a block to out[0 ..]. */
static void apply_part(const char *block, const uint64_t *known, size_t from,
                       size_t to, char *out) {
  for (size_t i = from; i < to;) {
    if (i % 64 == 0 && to - i >= 64 && known[i / 64] + 1 <= 1) {
      if (known[i / 64]) {
        memcpy(out + (i - from), block + i, 64);
      }
      i += 64;
      continue;
    }
    if (is_known(known, i)) {
      out[i - from] = block[i];
    }
    i++;
  }
}

void boundary_apply(const char *block, const uint64_t *known, char *out) {
  apply_part(block, known, 0, BLOCK, out);
}

void boundary_overlay(const struct boundary *b, uintptr_t p, void *out,
                      size_t n) {
  if (!b->n) {
    return;
  }
  const uintptr_t end = p + n;
  for (uintptr_t a = p & ~(uintptr_t)(BLOCK - 1); a < end; a += BLOCK) {
    const struct boundary_block *k = find(b, a);
    if (k) {
      const size_t from = p > a ? p - a : 0;
      const size_t to = end - a < BLOCK ? end - a : BLOCK;
      apply_part(k->data, k->known, from, to, (char *)out + (a + from - p));
    }
  }
}

bool boundary_any(const struct boundary *b, uintptr_t p, size_t n) {
  const uintptr_t first = p & ~(uintptr_t)(BLOCK - 1), end = p + n;
  if (!b->n || !n) {
    return false;
  }
  if ((end - first) / BLOCK < b->buckets) {
    uintptr_t a = first;
    while (a < end && !find(b, a)) {
      a += BLOCK;
    }
    return a < end;
  }
  for (size_t i = 0; i < b->buckets; i++) {
    for (const struct boundary_block *k = b->bucket[i]; k; k = k->next) {
      if (k->address >= first && k->address < end) {
        return true;
      }
    }
  }
  return false;
}

void boundary_release(struct boundary_block *k) {
  native_free(k);
  memory_used_sub(MEMORY_BOUNDARY, sizeof(*k));
}

void boundary_drop(struct boundary *b, uintptr_t p, size_t n) {
  for (uintptr_t a = p; b->n && a < p + n; a += BLOCK) {
    struct boundary_block **link = &b->bucket[bucket_of(b, a)];
    while (*link && (*link)->address != a) {
      link = &(*link)->next;
    }
    if (*link) {
      struct boundary_block *k = *link;
      *link = k->next;
      b->n--;
      boundary_release(k);
    }
  }
}

/* Two sorted lists into one. */
static struct boundary_block *merge(struct boundary_block *x,
                                    struct boundary_block *y) {
  struct boundary_block *all, **end = &all;
  while (x && y) {
    struct boundary_block **least = x->address < y->address ? &x : &y;
    *end = *least;
    end = &(*end)->next;
    *least = *end;
  }
  *end = x ? x : y;
  return all;
}

struct boundary_block *boundary_take(struct boundary *b) {
  /* The i-th is NULL or a sorted list of 2^i blocks. */
  struct boundary_block *sorted[64] = {NULL}, *all = NULL;
  for (size_t i = 0; i < b->buckets; i++) {
    for (struct boundary_block *k = b->bucket[i], *next; k; k = next) {
      size_t j = 0;
      next = k->next;
      k->next = NULL;
      for (; sorted[j]; j++) {
        k = merge(sorted[j], k);
        sorted[j] = NULL;
      }
      sorted[j] = k;
    }
    b->bucket[i] = NULL;
  }
  for (size_t j = 0; j < 64; j++) {
    all = merge(sorted[j], all);
  }
  b->n = 0;
  return all;
}

void boundary_flush(struct boundary *b, boundary_visit *f, void *arg) {
  struct boundary_block *next = b->n ? boundary_take(b) : NULL;
  for (struct boundary_block *k = next; k; k = next) {
    next = k->next;
    f(arg, k->address, k->data, k->known, k->unknown == 0);
    boundary_release(k);
  }
}

void boundary_free(struct boundary *b) {
  struct boundary_block *next = boundary_take(b);
  for (struct boundary_block *k = next; k; k = next) {
    next = k->next;
    boundary_release(k);
  }
  native_free(b->bucket);
  b->bucket = NULL;
  b->buckets = 0;
}
