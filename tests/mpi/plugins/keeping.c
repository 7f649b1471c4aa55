/* A library that the program is linked with and that all ranks share: it keeps
   what it has allocated for all. */
#include <stdlib.h>
#include <string.h>

static char *kept;

const char *keeping(int rank) {
  if (!kept) {
    kept = malloc(20000);
    memset(kept, 0, 20000);
    strcpy(kept + 10000, "kept for all");
  }
  kept[rank] = 'x';
  return kept + 10000;
}

int keeping_seen(void) {
  return (int)strlen(kept);
}
