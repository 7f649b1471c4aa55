/* Groups, attributes and error handlers where memory is short. */
#include "../check_shortage.h"
#include "check_main.h"
#include "mpi_abi/functions.h"
#include "mpi_below/real.h"

static MPI_Group some, others, made;

static void start(void) {
  static const int first[] = {0, 1}, last[] = {3, 1, 2};
  shortage_begin();
  some = group_handle(group_incl(shortage_rank.world->group, first, 2));
  others = group_handle(group_incl(shortage_rank.world->group, last, 3));
}

static void end(void) {
  pems_Group_free(&some);
  pems_Group_free(&others);
  shortage_end();
}

static void free_made(void) {
  ck_assert_int_eq(pems_Group_free(&made), MPI_SUCCESS);
}

static void nothing(void) {
}

/* --- groups --- */

static int make_union(void) {
  return pems_Group_union(some, others, &made);
}

static int make_intersection(void) {
  return pems_Group_intersection(some, others, &made);
}

static int make_difference(void) {
  return pems_Group_difference(some, others, &made);
}

static int make_incl(void) {
  return pems_Group_incl(others, 2, (const int[]){2, 0}, &made);
}

static int make_excl(void) {
  return pems_Group_excl(others, 1, (const int[]){1}, &made);
}

static int make_range_incl(void) {
  return pems_Group_range_incl(others, 1, (int[1][3]){{2, 0, -1}}, &made);
}

static int make_range_excl(void) {
  return pems_Group_range_excl(others, 1, (int[1][3]){{0, 1, 1}}, &made);
}

static int translate(void) {
  int ranks[2];
  return pems_Group_translate_ranks(some, 2, (const int[]){0, 1}, others,
                                    ranks);
}

static int compare(void) {
  static const int turned[] = {1, 0};
  int result;
  struct group *g = group_incl(group_of(some), turned, 2);
  if (!g) {
    return MPI_ERR_NO_MEM;
  }
  const int code = pems_Group_compare(some, group_handle(g), &result);
  if (!code) {
    ck_assert_int_eq(result, MPI_SIMILAR);
  }
  group_release(g);
  return code;
}

START_TEST(groups_are_made_or_not) {
  static int (*const calls[])(void) = {
      make_union, make_intersection, make_difference, make_incl,
      make_excl,  make_range_incl,   make_range_excl};
  for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
    shortage_everywhere(&(struct shortage_trial){calls[i], free_made, NULL});
  }
}
END_TEST

START_TEST(questions_about_groups_are_answered_or_not) {
  shortage_everywhere(&(struct shortage_trial){translate, nothing, NULL});
  shortage_everywhere(&(struct shortage_trial){compare, nothing, NULL});
}
END_TEST

/* --- attributes --- */

static int key, deleted;

static int copy(MPI_Comm comm, int keyval, void *extra, void *in, void *out,
                int *flag) {
  (void)comm, (void)keyval, (void)extra;
  *(void **)out = in;
  *flag = 1;
  return MPI_SUCCESS;
}

static int delete(MPI_Comm comm, int keyval, void *value, void *extra) {
  (void)comm, (void)keyval, (void)value, (void)extra;
  deleted++;
  return MPI_SUCCESS;
}

static int make_keyval(void) {
  return pems_Comm_create_keyval(copy, delete, &key, NULL);
}

static void free_keyval(void) {
  ck_assert_int_eq(pems_Comm_free_keyval(&key), MPI_SUCCESS);
}

static void forget_keyvals(void) {
  attribute_end(&shortage_rank);
}

static int set(void) {
  return pems_Comm_set_attr(MPI_COMM_WORLD, key, &key);
}

static void unset(void) {
  struct attributes **on = &shortage_rank.world->attributes;
  ck_assert_int_eq(attributes_delete(MPI_COMM_WORLD, on), MPI_SUCCESS);
}

START_TEST(keyvals_are_made_or_not) {
  shortage_everywhere(
      &(struct shortage_trial){make_keyval, free_keyval, forget_keyvals});
}
END_TEST

START_TEST(attributes_are_set_or_not) {
  make_keyval();
  shortage_everywhere(&(struct shortage_trial){set, unset, NULL});
  free_keyval();
}
END_TEST

