/* The locale is kept, and what the C library allocates for it is not counted.
 */
#define _GNU_SOURCE
#include "interpose/locale.h"

#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/self.h"
#include "check_blocks.h"
#include "check_main.h"
#include "vp/vp.h"

START_TEST(the_locale_is_set_again) {
  blocks_begin();
  ck_assert_str_eq(setlocale(LC_ALL, NULL), "C");
  if (!setlocale(LC_CTYPE, "C.UTF-8")) {
    return; /* there is none here */
  }
  const size_t most = MB_CUR_MAX;
  ck_assert_uint_gt(most, 1);
  ck_assert_int_eq(locale_save(&blocks_out, NULL), 0);
  setlocale(LC_ALL, "C");
  ck_assert_uint_eq(MB_CUR_MAX, 1);
  blocks_turn();
  ck_assert_int_eq(locale_load(&blocks_in, NULL), 0);
  blocks_end();
  ck_assert_uint_eq(MB_CUR_MAX, most);
  ck_assert_str_eq(setlocale(LC_CTYPE, NULL), "C.UTF-8");
  ck_assert_str_eq(setlocale(LC_NUMERIC, NULL), "C");
}
END_TEST

START_TEST(one_that_is_not_there_is_said) {
  struct pems_error error;
  static const char name[] = "xx_XX.none";
  blocks_begin();
  ck_assert_int_eq(checkpoint_put(&blocks_out, CHECKPOINT_LOCALE, 0, name,
                                  sizeof(name), NULL),
                   0);
  blocks_turn();
  ck_assert_int_eq(locale_load(&blocks_in, &error), ENOENT);
  ck_assert_ptr_nonnull(strstr(error.text, "xx_XX.none"));
  blocks_end();
}
END_TEST

START_TEST(functions_do_what_the_librarys_do) {
  struct tm parts;
  char text[32];
  const time_t second = 86400 * 365;
  setenv("TZ", "XYZ-2", 1);
  tzset();
  ck_assert_ptr_eq(localtime_r(&second, &parts), &parts);
  ck_assert_int_eq(parts.tm_hour, 2);
  ck_assert_int_eq(mktime(&parts), second);
  ck_assert_uint_eq(strftime(text, sizeof(text), "%Y %H %Z", &parts), 11);
  ck_assert_str_eq(text, "1971 02 XYZ");
  ck_assert_int_eq(self.inside, 0);
}
END_TEST

START_TEST(locales_of_a_rank_are_counted) {
  static struct vp vp;
  self.vp = &vp;
  const locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  ck_assert_int_eq(vp.native, 0);
  freelocale(c);
  ck_assert_int_eq(vp.native, 0);
  locale_t a = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
  if (a) {
    const locale_t b = duplocale(a);
    ck_assert_int_eq(vp.native, 2);
    a = newlocale(LC_TIME_MASK, "C", a);
    ck_assert_int_eq(vp.native, 2);
    ck_assert_str_eq(strerror_l(ENOENT, a), strerror(ENOENT));
    freelocale(a);
    freelocale(b);
  }
  ck_assert_int_eq(vp.native, 0);
  self.vp = NULL;
}
END_TEST

int main(void) {
  const TTest *const tests[] = {
      the_locale_is_set_again, one_that_is_not_there_is_said,
      functions_do_what_the_librarys_do, locales_of_a_rank_are_counted, NULL};
  return check_main("locale", tests);
}
