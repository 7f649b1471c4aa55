/* Many contexts that nobody can touch, and can again. */
#define _GNU_SOURCE
#include "context/residency/guards.h"

#include "../store/store_contexts.h"
#include "check_main.h"
#include "context/calls/allocate.h"
#include "context/internal.h"
#include "context/residency/residency.h"
#include "os/pages.h"

#include <errno.h>

enum { N = 5 };

static struct crate_move move[N];
static struct context *all[N];
static char *p[N];
static int ends[2]; /* of a pipe */

static void start(void) {
  make_dir();
  create("unix", N, 8 * MIB, 64 * MIB);
  ck_assert_int_eq(pipe(ends), 0);
  for (int i = 0; i < N; i++) {
    all[i] = context_get(i);
    context_acquire(all[i]);
    p[i] = context_alloc(all[i], PAGE, PAGE);
    ck_assert_ptr_nonnull(p[i]);
    memset(p[i], 'A' + i, PAGE);
    move[i] = (struct crate_move){.c = all[i], .done = true};
  }
}

static void end(void) {
  for (int i = 0; i < N; i++) {
    context_release(all[i]);
  }
  close(ends[0]);
  close(ends[1]);
  remove_all();
}

static bool accessible(const char *at) {
  const bool yes = write(ends[1], at, 1) == 1;
  ck_assert(yes || errno == EFAULT);
  return yes;
}

/* But for one that has its pages. */
START_TEST(those_that_are_guarded_are_out_of_reach) {
  start();
  move[2].done = false;
  guards_close(move, N);
  for (int i = 0; i < N; i++) {
    const bool guarded = i != 2 && pages_can_guard();
    ck_assert_int_eq(all[i]->guarded, guarded);
    ck_assert_int_eq(accessible(p[i]), !guarded);
    ck_assert_int_eq(accessible(data[i]), !guarded);
  }
  ck_assert_int_eq(p[2][PAGE - 1], 'C');
  guards_open(all, N);
  for (int i = 0; i < N; i++) {
    ck_assert(accessible(p[i]) && accessible(data[i]));
    ck_assert_int_eq(p[i][0], all[i]->guarded ? 0 : 'A' + i);
  }
  end();
}
END_TEST

/* It does not know more than that it cannot: all are to be unmapped. */
START_TEST(a_system_that_cannot_guards_none) {
  start();
  pages_survey_end();
  guards_close(move, N);
  for (int i = 0; i < N; i++) {
    ck_assert(!all[i]->guarded);
    ck_assert(accessible(p[i]));
  }
  guards_open(all, N);
  end();
}
END_TEST

int main(void) {
  return check_main("guards",
                    (const TTest *[]){those_that_are_guarded_are_out_of_reach,
                                      a_system_that_cannot_guards_none, NULL});
}