START_TEST(a_value_stays_where_no_new_one_can_be_set) {
  int flag, *value;
  make_keyval();
  set();
  deleted = 0;
  memory_but(0);
  ck_assert_int_eq(pems_Comm_set_attr(MPI_COMM_WORLD, key, NULL),
                   MPI_ERR_NO_MEM);
  ck_assert_int_eq(deleted, 0);
  pems_Comm_get_attr(MPI_COMM_WORLD, key, &value, &flag);
  ck_assert(flag);
  ck_assert_ptr_eq(value, &key);
  unset();
  free_keyval();
}
END_TEST

START_TEST(attributes_are_deleted_without_memory) {
  make_keyval();
  set();
  memory_for(0);
  unset();
  ck_assert(!memory_was_out());
  memory_again();
  free_keyval();
}
END_TEST

/* --- error handlers --- */

static int real_made;
static MPI_Errhandler handler;

static int real_create(MPI_Comm_errhandler_function *function,
                       MPI_Errhandler *handle) {
  (void)function;
  real_made++;
  *handle = MPI_ERRORS_RETURN;
  return MPI_SUCCESS;
}

/* No predefined one. */
static int real_own(MPI_Comm_errhandler_function *f, MPI_Errhandler *made) {
  static max_align_t object;
  (void)f;
  real_made++;
  *made = (MPI_Errhandler)(uintptr_t)&object;
  return MPI_SUCCESS;
}

static int real_free(MPI_Errhandler *handle) {
  real_made--;
  *handle = MPI_ERRHANDLER_NULL;
  return MPI_SUCCESS;
}

START_TEST(error_handlers_are_made_or_not) {
  real.Comm_create_errhandler = real_create;
  real.Errhandler_free = real_free;
  memory_but(0);
  const long live = atomic_load(&check_memory.live);
  ck_assert_int_eq(pems_Comm_create_errhandler(NULL, &handler), MPI_ERR_NO_MEM);
  ck_assert(handler == MPI_ERRHANDLER_NULL);
  ck_assert_int_eq(real_made, 0);
  ck_assert_int_eq(atomic_load(&check_memory.live), live);
  ck_assert_int_eq(pems_Comm_create_errhandler(NULL, &handler), MPI_SUCCESS);
  ck_assert_int_eq(real_made, 1);
  pems_Errhandler_free(&handler);
  ck_assert_int_eq(real_made, 0);
  ck_assert_int_eq(atomic_load(&check_memory.live), live);
}
END_TEST

static void handle(MPI_Comm *comm, int *code, ...) {
  (void)comm, (void)code;
}

START_TEST(error_handlers_stay_while_something_has_them) {
  real.Comm_create_errhandler = real_own;
  real.Errhandler_free = real_free;
  ck_assert_int_eq(pems_Comm_create_errhandler(handle, &handler), MPI_SUCCESS);
  pems_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  pems_Errhandler_free(&handler);
  ck_assert_int_eq(real_made, 1);
  ck_assert(shortage_rank.world->errhandler.function);
  struct comm *const twin = comm_twin(shortage_rank.world);
  pems_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  ck_assert_int_eq(real_made, 1);
  handler = errhandler_get(&twin->errhandler, MPI_ERRORS_ARE_FATAL);
  comm_unuse(twin);
  ck_assert_int_eq(real_made, 1);
  ck_assert_int_eq(pems_Errhandler_free(&handler), MPI_SUCCESS);
  ck_assert_int_eq(real_made, 0);
}
END_TEST

int main(void) {
  Suite *const suite = suite_create("shortage of memory for objects");
  TCase *const t = tcase_create("all");
  tcase_add_checked_fixture(t, start, end);
  tcase_add_test(t, groups_are_made_or_not);
  tcase_add_test(t, questions_about_groups_are_answered_or_not);
  tcase_add_test(t, keyvals_are_made_or_not);
  tcase_add_test(t, attributes_are_set_or_not);
  tcase_add_test(t, a_value_stays_where_no_new_one_can_be_set);
  tcase_add_test(t, attributes_are_deleted_without_memory);
  tcase_add_test(t, error_handlers_are_made_or_not);
  tcase_add_test(t, error_handlers_stay_while_something_has_them);
  suite_add_tcase(suite, t);
  return check_run(suite);
}
