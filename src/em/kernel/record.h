/* Keys as numbers, and the order of records in the user's form. */
#ifndef PEMS_EM_KERNEL_RECORD_H
#define PEMS_EM_KERNEL_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "pems/record.h"

/* Ways to read a key: types that differ only in constants are one. Inner loops
   are compiled once for each. */
enum record_kind {
  RECORD_1, /* integers of that many bytes */
  RECORD_2,
  RECORD_4,
  RECORD_8,
  RECORD_16,
  RECORD_FLOAT_4,
  RECORD_FLOAT_8,
  RECORD_SHORT,   /* at most 8 bytes as memcmp orders them */
  RECORD_LONG,    /* more */
  RECORD_COMPARE, /* the user's function */
};

/* A pems_record made ready for loops. */
struct record_order {
  enum record_kind kind;
  size_t size;   /* bytes of a record */
  size_t offset; /* bytes before the key */
  size_t bytes;  /* of the key */
  uint64_t nans; /* floats below -inf that come behind all others */
  bool ties;     /* floats that < does not tell apart are equal */
  uint64_t flip; /* bits of the prefix to turn: signs, descending order */
  uint64_t rest; /* all ones where descending, else 0 */
  pems_compare_fn *compare;
  void *context;
  const struct pems_kernel *kernel; /* compiled for `compare`, or NULL */
};

/* *r must have passed pems_record_check. */
void record_order(const struct pems_record *r, struct record_order *order);

/* Sets a key to the first of those that are equal to it, but not in its bits.
 */
void record_first_equal(const struct pems_record *r, void *record);

/* True if records with equal prefixes are equal: keys of at most 8 bytes. */
bool record_prefix_decides(const struct pems_record *r);
/* The first 8 bytes of the key (or all of it, if it is shorter) as a number
   which is ordered as the records are; 0 where there is a `compare`. */
uint64_t record_prefix(const struct pems_record *r, const void *record);

/* The order of two records in the user's form: less than, equal to or greater
   than 0. */
int record_compare(const struct pems_record *r, const void *a, const void *b);
/* The same, for many. */
int record_order_compare(const struct record_order *o, const char *a,
                         const char *b);
/* How many of n records beside each other, from the first, are in order; or,
   where `reverse`, the other way round. Compares each with the one ahead of it,
   up to the first that is not. */
size_t record_ordered(const struct record_order *o, const void *records,
                      size_t n, bool reverse);
/* Whether all of them are. */
bool record_in_order(const struct record_order *o, const void *records,
                     size_t n, bool reverse);
/* How many of n records beside each other, in order, in the user's form, are
   before `key`; or, where `equal`, not behind it. */
size_t record_rank(const struct pems_record *r, const void *records, size_t n,
                   const void *key, int equal);

/* --- for inner loops: `kind` is o->kind, and known to the compiler --- */

#define RECORD_INLINE static inline __attribute__((always_inline))

RECORD_INLINE uint64_t record_load(const char *at, size_t bytes) {
  uint8_t u8;
  uint16_t u16;
  uint32_t u32;
  uint64_t u64;
  switch (bytes) {
  case 1:
    memcpy(&u8, at, 1);
    return u8;
  case 2:
    memcpy(&u16, at, 2);
    return u16;
  case 4:
    memcpy(&u32, at, 4);
    return u32;
  default:
    memcpy(&u64, at, 8);
    return u64;
  }
}

/* 1 to 8 bytes as a number, the first the highest: reads no others. */
RECORD_INLINE uint64_t record_load_bytes(const char *at, size_t bytes) {
  if (bytes >= 8) {
    return __builtin_bswap64(record_load(at, 8));
  }
  const char *const end = at + bytes;
  if (bytes >= 4) {
    return (uint64_t)__builtin_bswap32((uint32_t)record_load(at, 4))
               << (8 * (bytes - 4)) |
           __builtin_bswap32((uint32_t)record_load(end - 4, 4));
  }
  if (bytes >= 2) {
    return (uint64_t)__builtin_bswap16((uint16_t)record_load(at, 2))
               << (8 * (bytes - 2)) |
           __builtin_bswap16((uint16_t)record_load(end - 2, 2));
  }
  return record_load(at, 1);
}

/* A negative float is ordered backwards: turn all of its bits, else the sign.
 */
RECORD_INLINE uint64_t record_turn(uint64_t x, int bits) {
  const uint64_t sign = UINT64_C(1) << (bits - 1);
  return x & sign ? x ^ (sign | (sign - 1)) : x ^ sign;
}

/* NaNs whose sign is set: the lowest floats, where records are numbers. */
RECORD_INLINE uint64_t record_nans(int bits) {
  return bits == 64 ? (UINT64_C(1) << 52) - 1 : (UINT64_C(1) << 23) - 1;
}

/* Of a float that was turned: -0 becomes 0, and NaNs become one, the number
   behind infinity once those below -inf have been taken off. */
RECORD_INLINE uint64_t record_tied(uint64_t x, uint64_t nans, int bits) {
  const uint64_t zero = UINT64_C(1) << (bits - 1);
  const uint64_t all = zero | (zero - 1), nan = all - nans + 1;
  x += x == zero - 1;
  return x < nans || x > nan ? nan : x;
}

