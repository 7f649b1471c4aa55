/* Minimum, maximum and rounding of sizes and offsets; bytes that are zero. */
#ifndef PEMS_OS_BITS_H
#define PEMS_OS_BITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

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

/* Are all n bytes zero? Most that are not have an early one. */
static inline bool bits_zero(const void *bytes, size_t n) {
  const char *const p = bytes;
  return n == 0 || (*p == 0 && memcmp(p, p + 1, n - 1) == 0);
}

#endif
