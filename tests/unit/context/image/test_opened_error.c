/* What dlerror is to tell. */
#include "context/image/opened_error.h"

#include <check.h>
#include <string.h>

#include "check_main.h"

START_TEST(it_says_what_was_formatted) {
  struct opened_error e;
  opened_error_say(&e, "%s: undefined symbol: %s", "libx.so", "f");
  ck_assert_str_eq(e.text, "libx.so: undefined symbol: f");
  opened_error_say(&e, "short"); /* nothing of the former is left */
  ck_assert_str_eq(e.text, "short");
}
END_TEST

/* Names of files may be long. */
START_TEST(what_is_too_long_is_cut_off) {
  struct {
    struct opened_error e;
    char behind;
  } room = {.behind = 'x'};
  char name[2 * sizeof(room.e.text)];
  memset(name, 'n', sizeof(name) - 1);
  name[sizeof(name) - 1] = '\0';
  opened_error_say(&room.e, "%s: cannot open", name);
  ck_assert_uint_eq(strlen(room.e.text), sizeof(room.e.text) - 1);
  ck_assert_int_eq(room.e.text[0], 'n');
  ck_assert_int_eq(room.behind, 'x');
}
END_TEST

int main(void) {
  const TTest *const tests[] = {it_says_what_was_formatted,
                                what_is_too_long_is_cut_off, NULL};
  return check_main("opened_error", tests);
}
