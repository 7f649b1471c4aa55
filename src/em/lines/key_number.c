#define _GNU_SOURCE
#include "em/lines/key_number.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "os/native.h"

static bool is_digit(unsigned c) {
  return c - '0' < 10;
}

static size_t skip_blanks(const struct key_order *o, const unsigned char *text,
                          size_t n) {
  size_t i = 0;
  while (i < n && o->blank[text[i]]) {
    i++;
  }
  return i;
}

/* --- plain --- */

/* Two digits to a byte: each one more than it is, so that none is 0. */
struct nibbles {
  struct key_bytes *out;
  unsigned high;
  bool half;
  size_t zeros; /* that may be the last ones: then they do not count */
};

static void put_nibble(struct nibbles *p, unsigned v) {
  if (p->half) {
    key_bytes_put(p->out, p->high | v);
  } else {
    p->high = v << 4;
  }
  p->half = !p->half;
}

static void put_digit(struct nibbles *p, unsigned c) {
  if (c == '0') {
    p->zeros++;
    return;
  }
  for (; p->zeros > 0; p->zeros--) {
    put_nibble(p, 1);
  }
  put_nibble(p, c - '0' + 1);
}

static void end_nibbles(struct nibbles *p) {
  put_nibble(p, 0);
  if (p->half) {
    put_nibble(p, 0);
  }
}

struct digits {
  const unsigned char *at, *end;
  int skipped; /* byte that is none of them, or -1 */
};

static bool goes_on(const struct digits *d) {
  return d->at < d->end && (is_digit(*d->at) || (int)*d->at == d->skipped);
}

static size_t count_digits(struct digits d) {
  size_t n = 0;
  for (; goes_on(&d); d.at++) {
    n += is_digit(*d.at);
  }
  return n;
}

static void put_digits(struct nibbles *p, struct digits *d) {
  for (; goes_on(d); d->at++) {
    if (is_digit(*d->at)) {
      put_digit(p, *d->at);
    }
  }
}

static void skip_zeros(struct digits *d) {
  while (goes_on(d) && !(is_digit(*d->at) && *d->at != '0')) {
    d->at++;
  }
}

static bool is_zero(const struct digits *fraction) {
  const unsigned char *at = fraction->at;
  while (at < fraction->end && *at == '0') {
    at++;
  }
  return at == fraction->end || !is_digit(*at);
}

/* Behind a sign. Zero, of either sign, is one byte; smaller numbers begin with
   smaller ones. */
static void put_number(const struct key_order *o, bool minus,
                       const unsigned char *text, size_t n,
                       struct key_bytes *out) {
  struct digits whole = {text, text + n, o->thousands}, fraction;
  unsigned char *const from = out->at;
  struct nibbles p = {.out = out};
  skip_zeros(&whole);
  const size_t count = count_digits(whole);
  fraction = whole;
  while (goes_on(&fraction)) {
    fraction.at++;
  }
  const bool point = fraction.at < fraction.end && *fraction.at == o->decimal;
  fraction.at += point;
  fraction.skipped = -1;
  if (count == 0 && (!point || is_zero(&fraction))) {
    key_bytes_put(out, 0x80);
    return;
  }
  key_bytes_put(out, 0x81 + (unsigned)(count < 112 ? count : 112));
  if (count >= 112) {
    key_bytes_number(out, count, 8);
  }
  put_digits(&p, &whole);
  if (point) {
    put_digits(&p, &fraction);
  }
  end_nibbles(&p);
  if (minus) {
    key_bytes_turn(out, from);
  }
}

void key_number_plain(const struct key_order *o, const unsigned char *text,
                      size_t n, struct key_bytes *out) {
  const size_t blanks = skip_blanks(o, text, n);
  const bool minus = blanks < n && text[blanks] == '-';
  put_number(o, minus, text + blanks + minus, n - blanks - minus, out);
}

/* --- with units --- */

static unsigned unit_order(unsigned char c) {
  static const char units[] = "KMGTPEZYRQ";
  const char *const at = c ? strchr(units, c == 'k' ? 'K' : c) : NULL;
  return at ? (unsigned)(at - units) + 1 : 0;
}

/* Behind the digits; 0 where all of them are. One separator at a time, and a
   digit behind it, or the number ends before. */
