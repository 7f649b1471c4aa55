#include "em/lines/line_reader.h"

#include <errno.h>
#include <string.h>

#include "base/failure.h"
#include "em/lines/key_encode.h"
#include "em/lines/line_slots.h"
#include "os/native.h"

/* Bytes that are read at a time. */
#define PIECE ((size_t)64 << 10)

int line_space_reserve(struct line_space *s, size_t n,
                       struct pems_error *error) {
  if (s->room >= n + LINE_SPARE) {
    return 0;
  }
  const size_t room = n + n / 2 + LINE_SPARE + 64;
  unsigned char *const more = native_realloc(s->at, room);
  if (!more) {
    return failure(error, ENOMEM, "memory: %zu bytes for a line: free some", n);
  }
  s->at = more;
  s->room = room;
  return 0;
}

void line_reader_begin(struct line_reader *r, const struct key_order *o,
                       struct line_source *source, size_t limit) {
  *r = (struct line_reader){.o = o, .source = source, .limit = limit};
}

void line_reader_free(struct line_reader *r) {
  native_free(r->text.at);
  native_free(r->space.at);
  key_scratch_free(&r->scratch);
  line_source_free(r->source);
  *r = (struct line_reader){0};
}

static int too_long(const struct line_reader *r, struct pems_error *error) {
  const int blamed = line_source_blame_quote(r->source, r->limit, error);
  return blamed ? blamed
                : failure(
                      error, EFBIG,
                      "%s: a line or key of more than %zu bytes: does not fit: "
                      "give more memory (-S)",
                      line_source_name(r->source), r->limit);
}

/* More bytes behind those that are there; *n is 0 at the end. */
static int read_more(struct line_reader *r, size_t *n,
                     struct pems_error *error) {
  const size_t kept = r->filled - r->begin;
  if (kept > r->limit) {
    return too_long(r, error);
  }
  if (r->begin > 0) {
    memmove(r->text.at, r->text.at + r->begin, kept);
    r->begin = 0;
    r->filled = kept;
  }
  const int failed = line_space_reserve(&r->text, kept + PIECE, error);
  if (failed) {
    return failed;
  }
  const int code =
      line_source_read(r->source, r->text.at + kept, PIECE, n, error);
  r->filled += *n;
  return code;
}

static int find_line(struct line_reader *r, bool *there,
                     struct pems_error *error) {
  size_t looked = 0, n;
  for (;;) {
    const unsigned char *const from = r->text.at + r->begin;
    const size_t left = r->filled - r->begin;
    const unsigned char *const end =
        left > looked ? memchr(from + looked, r->o->end, left - looked) : NULL;
    *there = end != NULL;
    if (end) {
      r->line = from;
      r->line_n = (size_t)(end - from);
      r->begin += r->line_n + 1;
      return 0;
    }
    looked = left;
    const int failed = read_more(r, &n, error);
    if (failed || n == 0) {
      return failed;
    }
  }
}

static int make_string(struct line_reader *r, struct pems_error *error) {
  size_t room = r->space.room > LINE_SPARE ? r->space.room - LINE_SPARE : 256;
  for (;; room *= 2) {
    int failed = line_space_reserve(&r->space, room, error);
    if (failed) {
      return failed;
    }
    struct key_bytes out = {r->space.at, r->space.at + room, false};
    failed = key_encode(r->o, r->line, r->line_n, &r->scratch, &out);
    if (failed) {
      return failure(error, failed, "memory: for keys: %s: free some",
                     strerror(failed));
    }
    if (!out.full) {
      r->string = r->space.at;
      r->string_n = (size_t)(out.at - r->space.at);
      return 0;
    }
    if (room > r->limit) {
      return too_long(r, error);
    }
  }
}

int line_reader_next(struct line_reader *r, bool *there,
                     struct pems_error *error) {
  const int failed = find_line(r, there, error);
  if (failed || !*there) {
    return failed;
  }
  r->string = r->line;
  r->string_n = r->line_n;
  return r->o->whole ? 0 : make_string(r, error);
}
