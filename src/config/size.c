#include "config/size.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static const char units[] = "KMGTPE";

/* Reads "", "B", "K", "KB", "KiB" ... in either case; -1 if it is none. */
static int parse_shift(const char *text) {
  int shift = 0;
  if (*text) {
    const char *unit = strchr(units, toupper((unsigned char)*text));
    if (unit) {
      shift = 10 * (int)(unit - units + 1);
      text++;
      if (*text == 'i') {
        text++;
      }
    }
    if (*text == 'B' || *text == 'b') {
      text++;
    }
  }
  return *text ? -1 : shift;
}

int size_parse(const char *text, uint64_t *bytes) {
  /* Nine decimals are finer than a byte up to 1 GiB, and fit in 64 bits. */
  const uint64_t most_scale = 1000000000;
  uint64_t whole = 0, part = 0, scale = 1;
  if (!isdigit((unsigned char)*text)) {
    return -1;
  }
  for (; isdigit((unsigned char)*text); text++) {
    if (__builtin_mul_overflow(whole, 10, &whole) ||
        __builtin_add_overflow(whole, (uint64_t)(*text - '0'), &whole)) {
      return -1;
    }
  }
  if (*text == '.') {
    if (!isdigit((unsigned char)*++text)) {
      return -1;
    }
    for (; isdigit((unsigned char)*text); text++) {
      if (scale < most_scale) {
        part = part * 10 + (uint64_t)(*text - '0');
        scale *= 10;
      }
    }
  }
  if (*text == ' ' && text[1]) {
    text++;
  }
  const int shift = parse_shift(text);
  if (shift < 0 || (shift == 0 && scale > 1)) {
    return -1;
  }
  if (whole > UINT64_MAX >> shift) {
    return -1;
  }
  const unsigned __int128 fraction = ((unsigned __int128)part << shift) / scale;
  *bytes = (whole << shift) + (uint64_t)fraction;
  return 0;
}

const char *size_format(uint64_t bytes, char *buf, size_t buf_size) {
  if (bytes < 1024) {
    snprintf(buf, buf_size, "%u B", (unsigned)bytes);
    return buf;
  }
  double value = (double)bytes / 1024;
  const char *unit = units;
  /* 1023.95 would print as 1024.0. */
  for (; value >= 1023.95 && unit[1]; unit++) {
    value /= 1024;
  }
  const unsigned tenths = (unsigned)(value * 10 + 0.5);
  snprintf(buf, buf_size, "%u.%u %ciB", tenths / 10, tenths % 10, *unit);
  return buf;
}
