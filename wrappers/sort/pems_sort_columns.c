#define _GNU_SOURCE
#include "wrappers/sort/pems_sort_columns.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "base/failure.h"
#include "em/lines/key_column.h"
#include "os/native.h"

/* More columns than that have no names, and are a mistake. */
#define MOST_COLUMNS ((size_t)1 << 16)

/* --- what users write --- */

static int bad(const char *text, const char *why, struct pems_error *error) {
  return failure(error, EINVAL,
                 "key: %s: %s: give COLUMN[:OPTIONS], a number from 1 or a "
                 "name of the header",
                 text, why);
}

/* Sets options; false: there is something else. */
static bool read_letters(struct key_field *f, const char *letters) {
  while (*letters && key_field_letter(f, *letters, false)) {
    letters++;
  }
  return !*letters;
}

/* The colon behind which there are options, or NULL. */
static const char *find_options(const char *text) {
  struct key_field f = {0};
  const char *const colon = strrchr(text, ':');
  return colon && read_letters(&f, colon + 1) ? colon : NULL;
}

/* What is between quotes, where two are one; *at goes behind them. NULL: there
   is no end, or no memory. */
static char *read_quoted(const char **at) {
  char *const name = native_alloc(strlen(*at) + 1);
  size_t n = 0;
  for (const char *from = *at + 1; name && *from; from++) {
    if (*from == '"' && *++from != '"') {
      name[n] = '\0';
      *at = from;
      return name;
    }
    name[n++] = *from;
  }
  native_free(name);
  return NULL;
}

static char *copy(const char *text, size_t n) {
  char *const to = native_alloc(n + 1);
  if (to) {
    memcpy(to, text, n);
    to[n] = '\0';
  }
  return to;
}

static int add_name(struct sort_columns *c, const char *text, char *name,
                    const char *letters, struct pems_error *error) {
  struct key_order *const o = c->order;
  struct key_field f = {0};
  if (!name) {
    return bad(text, "no closing quote", error);
  }
  const int failed =
      o->fields == KEY_MOST_FIELDS ? bad(text, "one key too many", error)
      : !read_letters(&f, letters) ? bad(text, "unknown options", error)
      : !*name                     ? bad(text, "no name", error)
                                   : 0;
  if (failed) {
    native_free(name);
    return failed;
  }
  c->name[o->fields] = name;
  o->field[o->fields++] = f;
  return 0;
}

static int add_number(struct sort_columns *c, const char *text,
                      const char *letters, struct pems_error *error) {
  struct key_order *const o = c->order;
  const int failed = strchr(text, '.')
                         ? bad(text, "columns are whole keys", error)
                         : key_order_add(o, text, error);
  if (failed) {
    return failed;
  }
  struct key_field *const f = &o->field[o->fields - 1];
  if (f->last_word == KEY_LINE_END) {
    f->last_word = f->first_word;
  }
  f->first_blanks |= f->last_blanks;
  if (f->last_word < f->first_word || f->last_word >= MOST_COLUMNS) {
    return bad(text, "no such columns", error);
  }
  return read_letters(f, letters) ? 0 : bad(text, "unknown options", error);
}

/* Whether it is a number as sort(1) has it, with options or not; a wrong one is
   no name. */
static bool is_number(const char *text) {
  if (*text && text[strspn(text, "0123456789.")] == '\0') {
    return true;
  }
  struct key_order *const o = native_zalloc(1, sizeof(*o));
  struct pems_error error;
  const bool is =
      o && isdigit((unsigned char)*text) && key_order_add(o, text, &error) == 0;
  native_free(o);
  return is;
}

