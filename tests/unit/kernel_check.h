/* Whether a kernel sorts and merges: against qsort_r, with an order of its own.
   For the tests of each kernel. */
#ifndef PEMS_TESTS_UNIT_KERNEL_CHECK_H
#define PEMS_TESTS_UNIT_KERNEL_CHECK_H

#include <check.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "em/kernel/kernel.h"
#include "em/kernel/multiselect.h"
#include "os/native.h"

/* What keys look like. */
enum keys {
  KEYS_RANDOM,
  KEYS_FEW,    /* many are equal */
  KEYS_EQUAL,  /* all are */
  KEYS_PREFIX, /* random after a beginning in common */
  KEYS_ORDER,  /* in order already, more or less */
  KEYS_KINDS,
};

static uint64_t key_state;

static uint64_t key_random(void) {
  key_state = key_state * UINT64_C(6364136223846793005) + 1442695040888963407;
  return key_state ^ (key_state >> 32);
}

static int sign(int x) {
  return (x > 0) - (x < 0);
}

#define KEY_SIGN(type, a, b)                                                   \
  do {                                                                         \
    type x, y;                                                                 \
    memcpy(&x, a, sizeof(x));                                                  \
    memcpy(&y, b, sizeof(y));                                                  \
    return (x > y) - (x < y);                                                  \
  } while (0)

/* The total order of floats: sign and magnitude, as integers. */
static int64_t magnitude(int64_t bits, int64_t sign_bit) {
  return bits & sign_bit ? -(bits & ~sign_bit) - 1 : bits;
}

static int float_sign(const char *a, const char *b, size_t bytes) {
  int64_t x = 0, y = 0;
  const int64_t top = bytes == 4 ? INT64_C(1) << 31 : INT64_MIN;
  memcpy(&x, a, bytes);
  memcpy(&y, b, bytes);
  x = magnitude(x, top);
  y = magnitude(y, top);
  return (x > y) - (x < y);
}

/* As < has it; NaNs come last. */
static int real_sign(double x, double y) {
  return x != x || y != y ? (x != x) - (y != y) : (x > y) - (x < y);
}

static int key_sign(const struct pems_record *r, const char *a, const char *b) {
  switch (r->key) {
  case PEMS_KEY_NONE:
    break;
  case PEMS_KEY_U8:
    KEY_SIGN(uint8_t, a, b);
  case PEMS_KEY_U16:
    KEY_SIGN(uint16_t, a, b);
  case PEMS_KEY_U32:
    KEY_SIGN(uint32_t, a, b);
  case PEMS_KEY_U64:
    KEY_SIGN(uint64_t, a, b);
  case PEMS_KEY_U128:
    KEY_SIGN(unsigned __int128, a, b);
  case PEMS_KEY_I8:
    KEY_SIGN(int8_t, a, b);
  case PEMS_KEY_I16:
    KEY_SIGN(int16_t, a, b);
  case PEMS_KEY_I32:
    KEY_SIGN(int32_t, a, b);
  case PEMS_KEY_I64:
    KEY_SIGN(int64_t, a, b);
  case PEMS_KEY_F32:
    return float_sign(a, b, 4);
  case PEMS_KEY_F64:
    return float_sign(a, b, 8);
  case PEMS_KEY_REAL32: {
    float x, y;
    memcpy(&x, a, 4);
    memcpy(&y, b, 4);
    return real_sign((double)x, (double)y);
  }
  case PEMS_KEY_REAL64: {
    double x, y;
    memcpy(&x, a, 8);
    memcpy(&y, b, 8);
    return real_sign(x, y);
  }
  case PEMS_KEY_BYTES:
    break;
  }
  return sign(memcmp(a, b, r->key_size));
}

/* The order as pems/record.h describes it. */
static int reference_order(const struct pems_record *r, const char *a,
                           const char *b) {
  if (r->compare) {
    return sign(r->compare(a, b, r->context));
  }
  const int c = key_sign(r, a + r->key_offset, b + r->key_offset);
  return r->descending ? -c : c;
}

static int reference_stable(const void *a, const void *b, void *r) {
  const char *const x = *(const char *const *)a, *const y = *(char *const *)b;
  const int c = reference_order(r, x, y);
  return c != 0 ? c : (x > y) - (x < y);
}

/* n records in order, stably: a new array. */
static char *reference_sorted(const struct pems_record *r, const char *records,
                              size_t n) {
  const char **const pointer = native_zalloc(n + 1, sizeof(*pointer));
  char *const sorted = native_alloc(n * r->size + 1);
  for (size_t i = 0; i < n; i++) {
    pointer[i] = records + i * r->size;
  }
  qsort_r(pointer, n, sizeof(*pointer), reference_stable, (void *)r);
  for (size_t i = 0; i < n; i++) {
    memcpy(sorted + i * r->size, pointer[i], r->size);
  }
  native_free(pointer);
  return sorted;
}

/* Bits of the top of a float: zeros, infinities, NaNs and numbers with each
   sign, or else the random bits that are there. */
