/* To be preloaded into sort(1) and pems-sort: strcoll orders as strxfrm does,
   from which that of glibc differs for some strings with digits, letters and
   punctuation between them. */
#include <stdlib.h>
#include <string.h>

static char *transformed(const char *text) {
  const size_t n = strxfrm(NULL, text, 0) + 1;
  char *const to = malloc(n);
  if (!to) {
    abort();
  }
  strxfrm(to, text, n);
  return to;
}

int strcoll(const char *a, const char *b) {
  char *const x = transformed(a), *const y = transformed(b);
  const int order = strcmp(x, y);
  free(x);
  free(y);
  return order;
}
