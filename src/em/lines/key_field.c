#include "em/lines/key_field.h"

#include <string.h>

struct place {
  const struct key_order *o;
  const unsigned char *line;
  size_t n;
};

static size_t skip_blanks(const struct place *p, size_t at) {
  while (at < p->n && p->o->blank[p->line[at]]) {
    at++;
  }
  return at;
}

static size_t skip_text(const struct place *p, size_t at) {
  while (at < p->n && !p->o->blank[p->line[at]]) {
    at++;
  }
  return at;
}

/* The separator, or the end. */
static size_t find_separator(const struct place *p, size_t at) {
  const unsigned char *const found =
      at < p->n ? memchr(p->line + at, p->o->separator, p->n - at) : NULL;
  return found ? (size_t)(found - p->line) : p->n;
}

/* Behind that many words, and behind the last one's separator, if any; with
   `before`, before that one. */
static size_t skip_words(const struct place *p, size_t words, bool before) {
  size_t at = 0;
  if (p->o->separator == KEY_BLANKS) {
    for (; at < p->n && words > 0; words--) {
      at = skip_text(p, skip_blanks(p, at));
    }
    return at;
  }
  for (; at < p->n && words > 0; words--) {
    at = find_separator(p, at);
    at += at < p->n && (words > 1 || !before);
  }
  return at;
}

static size_t add_bytes(const struct place *p, size_t at, size_t bytes) {
  return bytes < p->n - at ? at + bytes : p->n;
}

static size_t beginning(const struct place *p, const struct key_field *f) {
  size_t at = skip_words(p, f->first_word, false);
  if (f->first_blanks) {
    at = skip_blanks(p, at);
  }
  return add_bytes(p, at, f->first_byte);
}

static size_t limit(const struct place *p, const struct key_field *f) {
  if (f->last_word == KEY_LINE_END) {
    return p->n;
  }
  if (f->last_byte == 0) {
    return skip_words(p, f->last_word + 1, true);
  }
  size_t at = skip_words(p, f->last_word, false);
  if (f->last_blanks) {
    at = skip_blanks(p, at);
  }
  return add_bytes(p, at, f->last_byte);
}

void key_field_find(const struct key_order *o, const struct key_field *f,
                    const unsigned char *line, size_t n, size_t *first,
                    size_t *last) {
  const struct place p = {o, line, n};
  *first = beginning(&p, f);
  *last = limit(&p, f);
  if (*last < *first) {
    *last = *first;
  }
}
