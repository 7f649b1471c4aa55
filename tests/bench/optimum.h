/* The words of a trace; optimum_trace.c says what they mean. */
#ifndef OPTIMUM_H
#define OPTIMUM_H

#include <stdint.h>

enum { OPTIMUM_UNIT = 65536, OPTIMUM_SHIFT = 56 };

enum optimum_kind {
  OPTIMUM_READ,
  OPTIMUM_WRITE,
  OPTIMUM_FREE,
  OPTIMUM_SEND,
  OPTIMUM_GROUP_SEND,
  OPTIMUM_WAIT,
  OPTIMUM_NEED,
  OPTIMUM_GROUP_NEED,
};

#define OPTIMUM_VALUE (((uint64_t)1 << OPTIMUM_SHIFT) - 1)

static inline uint64_t optimum_word(enum optimum_kind kind, uint64_t value) {
  return (uint64_t)kind << OPTIMUM_SHIFT | (value & OPTIMUM_VALUE);
}

static inline enum optimum_kind optimum_kind(uint64_t word) {
  return (enum optimum_kind)(word >> OPTIMUM_SHIFT);
}

#endif