int sort_columns_add(struct sort_columns *c, const char *text,
                     struct pems_error *error) {
  if (*text == '"') {
    const char *at = text;
    char *const name = read_quoted(&at);
    return add_name(c, text, name, name && *at == ':' ? at + 1 : at, error);
  }
  const char *const colon = find_options(text);
  char *const base = copy(text, colon ? (size_t)(colon - text) : strlen(text));
  const char *const letters = colon ? colon + 1 : "";
  if (!base) {
    return failure(error, ENOMEM, "memory: for a key: free some");
  }
  if (!is_number(base)) {
    return add_name(c, text, base, letters, error);
  }
  const int failed = add_number(c, base, letters, error);
  native_free(base);
  return failed;
}

const char *sort_columns_named(const struct sort_columns *c) {
  for (int i = 0; i < c->order->fields; i++) {
    if (c->name[i]) {
      return c->name[i];
    }
  }
  return NULL;
}

/* --- the header --- */

static struct key_columns columns_of(const struct sort_columns *c,
                                     const struct line_header *h) {
  return key_columns_of(c->order, h->text, h->n);
}

/* Which column has that name; KEY_LINE_END: none, KEY_LINE_END - 1: several. */
static size_t find_name(const struct sort_columns *c,
                        const struct line_header *h, const char *name,
                        struct key_scratch *scratch) {
  struct key_columns at = columns_of(c, h);
  size_t found = KEY_LINE_END;
  for (size_t i = 0; !key_columns_ended(&at); i++) {
    const unsigned char *text;
    size_t n;
    if (key_columns_next(&at, scratch, &text, &n)) {
      break;
    }
    if (n == strlen(name) && memcmp(text, name, n) == 0) {
      found = found == KEY_LINE_END ? i : KEY_LINE_END - 1;
    }
  }
  return found;
}

static size_t count_columns(const struct sort_columns *c,
                            const struct line_header *h) {
  struct key_columns at = columns_of(c, h);
  size_t n = 0;
  for (; !key_columns_ended(&at); n++) {
    key_columns_skip(&at, 1);
  }
  return n;
}

/* The header, as it can be shown in one line. */
static void show_header(const struct line_header *h, char *to, size_t room) {
  size_t n = 0;
  for (; n < h->n && n + 1 < room; n++) {
    const unsigned char c = h->text[n];
    to[n] = (char)(iscntrl(c) ? ' ' : c);
  }
  to[n] = '\0';
}

static int look_up(struct sort_columns *c, const struct line_header *h, int i,
                   struct key_scratch *scratch, struct pems_error *error) {
  struct key_field *const f = &c->order->field[i];
  const size_t at = find_name(c, h, c->name[i], scratch);
  char shown[128];
  show_header(h, shown, sizeof(shown));
  if (at == KEY_LINE_END) {
    return failure(error, EINVAL, "key: %s: no such column: %s has %s",
                   c->name[i], h->name, shown);
  }
  if (at == KEY_LINE_END - 1) {
    return failure(error, EINVAL,
                   "key: %s: several columns of %s have this name: give its "
                   "number",
                   c->name[i], h->name);
  }
  f->first_word = f->last_word = at;
  return 0;
}

int sort_columns_found(void *arg, const struct line_header *header,
                       struct pems_error *error) {
  struct sort_columns *const c = arg;
  const size_t columns = count_columns(c, header);
  struct key_scratch scratch = {0};
  int failed = 0;
  for (int i = 0; i < c->order->fields && !failed; i++) {
    const struct key_field *const f = &c->order->field[i];
    if (c->name[i]) {
      failed = look_up(c, header, i, &scratch, error);
    } else if (f->last_word != KEY_LINE_END && f->last_word >= columns) {
      failed = failure(error, EINVAL,
                       "key: %zu: no such column: %s has %zu: name one of "
                       "them",
                       f->last_word + 1, header->name, columns);
    }
  }
  key_scratch_free(&scratch);
  return failed;
}

void sort_columns_free(struct sort_columns *c) {
  for (int i = 0; i < KEY_MOST_FIELDS; i++) {
    native_free(c->name[i]);
    c->name[i] = NULL;
  }
}
