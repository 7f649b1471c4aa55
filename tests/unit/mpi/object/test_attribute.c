/* Attributes: callbacks that change what is being set, copied or deleted. */
#include "mpi/object/attribute.h"

#include "base/self.h"
#include "check_main.h"
#include "mpi/object/rank.h"

#include <check.h>
#include <stdlib.h>

static struct rank rank;
static struct vp vp;
static struct attributes *object, *other;
static int key[4], calls, order[8];

static void start(void) {
  rank = (struct rank){.vp = &vp};
  vp.mpi = &rank;
  self.vp = &vp;
  self.inside = 1;
  object = other = NULL;
  calls = 0;
}

static void end(void) {
  attributes_free(object);
  attributes_free(other);
  attribute_end(&rank);
  ck_assert_ptr_null(rank.keyvals);
}

static int copy(abi_holder handle, int keyval, void *extra, void *in, void *out,
                int *flag) {
  (void)handle, (void)keyval, (void)extra;
  ck_assert_int_eq(self.inside, 0);
  calls++;
  *(void **)out = in;
  *flag = 1;
  return MPI_SUCCESS;
}

static int copy_fails(abi_holder handle, int keyval, void *extra, void *in,
                      void *out, int *flag) {
  (void)handle, (void)keyval, (void)extra, (void)in, (void)out, (void)flag;
  return MPI_ERR_TOPOLOGY;
}

static int note(abi_holder handle, int keyval, void *value, void *extra) {
  (void)handle, (void)value, (void)extra;
  ck_assert_int_eq(self.inside, 0);
  order[calls++] = keyval;
  return MPI_SUCCESS;
}

static int refuse(abi_holder handle, int keyval, void *value, void *extra) {
  (void)handle, (void)keyval, (void)value, (void)extra;
  return MPI_ERR_ACCESS;
}

/* Takes the first attribute along, and frees its own keyval. */
static int delete_more(abi_holder handle, int keyval, void *value,
                       void *extra) {
  (void)value, (void)extra;
  order[calls++] = keyval;
  ck_assert_int_eq(attribute_delete(ATTRIBUTE_COMM, handle, &object, key[0]),
                   MPI_SUCCESS);
  ck_assert_int_eq(attribute_keyval_free(ATTRIBUTE_COMM, &keyval), MPI_SUCCESS);
  return MPI_SUCCESS;
}

typedef int copy_fn(abi_holder, int, void *, void *, void *, int *);
typedef int delete_fn(abi_holder, int, void *, void *);

static int make(copy_fn *c, delete_fn *d) {
  int made = MPI_KEYVAL_INVALID;
  ck_assert_int_eq(attribute_keyval_create(ATTRIBUTE_COMM, (void (*)(void))c,
                                           (void (*)(void))d, NULL, &made),
                   MPI_SUCCESS);
  return made;
}

static int set(int keyval, void *value) {
  return attribute_set(ATTRIBUTE_COMM, 0, &object, keyval,
                       attribute_pointer(value));
}

static void *get(struct attributes *on, int keyval) {
  void *value = NULL;
  int flag;
  ck_assert_int_eq(attribute_get(ATTRIBUTE_COMM, on, keyval, &value, &flag),
                   MPI_SUCCESS);
  ck_assert_int_eq(flag, value != NULL);
  return value;
}

START_TEST(deleted_in_the_reverse_order_of_setting) {
  for (int i = 0; i < 3; i++) {
    key[i] = make(copy, note);
  }
  set(key[1], key), set(key[0], key), set(key[2], key);
  ck_assert_int_eq(attributes_delete(0, &object), MPI_SUCCESS);
  ck_assert_ptr_null(object);
  ck_assert_int_eq(calls, 3);
  ck_assert_int_eq(order[0], key[2]);
  ck_assert_int_eq(order[1], key[0]);
  ck_assert_int_eq(order[2], key[1]);
}
END_TEST

START_TEST(a_callback_may_delete_others_and_its_own_keyval) {
  key[0] = make(copy, note);
  key[1] = make(copy, delete_more);
  set(key[0], key), set(key[1], key);
  ck_assert_int_eq(attributes_delete(0, &object), MPI_SUCCESS);
  ck_assert_int_eq(calls, 2);
  ck_assert_int_eq(order[0], key[1]);
  ck_assert_int_eq(order[1], key[0]);
  ck_assert_int_eq(set(key[1], key), MPI_ERR_OTHER);
}
END_TEST

START_TEST(a_delete_that_fails_keeps_the_value) {
  key[0] = make(copy, refuse);
  set(key[0], &key[0]);
  ck_assert_int_eq(set(key[0], &key[1]), MPI_ERR_ACCESS);
  ck_assert_ptr_eq(get(object, key[0]), &key[0]);
  ck_assert_int_eq(attributes_delete(0, &object), MPI_ERR_ACCESS);
  ck_assert_ptr_eq(get(object, key[0]), &key[0]);
}
END_TEST

