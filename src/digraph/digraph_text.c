#include "digraph/digraph_text.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/encoding.h"
#include "digraph/digraph.h"
#include "digraph/digraph_input.h"

/* Bytes read at once, if lines are not longer. */
enum { BUFFER = 1 << 20 };

int digraph_text_refuse(const struct digraph_text *t, const char *format, ...) {
  char what[300];
  va_list list;
  va_start(list, format);
  vsnprintf(what, sizeof(what), format, list);
  va_end(list);
  return digraph_failure(t->error, EINVAL, "%.150s:%" PRIu64 ": %s", t->path,
                         t->line ? t->line : 1,
                         what); /* an empty file has one */
}

/* --- the buffer --- */

/* For a line that is longer than the buffer, which is full of it. */
static int enlarge(struct digraph_text *t) {
  if (t->room == t->longest) {
    t->line++;
    return digraph_text_refuse(t,
                               "the line has more than %zu bytes: give a text "
                               "file of numbers in lines",
                               t->longest);
  }
  const size_t room = 2 * t->room < t->longest ? 2 * t->room : t->longest;
  char *const buffer = digraph_memory(room + 1, t->error);
  if (!buffer) {
    return ENOMEM;
  }
  memcpy(buffer, t->next, t->room);
  free(t->buffer);
  t->buffer = t->next = buffer;
  t->end = buffer + t->room;
  t->room = room;
  return 0;
}

/* Moves what is left to the buffer's beginning, and fills up the rest. */
static int fill(struct digraph_text *t) {
  const size_t left = (size_t)(t->end - t->next);
  if (left == t->room) {
    return enlarge(t);
  }
  memmove(t->buffer, t->next, left);
  t->next = t->buffer;
  t->end = t->buffer + left;
  size_t n;
  const int code =
      digraph_input_read(t->input, t->end, t->room - left, &n, t->error);
  if (code) {
    return code;
  }
  t->end += n;
  t->last = n == 0;
  if (t->last && left > 0) {
    *t->end++ = '\n'; /* the last line may lack one; there is room for it */
  }
  return 0;
}

/* --- opening --- */

void digraph_text_close(struct digraph_text *t) {
  free(t->buffer);
  digraph_input_close(t->input);
}

/* Goes behind a byte order mark. Numbers are read as bytes only. */
static int begin(struct digraph_text *t) {
  const int code = fill(t);
  if (code) {
    return code;
  }
  const size_t n = (size_t)(t->end - t->next);
  const char *const wide = encoding_wide(t->next, n);
  t->next += encoding_mark(t->next, n);
  return wide ? digraph_text_refuse(t,
                                    "the text is %s: convert it with iconv -f "
                                    "%s -t UTF-8",
                                    wide, wide)
              : 0;
}

int digraph_text_open(struct digraph_text *t, const char *path,
                      struct pems_error *error) {
  *t = (struct digraph_text){
      .path = path, .error = error, .longest = BUFFER, .room = BUFFER};
  int code = digraph_input_open(&t->input, path, error);
  if (code) {
    return code;
  }
  t->bytes = digraph_input_size(t->input);
  t->buffer = digraph_memory(BUFFER + 1, error);
  if (!t->buffer) {
    digraph_input_close(t->input);
    return ENOMEM;
  }
  t->next = t->end = t->buffer;
  code = begin(t);
  if (code) {
    digraph_text_close(t);
  }
  return code;
}

/* --- the next line --- */

int digraph_text_next(struct digraph_text *t) {
  for (;;) {
    char *const end = memchr(t->next, '\n', (size_t)(t->end - t->next));
    if (end) {
      t->at = t->next;
      t->next = end + 1;
      t->line++;
      return 0;
    }
    const int code = t->last ? ENODATA : fill(t);
    if (code) {
      return code;
    }
  }
}

static bool blank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

bool digraph_text_ended(struct digraph_text *t) {
  while (blank(*t->at)) {
    t->at++;
  }
  return *t->at == '\n';
}

int digraph_text_line(struct digraph_text *t) {
  int code;
  do {
    code = digraph_text_next(t);
  } while (!code && digraph_text_ended(t));
  return code;
}

/* --- words --- */

