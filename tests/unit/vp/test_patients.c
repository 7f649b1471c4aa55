#include "vp/patients.h"

#include <check.h>

#include "check_main.h"

enum { N = 4 };

static struct vp vp[N];
static struct patients list, other;

static void expect(const struct patients *p, const char *ranks) {
  const struct vp *last = NULL;
  for (const struct vp *at = p->first; at; at = at->next_patient) {
    ck_assert_int_ne(*ranks, '\0');
    ck_assert_int_eq(at->rank, *ranks++ - '0');
    ck_assert_ptr_eq(at->among, p);
    last = at;
  }
  ck_assert_int_eq(*ranks, '\0');
  ck_assert(p->first == NULL || p->last == last);
}

static void fill(void) {
  list = other = (struct patients){0};
  for (int i = 0; i < N; i++) {
    vp[i] = (struct vp){.rank = i};
    patients_add(&list, &vp[i]);
  }
  expect(&list, "0123");
}

START_TEST(they_are_in_the_order_in_which_they_came) {
  fill();
}
END_TEST

START_TEST(any_may_leave) {
  for (int gone = 0; gone < N; gone++) {
    static const char *const left[N] = {"123", "023", "013", "012"};
    static const char *const again[N] = {"1230", "0231", "0132", "0123"};
    fill();
    patients_remove(&vp[gone]);
    ck_assert_ptr_null(vp[gone].among);
    expect(&list, left[gone]);
    patients_add(&list, &vp[gone]);
    expect(&list, again[gone]);
  }
}
END_TEST

START_TEST(the_last_one_leaves_an_empty_list) {
  fill();
  for (int i = 0; i < N; i++) {
    patients_remove(&vp[(i + 2) % N]);
  }
  expect(&list, "");
  patients_add(&list, &vp[1]);
  expect(&list, "1");
}
END_TEST

START_TEST(one_goes_from_list_to_list) {
  fill();
  patients_remove(&vp[3]);
  patients_add(&other, &vp[3]);
  patients_remove(&vp[0]);
  patients_add(&other, &vp[0]);
  expect(&list, "12");
  expect(&other, "30");
  patients_remove(&vp[3]);
  expect(&list, "12");
  expect(&other, "0");
}
END_TEST

int main(void) {
  const TTest *const tests[] = {
      they_are_in_the_order_in_which_they_came,
      any_may_leave,
      the_last_one_leaves_an_empty_list,
      one_goes_from_list_to_list,
      NULL,
  };
  return check_main("patients", tests);
}
