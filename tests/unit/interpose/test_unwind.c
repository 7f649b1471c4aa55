/* Which code a rank's own tables cover, in each way that compilers write them.
 */
#include "interpose/unwind.h"

#include "base/self.h"
#include "check_main.h"
#include "interpose/malloc.h"
#include "vp/vp.h"

#include <check.h>
#include <execinfo.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct bases {
  void *text, *data, *function;
};
void __register_frame(void *begin);
void __deregister_frame(void *begin);
const void *_Unwind_Find_FDE(void *pc, struct bases *bases);

static struct vp vp;
static bool by_program;

/* --- what is played --- */

bool malloc_is_program(const void *caller) {
  (void)caller;
  return self.vp && by_program;
}

static void set_up(void) {
  by_program = true;
  self.vp = &vp;
}

static void tear_down(void) {
  unwind_end(&vp);
  self.vp = NULL;
}

/* --- tables --- */

static char code[256];
static unsigned char table[512];
static size_t n;

static void add(uint64_t bytes, size_t size) {
  memcpy(table + n, &bytes, size);
  n += size;
}

/* Its length first, and as many bytes that say nothing as make it whole. */
static void end_entry(size_t begin) {
  while (n % 4) {
    add(0, 1);
  }
  const uint32_t length = (uint32_t)(n - begin - 4);
  memcpy(table + begin, &length, 4);
}

static size_t add_common(int version, const char *letters,
                         const unsigned char *data, size_t bytes) {
  const size_t begin = n;
  add(0, 8);
  add((uint64_t)version, 1);
  memcpy(table + n, letters, strlen(letters) + 1);
  n += strlen(letters) + 1;
  add(0x81, 1); /* two bytes long */
  add(0, 1);
  add(0x78, 1);
  add(16, 1);
  if (*letters == 'z') {
    add(bytes, 1);
    memcpy(table + n, data, bytes);
    n += bytes;
  }
  end_entry(begin);
  return begin;
}

/* Of `size` bytes of code[at]; `here`: as seen from where that is written. */
static void *add_entry(size_t common, int at, size_t size, size_t width,
                       bool here) {
  const size_t begin = n;
  add(0, 4);
  add(n - common, 4);
  const uintptr_t to = (uintptr_t)(code + at);
  add(here ? to - (uintptr_t)(table + n) : to, width);
  add(size, width);
  end_entry(begin);
  return table + begin;
}

static void expect(int at, const void *entry, int function) {
  struct bases b = {table, table, table};
  ck_assert_ptr_eq(_Unwind_Find_FDE(code + at, &b), entry);
  if (entry) {
    ck_assert_ptr_eq(b.function, code + function);
    ck_assert_ptr_null(b.text);
    ck_assert_ptr_null(b.data);
  }
}

static void expect_only(int at, int size, const void *entry) {
  expect(at - 1, NULL, 0);
  expect(at, entry, at);
  expect(at + size - 1, entry, at);
  expect(at + size, NULL, 0);
}

static void begin_table(void) {
  memset(table, 0, sizeof(table));
  n = 0;
}

START_TEST(each_encoding) {
  static const struct {
    unsigned char encoding;
    size_t width;
    bool here;
  } way[] = {{0x00, 8, false}, {0x04, 8, false}, {0x0c, 8, false},
             {0x10, 8, true},  {0x1b, 4, true},  {0x1c, 8, true},
             {0x14, 8, true}};
  const unsigned char data[1] = {way[_i].encoding};
  begin_table();
  const size_t common = add_common(1, "zR", data, 1);
  void *const entry = add_entry(common, 100, 50, way[_i].width, way[_i].here);
  __register_frame(table);
  expect_only(100, 50, entry);
}
END_TEST