static unsigned unit_of(const struct key_order *o, const unsigned char *at,
                        const unsigned char *end) {
  bool counts = false, separated = false;
  for (; at < end && is_digit(*at); at++) {
    counts |= *at != '0';
    separated = at + 1 < end && (int)at[1] == o->thousands;
    at += separated;
  }
  if (separated) {
    at--;
  } else if (at < end && *at == o->decimal) {
    for (at++; at < end && is_digit(*at); at++) {
      counts |= *at != '0';
    }
  }
  return counts && at < end ? unit_order(*at) : 0;
}

void key_number_human(const struct key_order *o, const unsigned char *text,
                      size_t n, struct key_bytes *out) {
  const size_t blanks = skip_blanks(o, text, n);
  const bool minus = blanks < n && text[blanks] == '-';
  const unsigned unit = unit_of(o, text + blanks + minus, text + n);
  key_bytes_put(out, minus ? 0x80 - unit : 0x80 + unit);
  put_number(o, minus, text + blanks + minus, n - blanks - minus, out);
}

/* --- floating --- */

/* Digits up to here are exact as a long double, and so are powers of ten. */
enum { EXACT_DIGITS = 18 };
/* Texts up to here need no memory. */
enum { SHORT = 256 };
/* Bytes of a long double that count. */
enum { NAN_BYTES = LDBL_MANT_DIG == 64 ? 10 : sizeof(long double) };

/* Plain numbers of few digits, without strtold; false if it is no such. */
static bool read_short(const struct key_order *o, const unsigned char *text,
                       size_t n, long double *value) {
  static const long double power[] = {
      1e0L,  1e1L,  1e2L,  1e3L,  1e4L,  1e5L,  1e6L,  1e7L,  1e8L, 1e9L,
      1e10L, 1e11L, 1e12L, 1e13L, 1e14L, 1e15L, 1e16L, 1e17L, 1e18L};
  uint64_t sum = 0;
  const bool minus = n && *text == '-';
  size_t i = minus, digits = 0, behind = 0;
  bool point = false;
  for (; i < n; i++) {
    if (is_digit(text[i])) {
      sum = sum * 10 + (text[i] - '0');
      behind += point;
      if (++digits > EXACT_DIGITS) {
        return false;
      }
    } else if (text[i] == o->decimal && !point) {
      point = true;
    } else {
      break;
    }
  }
  if (digits == 0 || (i < n && !o->blank[text[i]])) {
    return false;
  }
  *value = (long double)sum / power[behind];
  *value = minus ? -*value : *value;
  return true;
}

/* false: nothing was read. */
static bool read_long(const unsigned char *text, size_t n, long double *value) {
  char little[SHORT], *copy = little, *end;
  if (n >= SHORT && !(copy = native_alloc(n + 1))) {
    copy = little; /* so long a number is none */
    n = SHORT - 1;
  }
  memcpy(copy, text, n);
  copy[n] = '\0';
  *value = strtold(copy, &end);
  const bool read = end != copy;
  if (copy != little) {
    native_free(copy);
  }
  return read;
}

/* Exponent, then the fraction's bits. */
static void put_value(long double v, struct key_bytes *out) {
  unsigned char *const from = out->at;
  int exponent;
  if (v == 0) {
    key_bytes_put(out, 0x80);
    return;
  }
  key_bytes_put(out, 0x81);
  const long double positive = v < 0 ? -v : v;
  if (isinf(positive)) {
    key_bytes_number(out, UINT32_MAX, 4);
  } else {
    const long double scaled = ldexpl(frexpl(positive, &exponent), 64);
    const uint64_t high = (uint64_t)scaled;
    key_bytes_number(out, (uint32_t)(exponent + (1 << 20)), 4);
    key_bytes_number(out, high, 8);
    key_bytes_number(out, (uint64_t)ldexpl(scaled - (long double)high, 64), 8);
  }
  if (v < 0) {
    key_bytes_turn(out, from);
  }
}

void key_number_general(const struct key_order *o, const unsigned char *text,
                        size_t n, struct key_bytes *out) {
  const size_t blanks = skip_blanks(o, text, n);
  long double v;
  text += blanks;
  n -= blanks;
  if (!read_short(o, text, n, &v) && !read_long(text, n, &v)) {
    key_bytes_put(out, 0);
  } else if (isnan(v)) {
    key_bytes_put(out, 1);
    key_bytes_add(out, &v, NAN_BYTES); /* any order, if it is always the same */
  } else {
    put_value(v, out);
  }
}
