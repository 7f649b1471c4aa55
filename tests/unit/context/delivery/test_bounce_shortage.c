/* Staging buffers for which there is no memory: nothing is left of them. */
#define _GNU_SOURCE
#include "context/delivery/bounce.h"

#include <check.h>

#include "check_main.h"
#include "check_memory.h"

static int make(void *arg) {
  (void)arg;
  const int code = bounce_create(3, 1 << 20);
  if (!code) {
    char *const buffer = bounce_get();
    *buffer = 1;
    bounce_put(buffer);
  }
  bounce_destroy();
  return code;
}

START_TEST(all_or_nothing_is_made) {
  memory_every(make, NULL, -1, MEMORY_NEEDED);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {all_or_nothing_is_made, NULL};
  return check_main("bounce_shortage", tests);
}
