#include "em/lines/key_version.h"

/* What a byte of a text becomes: '~' is before its end, a letter behind that,
   all else behind letters. */
enum { TILDE = 1, END = 2, LETTERS = 3, OTHERS = LETTERS + 52 };

static bool is_digit(unsigned char c) {
  return c >= '0' && c <= '9';
}

static bool is_letter(unsigned char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Others than digits, letters and '~' are 193: c less those before it. */
static unsigned rank_of(unsigned char c) {
  if (c == '~') {
    return TILDE;
  }
  if (is_letter(c)) {
    return LETTERS + (c <= 'Z' ? c - 'A' : c - 'a' + 26);
  }
  return OTHERS + c - (c > '9' ? 10 : 0) - (c > 'Z' ? 26 : 0) -
         (c > 'z' ? 26 : 0) - (c > '~' ? 1 : 0);
}

/* Texts and numbers in turn. A text ends as if a number 0 came behind it. */
static void put_parts(const unsigned char *s, size_t n, struct key_bytes *out) {
  size_t i = 0;
  while (i < n) {
    for (; i < n && !is_digit(s[i]); i++) {
      key_bytes_put(out, rank_of(s[i]));
    }
    key_bytes_put(out, END);
    while (i < n && s[i] == '0') {
      i++;
    }
    size_t digits = 0;
    while (i + digits < n && is_digit(s[i + digits])) {
      digits++;
    }
    key_bytes_count(out, digits);
    key_bytes_add(out, s + i, digits);
    i += digits;
  }
  key_bytes_put(out, END);
}

/* Length without suffixes such as ".tar.gz", which never are all of it (but for
   coreutils 9.1). */
static size_t stem(const unsigned char *s, size_t n) {
  for (size_t i = 1;; i++) {
    const size_t length = i;
    while (i + 1 < n && s[i] == '.' &&
           (is_letter(s[i + 1]) || s[i + 1] == '~')) {
      for (i += 2; i < n && (is_letter(s[i]) || is_digit(s[i]) || s[i] == '~');
           i++) {
      }
    }
    if (i >= n) {
      return length;
    }
  }
}

/* Nothing, ".", "..", other names with a point, the rest. */
static unsigned class_of(const unsigned char *s, size_t n) {
  if (n == 0) {
    return 0;
  }
  if (s[0] != '.') {
    return 4;
  }
  return n == 1 ? 1 : n == 2 && s[1] == '.' ? 2 : 3;
}

void key_version(const unsigned char *text, size_t n, struct key_bytes *out) {
  const unsigned class = class_of(text, n);
  key_bytes_put(out, class);
  if (class >= 3) {
    put_parts(text, stem(text, n), out);
    put_parts(text, n, out);
  }
}
