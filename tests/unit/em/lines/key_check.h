/* Strings of texts, for tests that compare them. */
#ifndef TESTS_EM_LINES_KEY_CHECK_H
#define TESTS_EM_LINES_KEY_CHECK_H

#include <check.h>
#include <string.h>

#include "em/lines/key_bytes.h"

enum { KEY_CHECK_MOST = 4096 };

struct key_check {
  unsigned char bytes[KEY_CHECK_MOST];
  size_t n;
};

static inline struct key_bytes key_check_begin(struct key_check *c) {
  return (struct key_bytes){c->bytes, c->bytes + KEY_CHECK_MOST, false};
}

static inline void key_check_end(struct key_check *c, struct key_bytes *b) {
  ck_assert(!b->full);
  c->n = (size_t)(b->at - c->bytes);
}

/* < 0, 0, > 0; neither may be the beginning of the other one. */
static inline int key_check_compare(const struct key_check *a,
                                    const struct key_check *b) {
  const size_t n = a->n < b->n ? a->n : b->n;
  const int order = memcmp(a->bytes, b->bytes, n);
  ck_assert(order || a->n == b->n);
  return order;
}

#endif
