#include "drivers/fault_plan.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static int parse_number(const char **text, uint64_t *x) {
  char *end;
  if (!isdigit((unsigned char)**text)) {
    return -1;
  }
  errno = 0;
  *x = strtoull(*text, &end, 10);
  *text = end;
  return errno ? -1 : 0;
}

/* "EIO", "ENOSPC", "EROFS" or a number. */
static int parse_error(const char **text, int *error) {
  static const struct {
    const char *name;
    int error;
  } names[] = {{"EIO", EIO}, {"ENOSPC", ENOSPC}, {"EROFS", EROFS}};
  for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
    const size_t n = strlen(names[i].name);
    if (strncmp(*text, names[i].name, n) == 0) {
      *text += n;
      *error = names[i].error;
      return 0;
    }
  }
  uint64_t x;
  if (parse_number(text, &x) || x == 0 || x > 4095) {
    return -1;
  }
  *error = (int)x;
  return 0;
}

/* "5:EIO" */
static int parse_failure(const char **text, uint64_t *at, int *error) {
  if (parse_number(text, at) || *at == 0 || *(*text)++ != ':') {
    return -1;
  }
  return parse_error(text, error);
}

static bool skip(const char **text, const char *key) {
  const size_t n = strlen(key);
  if (strncmp(*text, key, n) != 0) {
    return false;
  }
  *text += n;
  return true;
}

int fault_plan_parse(const char *text, struct fault_plan *p) {
  p->every = 1;
  while (*text) {
    int bad = -1;
    if (skip(&text, ",read=")) {
      bad = parse_failure(&text, &p->read_at, &p->read_error);
    } else if (skip(&text, ",write=")) {
      bad = parse_failure(&text, &p->write_at, &p->write_error);
    } else if (skip(&text, ",torn=")) {
      bad = parse_number(&text, &p->torn_at) || p->torn_at == 0;
    } else if (skip(&text, ",short=")) {
      bad = parse_number(&text, &p->short_at) || p->short_at == 0;
    } else if (skip(&text, ",after=")) {
      bad = parse_failure(&text, &p->after, &p->after_error);
    } else if (skip(&text, ",grant=")) {
      bad = parse_failure(&text, &p->grant_at, &p->grant_error);
    } else if (skip(&text, ",room=")) {
      bad = parse_number(&text, &p->room) || p->room == 0;
    } else if (skip(&text, ",delay=")) {
      bad = parse_number(&text, &p->delay);
    } else if (skip(&text, ",seek=")) {
      bad = parse_number(&text, &p->seek);
    } else if (skip(&text, ",rate=")) {
      bad = parse_number(&text, &p->rate) || p->rate == 0;
    } else if (skip(&text, ",every=")) {
      bad = parse_number(&text, &p->every) || p->every == 0;
    }
    if (bad) {
      return -1;
    }
  }
  return 0;
}
