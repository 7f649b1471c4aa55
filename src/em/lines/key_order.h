/* By what lines are sorted: fields, options, and the locale's tables.

   POSIX sort(1), "-k" and the ordering options; GNU coreutils' manual, "sort
   invocation", for what POSIX does not have. */
#ifndef PEMS_EM_LINES_KEY_ORDER_H
#define PEMS_EM_LINES_KEY_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pems/status.h"

/* How a field is compared: one of these, given by its letter. */
enum key_kind {
  KEY_TEXT = 0,
  KEY_NUMERIC = 1 << 0, /* n */
  KEY_GENERAL = 1 << 1, /* g */
  KEY_HUMAN = 1 << 2,   /* h */
  KEY_MONTH = 1 << 3,   /* M */
  KEY_RANDOM = 1 << 4,  /* R */
  KEY_VERSION = 1 << 5, /* V */
};

enum key_ignore { KEY_IGNORE_NONE, KEY_IGNORE_PRINT, KEY_IGNORE_DICTIONARY };

/* Part of a line, and how it is compared. Words and bytes count from 0. */
struct key_field {
  size_t first_word, first_byte;
  size_t last_word;               /* KEY_LINE_END: to the end of the line */
  size_t last_byte;               /* bytes of the last word; 0: all of it */
  bool first_blanks, last_blanks; /* b: blanks before do not count */
  bool fold, reverse;
  enum key_ignore ignore;
  unsigned kinds; /* of enum key_kind: several are an error */
};
#define KEY_LINE_END SIZE_MAX

enum { KEY_MOST_FIELDS = 256, KEY_MONTHS = 12, KEY_MONTH_BYTES = 32 };
/* Words are separated by the empty string between a non-blank and a blank. */
#define KEY_BLANKS (-1)

/* What is sorted before what where all fields are equal. */
enum key_ties {
  KEY_TIES_STAND,  /* what came first */
  KEY_TIES_BYTES,  /* the line with the smaller bytes */
  KEY_TIES_LOCALE, /* as the locale has it */
};

/* Set up by key_order_init, options, key_order_finish; then read only. */
struct key_order {
  struct key_field field[KEY_MOST_FIELDS];
  int fields;
  struct key_field all; /* the options that are not of one field */
  int separator;        /* a byte, or KEY_BLANKS */
  unsigned char end;    /* of lines: '\n', or 0 */
  bool stable, unique;
  bool columns;       /* words are columns of a table: key_column.h */
  bool quotes;        /* which may be quoted (CSV): lines end with 0 inside */
  uint64_t random[2]; /* the seed of KEY_RANDOM */

  /* --- by key_order_finish --- */
  bool collates;   /* strings are compared as the locale has it */
  bool whole;      /* the string that is compared is the line, unchanged */
  bool descending; /* strings, by which lines are sorted, largest first */
  enum key_ties ties;
  bool ties_reverse;
  unsigned char decimal; /* point of numbers */
  int thousands;         /* separator of them, or -1 */
  bool blank[256], no_dictionary[256], no_print[256];
  unsigned char upper[256];
  char month[KEY_MONTHS][KEY_MONTH_BYTES]; /* in upper case, no blanks */
};

/* No fields, no options, lines that end with '\n'. */
void key_order_init(struct key_order *o);
/* Sets what a letter of "bdfghiMnRrV" says; returns false for another one.
   `last`: 'b' is about the end of the field, else about its beginning. */
bool key_field_letter(struct key_field *f, char letter, bool last);
/* Adds "POS[.C][OPTS][,POS[.C][OPTS]]". EINVAL. */
int key_order_add(struct key_order *o, const char *text,
                  struct pems_error *error);
/* What lines end with in files. */
static inline unsigned char key_order_end(const struct key_order *o) {
  return o->quotes ? '\n' : o->end;
}
/* All options are known, and setlocale was called: fields without options of
   their own get those of all. EINVAL if options cannot be combined. */
int key_order_finish(struct key_order *o, struct pems_error *error);

#endif
