#define _GNU_SOURCE
#include "em/lines/key_order.h"

#include <ctype.h>
#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <string.h>

#include "base/failure.h"

void key_order_init(struct key_order *o) {
  memset(o, 0, sizeof(*o));
  o->separator = KEY_BLANKS;
  o->end = '\n';
  o->all.last_word = KEY_LINE_END;
}

/* --- what users write --- */

static bool set_kind(struct key_field *f, char letter) {
  static const char letters[] = "nghMRV";
  const char *const at = strchr(letters, letter);
  if (!at || !letter) {
    return false;
  }
  f->kinds |= 1u << (at - letters);
  return true;
}

bool key_field_letter(struct key_field *f, char letter, bool last) {
  switch (letter) {
  case 'b':
    *(last ? &f->last_blanks : &f->first_blanks) = true;
    return true;
  case 'd':
    f->ignore = KEY_IGNORE_DICTIONARY;
    return true;
  case 'i':
    if (f->ignore == KEY_IGNORE_NONE) {
      f->ignore = KEY_IGNORE_PRINT;
    }
    return true;
  case 'f':
    f->fold = true;
    return true;
  case 'r':
    f->reverse = true;
    return true;
  default:
    return set_kind(f, letter);
  }
}

static int bad(const char *text, const char *why, struct pems_error *error) {
  return failure(error, EINVAL,
                 "key: %s: %s: give FIELD[.BYTE][OPTIONS][,FIELD[.BYTE]"
                 "[OPTIONS]], counted from 1",
                 text, why);
}

/* A number; those beyond what lines may have are the largest. NULL: none. */
static const char *read_count(const char *at, size_t *count) {
  if (!isdigit((unsigned char)*at)) {
    return NULL;
  }
  *count = 0;
  for (; isdigit((unsigned char)*at); at++) {
    const size_t digit = (size_t)(*at - '0');
    *count = *count > (KEY_LINE_END - 1 - digit) / 10 ? KEY_LINE_END - 1
                                                      : *count * 10 + digit;
  }
  return at;
}

static const char *read_letters(const char *at, struct key_field *f,
                                bool last) {
  while (*at && key_field_letter(f, *at, last)) {
    at++;
  }
  return at;
}

static int read_first(const char *text, const char **at, struct key_field *f,
                      struct pems_error *error) {
  *at = read_count(*at, &f->first_word);
  if (!*at || f->first_word-- == 0) {
    return bad(text, *at ? "no field 0" : "no number of a field", error);
  }
  if (**at == '.') {
    *at = read_count(*at + 1, &f->first_byte);
    if (!*at || f->first_byte-- == 0) {
      return bad(text, *at ? "no byte 0" : "no number behind the point", error);
    }
  }
  *at = read_letters(*at, f, false);
  return 0;
}

static int read_last(const char *text, const char **at, struct key_field *f,
                     struct pems_error *error) {
  *at = read_count(*at, &f->last_word);
  if (!*at || f->last_word-- == 0) {
    return bad(text, *at ? "no field 0" : "no number behind the comma", error);
  }
  if (**at == '.') {
    *at = read_count(*at + 1, &f->last_byte);
    if (!*at) {
      return bad(text, "no number behind the point", error);
    }
  }
  *at = read_letters(*at, f, true);
  return 0;
}

int key_order_add(struct key_order *o, const char *text,
                  struct pems_error *error) {
  struct key_field f = {.last_word = KEY_LINE_END};
  const char *at = text;
  if (o->fields == KEY_MOST_FIELDS) {
    return failure(error, EINVAL, "key: %s: more than %d keys: give fewer",
                   text, KEY_MOST_FIELDS);
  }
  int failed = read_first(text, &at, &f, error);
  if (!failed && *at == ',') {
    at++;
    failed = read_last(text, &at, &f, error);
  }
  if (!failed && *at) {
    failed = bad(text, "what is behind it means nothing", error);
  }
  if (!failed) {
    o->field[o->fields++] = f;
  }
  return failed;
}

/* --- what follows from it --- */

static bool has_options(const struct key_field *f) {
  return f->ignore || f->fold || f->first_blanks || f->last_blanks || f->kinds;
}

