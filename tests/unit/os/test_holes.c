/* While all holes are taken but one, what is mapped lies there. */
#include "os/holes.h"

#include <stdint.h>
#include <sys/mman.h>

#include "check_main.h"

enum { BYTES = 1 << 20 };

static void *map(size_t n) {
  return mmap(NULL, n, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

START_TEST(what_is_mapped_lies_in_the_only_hole) {
  struct holes h;
  /* Below what the system gives. */
  char *const place = mmap((void *)((uintptr_t)1 << 44), BYTES, PROT_NONE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ck_assert_ptr_eq(place, (void *)((uintptr_t)1 << 44));
  ck_assert_int_eq(holes_fill(&h, (uintptr_t)place), 0);
  ck_assert_int_gt(h.n, 0);
  munmap(place, BYTES);
  ck_assert_ptr_eq(map(BYTES / 2), place + BYTES / 2);
  ck_assert_ptr_eq(map(BYTES / 2), place);
  holes_free(&h);
  ck_assert_ptr_null(h.item);
  ck_assert((char *)map(BYTES) > place);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {what_is_mapped_lies_in_the_only_hole, NULL};
  return check_main("holes", tests);
}
