#include "em/lines/key_column.h"

#include <errno.h>
#include <string.h>

enum { QUOTE = '"' };

struct key_columns key_columns_of(const struct key_order *o,
                                  const unsigned char *line, size_t n) {
  return (struct key_columns){
      .o = o, .line = line, .n = n - (n > 0 && line[n - 1] == '\r')};
}

/* Where such a byte is from there on, or the end. */
static size_t find(const struct key_columns *c, size_t at, int byte) {
  const unsigned char *const found =
      at < c->n ? memchr(c->line + at, byte, c->n - at) : NULL;
  return found ? (size_t)(found - c->line) : c->n;
}

static bool is_quoted(const struct key_columns *c) {
  return c->o->quotes && c->at < c->n && c->line[c->at] == QUOTE;
}

/* Of the column that begins with a quote: where the quote is that closes it, or
   the end; *twice: there are two quotes in a row before. */
static size_t find_close(const struct key_columns *c, bool *twice) {
  size_t at = find(c, c->at + 1, QUOTE);
  *twice = false;
  while (at + 1 < c->n && c->line[at + 1] == QUOTE) {
    *twice = true;
    at = find(c, at + 2, QUOTE);
  }
  return at;
}

void key_columns_skip(struct key_columns *c, size_t columns) {
  for (; columns > 0 && !key_columns_ended(c); columns--) {
    bool twice;
    const size_t from = is_quoted(c) ? find_close(c, &twice) : c->at;
    c->at = find(c, from, c->o->separator) + 1;
  }
}

/* Text between quotes, where two are one, and what follows; to `to`. */
static size_t unquote(const struct key_columns *c, size_t close, size_t end,
                      char *to) {
  size_t n = 0;
  for (size_t i = c->at + 1; i < close; i++) {
    to[n++] = (char)c->line[i];
    i += c->line[i] == QUOTE;
  }
  if (close < end) {
    memcpy(to + n, c->line + close + 1, end - close - 1);
    n += end - close - 1;
  }
  return n;
}

static int next_quoted(struct key_columns *c, struct key_scratch *scratch,
                       const unsigned char **text, size_t *n) {
  bool twice;
  const size_t close = find_close(c, &twice);
  const size_t end = find(c, close, c->o->separator);
  *text = c->line + c->at + 1;
  *n = close - c->at - 1;
  if (twice || close + 1 < end) {
    char *const copy =
        key_scratch_get(scratch, KEY_SCRATCH_COLUMN, end - c->at);
    if (!copy) {
      return ENOMEM;
    }
    *n = unquote(c, close, end, copy);
    *text = (unsigned char *)copy;
  }
  c->at = end + 1;
  return 0;
}

int key_columns_next(struct key_columns *c, struct key_scratch *scratch,
                     const unsigned char **text, size_t *n) {
  *text = c->line;
  *n = 0;
  if (key_columns_ended(c)) {
    return 0;
  }
  if (is_quoted(c)) {
    return next_quoted(c, scratch, text, n);
  }
  const size_t end = find(c, c->at, c->o->separator);
  *text = c->line + c->at;
  *n = end - c->at;
  c->at = end + 1;
  return 0;
}
