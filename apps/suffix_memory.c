#include "suffix_memory.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

/* Suffix i is small (S) if it is before suffix i + 1, else large; it is
   leftmost small (LMS) if it is small and i - 1 is large. The empty suffix at n
   counts as small and is in no array. Arrays hold positions; EMPTY is no
   position. */
#define EMPTY UINT32_MAX

struct induction {
  const uint32_t *string;
  uint32_t n;
  uint32_t most; /* symbol */
  uint32_t *array;
  uint32_t *bucket; /* most + 2 ends or beginnings of the symbols' parts */
  uint64_t *small;  /* one bit per suffix */
};

static int small_at(const struct induction *s, uint32_t i) {
  return s->small[i / 64] >> i % 64 & 1;
}

static bool leftmost(const struct induction *s, uint32_t i) {
  return i > 0 && small_at(s, i) && !small_at(s, i - 1);
}

static void classify(struct induction *s) {
  bool small = false; /* the last suffix is behind the empty one */
  for (uint32_t i = s->n; i-- > 0;) {
    if (i + 1 < s->n && s->string[i] != s->string[i + 1]) {
      small = s->string[i] < s->string[i + 1];
    }
    if (small) {
      s->small[i / 64] |= (uint64_t)1 << i % 64;
    }
  }
}

/* Where the part of each symbol begins or, where `ends`, what is behind it. */
static void find_buckets(struct induction *s, bool ends) {
  uint32_t sum = 0;
  for (uint32_t c = 0; c <= s->most; c++) {
    s->bucket[c] = 0;
  }
  for (uint32_t i = 0; i < s->n; i++) {
    s->bucket[s->string[i]]++;
  }
  for (uint32_t c = 0; c <= s->most; c++) {
    const uint32_t count = s->bucket[c];
    s->bucket[c] = ends ? sum + count : sum;
    sum += count;
  }
}

static void induce_large(struct induction *s) {
  find_buckets(s, false);
  s->array[s->bucket[s->string[s->n - 1]]++] = s->n - 1;
  for (uint32_t i = 0; i < s->n; i++) {
    const uint32_t j = s->array[i];
    if (j != EMPTY && j > 0 && !small_at(s, j - 1)) {
      s->array[s->bucket[s->string[j - 1]]++] = j - 1;
    }
  }
}

static void induce_small(struct induction *s) {
  find_buckets(s, true);
  for (uint32_t i = s->n; i-- > 0;) {
    const uint32_t j = s->array[i];
    if (j != EMPTY && j > 0 && small_at(s, j - 1)) {
      s->array[--s->bucket[s->string[j - 1]]] = j - 1;
    }
  }
}

static void clear(struct induction *s, uint32_t from) {
  for (uint32_t i = from; i < s->n; i++) {
    s->array[i] = EMPTY;
  }
}

/* Sorts the substrings between LMS positions: these begin in any order. */
static void sort_substrings(struct induction *s) {
  clear(s, 0);
  find_buckets(s, true);
  for (uint32_t i = 1; i < s->n; i++) {
    if (leftmost(s, i)) {
      s->array[--s->bucket[s->string[i]]] = i;
    }
  }
  induce_large(s);
  induce_small(s);
}

/* Whether the LMS substrings at i and j are equal. */
static bool same_substring(const struct induction *s, uint32_t i, uint32_t j) {
  for (uint32_t k = 0;; k++) {
    if (i + k == s->n || j + k == s->n) {
      return false;
    }
    if (s->string[i + k] != s->string[j + k] ||
        small_at(s, i + k) != small_at(s, j + k)) {
      return false;
    }
    if (k > 0 && (leftmost(s, i + k) || leftmost(s, j + k))) {
      return leftmost(s, i + k) && leftmost(s, j + k);
    }
  }
}

/* The array becomes: LMS positions in order of their substrings, and names of
   the substrings, from 1, in order of positions at the end. Returns how many
   positions; *names is how many names. */
static uint32_t name_substrings(struct induction *s, uint32_t *names) {
  uint32_t count = 0, last = EMPTY;
  for (uint32_t i = 0; i < s->n; i++) {
    if (leftmost(s, s->array[i])) {
      s->array[count++] = s->array[i];
    }
  }
  clear(s, count);
  *names = 0;
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t j = s->array[i];
    if (last == EMPTY || !same_substring(s, last, j)) {
      ++*names;
    }
    last = j;
    s->array[count + j / 2] = *names; /* no two LMS positions are neighbours */
  }
  for (uint32_t i = s->n, to = s->n; i-- > count;) {
    if (s->array[i] != EMPTY) {
      s->array[--to] = s->array[i];
    }
  }
  return count;
}

/* The first `count` of the array become the order of the LMS suffixes, as
   numbers of them; their names are at its end. */
static int order_leftmost(struct induction *s, uint32_t count, uint32_t names) {
  uint32_t *const name = s->array + s->n - count;
  if (names < count) {
    return suffix_memory(name, s->array, count, names);
  }
  for (uint32_t i = 0; i < count; i++) {
    s->array[name[i] - 1] = i;
  }
  return 0;
}

/* From the order of the LMS suffixes to that of all. */
static void induce_all(struct induction *s, uint32_t count) {
  uint32_t *const position = s->array + s->n - count;
  uint32_t at = 0;
  for (uint32_t i = 1; i < s->n; i++) {
    if (leftmost(s, i)) {
      position[at++] = i;
    }
  }
  for (uint32_t i = 0; i < count; i++) {
    s->array[i] = position[s->array[i]];
  }
  clear(s, count);
  find_buckets(s, true);
  for (uint32_t i = count; i-- > 0;) {
    const uint32_t j = s->array[i];
    s->array[i] = EMPTY;
    s->array[--s->bucket[s->string[j]]] = j;
  }
  induce_large(s);
  induce_small(s);
}

static int new_bucket(struct induction *s) {
  s->bucket = malloc(((size_t)s->most + 1) * sizeof(*s->bucket));
  return s->bucket ? 0 : ENOMEM;
}

static int sort(struct induction *s) {
  uint32_t names;
  if (new_bucket(s)) {
    return ENOMEM;
  }
  classify(s);
  sort_substrings(s);
  free(s->bucket); /* for those of the shorter string */
  s->bucket = NULL;
  const uint32_t count = name_substrings(s, &names);
  const int failed = order_leftmost(s, count, names);
  if (failed || new_bucket(s)) {
    return ENOMEM;
  }
  induce_all(s, count);
  return 0;
}

int suffix_memory(const uint32_t *string, uint32_t *array, uint32_t n,
                  uint32_t most) {
  struct induction s = {.string = string, .n = n, .most = most, .array = array};
  if (n == 0) {
    return 0;
  }
  s.small = calloc((size_t)n / 64 + 1, sizeof(*s.small));
  const int failed = s.small ? sort(&s) : ENOMEM;
  free(s.bucket);
  free(s.small);
  return failed;
}
