/* Minimum, maximum and rounding of sizes and offsets. */
#ifndef PEMS_OS_BITS_H
#define PEMS_OS_BITS_H

#include <stdint.h>

static inline uint64_t bits_min(uint64_t a, uint64_t b) {
  return a < b ? a : b;
}

static inline uint64_t bits_max(uint64_t a, uint64_t b) {
  return a > b ? a : b;
}

/* To a multiple of `unit`, which need not be a power of two. */
static inline uint64_t bits_round_down(uint64_t n, uint64_t unit) {
  return n - n % unit;
}

/* n must be at least unit - 1 below the end of the range. */
static inline uint64_t bits_round_up(uint64_t n, uint64_t unit) {
  return bits_round_down(n + unit - 1, unit);
}

/* To a multiple of `align`, a power of two: no division, for hot paths. */
static inline uint64_t bits_align_down(uint64_t n, uint64_t align) {
  return n & ~(align - 1);
}

static inline uint64_t bits_align_up(uint64_t n, uint64_t align) {
  return bits_align_down(n + align - 1, align);
}

#endif