static int by_copier(void (*f)(void), abi_holder handle, int keyval,
                     void *extra, int type, void *in, void **out, int *flag) {
  ck_assert_int_eq(type, 0);
  ck_assert(f == (void (*)(void))copy_fails);
  calls += 10;
  return copy(handle, keyval, extra, in, out, flag);
}

static int by_deleter(void (*f)(void), abi_holder handle, int keyval, int type,
                      void *value, void *extra) {
  (void)extra, (void)handle;
  ck_assert_int_eq(type, 0);
  ck_assert(f == (void (*)(void))refuse);
  ck_assert_ptr_eq(value, &key[0]);
  order[7] = keyval;
  return MPI_SUCCESS;
}

START_TEST(callbacks_of_another_language_are_called_by_its_own) {
  const int used = key[0] = make(copy_fails, refuse);
  ck_assert(attribute_keyval_call_by(used, by_copier, by_deleter));
  ck_assert(!attribute_keyval_call_by(MPI_TAG_UB, by_copier, by_deleter));
  set(used, &key[0]);
  ck_assert_int_eq(attributes_copy(0, object, &other), MPI_SUCCESS);
  ck_assert_int_eq(calls, 11);
  ck_assert_ptr_eq(get(other, used), &key[0]);
  ck_assert_int_eq(attributes_delete(0, &object), MPI_SUCCESS);
  ck_assert_int_eq(order[7], used);
  ck_assert_int_eq(attributes_delete(0, &other), MPI_SUCCESS);
}
END_TEST

static MPI_Aint get_number(struct attributes *on, int keyval) {
  attribute_as(ATTRIBUTE_AINT);
  return (MPI_Aint)get(on, keyval);
}

static int set_number(int keyval, enum attribute_type type, MPI_Aint value) {
  attribute_as(type);
  return attribute_set(ATTRIBUTE_COMM, 0, &object, keyval,
                       attribute_given((void *)value));
}

/* Of a number that Fortran has set C sees the address, Fortran the number; of a
   pointer of C's Fortran sees the number that it is. */
START_TEST(each_language_sees_what_the_other_one_has_set) {
  enum { LARGE = 40 };
  const MPI_Aint large = (MPI_Aint)5 << LARGE;
  const struct attribute_value tag = {ATTRIBUTE_INT, {.integer = 17}};
  ck_assert(attribute_is_predefined(MPI_TAG_UB));
  ck_assert(attribute_is_predefined(MPI_WIN_BASE));
  ck_assert(!attribute_is_predefined(MPI_KEYVAL_INVALID));
  ck_assert_int_eq(attribute_predefine(&object, MPI_TAG_UB, tag), MPI_SUCCESS);
  ck_assert_int_eq(get_number(object, MPI_TAG_UB), 17);
  ck_assert_int_eq(*(int *)get(object, MPI_TAG_UB), 17);
  key[0] = make(copy, note);
  ck_assert_int_eq(set_number(key[0], ATTRIBUTE_AINT, large), MPI_SUCCESS);
  ck_assert_int_eq(get_number(object, key[0]), large);
  ck_assert_int_eq(*(MPI_Aint *)get(object, key[0]), large);
  key[1] = make(copy, note);
  ck_assert_int_eq(set_number(key[1], ATTRIBUTE_INT, -3), MPI_SUCCESS);
  ck_assert_int_eq(get_number(object, key[1]), -3);
  ck_assert_int_eq(*(int *)get(object, key[1]), -3);
  key[2] = make(copy, note);
  set(key[2], &key[2]);
  ck_assert_int_eq(get_number(object, key[2]), (MPI_Aint)&key[2]);
  ck_assert_ptr_eq(get(object, key[2]), &key[2]);
}
END_TEST

START_TEST(a_copy_that_fails_ends_copying) {
  key[0] = make(copy, note);
  key[1] = make(copy_fails, note);
  key[2] = make(copy, note);
  for (int i = 0; i < 3; i++) {
    set(key[i], &key[i]);
  }
  ck_assert_int_eq(attributes_copy(0, object, &other), MPI_ERR_TOPOLOGY);
  ck_assert_int_eq(calls, 1);
  ck_assert_ptr_eq(get(other, key[0]), &key[0]);
  ck_assert_ptr_null(get(other, key[2]));
}
END_TEST

START_TEST(predefined_ones_are_read_and_copied_only) {
  const struct attribute_value five = {ATTRIBUTE_INT, {.integer = 5}};
  attribute_predefine(&object, MPI_TAG_UB, five);
  attribute_predefine(&object, MPI_LASTUSEDCODE, five);
  ck_assert_int_eq(*(int *)get(object, MPI_TAG_UB), 5);
  ck_assert_int_eq(set(MPI_TAG_UB, key), MPI_ERR_OTHER);
  ck_assert_int_eq(attribute_delete(ATTRIBUTE_COMM, 0, &object, MPI_TAG_UB),
                   MPI_ERR_OTHER);
  ck_assert_int_eq(attributes_copy(0, object, &other), MPI_SUCCESS);
  ck_assert_int_eq(*(int *)get(other, MPI_TAG_UB), 5);
  ck_assert_ptr_null(get(other, MPI_LASTUSEDCODE));
}
END_TEST