static void inherit(struct key_field *f, const struct key_field *all) {
  if (has_options(f) || f->reverse) {
    return;
  }
  f->ignore = all->ignore;
  f->fold = all->fold;
  f->first_blanks = all->first_blanks;
  f->last_blanks = all->last_blanks;
  f->kinds = all->kinds;
  f->reverse = all->reverse;
}

static int check_field(const struct key_field *f, struct pems_error *error) {
  static const char letters[] = "nghMRV";
  char given[16] = "";
  size_t n = 0;
  for (unsigned i = 0; i < sizeof(letters) - 1; i++) {
    if (f->kinds & 1u << i) {
      given[n++] = letters[i];
    }
  }
  const bool text_only = f->kinds & ~(unsigned)(KEY_RANDOM | KEY_VERSION);
  const bool two = f->kinds & (f->kinds - 1);
  if (!two && !(text_only && f->ignore)) {
    return 0;
  }
  if (f->ignore) {
    given[n++] = f->ignore == KEY_IGNORE_DICTIONARY ? 'd' : 'i';
  }
  return failure(error, EINVAL,
                 "options: -%s: cannot be combined: leave out all but one",
                 given);
}

static void set_tables(struct key_order *o) {
  for (int c = 0; c < 256; c++) {
    o->blank[c] = isblank(c) || c == '\n';
    o->no_print[c] = !isprint(c);
    o->no_dictionary[c] = !isalnum(c) && !o->blank[c];
    o->upper[c] = (unsigned char)toupper(c);
  }
}

/* Numbers are read byte by byte: longer marks are none. */
static void set_marks(struct key_order *o) {
  const struct lconv *const l = localeconv();
  const char *const point = l->decimal_point, *const mark = l->thousands_sep;
  o->decimal = point[0] && !point[1] ? (unsigned char)point[0] : '.';
  o->thousands = mark[0] && !mark[1] ? (unsigned char)mark[0] : -1;
}

static void set_months(struct key_order *o) {
  for (int i = 0; i < KEY_MONTHS; i++) {
    const char *name = nl_langinfo(ABMON_1 + i);
    size_t n = 0;
    for (; *name && n < KEY_MONTH_BYTES - 1; name++) {
      const unsigned char c = (unsigned char)*name;
      if (!isblank(c)) {
        o->month[i][n++] = (char)o->upper[c];
      }
    }
    o->month[i][n] = '\0';
  }
}

/* Locales without rules, as C and C.UTF-8, order strings by their bytes. */
static bool collates(void) {
  const char *const name = setlocale(LC_COLLATE, NULL);
  return name && strcmp(name, "C") != 0 && strcmp(name, "POSIX") != 0 &&
         (uint32_t)(uintptr_t)nl_langinfo(_NL_COLLATE_NRULES) != 0;
}

static bool is_whole_line(const struct key_field *f) {
  return !has_options(f) && f->first_word == 0 && f->first_byte == 0 &&
         f->last_word == KEY_LINE_END;
}

/* Equal strings are equal lines, if the string is the line. */
static void choose_ties(struct key_order *o, bool fields) {
  const bool stable = o->stable || o->columns;
  o->ties = !fields || o->unique || stable || o->whole ? KEY_TIES_STAND
            : o->collates                              ? KEY_TIES_LOCALE
                                                       : KEY_TIES_BYTES;
  o->ties_reverse = o->all.reverse;
}

int key_order_finish(struct key_order *o, struct pems_error *error) {
  for (int i = 0; i < o->fields; i++) {
    inherit(&o->field[i], &o->all);
  }
  const bool fields = o->fields > 0 || has_options(&o->all);
  if (o->fields == 0) {
    o->field[o->fields++] = o->all;
  }
  for (int i = 0; i < o->fields; i++) {
    const int failed = check_field(&o->field[i], error);
    if (failed) {
      return failed;
    }
  }
  set_tables(o);
  set_marks(o);
  set_months(o);
  o->collates = collates();
  o->whole = o->fields == 1 && !o->columns && is_whole_line(&o->field[0]) &&
             !o->collates;
  o->descending = o->fields == 1 && o->field[0].reverse;
  choose_ties(o, fields);
  return 0;
}
