#include "em/lines/line_header.h"

#include <errno.h>
#include <string.h>

#include "base/encoding.h"
#include "base/failure.h"
#include "os/native.h"

static int append(struct line_header *h, const char *name,
                  const unsigned char *at, size_t n, struct pems_error *error) {
  const size_t needed = h->next_n + n;
  if (needed > LINE_HEADER_MOST) {
    return failure(error, EFBIG,
                   "%s: header: more than %zu bytes: leave out --header", name,
                   LINE_HEADER_MOST);
  }
  if (needed > h->room || !h->next) {
    const size_t room = 2 * needed + 256;
    unsigned char *const more = native_realloc(h->next, room);
    if (!more) {
      return failure(error, ENOMEM, "memory: %zu bytes of a header: free some",
                     room);
    }
    h->next = more;
    h->room = room;
  }
  memcpy(h->next + h->next_n, at, n);
  h->next_n = needed;
  return 0;
}

/* Without the return that files of other systems have. */
static size_t text_length(const unsigned char *text, size_t n) {
  return n - (n > 0 && text[n - 1] == '\r');
}

static int take(struct line_header *h, const char *name,
                struct pems_error *error) {
  if (!h->name) {
    h->text = h->next;
    h->n = h->next_n;
    h->name = name;
    h->next = NULL;
    h->next_n = h->room = 0;
    return h->found ? h->found(h->arg, h, error) : 0;
  }
  const size_t n = text_length(h->next, h->next_n);
  const bool same =
      n == text_length(h->text, h->n) && memcmp(h->next, h->text, n) == 0;
  h->next_n = 0;
  return same ? 0
              : failure(error, EINVAL,
                        "%s: header: not that of %s: sort files with the same "
                        "columns",
                        name, h->name);
}

int line_header_begin(struct line_header *h, const char *name,
                      const unsigned char *at, size_t n, size_t *used,
                      struct pems_error *error) {
  const char *const wide = encoding_wide(at, n);
  *used = encoding_mark(at, n);
  h->marked = h->begun ? h->marked : *used > 0;
  h->begun |= n > 0;
  return wide ? failure(error, EINVAL,
                        "%s: text of %s: convert it with iconv -f %s -t UTF-8",
                        name, wide, wide)
              : 0;
}

int line_header_read(struct line_header *h, const char *name,
                     const unsigned char *at, size_t n, unsigned char end,
                     size_t *used, bool *whole, struct pems_error *error) {
  const unsigned char *const found = memchr(at, end, n);
  const size_t some = found ? (size_t)(found - at) : n;
  *whole = found;
  *used = some + (found ? 1 : 0);
  const int failed = append(h, name, at, some, error);
  return failed || !found ? failed : take(h, name, error);
}

void line_header_free(struct line_header *h) {
  native_free(h->text);
  native_free(h->next);
  h->text = h->next = NULL;
}