START_TEST(keyvals_of_others_are_none) {
  int window, flag;
  void *value;
  ck_assert_int_eq(
      attribute_keyval_create(ATTRIBUTE_WIN, NULL, NULL, NULL, &window),
      MPI_SUCCESS);
  ck_assert_int_eq(set(window, key), MPI_ERR_OTHER);
  ck_assert_ptr_null(get(object, window));
  ck_assert_int_eq(
      attribute_get(ATTRIBUTE_COMM, object, window + 1, &value, &flag),
      MPI_ERR_OTHER);
  int twice = window;
  ck_assert_int_eq(attribute_keyval_free(ATTRIBUTE_COMM, &window),
                   MPI_ERR_OTHER);
  ck_assert_int_eq(attribute_keyval_free(ATTRIBUTE_WIN, &window), MPI_SUCCESS);
  ck_assert_int_eq(window, MPI_KEYVAL_INVALID);
  ck_assert_int_eq(attribute_keyval_free(ATTRIBUTE_WIN, &twice), MPI_ERR_OTHER);
}
END_TEST

START_TEST(a_freed_keyval_lives_in_its_attributes) {
  int freed = key[0] = make(copy, note);
  set(key[0], &key[0]);
  attribute_keyval_free(ATTRIBUTE_COMM, &freed);
  for (int again = 0; again < 2; again++) {
    freed = key[0];
    ck_assert_int_eq(attribute_keyval_free(ATTRIBUTE_COMM, &freed),
                     MPI_SUCCESS);
    ck_assert_int_eq(freed, MPI_KEYVAL_INVALID);
    ck_assert_ptr_eq(get(object, key[0]), &key[0]);
  }
  ck_assert_int_eq(attribute_delete(ATTRIBUTE_COMM, 0, &object, key[0]),
                   MPI_SUCCESS);
  ck_assert_int_eq(set(key[0], key), MPI_ERR_OTHER);
  freed = key[0];
  ck_assert_int_eq(attribute_keyval_free(ATTRIBUTE_COMM, &freed),
                   MPI_ERR_OTHER);
}
END_TEST

/* As in another process: keyvals first, then what is on an object. */
START_TEST(a_checkpoint_has_keyvals_and_attributes) {
  struct parcel p = {0};
  int gone = key[0] = make(copy, note), next;
  key[1] = make(copy, note);
  set(key[0], &key[0]);
  set(key[1], &key[1]);
  attribute_keyval_free(ATTRIBUTE_COMM, &gone);
  ck_assert_ptr_null(attribute_keyvals_obstacle(&rank));
  attribute_keyvals_save(&rank, &p);
  attributes_save(object, &p);
  attributes_save(NULL, &p);
  end();
  start();
  ck_assert_int_eq(attribute_keyvals_load(&rank, &p), 0);
  ck_assert_int_eq(attributes_load(&object, &p), 0);
  ck_assert_int_eq(attributes_load(&other, &p), 0);
  ck_assert(!p.failed && p.at == p.n);
  parcel_free(&p);
  ck_assert_ptr_eq(get(object, key[0]), &key[0]);
  ck_assert_ptr_eq(get(object, key[1]), &key[1]);
  ck_assert_ptr_null(other);
  next = make(copy, note);
  ck_assert_int_gt(next, key[1]);
  attribute_keyval_is_foreign(next);
  ck_assert_ptr_nonnull(attribute_keyvals_obstacle(&rank));
  /* In the reverse order of setting; the keyval that was freed goes then. */
  ck_assert_int_eq(attributes_delete(0, &object), MPI_SUCCESS);
  ck_assert_int_eq(calls, 2);
  ck_assert_int_eq(order[0], key[1]);
  ck_assert_int_eq(order[1], key[0]);
  ck_assert_int_eq(set(key[0], key), MPI_ERR_OTHER);
  ck_assert_int_eq(set(key[1], key), MPI_SUCCESS);
}
END_TEST

int main(void) {
  Suite *const suite = suite_create("attribute");
  TCase *const t = tcase_create("all");
  tcase_add_checked_fixture(t, start, end);
  tcase_add_test(t, deleted_in_the_reverse_order_of_setting);
  tcase_add_test(t, a_callback_may_delete_others_and_its_own_keyval);
  tcase_add_test(t, a_delete_that_fails_keeps_the_value);
  tcase_add_test(t, callbacks_of_another_language_are_called_by_its_own);
  tcase_add_test(t, each_language_sees_what_the_other_one_has_set);
  tcase_add_test(t, a_copy_that_fails_ends_copying);
  tcase_add_test(t, predefined_ones_are_read_and_copied_only);
  tcase_add_test(t, keyvals_of_others_are_none);
  tcase_add_test(t, a_freed_keyval_lives_in_its_attributes);
  tcase_add_test(t, a_checkpoint_has_keyvals_and_attributes);
  suite_add_tcase(suite, t);
  return check_run(suite);
}
