#include "base/encoding.h"

#include <stdbool.h>
#include <string.h>

size_t encoding_mark(const void *bytes, size_t n) {
  return n >= ENCODING_MARK_BYTES &&
                 memcmp(bytes, ENCODING_MARK, ENCODING_MARK_BYTES) == 0
             ? ENCODING_MARK_BYTES
             : 0;
}

/* Whether the bytes of all units that are zero are those at `place`. */
static bool zeros_at(const unsigned char *bytes, size_t n, size_t place) {
  for (size_t i = 0; i < n; i++) {
    if ((bytes[i] == 0) != (i % 2 == place)) {
      return false;
    }
  }
  return true;
}

const char *encoding_wide(const void *bytes, size_t n) {
  static const struct {
    const char *name;
    size_t n;
    unsigned char mark[4];
  } wide[] = {{"UTF-32LE", 4, {0xff, 0xfe, 0, 0}},
              {"UTF-32BE", 4, {0, 0, 0xfe, 0xff}},
              {"UTF-16LE", 2, {0xff, 0xfe}},
              {"UTF-16BE", 2, {0xfe, 0xff}}};
  enum { LEAST = 4 }; /* bytes without a mark that tell something */
  for (size_t i = 0; i < sizeof(wide) / sizeof(*wide); i++) {
    if (n >= wide[i].n && memcmp(bytes, wide[i].mark, wide[i].n) == 0) {
      return wide[i].name;
    }
  }
  const size_t whole = (n < ENCODING_ENOUGH ? n : ENCODING_ENOUGH) / 2 * 2;
  return whole < LEAST               ? NULL
         : zeros_at(bytes, whole, 1) ? "UTF-16LE"
         : zeros_at(bytes, whole, 0) ? "UTF-16BE"
                                     : NULL;
}
