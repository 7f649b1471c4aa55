/* The kernel "word": small records as unsigned numbers. */
#include "config.h"

#include "em/kernel/kernels.h"
#include "em/kernel/word.h"

#include <stdbool.h>

static const struct word_type *type_of(const struct pems_record *r) {
  switch (r->size) {
  case 1:
    return &word_type_u8;
  case 2:
    return &word_type_u16;
  case 4:
    return &word_type_u32;
  case 8:
    return &word_type_u64;
  case 16:
    return &word_type_u128;
  default:
    return NULL;
  }
}

/* Where records with equal keys must stay in order, there must be none that can
   be told apart. */
static bool keeps_order(const struct pems_record *r, size_t bytes) {
  return bytes == r->size && r->key != PEMS_KEY_REAL32 &&
         r->key != PEMS_KEY_REAL64;
}

static bool fits(const struct pems_record *r) {
  const size_t bytes = pems_record_key_bytes(r);
  return !r->compare && type_of(r) && bytes > 0 && bytes <= r->size &&
         r->key_offset <= r->size - bytes &&
         (!r->stable || keeps_order(r, bytes));
}

static size_t sort_work(const struct pems_record *r, size_t n, int threads) {
  return type_of(r)->sort_work(n, threads);
}

static void sort(const struct pems_record *r, struct team *team, void *records,
                 size_t n, void *work) {
  const struct word_form form = word_form_of(r);
  type_of(r)->sort(&form, team, records, n, work);
}

static size_t array_work(const struct pems_record *r, size_t n) {
  return type_of(r)->array_work(n);
}

static void array(const struct pems_record *r, void *records, size_t n,
                  void *work) {
  const struct word_form form = word_form_of(r);
  type_of(r)->array(&form, records, n, work);
}

static int compare(const struct pems_record *r, const void *a, const void *b) {
  return type_of(r)->compare(a, b);
}

static size_t rank(const struct pems_record *r, const void *records, size_t n,
                   const void *key, int equal) {
  return type_of(r)->rank(records, n, key, equal);
}

static size_t merge_work(const struct pems_record *r, int pieces) {
  return type_of(r)->merge_work(pieces);
}

static void merge(const struct pems_record *r, const struct kernel_piece *piece,
                  int pieces, void *out, void *work, int last) {
  const struct word_form form = word_form_of(r);
  type_of(r)->merge(last && !word_form_is_plain(&form) ? &form : NULL, piece,
                    pieces, out, work);
}

static void decode(const struct pems_record *r, void *records, size_t n) {
  const struct word_form form = word_form_of(r);
  if (!word_form_is_plain(&form)) {
    type_of(r)->decode(&form, records, n);
  }
}

static void encode(const struct pems_record *r, void *records, size_t n) {
  const struct word_form form = word_form_of(r);
  if (!word_form_is_plain(&form)) {
    type_of(r)->encode(&form, records, n);
  }
}

#if HAVE_HWY
#define HOW "sorted by Highway's quicksort in the cache, where there is AVX2"
#else
#define HOW "sorted by their digits (built without Highway)"
#endif

const struct kernel kernel_word = {
    .name = "word",
    .help = "records of 1, 2, 4, 8 or 16 bytes as numbers, " HOW,
    .fits = fits,
    .sort_work = sort_work,
    .sort = sort,
    .array_work = array_work,
    .array = array,
    .compare = compare,
    .rank = rank,
    .merge_work = merge_work,
    .merge = merge,
    .encode = encode,
    .decode = decode,
};
