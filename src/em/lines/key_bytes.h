/* Bytes of a string that lines are sorted by, as they are put together. */
#ifndef PEMS_EM_LINES_KEY_BYTES_H
#define PEMS_EM_LINES_KEY_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* In a buffer of the caller's. What does not fit is dropped, and noted. */
struct key_bytes {
  unsigned char *at, *end;
  bool full;
};

static inline void key_bytes_put(struct key_bytes *b, unsigned c) {
  if (b->at == b->end) {
    b->full = true;
  } else {
    *b->at++ = (unsigned char)c;
  }
}

static inline void key_bytes_add(struct key_bytes *b, const void *from,
                                 size_t n) {
  if ((size_t)(b->end - b->at) < n) {
    b->full = true;
  } else if (n) {
    memcpy(b->at, from, n);
    b->at += n;
  }
}

/* The lowest `bytes` of a number, the highest one first. */
static inline void key_bytes_number(struct key_bytes *b, uint64_t n,
                                    int bytes) {
  while (bytes-- > 0) {
    key_bytes_put(b, (unsigned)(n >> (8 * bytes)) & 255);
  }
}

/* Turns the order of what was added since `from`. */
static inline void key_bytes_turn(struct key_bytes *b, unsigned char *from) {
  for (; from < b->at; from++) {
    *from = (unsigned char)~*from;
  }
}

/* A count of digits: larger ones come later. */
static inline void key_bytes_count(struct key_bytes *b, size_t n) {
  if (n < 112) {
    key_bytes_put(b, (unsigned)n);
  } else {
    key_bytes_put(b, 112);
    key_bytes_number(b, n, 8);
  }
}

#endif
