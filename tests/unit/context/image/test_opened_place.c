/* Whose code it is. */
#define _GNU_SOURCE
#include "context/image/opened_place.h"

#include "opened_check.h"

START_TEST(code_has_a_place) {
  struct opened *o = open_it(1, "libouter.so", RTLD_NOW);
  char *code = find(1, o, "where");
  const char *library = NULL;
  uintptr_t address;
  ck_assert(image_place(&img[1], code, &library, &address));
  ck_assert_ptr_nonnull(strstr(library, "libouter.so"));
  ck_assert(!image_place(&img[0], code, &library, &address));
  struct opened *other = open_it(0, "libouter.so", RTLD_NOW);
  ck_assert_uint_eq(image_site(&img[0], find(0, other, "where")),
                    image_site(&img[1], code));
  ck_assert(!opened_is_foreign(&img[1], code));
  ck_assert(opened_is_foreign(&img[1], (void *)opened_is_foreign));
}
END_TEST

int main(void) {
  const TTest *const tests[] = {code_has_a_place, NULL};
  return opened_check_main("opened_place", tests);
}
