#include "em/lines/key_encode.h"

#include <string.h>

#include "em/lines/key_column.h"
#include "em/lines/key_field.h"
#include "em/lines/key_number.h"
#include "em/lines/key_version.h"

/* Puts an end to the text that begins at `from`, so that it is no beginning of
   a longer one: a byte 0 becomes 0 255, the end is 0 0. */
static void end_text(struct key_bytes *out, unsigned char *from) {
  size_t zeros = 0;
  for (const unsigned char *at = from; at < out->at; at++) {
    zeros += *at == 0;
  }
  if ((size_t)(out->end - out->at) < zeros + 2) {
    out->full = true;
    return;
  }
  const unsigned char *read = out->at;
  out->at += zeros;
  for (unsigned char *write = out->at; zeros > 0;) {
    *--write = *--read;
    if (*read == 0) {
      *write-- = 255;
      *write = 0;
      zeros--;
    }
  }
  key_bytes_put(out, 0);
  key_bytes_put(out, 0);
}

/* `alone`: nothing follows that could be taken for a part of it. */
static int put_text(const struct key_order *o, const struct key_field *f,
                    const unsigned char *text, size_t n, bool alone,
                    struct key_scratch *scratch, struct key_bytes *out) {
  unsigned char *const from = out->at;
  const int failed = key_text(o, f, text, n, scratch, out);
  if (!failed && !alone && !out->full) {
    end_text(out, from);
  }
  return failed;
}

static int put_field(const struct key_order *o, const struct key_field *f,
                     const unsigned char *text, size_t n, bool alone,
                     struct key_scratch *scratch, struct key_bytes *out) {
  switch (f->kinds) {
  case KEY_NUMERIC:
    key_number_plain(o, text, n, out);
    return 0;
  case KEY_GENERAL:
    key_number_general(o, text, n, out);
    return 0;
  case KEY_HUMAN:
    key_number_human(o, text, n, out);
    return 0;
  case KEY_MONTH:
    key_text_month(o, text, n, out);
    return 0;
  case KEY_RANDOM:
    return key_text_hash(o, f, text, n, scratch, out);
  default:
    return put_text(o, f, text, n, alone, scratch, out);
  }
}

/* Whether upper case matters, or what is ignored, to more than texts: to units
   behind numbers, and versions. */
static bool is_translated(const struct key_field *f) {
  return (f->kinds == KEY_VERSION || f->kinds == KEY_HUMAN) &&
         (f->fold || f->ignore);
}

static int put_part(const struct key_order *o, const struct key_field *f,
                    const unsigned char *text, size_t n, bool alone,
                    struct key_scratch *scratch, struct key_bytes *out) {
  if (is_translated(f)) {
    const int failed = key_text_copy(o, f, text, n, scratch, &text, &n);
    if (failed) {
      return failed;
    }
  }
  if (f->kinds == KEY_VERSION) {
    key_version(text, n, out);
    return 0;
  }
  return put_field(o, f, text, n, alone, scratch, out);
}

/* Each column as a field of its own; up to the last one of the line, if the
   field has no end. */
static int put_columns(const struct key_order *o, const struct key_field *f,
                       const unsigned char *line, size_t n, bool alone,
                       struct key_scratch *scratch, struct key_bytes *out) {
  struct key_columns c = key_columns_of(o, line, n);
  int failed = 0;
  key_columns_skip(&c, f->first_word);
  alone = alone && f->first_word == f->last_word;
  for (size_t i = f->first_word; i <= f->last_word && !failed; i++) {
    const unsigned char *text;
    size_t text_n;
    if (f->last_word == KEY_LINE_END && key_columns_ended(&c)) {
      break;
    }
    failed = key_columns_next(&c, scratch, &text, &text_n);
    for (; f->first_blanks && text_n > 0 && o->blank[*text]; text_n--) {
      text++;
    }
    if (!failed) {
      failed = put_part(o, f, text, text_n, alone, scratch, out);
    }
  }
  return failed;
}

static int put_range(const struct key_order *o, const struct key_field *f,
                     const unsigned char *line, size_t n, bool alone,
                     struct key_scratch *scratch, struct key_bytes *out) {
  size_t first, last;
  key_field_find(o, f, line, n, &first, &last);
  return put_part(o, f, line + first, last - first, alone, scratch, out);
}

int key_encode(const struct key_order *o, const unsigned char *line, size_t n,
               struct key_scratch *scratch, struct key_bytes *out) {
  int failed = 0;
  for (int i = 0; i < o->fields && !failed; i++) {
    const struct key_field *const f = &o->field[i];
    unsigned char *const from = out->at;
    const bool turned = f->reverse && o->fields > 1;
    const bool alone = i == o->fields - 1 && !turned;
    failed = (o->columns ? put_columns : put_range)(o, f, line, n, alone,
                                                    scratch, out);
    if (turned && !failed) {
      key_bytes_turn(out, from);
    }
  }
  return failed;
}

int key_compare_ties(const struct key_order *o, const unsigned char *a,
                     size_t a_n, const unsigned char *b, size_t b_n) {
  int order = 0;
  if (o->ties == KEY_TIES_BYTES) {
    order = memcmp(a, b, a_n < b_n ? a_n : b_n);
    order = order ? order : (a_n > b_n) - (a_n < b_n);
  } else if (o->ties == KEY_TIES_LOCALE) {
    order = key_text_collate(a, a_n, b, b_n);
  }
  return o->ties_reverse ? -order : order;
}