static void make_real(char *key, size_t bytes) {
  static const uint16_t tops[] = {0, 0x7f80, 0x7ff0, 0x7fff, 0x3f80};
  const uint64_t kind = key_random() % 12;
  if (kind < sizeof(tops) / sizeof(*tops)) {
    const uint16_t sign_bit = key_random() % 2 ? 0x8000 : 0;
    const uint16_t top = tops[kind] | sign_bit;
    memset(key, 0, bytes);
    memcpy(key + bytes - 2, &top, 2);
  }
}

/* The key bytes of record i of n. */
static void make_key(const struct pems_record *r, enum keys keys, char *key,
                     size_t bytes, size_t i) {
  const size_t high = r->key == PEMS_KEY_BYTES || r->compare ? bytes - 1 : 0;
  for (size_t j = 0; j < bytes; j++) {
    key[j] = (char)key_random();
  }
  if (r->key == PEMS_KEY_REAL32 || r->key == PEMS_KEY_REAL64) {
    make_real(key, bytes);
    return;
  }
  switch (keys) {
  case KEYS_FEW:
    memset(key, 0, bytes);
    key[high] = (char)(key_random() % 3);
    key[bytes - 1 - high] |= (char)(key_random() % 2 ? 0x80 : 0);
    break;
  case KEYS_EQUAL:
    memset(key, 7, bytes);
    break;
  case KEYS_PREFIX:
    if (bytes > 9) {
      memset(key + (high ? 0 : 8), 1, high ? bytes - 2 : 8);
    }
    break;
  case KEYS_ORDER:
    memset(key, 0, bytes);
    for (size_t j = 0; j < bytes && j < 4; j++) {
      key[high ? bytes - 1 - j : j] = (char)(i >> (8 * j));
    }
    break;
  default:
    break;
  }
}

/* n records; what is not key tells where they came from, if there is room. */
static char *make_records(const struct pems_record *r, enum keys keys,
                          size_t n) {
  char *const records = native_aligned(64, n * r->size + 64);
  const size_t bytes = r->compare ? r->size : pems_record_key_bytes(r);
  for (size_t i = 0; i < n; i++) {
    char *const record = records + i * r->size;
    for (size_t j = 0; j < r->size; j++) {
      record[j] = (char)(i >> (8 * (j % 4)));
    }
    if (!r->compare || keys == KEYS_RANDOM) {
      make_key(r, keys, record + r->key_offset, bytes, i);
    }
  }
  return records;
}

/* The same records; of kernels that are not stable, in the same order. */
static void check_same(const struct pems_record *r, const char *got,
                       const char *want, size_t n) {
  if (r->stable) {
    ck_assert_int_eq(memcmp(got, want, n * r->size), 0);
    return;
  }
  for (size_t i = 0; i < n; i++) {
    if (reference_order(r, got + i * r->size, want + i * r->size) != 0) {
      ck_abort_msg("record %zu of %zu is out of order", i, n);
    }
  }
}

/* What follows work memory is as it was. */
static void check_end(const char *end) {
  char want[64];
  memset(want, 0x55, sizeof(want));
  ck_assert_int_eq(memcmp(end, want, sizeof(want)), 0);
}

/* Sorts them in memory: a new array of stored records. */
static char *kernel_sorted(const struct kernel *kernel,
                           const struct pems_record *r, int k, char *records,
                           size_t n) {
  struct team *team;
  const size_t bytes = kernel->sort_work(r, n, k);
  char *const work = native_aligned(64, (bytes + 127) / 64 * 64);
  char *const out = native_alloc(n * r->size + 1);
  memset(work, 0x55, bytes + 64);
  ck_assert_int_eq(team_new(&team, k), 0);
  kernel->sort(r, team, records, n, work);
  if (kernel->emit) {
    const size_t step = n / 7 + 1;
    for (size_t at = 0; at < n; at += step) {
      kernel->emit(r, records, n, work, at, n - at < step ? n - at : step,
                   out + at * r->size);
    }
  } else {
    memcpy(out, records, n * r->size);
  }
  check_end(work + bytes);
  team_free(team);
  native_free(work);
  return out;
}

static void decode(const struct kernel *kernel, const struct pems_record *r,
                   char *records, size_t n) {
  if (kernel->decode) {
    kernel->decode(r, records, n);
  }
}

/* What is decoded becomes the same again. */
static void check_encode(const struct kernel *kernel,
                         const struct pems_record *r, const char *got,
                         size_t n) {
  char *const again = native_alloc(n * r->size + 1);
  memcpy(again, got, n * r->size);
  decode(kernel, r, again, n);
  ck_assert_int_eq(kernel->encode != NULL, kernel->decode != NULL);
  if (kernel->encode) {
    kernel->encode(r, again, n);
  }
  ck_assert_mem_eq(again, got, n * r->size);
  native_free(again);
}

