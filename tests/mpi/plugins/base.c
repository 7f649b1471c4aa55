/* A library that plug-ins need and the program does not know. */
#include <stdio.h>

int base_value = 5;
static int calls;
int *const base_address = &base_value;

__attribute__((constructor)) static void begin(void) {
  base_value += 2;
}

__attribute__((destructor)) static void end(void) {
  printf("base ends: %d calls, value %d\n", calls, base_value);
}

int base_next(void) {
  return ++calls;
}
