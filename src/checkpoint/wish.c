#include "checkpoint/wish.h"

#include "base/failure.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { KEPT = 2, MOST_KEPT = 1000 };
#define MOST_NUMBER 1000000000000ull

/* A number, and what stands behind it up to `end`. */
static bool read_number(const char *text, const char *end, uint64_t *n,
                        char *unit) {
  char *rest;
  if (!isdigit((unsigned char)*text)) {
    return false;
  }
  errno = 0;
  *n = strtoull(text, &rest, 10);
  *unit = rest < end ? *rest : '\0';
  return !errno && *n && *n <= MOST_NUMBER && end - rest <= 1;
}

/* "10" are supersteps, "30s", "30m", "2h" and "1d" times. */
static bool read_every(struct wish *w, const char *text, const char *end) {
  static const char units[] = "smhd";
  static const uint64_t seconds[] = {1, 60, 3600, 86400};
  uint64_t n;
  char unit;
  if (!read_number(text, end, &n, &unit)) {
    return false;
  }
  const char *const at = unit ? strchr(units, unit) : NULL;
  if (unit && !at) {
    return false;
  }
  w->supersteps = unit ? w->supersteps : n;
  w->seconds = unit ? n * seconds[at - units] : w->seconds;
  return true;
}

static bool read_keep(struct wish *w, const char *text, const char *end) {
  uint64_t n;
  char unit;
  const bool good =
      read_number(text, end, &n, &unit) && !unit && n <= MOST_KEPT;
  w->keep = good ? (int)n : w->keep;
  return good;
}

static bool starts(const char *text, const char *with) {
  return strncmp(text, with, strlen(with)) == 0;
}

static bool read_on_term(struct wish *w, const char *text, const char *end) {
  w->on_term |= text == end;
  return text == end;
}

int wish_parse(struct wish *w, const char *text, struct pems_error *error) {
  const size_t n = strcspn(text, ",");
  *w = (struct wish){.keep = KEPT};
  if (n == 0 || n >= sizeof(w->dir)) {
    return failure(error, EINVAL, "--pems-checkpoint: %s: give a directory",
                   text);
  }
  memcpy(w->dir, text, n);
  for (const char *at = text + n; *at;) {
    const char *const end = at + 1 + strcspn(at + 1, ",");
    if (!(starts(at, ",every=") && read_every(w, at + 7, end)) &&
        !(starts(at, ",keep=") && read_keep(w, at + 6, end)) &&
        !(starts(at, ",on-term") && read_on_term(w, at + 8, end))) {
      return failure(error, EINVAL,
                     "--pems-checkpoint: %s: give DIR,every=10 (supersteps) or "
                     "DIR,every=30m, and keep=N, on-term",
                     at + 1);
    }
    at = end;
  }
  return 0;
}
