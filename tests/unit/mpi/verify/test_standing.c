/* What ranks do, in lines: those that do the same are put together. */
#include "mpi/verify/standing.h"

#include <check.h>
#include <string.h>

#include "check_main.h"

static struct standing doing(int rank, enum standing_is is, const char *call) {
  struct standing s = {.rank = rank, .is = is};
  strcpy(s.call, call);
  return s;
}

static const char *told(struct standing *s, size_t n) {
  static char text[7000];
  struct text t = text_in(text, sizeof(text));
  standing_tell(&t, s, n);
  return text;
}

START_TEST(ranks_that_do_the_same_have_one_line) {
  struct standing s[] = {
      doing(7, STANDING_POLLS, "MPI_Test"),
      doing(0, STANDING_COMPUTES, ""),
      doing(3, STANDING_POLLS, "MPI_Test"),
      doing(1, STANDING_POLLS, "MPI_Test"),
      doing(2, STANDING_POLLS, "MPI_Test"),
      doing(4, STANDING_WAITS, "MPI_Recv"),
      doing(5, STANDING_POLLS, "MPI_Iprobe"),
      doing(6, STANDING_ENDED, ""),
  };
  ck_assert_str_eq(told(s, sizeof(s) / sizeof(*s)),
                   "\n  rank 0 computes\n  ranks 1-3, 7 poll in MPI_Test"
                   "\n  rank 4 waits in MPI_Recv\n  rank 5 polls in MPI_Iprobe"
                   "\n  rank 6 has ended");
}
END_TEST

START_TEST(who_is_ready_says_what_for) {
  struct standing s[] = {
      doing(0, STANDING_CONTEXT, "MPI_Barrier"),
      doing(1, STANDING_CONTEXT, "MPI_Barrier"),
      doing(2, STANDING_SLOT, ""),
  };
  ck_assert_str_eq(told(s, 3),
                   "\n  ranks 0-1 wait for their contexts after MPI_Barrier"
                   "\n  rank 2 waits for a slot");
}
END_TEST

START_TEST(there_is_an_end_to_lines) {
  struct standing s[40];
  for (int i = 0; i < 40; i++) {
    char call[8] = {(char)('A' + i % 26), (char)('a' + i / 26), '\0'};
    s[i] = doing(i, STANDING_WAITS, call);
  }
  const char *const text = told(s, 40);
  ck_assert_ptr_nonnull(strstr(text, "\n  rank 23 waits in Xa\n"));
  ck_assert_ptr_nonnull(strstr(text, "\n  and 16 more groups of ranks"));
  ck_assert_ptr_null(strstr(text, "rank 24"));
}
END_TEST

int main(void) {
  Suite *const suite = suite_create("standing");
  TCase *const all = tcase_create("all");
  tcase_add_test(all, ranks_that_do_the_same_have_one_line);
  tcase_add_test(all, who_is_ready_says_what_for);
  tcase_add_test(all, there_is_an_end_to_lines);
  suite_add_tcase(suite, all);
  return check_run(suite);
}
