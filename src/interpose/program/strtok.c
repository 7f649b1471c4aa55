/* strtok that remembers its place for this copy only. */
#define _GNU_SOURCE
#include <string.h>

char *strtok(char *text, const char *separators) {
  static char *place;
  return strtok_r(text, separators, &place);
}