RECORD_INLINE uint64_t record_float(const struct record_order *o,
                                    const char *at, int bits) {
  const uint64_t all = UINT64_MAX >> (64 - bits);
  uint64_t x = record_turn(record_load(at, (size_t)bits / 8), bits);
  if (o->ties) {
    x = record_tied(x, o->nans, bits);
  }
  return ((x - o->nans) & all) ^ o->flip;
}

/* As record_prefix. */
RECORD_INLINE uint64_t record_number(const struct record_order *o,
                                     enum record_kind kind,
                                     const char *record) {
  const char *const at = record + o->offset;
  switch (kind) {
  case RECORD_1:
    return record_load(at, 1) ^ o->flip;
  case RECORD_2:
    return record_load(at, 2) ^ o->flip;
  case RECORD_4:
    return record_load(at, 4) ^ o->flip;
  case RECORD_8:
    return record_load(at, 8) ^ o->flip;
  case RECORD_16:
    return record_load(at + 8, 8) ^ o->flip;
  case RECORD_FLOAT_4:
    return record_float(o, at, 32);
  case RECORD_FLOAT_8:
    return record_float(o, at, 64);
  case RECORD_SHORT:
    return record_load_bytes(at, o->bytes) ^ o->flip;
  case RECORD_LONG:
    return record_load_bytes(at, 8) ^ o->flip;
  case RECORD_COMPARE:
    break;
  }
  return 0;
}

/* Whether equal numbers mean equal records. */
RECORD_INLINE bool record_decides(enum record_kind kind) {
  return kind != RECORD_16 && kind != RECORD_LONG && kind != RECORD_COMPARE;
}

/* The order of two records with equal numbers. */
RECORD_INLINE int record_compare_rest(const struct record_order *o,
                                      enum record_kind kind, const char *a,
                                      const char *b) {
  if (kind == RECORD_COMPARE) {
    return o->compare(a, b, o->context);
  }
  if (kind == RECORD_16) {
    const uint64_t x = record_load(a + o->offset, 8) ^ o->rest;
    const uint64_t y = record_load(b + o->offset, 8) ^ o->rest;
    return (x > y) - (x < y);
  }
  if (kind == RECORD_LONG) {
    const int c = memcmp(a + o->offset + 8, b + o->offset + 8, o->bytes - 8);
    return o->rest ? (c < 0) - (c > 0) : c;
  }
  return 0;
}

/* Whether a is before b. */
RECORD_INLINE bool record_before(const struct record_order *o,
                                 enum record_kind kind, const char *a,
                                 const char *b) {
  const uint64_t x = record_number(o, kind, a), y = record_number(o, kind, b);
  if (record_decides(kind) || x != y) {
    return x < y;
  }
  return record_compare_rest(o, kind, a, b) < 0;
}

/* Returns f(o, kind, ...) with kind, which is o->kind, as a constant. */
#define RECORD_DISPATCH(o, f, ...)                                             \
  switch ((o)->kind) {                                                         \
  case RECORD_1:                                                               \
    return f(o, RECORD_1, __VA_ARGS__);                                        \
  case RECORD_2:                                                               \
    return f(o, RECORD_2, __VA_ARGS__);                                        \
  case RECORD_4:                                                               \
    return f(o, RECORD_4, __VA_ARGS__);                                        \
  case RECORD_8:                                                               \
    return f(o, RECORD_8, __VA_ARGS__);                                        \
  case RECORD_16:                                                              \
    return f(o, RECORD_16, __VA_ARGS__);                                       \
  case RECORD_FLOAT_4:                                                         \
    return f(o, RECORD_FLOAT_4, __VA_ARGS__);                                  \
  case RECORD_FLOAT_8:                                                         \
    return f(o, RECORD_FLOAT_8, __VA_ARGS__);                                  \
  case RECORD_SHORT:                                                           \
    return f(o, RECORD_SHORT, __VA_ARGS__);                                    \
  case RECORD_LONG:                                                            \
    return f(o, RECORD_LONG, __VA_ARGS__);                                     \
  case RECORD_COMPARE:                                                         \
    return f(o, RECORD_COMPARE, __VA_ARGS__);                                  \
  }

/* Copies a record of n bytes to where no other one lies; for a few hundred
   bytes, cheaper than a call. */
RECORD_INLINE void record_copy(char *to, const char *from, size_t n) {
  typedef char v16 __attribute__((vector_size(16), aligned(1), may_alias));
  if (n >= 16) {
    const v16 last = *(const v16 *)(from + n - 16);
    for (size_t i = 0; i + 16 < n; i += 16) {
      *(v16 *)(to + i) = *(const v16 *)(from + i);
    }
    *(v16 *)(to + n - 16) = last;
  } else if (n >= 8) {
    const uint64_t x = record_load(from, 8), y = record_load(from + n - 8, 8);
    memcpy(to, &x, 8);
    memcpy(to + n - 8, &y, 8);
  } else if (n >= 4) {
    const uint32_t x = (uint32_t)record_load(from, 4);
    const uint32_t y = (uint32_t)record_load(from + n - 4, 4);
    memcpy(to, &x, 4);
    memcpy(to + n - 4, &y, 4);
  } else {
    for (size_t i = 0; i < n; i++) {
      to[i] = from[i];
    }
  }
}

#endif
