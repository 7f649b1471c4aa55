/* A library that uses another one. */
#include "counter.h"

static int seen;
static int constructed;

/* The library that it needs was constructed before. */
__attribute__((constructor)) static void begin(void) {
  constructed += counter_constructed();
}

int counted_constructed(void) {
  return constructed;
}

int counted_sum(int mine) {
  seen += counter_value;
  counter_value++;
  counter_thread++;
  return counter_sum(mine);
}

int counted_seen(void) {
  return seen;
}
