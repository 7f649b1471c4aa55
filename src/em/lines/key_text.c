#define _GNU_SOURCE
#include "em/lines/key_text.h"

#include <errno.h>
#include <string.h>

#include "os/native.h"

void key_scratch_free(struct key_scratch *s) {
  for (int i = 0; i < KEY_SCRATCHES; i++) {
    native_free(s->text[i]);
    s->text[i] = NULL;
    s->size[i] = 0;
  }
}

char *key_scratch_get(struct key_scratch *s, enum key_scratch_use which,
                      size_t n) {
  if (s->size[which] < n) {
    native_free(s->text[which]);
    s->size[which] = n + n / 2 + 64;
    s->text[which] = native_alloc(s->size[which]);
    s->size[which] = s->text[which] ? s->size[which] : 0;
  }
  return s->text[which];
}

/* --- what is ignored, and upper case --- */

static const bool *ignored_by(const struct key_order *o,
                              const struct key_field *f) {
  return f->ignore == KEY_IGNORE_DICTIONARY ? o->no_dictionary
         : f->ignore == KEY_IGNORE_PRINT    ? o->no_print
                                            : NULL;
}

/* Returns how many bytes are left. */
static size_t translate(const struct key_order *o, const struct key_field *f,
                        const unsigned char *text, size_t n,
                        unsigned char *to) {
  const bool *const ignored = ignored_by(o, f);
  size_t used = 0;
  for (size_t i = 0; i < n; i++) {
    if (!ignored || !ignored[text[i]]) {
      to[used++] = f->fold ? o->upper[text[i]] : text[i];
    }
  }
  return used;
}

static void put_translated(const struct key_order *o, const struct key_field *f,
                           const unsigned char *text, size_t n,
                           struct key_bytes *out) {
  if (!f->fold && !f->ignore) {
    key_bytes_add(out, text, n);
  } else if ((size_t)(out->end - out->at) >= n) {
    out->at += translate(o, f, text, n, out->at);
  } else {
    out->full = true;
  }
}

/* --- the locale --- */

/* Each part between zero bytes, with one between them: no byte of strxfrm's is
   0. */
static void put_collated(const char *copy, size_t n, struct key_bytes *out) {
  for (size_t i = 0;; i++) {
    const size_t room = (size_t)(out->end - out->at);
    const size_t needed = strxfrm((char *)out->at, copy + i, room);
    if (needed >= room) {
      out->full = true;
      return;
    }
    out->at += needed;
    i += strlen(copy + i);
    if (i >= n) {
      return;
    }
    key_bytes_put(out, 0);
  }
}

int key_text_copy(const struct key_order *o, const struct key_field *f,
                  const unsigned char *text, size_t n,
                  struct key_scratch *scratch, const unsigned char **copy,
                  size_t *copy_n) {
  char *const to = key_scratch_get(scratch, KEY_SCRATCH_COPY, n + 1);
  if (!to) {
    return ENOMEM;
  }
  *copy_n = translate(o, f, text, n, (unsigned char *)to);
  to[*copy_n] = '\0';
  *copy = (unsigned char *)to;
  return 0;
}

int key_text(const struct key_order *o, const struct key_field *f,
             const unsigned char *text, size_t n, struct key_scratch *scratch,
             struct key_bytes *out) {
  const unsigned char *copy;
  if (!o->collates) {
    put_translated(o, f, text, n, out);
    return 0;
  }
  const int failed = key_text_copy(o, f, text, n, scratch, &copy, &n);
  if (!failed && n > 0) {
    put_collated((const char *)copy, n, out);
  }
  return failed;
}

int key_text_collate(const unsigned char *a, size_t a_n, const unsigned char *b,
                     size_t b_n) {
  if (a_n == 0 || b_n == 0) {
    return (a_n > 0) - (b_n > 0);
  }
  if (a_n == b_n && memcmp(a, b, a_n) == 0) {
    return 0;
  }
  for (;;) {
    const int order = strcoll((const char *)a, (const char *)b);
    const size_t a_part = strlen((const char *)a) + 1;
    const size_t b_part = strlen((const char *)b) + 1;
    if (order) {
      return order;
    }
    if (a_part > a_n || b_part > b_n) {
      return (a_part <= a_n) - (b_part <= b_n);
    }
    a += a_part;
    a_n -= a_part;
    b += b_part;
    b_n -= b_part;
  }
}

/* --- random --- */

static uint64_t mix(uint64_t x) {
  x ^= x >> 32;
  x *= UINT64_C(0xd6e8feb86659fd93);
  x ^= x >> 32;
  x *= UINT64_C(0xd6e8feb86659fd93);
  return x ^ x >> 32;
}

static uint64_t hash(uint64_t seed, const unsigned char *text, size_t n) {
  uint64_t h = mix(seed ^ n), word;
  for (; n >= sizeof(word); n -= sizeof(word), text += sizeof(word)) {
    memcpy(&word, text, sizeof(word));
    h = mix(h ^ mix(word + seed)) + UINT64_C(0x9e3779b97f4a7c15);
  }
  word = 0;
  memcpy(&word, text, n);
  return mix(h ^ mix(word + ~seed));
}

int key_text_hash(const struct key_order *o, const struct key_field *f,
                  const unsigned char *text, size_t n,
                  struct key_scratch *scratch, struct key_bytes *out) {
  size_t room = 8 * n + 64;
  for (;; room *= 4) {
    char *const buffer = key_scratch_get(scratch, KEY_SCRATCH_HASH, room);
    struct key_bytes b = {(unsigned char *)buffer,
                          (unsigned char *)buffer + room, false};
    const int failed = buffer ? key_text(o, f, text, n, scratch, &b) : ENOMEM;
    if (failed) {
      return failed;
    }
    if (!b.full) {
      n = (size_t)(b.at - (unsigned char *)buffer);
      text = (unsigned char *)buffer;
      break;
    }
  }
  key_bytes_number(out, hash(o->random[0], text, n), 8);
  key_bytes_number(out, hash(o->random[1], text, n), 8);
  return 0;
}

/* --- months --- */

static bool is_month(const struct key_order *o, const char *name,
                     const unsigned char *text, size_t n) {
  size_t i = 0;
  while (name[i] && i < n && (char)o->upper[text[i]] == name[i]) {
    i++;
  }
  return i > 0 && !name[i];
}

void key_text_month(const struct key_order *o, const unsigned char *text,
                    size_t n, struct key_bytes *out) {
  unsigned month = 0;
  while (n > 0 && o->blank[*text]) {
    text++;
    n--;
  }
  for (unsigned i = 0; i < KEY_MONTHS && !month; i++) {
    month = is_month(o, o->month[i], text, n) ? i + 1 : 0;
  }
  key_bytes_put(out, month);
}