/* A handler's address comes before, or none of this. */
START_TEST(each_kind_of_entry) {
  const unsigned char handler[] = {0x1b, 1, 2, 3, 4, 0x1b, 0x1b};
  const unsigned char other[] = {0x00, 1, 2, 3, 4, 5, 6, 7, 8, 0x1b};
  begin_table();
  void *const a = add_entry(add_common(1, "zPLR", handler, 7), 10, 20, 4, true);
  void *const b = add_entry(add_common(3, "zPRS", other, 10), 50, 5, 4, true);
  void *const c = add_entry(add_common(1, "", NULL, 0), 80, 9, 8, false);
  void *const d = add_entry(add_common(1, "zS", other, 0), 120, 7, 8, false);
  __register_frame(table);
  expect_only(10, 20, a);
  expect_only(50, 5, b);
  expect_only(80, 9, c);
  expect_only(120, 7, d);
}
END_TEST

/* Relative to what is not known, or behind a pointer, or of no fixed size, or
   of an old compiler. */
START_TEST(what_is_not_understood_covers_nothing) {
  static const unsigned char encoding[] = {0x2b, 0x3b, 0x9b, 0x01, 0x50};
  begin_table();
  for (size_t i = 0; i < sizeof(encoding); i++) {
    add_entry(add_common(1, "zR", &encoding[i], 1), 100, 50, 8, false);
  }
  add_entry(add_common(1, "eh", NULL, 0), 100, 50, 8, false);
  void *const good = add_entry(add_common(1, "", NULL, 0), 10, 9, 8, false);
  __register_frame(table);
  expect(120, NULL, 0);
  expect_only(10, 9, good);
}
END_TEST

/* Two, in either order, and a place that is used again. */
START_TEST(tables_come_and_go) {
  unsigned char first[512];
  const unsigned char data[1] = {0};
  begin_table();
  void *const entry =
      add_entry(add_common(1, "zR", data, 1), 100, 50, 8, false);
  memcpy(first, table, sizeof(first));
  ck_assert(!unwind_has_tables(&vp));
  for (int i = 0; i < 3; i++) {
    __register_frame(first);
    __register_frame(table);
    __deregister_frame(i % 2 ? (void *)first : (void *)table);
    ck_assert(unwind_has_tables(&vp));
    expect(120, i % 2 ? entry : first + ((unsigned char *)entry - table), 100);
    __deregister_frame(i % 2 ? (void *)table : (void *)first);
    ck_assert(!unwind_has_tables(&vp));
    expect(120, NULL, 0);
  }
}
END_TEST

/* Another rank does not see it, nor who is none. */
START_TEST(a_table_is_its_ranks) {
  struct vp other = {0};
  begin_table();
  void *const entry = add_entry(add_common(1, "", NULL, 0), 100, 50, 8, false);
  __register_frame(table);
  self.vp = &other;
  expect(120, NULL, 0);
  self.vp = NULL;
  expect(120, NULL, 0);
  self.vp = &vp;
  expect(120, entry, 100);
  unwind_end(&vp);
  expect(120, NULL, 0);
}
END_TEST

/* What a library that all share has told all know. */
START_TEST(a_table_of_the_process) {
  by_program = false;
  begin_table();
  void *const entry = add_entry(add_common(1, "", NULL, 0), 100, 50, 8, false);
  __register_frame(table);
  ck_assert(!unwind_has_tables(&vp));
  self.vp = NULL;
  expect(120, entry, 100);
  self.vp = &vp;
  expect(120, entry, 100);
  __deregister_frame(table);
  expect(120, NULL, 0);
}
END_TEST

/* The library that unwinds is loaded by what needs it first. */
int main(void) {
  void *frame[1];
  (void)backtrace(frame, 1);
  Suite *s = suite_create("unwind");
  TCase *t = tcase_create("unwind");
  tcase_add_checked_fixture(t, set_up, tear_down);
  tcase_add_loop_test(t, each_encoding, 0, 7);
  tcase_add_test(t, each_kind_of_entry);
  tcase_add_test(t, what_is_not_understood_covers_nothing);
  tcase_add_test(t, tables_come_and_go);
  tcase_add_test(t, a_table_is_its_ranks);
  tcase_add_test(t, a_table_of_the_process);
  suite_add_tcase(s, t);
  return check_run(s);
}