static inline void check_sort(const struct kernel *kernel,
                              const struct pems_record *r, enum keys keys,
                              int k, size_t n) {
  char *const records = make_records(r, keys, n);
  char *const want = reference_sorted(r, records, n);
  char *const got = kernel_sorted(kernel, r, k, records, n);
  for (size_t i = 1; i < n; i++) {
    if (kernel->compare(r, got + (i - 1) * r->size, got + i * r->size) > 0) {
      ck_abort_msg("record %zu of %zu is before the last", i, n);
    }
  }
  check_encode(kernel, r, got, n);
  decode(kernel, r, got, n);
  check_same(r, got, want, n);
  native_free(records);
  native_free(want);
  native_free(got);
}

/* Sorts `pieces` runs of n records or fewer, some empty, and merges them. */
static inline void check_merge(const struct kernel *kernel,
                               const struct pems_record *r, enum keys keys,
                               int pieces, size_t n, int last) {
  const size_t size = r->size, total = (size_t)pieces * n;
  char *const records = make_records(r, keys, total);
  struct kernel_piece *const piece = native_zalloc(pieces + 1, sizeof(*piece));
  const size_t bytes = kernel->merge_work(r, pieces);
  char *const work = native_aligned(64, (bytes + 127) / 64 * 64);
  char *const out = native_alloc(total * size + 1);
  size_t used = 0;
  memset(work, 0x55, bytes + 64);
  for (int i = 0; i < pieces; i++) {
    piece[i].n = i % 5 == 3 ? 0 : i % 5 == 1 ? n / 3 : n;
    char *const run = native_aligned(64, n * size + 64);
    memcpy(run, records + used * size, piece[i].n * size);
    piece[i].at = kernel_sorted(kernel, r, 1, run, piece[i].n);
    native_free(run);
    used += piece[i].n;
  }
  char *const want = reference_sorted(r, records, used);
  kernel->merge(r, piece, pieces, out, work, last);
  if (!last) {
    decode(kernel, r, out, used);
  }
  check_same(r, out, want, used);
  check_end(work + bytes);
  for (int i = 0; i < pieces; i++) {
    native_free((void *)piece[i].at);
  }
  native_free(piece);
  native_free(records);
  native_free(work);
  native_free(out);
  native_free(want);
}

static size_t bytes_sorted; /* of a record, for by_bytes */

static inline int by_bytes(const void *a, const void *b) {
  return memcmp(a, b, bytes_sorted);
}

/* As often as before, whatever the order. */
static inline void check_all_there(char *got, const char *want, size_t n,
                                   size_t size) {
  char *const copy = native_alloc(n * size + 1);
  memcpy(copy, want, n * size);
  bytes_sorted = size;
  qsort(got, n, size, by_bytes);
  qsort(copy, n, size, by_bytes);
  ck_assert_int_eq(memcmp(got, copy, n * size), 0);
  native_free(copy);
}

/* Sorts halves that are merged: all records are there, with what is beside
   their keys. */
static inline void check_payload(const struct kernel *kernel,
                                 const struct pems_record *r, enum keys keys,
                                 size_t n) {
  ck_assert(kernel->fits(r));
  char *const records = make_records(r, keys, n);
  char *const sorted = native_alloc(n * r->size + 1);
  char *const out = native_alloc(n * r->size + 1);
  memcpy(sorted, records, n * r->size);
  char *const stored = kernel_sorted(kernel, r, 2, sorted, n);
  const size_t half = n / 2;
  const struct kernel_piece piece[] = {
      {stored, half}, {stored + half * r->size, n - half}, {NULL, 0}};
  char *const work = native_aligned(64, kernel->merge_work(r, 3) + 64);
  kernel->merge(r, piece, 3, out, work, 1);
  for (size_t i = 1; i < n; i++) {
    if (reference_order(r, out + (i - 1) * r->size, out + i * r->size) > 0) {
      ck_abort_msg("record %zu of %zu is before the last", i, n);
    }
  }
  check_all_there(out, records, n, r->size);
  native_free(work);
  native_free(stored);
  native_free(out);
  native_free(sorted);
  native_free(records);
}

/* Every type of key that fits, both orders, at the beginning and the end. */
static inline void check_types(const struct kernel *kernel, size_t size,
                               void (*check)(const struct kernel *,
                                             const struct pems_record *,
                                             enum keys)) {
  static const size_t lengths[] = {1, 2, 3, 5, 8, 10, 16, 31};
  struct pems_record r = {.size = size, .stable = 1};
  const int others = PEMS_KEY_REAL64 + 1;
  for (int i = PEMS_KEY_U8; i < others + 8; i++) {
    r.key = i < others ? (enum pems_key)i : PEMS_KEY_BYTES;
    if (i == PEMS_KEY_BYTES) {
      continue;
    }
    r.key_size = i < others ? 0 : lengths[i - others];
    const size_t bytes = pems_record_key_bytes(&r);
    if (bytes > size) {
      continue;
    }
    for (int j = 0; j < 4; j++) {
      r.descending = j % 2;
      r.key_offset = j / 2 ? size - bytes : 0;
      if (kernel->fits(&r)) {
        check(kernel, &r, (enum keys)((i + j) % KEYS_KINDS));
      }
    }
  }
}

#endif
