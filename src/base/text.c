#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>

struct text text_in(char *buffer, size_t size) {
  buffer[0] = '\0';
  return (struct text){buffer, size, 0};
}

void text_add(struct text *t, const char *format, ...) {
  va_list args;
  va_start(args, format);
  const int n = vsnprintf(t->buffer + t->used, t->size - t->used, format, args);
  va_end(args);
  if (n > 0) {
    t->used += (size_t)n;
  }
  if (t->used >= t->size) {
    t->used = t->size - 1;
  }
}

/* The place after the run of numbers without a gap that begins at i. */
static int run_end(const int *ranks, int n, int i) {
  int end = i + 1;
  while (end < n && ranks[end] <= ranks[end - 1] + 1) {
    end++;
  }
  return end;
}

void text_ranks(struct text *t, const int *ranks, int n) {
  if (n == 0) {
    text_add(t, "no rank");
    return;
  }
  text_add(t, ranks[0] == ranks[n - 1] ? "rank " : "ranks ");
  for (int i = 0, end; i < n; i = end) {
    end = run_end(ranks, n, i);
    text_add(t, "%s%d", i ? ", " : "", ranks[i]);
    if (ranks[end - 1] != ranks[i]) {
      text_add(t, "-%d", ranks[end - 1]);
    }
  }
}
