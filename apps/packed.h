/* Records that are packed numbers, for suffix arrays.

   A record has a high part, by which it is sorted, and a low part, each made of
   a few numbers of known widths. Together they take the fewest of 8, 16, 24 or
   32 bytes: up to 16 bytes they are a single number, which is what pems sorts
   fastest. */
#ifndef APPS_PACKED_H
#define APPS_PACKED_H

#include <stdint.h>
#include <string.h>

#include <pems/record.h>

typedef unsigned __int128 u128;

struct packed {
  size_t size;  /* bytes of a record */
  int low_bits; /* of the low part */
};

/* Bits in which 0 to most can be written. */
static inline int packed_bits(uint64_t most) {
  return most ? 64 - __builtin_clzll(most) : 1;
}

/* high_bits and low_bits are at most 128 each. */
static inline struct packed packed_format(int high_bits, int low_bits) {
  const int bits = high_bits + low_bits;
  const size_t wide = low_bits <= 64 ? 24 : 32;
  return (struct packed){bits <= 64 ? 8 : bits <= 128 ? 16 : wide, low_bits};
}

/* How pems is to sort them: by the high part; records of up to 16 bytes by the
   low part, too. */
static inline struct pems_record packed_record(struct packed f) {
  return (struct pems_record){
      .size = f.size, .key = f.size == 8 ? PEMS_KEY_U64 : PEMS_KEY_U128};
}

static inline u128 packed_mask(int bits) {
  return ((u128)1 << bits) - 1;
}

/* Writes record i. */
static inline void packed_put(struct packed f, void *records, size_t i,
                              u128 high, u128 low) {
  char *const at = (char *)records + i * f.size;
  if (f.size == 8) {
    const uint64_t x = (uint64_t)high << f.low_bits | (uint64_t)low;
    memcpy(at, &x, 8);
  } else if (f.size == 16) {
    const u128 x = high << f.low_bits | low;
    memcpy(at, &x, 16);
  } else {
    memcpy(at, &high, 16);
    memcpy(at + 16, &low, f.size - 16);
  }
}

/* The parts of record i. */
static inline void packed_get(struct packed f, const void *records, size_t i,
                              u128 *high, u128 *low) {
  const char *const at = (const char *)records + i * f.size;
  if (f.size == 8) {
    uint64_t x;
    memcpy(&x, at, 8);
    *high = x >> f.low_bits;
    *low = x & ((1ull << f.low_bits) - 1);
  } else if (f.size == 16) {
    u128 x;
    memcpy(&x, at, 16);
    *high = x >> f.low_bits;
    *low = x & packed_mask(f.low_bits);
  } else {
    *low = 0;
    memcpy(high, at, 16);
    memcpy(low, at + 16, f.size - 16);
  }
}

/* --- positions in files: 5 bytes, least significant first --- */

enum { POSITION_SIZE = 5, POSITION_BITS = 40 };

static inline uint64_t position_get(const void *positions, size_t i) {
  const unsigned char *const p =
      (const unsigned char *)positions + POSITION_SIZE * i;
  uint32_t low;
  memcpy(&low, p, 4);
  return (uint64_t)p[4] << 32 | low;
}

static inline void position_put(void *positions, size_t i, uint64_t x) {
  unsigned char *const p = (unsigned char *)positions + POSITION_SIZE * i;
  const uint32_t low = (uint32_t)x;
  memcpy(p, &low, 4);
  p[4] = (unsigned char)(x >> 32);
}

#endif
