#include "em/lines/line_quotes.h"

#include <string.h>

enum { QUOTE = '"' };

void line_quotes_begin(struct line_quotes *q, unsigned char separator) {
  *q = (struct line_quotes){.separator = separator};
}

/* Counts newlines, and outside quotes turns them. */
static void turn_newlines(struct line_quotes *q, unsigned char *at,
                          const unsigned char *end) {
  while (at < end && (at = memchr(at, '\n', (size_t)(end - at)))) {
    q->newlines++;
    *at = q->inside ? '\n' : 0;
    at++;
  }
}

/* Whether a quote opens a column: at its beginning. */
static bool opens(const struct line_quotes *q) {
  return q->before == q->separator || q->before == 0;
}

/* Of what is behind a quote inside: two of them stand for one. */
static void go_on(struct line_quotes *q, unsigned char next) {
  q->inside = next == QUOTE;
  q->closing = false;
}

static void meet_quote(struct line_quotes *q) {
  if (q->inside) {
    q->closing = true;
  } else if (opens(q)) {
    q->inside = true;
    q->opened = q->newlines + 1;
  }
  q->before = QUOTE;
}

bool line_quotes_turn(struct line_quotes *q, unsigned char *at, size_t n) {
  unsigned char *const end = at + n;
  const unsigned char *const zero = n > 0 ? memchr(at, 0, n) : NULL;
  if (zero) {
    for (; at < zero; at++) {
      q->newlines += *at == '\n';
    }
    return false;
  }
  while (at < end) {
    if (q->closing) {
      go_on(q, *at);
      if (*at == QUOTE) {
        at++;
        continue;
      }
    }
    unsigned char *const quote = memchr(at, QUOTE, (size_t)(end - at));
    unsigned char *const stop = quote ? quote : end;
    turn_newlines(q, at, stop);
    q->before = stop > at ? stop[-1] : q->before;
    at = stop;
    if (quote) {
      meet_quote(q);
      at++;
    }
  }
  return true;
}
