#include "wrappers/sort/pems_sort_lines_values.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/message.h"
#include "config/size.h"

uint64_t sort_value_number(const char *what, const char *text, uint64_t least,
                           uint64_t most) {
  char *end;
  errno = 0;
  const uintmax_t n = strtoumax(text, &end, 10);
  if (!isdigit((unsigned char)*text) || *end || (errno && errno != ERANGE) ||
      n < least) {
    msg_fail(MSG_USAGE, "--%s: %s: give a number from %llu to %llu", what, text,
             (unsigned long long)least, (unsigned long long)most);
  }
  return n > most ? most : n;
}

static uint64_t percent_of_memory(uint64_t percent) {
  const double pages = (double)sysconf(_SC_PHYS_PAGES);
  return (uint64_t)(pages * (double)sysconf(_SC_PAGESIZE) / 100 *
                    (double)percent);
}

/* As sort(1) has it: kibibytes unless there is a unit. */
uint64_t sort_value_buffer_size(const char *text) {
  static const char units[] = "bKMGTPEZY";
  char *end;
  errno = 0;
  uint64_t n = strtoumax(text, &end, 10);
  const char unit = *end == 'k' ? 'K' : *end ? *end : 'K';
  const char *const at = strchr(units, unit);
  if (!isdigit((unsigned char)*text) || (*end && end[1]) ||
      (!at && unit != '%')) {
    msg_fail(MSG_USAGE, "-S: %s: give a size, such as 4096b, 64M, 1G or 25%%",
             text);
  }
  if (unit == '%') {
    return percent_of_memory(n);
  }
  for (long i = at - units; i > 0; i--) {
    n = n > UINT64_MAX >> 10 ? UINT64_MAX : n << 10;
  }
  return n > UINT64_C(1) << 38 ? UINT64_C(1) << 38 : n;
}

uint64_t sort_value_memory(const char *text) {
  uint64_t n;
  if (size_parse(text, &n) || n == 0) {
    msg_fail(MSG_USAGE, "--memory: %s: give a size, such as 4096, 64M or 1.5G",
             text);
  }
  return n;
}

int sort_value_separator(const char *text, int before) {
  int c = (unsigned char)*text;
  if (!*text) {
    msg_fail(MSG_USAGE, "-t: empty: give one character, or '\\0'");
  }
  if (text[1]) {
    if (strcmp(text, "\\0") != 0) {
      msg_fail(MSG_USAGE, "-t: %s: more than one byte: give one, or '\\0'",
               text);
    }
    c = 0;
  }
  if (before != KEY_BLANKS && before != c) {
    msg_fail(MSG_USAGE, "-t: %s: another one was given before: give one", text);
  }
  return c;
}

/* The index of a word, or of what only one of them begins with. */
static int read_word(const char *what, const char *text,
                     const char *const *words) {
  const size_t n = strlen(text);
  int found = -1, several = 0;
  for (int i = 0; words[i]; i++) {
    if (strcmp(words[i], text) == 0) {
      return i;
    }
    if (n && strncmp(words[i], text, n) == 0) {
      several += found >= 0;
      found = i;
    }
  }
  if (found < 0 || several) {
    msg_fail(MSG_USAGE, "--%s: %s: unknown: see --help", what, text);
  }
  return found;
}

void sort_value_order(struct key_order *o, const char *text) {
  static const char *const words[] = {
      "general-numeric", "human-numeric", "month", "numeric",
      "random",          "version",       NULL};
  key_field_letter(&o->all, "ghMnRV"[read_word("sort", text, words)], false);
}

enum sort_check sort_value_check(int letter, const char *text) {
  static const char *const words[] = {"quiet", "silent", "diagnose-first",
                                      NULL};
  if (letter == 'C') {
    return SORT_CHECK_QUIET;
  }
  return text && read_word("check", text, words) < 2 ? SORT_CHECK_QUIET
                                                     : SORT_CHECK_SAY;
}

enum line_packing sort_value_packing(const char *text) {
  static const char *const words[] = {"auto", "none", "lz4", "zstd", NULL};
  for (int i = 0; words[i]; i++) {
    if (strcmp(words[i], text) == 0) {
      const enum line_codec codec = i < 2    ? LINE_CODEC_NONE
                                    : i == 2 ? LINE_CODEC_LZ4
                                             : LINE_CODEC_ZSTD;
      if (!line_codec_there(codec)) {
        msg_fail(MSG_USAGE,
                 "--compress-program: %s: pems was built without it: give "
                 "none",
                 text);
      }
      return (enum line_packing)i;
    }
  }
  msg_fail(MSG_USAGE,
           "--compress-program: %s: give auto, none, lz4 or zstd (no program "
           "is started)",
           text);
}
