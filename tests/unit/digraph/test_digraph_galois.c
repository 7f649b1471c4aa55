/* Galois' binary graphs, as byte by byte made here: both versions, with and
   without weights and padding, and every number damaged. */
#include "graph_check.h"

static struct digraph_read_options o;

/* A file that grows. */
static char file[500];
static size_t size;

static void set_up(void) {
  directory_begin();
  o = (struct digraph_read_options){0};
  size = 0;
}

static void put_long(uint64_t n) {
  memcpy(file + size, &n, sizeof(n));
  size += sizeof(n);
}

static void put_int(uint32_t n) {
  memcpy(file + size, &n, sizeof(n));
  size += sizeof(n);
}

/* 0 to 2 and 1, 2 to 0. */
static void make(uint64_t version, uint64_t data, int padded) {
  static const uint32_t to[] = {2, 1, 0}, weights[] = {5, 6, 4294967295u};
  size = 0;
  put_long(version);
  put_long(data);
  put_long(3);
  put_long(3);
  put_long(2);
  put_long(2);
  put_long(3);
  for (int i = 0; i < 3; i++) {
    if (version == 2) {
      put_long(to[i]);
    } else {
      put_int(to[i]);
    }
  }
  for (int i = 0; padded && i < (int)version; i++) {
    put_int(0);
  }
  for (int i = 0; data && i < 3; i++) {
    put_int(weights[i]);
  }
}

#define WEIGHTED "3: 0>2*5 0>1*6 2>0*4294967295"
#define BARE "3: 0>2*1 0>1*1 2>0*1"

static void is(const char *words) {
  put_bytes("a.gr", file, size); /* told from DIMACS by how it begins */
  reads("a.gr", &o, words);
  put_bytes("a.galois", file, size);
  reads("a.galois", &o, words);
}

START_TEST(both_versions) {
  make(1, 4, 1);
  is(WEIGHTED);
  make(1, 0, 1);
  is(BARE);
  make(1, 0, 0);
  is(BARE);
  make(2, 4, 1);
  is(WEIGHTED);
  make(2, 4, 0);
  is(WEIGHTED);
  make(2, 0, 0);
  is(BARE);
  make(2, 0, 1);
  is(BARE);
  o.weights = (struct generate_weights){9, 9};
  is("3: 0>2*9 0>1*9 2>0*9");
  o.both = 1;
  is("3: 0>2*9 0>1*9 0>2*9 1>0*9 2>0*9 2>0*9");
}
END_TEST

/* Puts a number there, into the good file. */
static void damaged(uint64_t version, size_t at, uint64_t value,
                    const char *why) {
  make(version, 4, 1);
  memcpy(file + at, &value, version == 1 && at >= 56 ? 4 : 8);
  put_bytes("a.galois", file, size);
  refuses("a.galois", &o, why);
}

START_TEST(damaged_numbers) {
  for (uint64_t version = 1; version <= 2; version++) {
    damaged(version, 0, 3, ": of Galois' version 3: ");
    damaged(version, 8, 8, ": its edges have data of 8 bytes: ");
    damaged(version, 8, UINT64_MAX, ": its edges have data of ");
    damaged(version, 16, 0, ": 0 nodes: ");
    damaged(version, 16, 1ull << 32, ": 4294967296 nodes: ");
    /* Of version 2, it could as well have one node more and no padding. */
    damaged(version, 16, 4,
            version == 1 ? ": has " : ": the offset of node 4 is damaged: ");
    damaged(version, 16, UINT32_MAX, ": has ");
    damaged(version, 24, 4, ": has ");
    damaged(version, 24, 1ull << 62, ": too short for 4611686018427387904 ");
    damaged(version, 24, UINT64_MAX, ": too short for 18446744073709551615 ");
    damaged(version, 32, 3, ": the offset of node 2 is damaged: 2: ");
    damaged(version, 32, UINT64_MAX, ": the offset of node 1 is damaged: ");
    damaged(version, 48, 2, ": the offset of node 3 is damaged: 2: ");
    damaged(version, 56, 3, ": an edge from node 0 to 3, which is not there: ");
    damaged(version, 56 + 8 * version, UINT32_MAX,
            ": an edge from node 2 to 4294967295, ");
  }
  damaged(2, 56, 1ull << 32, ": an edge from node 0 to 4294967296, ");
}
END_TEST

START_TEST(cut_short_or_too_long) {
  for (uint64_t version = 1; version <= 2; version++) {
    make(version, 4, 1);
    const size_t whole = size;
    for (size = 0; size <= whole + 1; size++) {
      /* Without its padding, version 2 is whole, but its weights are not. */
      if (size != whole && size != whole - 8) {
        put_bytes("a.galois", file, size);
        refuses("a.galois", &o, size < 32 ? ": not a graph of Galois" : ": ");
      }
    }
  }
}
END_TEST

START_TEST(what_is_not_read_twice) {
  struct digraph g;
  struct pems_error e;
  o.format = DIGRAPH_GALOIS;
  ck_assert_int_eq(digraph_read(&g, "/dev/null", &o, &e), EINVAL);
  ck_assert_ptr_nonnull(strstr(e.text, "/dev/null: no regular file: "));
  ck_assert_int_eq(digraph_read(&g, path_of("none"), &o, &e), ENOENT);
  ck_assert_int_eq(digraph_read(&g, directory, &o, &e), EISDIR);
}
END_TEST

int main(void) {
  Suite *const s = suite_create("digraph_galois");
  TCase *const t = tcase_create("digraph_galois");
  tcase_set_timeout(t, 60);
  tcase_add_checked_fixture(t, set_up, directory_end);
  tcase_add_test(t, both_versions);
  tcase_add_test(t, damaged_numbers);
  tcase_add_test(t, cut_short_or_too_long);
  tcase_add_test(t, what_is_not_read_twice);
  suite_add_tcase(s, t);
  return run_suite(s);
}
