#define _GNU_SOURCE
#include "base/invariant.h"

#ifdef PEMS_DEBUG

#include "os/die.h"

#include <stdio.h>

enum { TEXT = 512 };

void invariant_fail(const char *file, int line, const char *text) {
  char all[TEXT];
  snprintf(all, sizeof(all), "pems: invariant: %s:%d: %s\n", file, line, text);
  die_saying(all);
}

void invariant_fail_values(const char *file, int line, const char *text,
                           unsigned long long a, unsigned long long b) {
  char all[TEXT];
  snprintf(all, sizeof(all), "pems: invariant: %s:%d: %s: %llu and %llu\n",
           file, line, text, a, b);
  die_saying(all);
}

#else

/* A source must not be empty. */
typedef int invariant_none;

#endif
