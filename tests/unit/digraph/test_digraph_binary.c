/* Binary files: how long they are, also if compressed, what is next in them,
   and offsets that are believed. */
#include "digraph/digraph_binary.h"

#include "graph_check.h"

enum { LENGTH = 200000 };

static struct pems_error e;
static unsigned char bytes[LENGTH];

static void set_up(void) {
  directory_begin();
  for (size_t i = 0; i < LENGTH; i++) {
    bytes[i] = (unsigned char)(i % 251);
  }
  put_bytes("a", bytes, LENGTH);
}

/* All from `at` on, in pieces of odd lengths. */
static void read_from(struct digraph_binary *b, size_t at) {
  for (size_t n = 1; at < LENGTH; n = n * 5 % 4093 + 1) {
    const size_t part = n < LENGTH - at ? n : LENGTH - at;
    const void *const next = digraph_binary_next(b, part);
    ck_assert_ptr_nonnull(next);
    ck_assert_int_eq(memcmp(next, bytes + at, part), 0);
    at += part;
  }
  ck_assert_ptr_null(digraph_binary_next(b, 1));
  ck_assert_int_eq(b->code, EINVAL);
}

static void expect(const char *name) {
  struct digraph_binary b, again;
  ck_assert_msg(digraph_binary_open(&b, path_of(name), &e) == 0, "%s", e.text);
  ck_assert_uint_eq(b.bytes, LENGTH);
  ck_assert_int_eq(digraph_binary_expect(&b, LENGTH), 0);
  ck_assert_int_eq(digraph_binary_expect(&b, LENGTH + 1), EINVAL);
  ck_assert_int_eq(digraph_binary_reopen(&again, &b, 123457), 0);
  read_from(&b, 0);
  read_from(&again, 123457);
  digraph_binary_close(&again);
  ck_assert_int_eq(digraph_binary_reopen(&again, &b, LENGTH + 1), EINVAL);
  digraph_binary_close(&b);
}

START_TEST(files_as_they_are_and_compressed) {
  char command[300];
  expect("a");
  snprintf(command, sizeof(command), "gzip -c '%s' >'%s'", path_of("a"),
           path_of("b"));
  if (system(command) == 0) { /* and pems was built with zlib: */
    struct digraph_binary b;
    const int code = digraph_binary_open(&b, path_of("b"), &e);
    if (code != ENOSYS) {
      digraph_binary_close(&b);
      expect("b");
    }
  }
}
END_TEST

static int offsets(const uint64_t *list, uint64_t nodes, uint64_t n,
                   uint64_t edges, uint64_t **first) {
  struct digraph_binary b;
  put_bytes("o", list, n * sizeof(*list));
  ck_assert_int_eq(digraph_binary_open(&b, path_of("o"), &e), 0);
  const int code = digraph_binary_offsets(&b, nodes, n, edges, first);
  digraph_binary_close(&b);
  ck_assert_int_eq(code != 0, *first == NULL);
  return code;
}

START_TEST(offsets_that_are_believed) {
  static const uint64_t list[] = {0, 2, 2, 5};
  uint64_t *first;
  for (uint64_t n = 3; n <= 4; n++) {
    ck_assert_int_eq(offsets(list + 4 - n, 3, n, 5, &first), 0);
    ck_assert_mem_eq(first, list, sizeof(list));
    free(first);
  }
  ck_assert_int_eq(offsets(list, 3, 4, 6, &first), EINVAL);
  ck_assert_int_eq(offsets(list, 3, 4, 4, &first), EINVAL);
  ck_assert_int_eq(offsets(list + 1, 3, 3, 6, &first), EINVAL);
  static const uint64_t down[] = {0, 3, 2, 5}, late[] = {1, 2, 2, 5};
  ck_assert_int_eq(offsets(down, 3, 4, 5, &first), EINVAL);
  ck_assert_ptr_nonnull(strstr(e.text, "the offset of node 2 is damaged: 2"));
  ck_assert_int_eq(offsets(late, 3, 4, 5, &first), EINVAL);
  ck_assert_ptr_nonnull(strstr(e.text, "the offset of node 0 is damaged: 1"));
}
END_TEST

int main(void) {
  Suite *const s = suite_create("digraph_binary");
  TCase *const t = tcase_create("digraph_binary");
  tcase_set_timeout(t, 60);
  tcase_add_checked_fixture(t, set_up, directory_end);
  tcase_add_test(t, files_as_they_are_and_compressed);
  tcase_add_test(t, offsets_that_are_believed);
  suite_add_tcase(s, t);
  return run_suite(s);
}
