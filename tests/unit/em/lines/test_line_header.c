/* Headers: read in pieces, the same in all files, told of once. */
#include "em/lines/line_header.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "check_main.h"

static struct line_header header;
static struct pems_error error;
static int told;

static int found(void *arg, const struct line_header *h, struct pems_error *e) {
  told++;
  ck_assert_ptr_eq(h, &header);
  e->code = *(int *)arg;
  return *(int *)arg;
}

static void setup(void) {
  header = (struct line_header){0};
  told = 0;
}

static void teardown(void) {
  line_header_free(&header);
}

/* Reads a file's header in pieces of that size; returns what is left. */
static const char *read_all(const char *name, const char *text, size_t step,
                            int *failed) {
  const size_t n = strlen(text);
  bool whole = false;
  *failed = 0;
  for (size_t used; *text && !whole && !*failed; text += used) {
    const size_t left = strlen(text);
    *failed = line_header_read(&header, name, (const unsigned char *)text,
                               left < step ? left : step, '\n', &used, &whole,
                               &error);
    ck_assert_uint_le(used, n);
  }
  return text;
}

START_TEST(same_headers) {
  for (size_t step = 1; step < 10; step++) {
    int failed, code = 0;
    setup();
    header.found = found;
    header.arg = &code;
    ck_assert_str_eq(read_all("one", "a,b\nrest\n", step, &failed), "rest\n");
    ck_assert_int_eq(failed, 0);
    ck_assert_str_eq(header.name, "one");
    ck_assert_uint_eq(header.n, 3);
    ck_assert_mem_eq(header.text, "a,b", 3);
    ck_assert_str_eq(read_all("two", "a,b\r\nx", step, &failed), "x");
    ck_assert_int_eq(failed, 0);
    ck_assert_str_eq(read_all("three", "a,b\n", step, &failed), "");
    ck_assert_int_eq(failed, 0);
    ck_assert_int_eq(told, 1);
    line_header_free(&header);
  }
}
END_TEST

START_TEST(another_header) {
  int failed;
  read_all("one", "a,b\n", 9, &failed);
  read_all("two", "a,c\n", 9, &failed);
  ck_assert_int_eq(failed, EINVAL);
  ck_assert_str_eq(error.text, "two: header: not that of one: sort files with "
                               "the same columns");
  read_all("three", "a,bc\n", 9, &failed);
  ck_assert_int_eq(failed, EINVAL);
}
END_TEST

START_TEST(refused_header) {
  int failed, code = EINVAL;
  header.found = found;
  header.arg = &code;
  read_all("one", "a\n", 9, &failed);
  ck_assert_int_eq(failed, EINVAL);
}
END_TEST

START_TEST(long_header) {
  char *const text = malloc(LINE_HEADER_MOST + 2);
  size_t used;
  bool whole;
  memset(text, 'x', LINE_HEADER_MOST + 1);
  ck_assert_int_eq(line_header_read(&header, "one", (unsigned char *)text,
                                    LINE_HEADER_MOST, '\n', &used, &whole,
                                    &error),
                   0);
  ck_assert(!whole);
  ck_assert_uint_eq(used, LINE_HEADER_MOST);
  ck_assert_int_eq(line_header_read(&header, "one", (unsigned char *)text, 1,
                                    '\n', &used, &whole, &error),
                   EFBIG);
  ck_assert_ptr_nonnull(strstr(error.text, "one: header: more than"));
  free(text);
}
END_TEST

static size_t marked(const char *name, const char *text, int *failed) {
  size_t used = 99;
  *failed = line_header_begin(&header, name, (const unsigned char *)text,
                              strlen(text), &used, &error);
  return used;
}

/* That of the first file with any bytes counts; all are left out. */
START_TEST(marks) {
  static const char mark[] = "\xef\xbb\xbf";
  int failed;
  ck_assert_uint_eq(marked("empty", "", &failed), 0);
  ck_assert(failed == 0 && !header.begun);
  ck_assert_uint_eq(marked("one", "\xef\xbb\xbfz", &failed), 3);
  ck_assert(failed == 0 && header.begun && header.marked);
  ck_assert_uint_eq(marked("two", "a,b", &failed), 0);
  ck_assert(failed == 0 && header.marked);
  setup();
  ck_assert_uint_eq(marked("one", "\xef\xbb", &failed), 0);
  ck_assert_uint_eq(marked("two", mark, &failed), 3);
  ck_assert(failed == 0 && !header.marked);
  ck_assert_uint_eq(marked("three", "\xff\xfe", &failed), 0);
  ck_assert_int_eq(failed, EINVAL);
  ck_assert_str_eq(error.text, "three: text of UTF-16LE: convert it with iconv "
                               "-f UTF-16LE -t UTF-8");
}
END_TEST

int main(void) {
  Suite *const s = suite_create("line_header");
  TCase *const t = tcase_create("line_header");
  tcase_add_checked_fixture(t, setup, teardown);
  tcase_add_test(t, same_headers);
  tcase_add_test(t, another_header);
  tcase_add_test(t, refused_header);
  tcase_add_test(t, long_header);
  tcase_add_test(t, marks);
  suite_add_tcase(s, t);
  return check_run(s);
}
