/* Who makes a communicator of a group has the same id as its other members, and
   no other call has it. */
#include "mpi/comm/comm_from_group.h"

#include "../check_shortage.h"
#include "check_main.h"

static struct group *some, *turned, *all;

static void start(void) {
  static const int ranks[] = {0, 2}, back[] = {2, 0};
  shortage_begin();
  some = group_new(ranks, 2);
  turned = group_new(back, 2);
  all = group_new(NULL, 4);
}

static void end(void) {
  group_release(some);
  group_release(turned);
  group_release(all);
  shortage_end();
}

START_TEST(keys_tell_groups_tags_and_seeds_apart) {
  const uint64_t keys[] = {
      comm_from_group_key(0, some, "a"),  comm_from_group_key(0, turned, "a"),
      comm_from_group_key(0, all, "a"),   comm_from_group_key(0, some, "b"),
      comm_from_group_key(0, some, "ab"), comm_from_group_key(0, some, ""),
      comm_from_group_key(1, some, "a"),
  };
  enum { N = sizeof(keys) / sizeof(keys[0]) };
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < i; j++) {
      ck_assert_uint_ne(keys[i], keys[j]);
    }
  }
  ck_assert_uint_eq(comm_from_group_key(0, some, "a"), keys[0]);
}
END_TEST

START_TEST(calls_with_one_key_are_counted) {
  const uint64_t key = comm_from_group_key(0, some, "a");
  uint64_t *next = comm_from_group_next(key);
  const uint64_t first = *next, id = comm_from_group_id(key, first, 0);
  ck_assert_ptr_eq(comm_from_group_next(key), next);
  ck_assert_uint_eq(*comm_from_group_next(key), first);
  ++*next;
  ck_assert_uint_eq(*comm_from_group_next(key), first + 1);
  ck_assert_uint_ne(comm_from_group_id(key, first + 1, 0), id);
  ck_assert_uint_ne(comm_from_group_id(key, first, 2), id);
  ck_assert_uint_eq(comm_from_group_id(key, first, 0), id);
  ck_assert_uint_eq(*comm_from_group_next(key + 1), first);
}
END_TEST

START_TEST(without_memory_there_is_no_count) {
  memory_but(0);
  ck_assert_ptr_null(comm_from_group_next(77));
  ck_assert_ptr_nonnull(comm_from_group_next(77));
}
END_TEST

int main(void) {
  Suite *const suite = suite_create("communicators of groups");
  TCase *const t = tcase_create("all");
  tcase_add_checked_fixture(t, start, end);
  tcase_add_test(t, keys_tell_groups_tags_and_seeds_apart);
  tcase_add_test(t, calls_with_one_key_are_counted);
  tcase_add_test(t, without_memory_there_is_no_count);
  suite_add_tcase(suite, t);
  return check_run(suite);
}
