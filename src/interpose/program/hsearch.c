/* The one hash table of hcreate, for this copy only. */
#define _GNU_SOURCE
#include <search.h>

static struct hsearch_data table;

int hcreate(size_t count) {
  return hcreate_r(count, &table);
}

void hdestroy(void) {
  hdestroy_r(&table);
}

ENTRY *hsearch(ENTRY item, ACTION action) {
  ENTRY *found;
  hsearch_r(item, action, &found, &table);
  return found;
}