/* How long the next word is. */
static int word_length(struct digraph_text *t) {
  const char *end = t->at;
  while (digraph_text_ended(t)) {
    return 0;
  }
  for (end = t->at; !blank(*end) && *end != '\n'; end++)
    ;
  return (int)(end - t->at);
}

bool digraph_text_skip(struct digraph_text *t) {
  const int length = word_length(t);
  t->at += length;
  return length > 0;
}

bool digraph_text_word(struct digraph_text *t, const char *word) {
  const size_t length = (size_t)word_length(t);
  if (length != strlen(word) || strncasecmp(t->at, word, length) != 0) {
    return false;
  }
  t->at += length;
  return true;
}

int digraph_text_done(struct digraph_text *t) {
  const int length = word_length(t);
  return length == 0
             ? 0
             : digraph_text_refuse(t,
                                   "more in the line than belongs there: "
                                   "\"%.*s\": take it out",
                                   length < 40 ? length : 40, t->at);
}

/* What should be `what` is something else. */
static int refuse_word(struct digraph_text *t, const char *what,
                       const char *remedy) {
  const int length = word_length(t);
  if (length == 0) {
    return digraph_text_refuse(t, "%s is missing: %s", what, remedy);
  }
  return digraph_text_refuse(t, "%s is not right: \"%.*s\": %s", what,
                             length < 40 ? length : 40, t->at, remedy);
}

/* --- numbers --- */

/* Scans digits; NULL if there are none, or they are of more than 64 bits, or
   something other than a blank is next. */
static const char *scan(const char *at, uint64_t *number) {
  const char *const begin = at;
  uint64_t n = 0;
  for (unsigned digit; (digit = (unsigned)*at - '0') < 10; at++) {
    if (at - begin >= 19 &&
        (n > UINT64_MAX / 10 || n * 10 > UINT64_MAX - digit)) {
      return NULL;
    }
    n = n * 10 + digit;
  }
  *number = n;
  return at > begin && (blank(*at) || *at == '\n') ? at : NULL;
}

int digraph_text_number(struct digraph_text *t, const char *what,
                        uint64_t least, uint64_t most, uint64_t *number) {
  while (blank(*t->at)) {
    t->at++;
  }
  const char *const end = scan(t->at, number);
  if (end && *number >= least && *number <= most) {
    t->at = end;
    return 0;
  }
  char remedy[80];
  snprintf(remedy, sizeof(remedy), "give a number from %" PRIu64 " to %" PRIu64,
           least, most);
  return refuse_word(t, what, remedy);
}

int digraph_text_signed(struct digraph_text *t, const char *what,
                        int32_t *number) {
  uint64_t n;
  while (blank(*t->at)) {
    t->at++;
  }
  const int negative = *t->at == '-';
  const char *const end = scan(t->at + negative, &n);
  if (end && n <= (uint64_t)INT32_MAX + (uint64_t)negative) {
    *number = (int32_t)(negative ? -(int64_t)n : (int64_t)n);
    t->at = end;
    return 0;
  }
  return refuse_word(t, what, "give a whole number of 32 bits");
}

/* A real number; NAN if it is none that a weight can be made of. */
static double real(struct digraph_text *t, const char **end) {
  char *stop;
  if (digraph_text_ended(t)) {
    return NAN; /* strtod would go on to the next line */
  }
  const double value = strtod(t->at, &stop);
  *end = stop;
  return stop > t->at && (blank(*stop) || *stop == '\n') ? value : NAN;
}

int digraph_text_weight(struct digraph_text *t, double scale, uint32_t *weight,
                        int *rounded) {
  uint64_t n;
  while (blank(*t->at)) {
    t->at++;
  }
  const char *end = scan(t->at, &n);
  if (end && scale == 1 && n <= UINT32_MAX) {
    *weight = (uint32_t)n;
    t->at = end;
    return 0;
  }
  const double value = real(t, &end) * scale;
  if (!(value >= 0 && value <= UINT32_MAX)) {
    return refuse_word(t, "the weight",
                       "give a number from 0 to 4294967295 (after scaling)");
  }
  const double whole = nearbyint(value);
  *rounded |= whole != value;
  *weight = (uint32_t)whole;
  t->at = end;
  return 0;
}
