/* The kernel "digits": records of 24 and 32 bytes with a key of 8, sorted in
   place by its digits, whole.

   While they are sorted the key, as a number in ascending order, is the first
   of their words. The stored form is the user's. */
#include <stdatomic.h>
#include <string.h>

#include "em/kernel/kernels.h"
#include "em/kernel/losers.h"
#include "em/kernel/radix.h"
#include "em/kernel/record.h"
#include "em/kernel/word.h"

#define WORD uint64_t
#define NAME(x) x##_key
#include "em/kernel/word_value.h"
#undef WORD
#undef NAME

typedef uint64_t any __attribute__((aligned(1), may_alias));

/* The first word of a record changes places with its key. */
static void encode(const struct word_form *f, void *records, size_t n,
                   size_t size) {
  char *at = records;
  for (size_t i = 0; i < n && !word_form_is_plain(f); i++, at += size) {
    any *const first = (any *)at, *const key = first + f->place;
    const uint64_t number = encoded_key(f, *key);
    *key = *first;
    *first = number;
  }
}

static void decode(const struct word_form *f, void *records, size_t n,
                   size_t size) {
  char *at = records;
  for (size_t i = 0; i < n && !word_form_is_plain(f); i++, at += size) {
    any *const first = (any *)at, *const key = first + f->place;
    const uint64_t number = *first;
    *first = *key;
    *key = decoded_key(f, number);
  }
}

/* --- both sizes --- */

#define KEY uint64_t
#define KEY_OF(x) ((x).key)
#define SORT_KEYS(keys, n) word_sort_u64(keys, n)

#define WORD struct radix_24
#define NAME(x) x##_24
#include "em/kernel/digits_sort.h"

#define WORD struct radix_32
#define NAME(x) x##_32
#include "em/kernel/digits_sort.h"

/* --- all --- */

enum { KEY_BYTES = 8 };

static bool digits_fits(const struct pems_record *r) {
  if (r->compare || r->stable || (r->size != 24 && r->size != 32) ||
      pems_record_check(r, NULL) != 0) {
    return false;
  }
  return pems_record_key_bytes(r) == KEY_BYTES &&
         r->key_offset % KEY_BYTES == 0;
}

/* That of the key alone, and where it is. */
static struct word_form form_of(const struct pems_record *r) {
  const struct pems_record key = {
      .size = KEY_BYTES,
      .key = r->key,
      .key_size = r->key_size,
      .descending = r->descending,
  };
  struct word_form form = word_form_of(&key);
  form.place = r->key_offset / KEY_BYTES;
  return form;
}

static size_t digits_sort_work(const struct pems_record *r, size_t n,
                               int threads) {
  return r->size == 24 ? sort_work_24(n, threads) : sort_work_32(n, threads);
}

static void digits_sort(const struct pems_record *r, struct team *team,
                        void *records, size_t n, void *work) {
  const struct word_form form = form_of(r);
  (r->size == 24 ? sort_records_24 : sort_records_32)(&form, team, records, n,
                                                      work);
}

static size_t digits_array_work(const struct pems_record *r, size_t n) {
  return r->size == 24 ? array_work_24(n) : array_work_32(n);
}

static void digits_array(const struct pems_record *r, void *records, size_t n,
                         void *work) {
  const struct word_form form = form_of(r);
  (r->size == 24 ? array_24 : array_32)(&form, records, n, work);
}

const struct kernel kernel_digits = {
    .name = "digits",
    .help = "records of 24 or 32 bytes with a key of 8, sorted in place by its "
            "digits",
    .fits = digits_fits,
    .sort_work = digits_sort_work,
    .sort = digits_sort,
    .array_work = digits_array_work,
    .array = digits_array,
    .compare = record_compare,
    .rank = record_rank,
    .merge_work = losers_pieces_work,
    .merge = losers_pieces,
};
