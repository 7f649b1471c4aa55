/* Datatypes as bytes and back. Runs as one MPI process. */
#include "mpi/datatype/types_kept.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "../check_kept.h"
#include "check_main.h"
#include "check_memory.h"
#include "mpi/object/comm.h"
#include "mpi_abi/carried.h"
#include "mpi_below/real.h"

enum { MANY = 300 };

static struct vp vp;
static struct rank rank = {.vp = &vp};

static long size_of(MPI_Datatype type) {
  MPI_Count size;
  real.Type_size_x(type, &size);
  return (long)size;
}

static long extent_of(MPI_Datatype type) {
  MPI_Count low, extent;
  real.Type_get_extent_x(type, &low, &extent);
  return (long)extent;
}

/* Of many others, some of them more than once: more than the first table has
   room for. */
static MPI_Datatype make_many(void) {
  static int blocks[2 * MANY];
  static MPI_Aint places[2 * MANY];
  static MPI_Datatype parts[2 * MANY];
  MPI_Datatype type;
  for (int i = 0; i < MANY; i++) {
    MPI_Type_contiguous(i + 1, MPI_CHAR, &parts[i]);
    parts[MANY + i] = parts[i];
  }
  for (int i = 0; i < 2 * MANY; i++) {
    blocks[i] = 1;
    places[i] = (MPI_Aint)i * MANY;
  }
  MPI_Type_create_struct(2 * MANY, blocks, places, parts, &type);
  for (int i = 0; i < MANY; i++) {
    MPI_Type_free(&parts[i]);
  }
  return type;
}

static MPI_Datatype made, saved;

static void write_it(struct checkpoint_writer *to) {
  types_kept_write(saved, to);
}

static void read_it(struct checkpoint_reader *from) {
  types_kept_read(&made, from);
}

START_TEST(one_of_many_others) {
  struct parcel p = {0};
  saved = make_many();
  types_kept_save_one(saved, &p);
  ck_assert(!p.failed);
  /* Some MPIs tell of copies: then a part is there as often as it is one. */
  const int n = (int)parcel_number(&p);
  ck_assert(n == MANY + 1 || n == 2 * MANY + 1);
  p.at = 0;
  ck_assert_int_eq(types_kept_load_one(&made, &p), 0);
  ck_assert_uint_eq(p.at, p.n);
  ck_assert_int_eq(size_of(made), size_of(saved));
  ck_assert_int_eq(extent_of(made), extent_of(saved));
  ck_assert(made != saved);
  MPI_Type_free(&made);
  parcel_free(&p);
  kept_save(write_it, NULL);
  kept_load(read_it);
  ck_assert_int_eq(size_of(made), MANY * (MANY + 1));
  MPI_Type_free(&made);
  MPI_Type_free(&saved);
}
END_TEST

START_TEST(a_predefined_one) {
  struct parcel p = {0};
  types_kept_save_one(MPI_DOUBLE, &p);
  ck_assert_int_eq(types_kept_load_one(&made, &p), 0);
  ck_assert(made == MPI_DOUBLE);
  parcel_free(&p);
}
END_TEST

/* Wherever it ends. */
START_TEST(one_that_was_cut_off) {
  struct parcel p = {0};
  MPI_Datatype inner;
  MPI_Type_vector(3, 2, 5, MPI_INT, &inner);
  MPI_Type_contiguous(4, inner, &saved);
  types_kept_save_one(saved, &p);
  const size_t whole = p.n;
  for (p.n = 0; p.n < whole; p.n++) {
    p.at = 0;
    p.failed = false;
    made = MPI_DATATYPE_NULL;
    const int code = types_kept_load_one(&made, &p);
    ck_assert_msg(code || p.failed, "%zu of %zu bytes are enough", p.n, whole);
  }
  parcel_free(&p);
  MPI_Type_free(&inner);
  MPI_Type_free(&saved);
}
END_TEST

START_TEST(one_of_a_part_that_is_not_there) {
  struct parcel p = {0};
  const struct {
    int64_t place;
    MPI_Datatype predefined;
  } part = {0, MPI_DATATYPE_NULL};
  parcel_put_number(&p, 1); /* a contiguous one, of itself */
  parcel_put_number(&p, MPI_COMBINER_CONTIGUOUS);
  parcel_put_number(&p, 0);
  parcel_put_number(&p, 1);
  parcel_put_number(&p, 7);
  parcel_put_number(&p, 1);
  parcel_put(&p, &part, sizeof(part));
  parcel_put(&p, &part, sizeof(part));
  ck_assert_int_ne(types_kept_load_one(&made, &p), 0);
  parcel_free(&p);
}
END_TEST

/* With all that its program has of them: the same handle, name and number of
   references. */
START_TEST(those_of_a_rank) {
  struct parcel p = {0};
  char name[MPI_MAX_OBJECT_NAME];
  int n;
  MPI_Datatype inner, type;
  MPI_Type_contiguous(3, MPI_INT, &inner);
  MPI_Type_contiguous(5, inner, &type);
  MPI_Type_free(&inner);
  MPI_Type_set_name(type, "mine");
  struct carried *const c = carried_give(HANDLE_TYPE, (uintptr_t)type);
  c->references = 2;
  c->committed = true;
  const int number = handle_c2f(&c->handle);
  ck_assert_ptr_null(types_kept_obstacle(&rank));
  types_kept_save(&rank, &p);
  c->references = 1;
  carried_take(c);
  carried_taken(c, true);
  MPI_Type_free(&type);
  ck_assert_int_eq(types_kept_load(&rank, &p), 0);
  ck_assert(!p.failed && p.at == p.n);
  struct carried *const again =
      (struct carried *)handle_f2c(HANDLE_TYPE, number);
  ck_assert_ptr_nonnull(again);
  ck_assert_int_eq((int)again->references, 2);
  ck_assert(again->committed);
  type = (MPI_Datatype)again->real;
  MPI_Type_get_name(type, name, &n);
  ck_assert_str_eq(name, "mine");
  ck_assert_int_eq(size_of(type), 15 * (long)sizeof(int));
  again->references = 1;
  carried_take(again);
  carried_taken(again, true);
  MPI_Type_free(&type);
  parcel_free(&p);
}
END_TEST

static int there_and_back(void *arg) {
  struct parcel p = {0};
  (void)arg;
  made = MPI_DATATYPE_NULL;
  types_kept_save_one(saved, &p);
  const int code = p.failed ? ENOMEM : types_kept_load_one(&made, &p);
  if (!code) {
    MPI_Type_free(&made);
  }
  parcel_free(&p);
  return code;
}

START_TEST(without_memory) {
  MPI_Datatype inner;
  MPI_Type_vector(3, 2, 5, MPI_INT, &inner);
  MPI_Type_contiguous(4, inner, &saved);
  MPI_Type_free(&inner);
  memory_every(there_and_back, NULL, ENOMEM, MEMORY_NEEDED);
  MPI_Type_free(&saved);
}
END_TEST

/* Open MPI leaks at its end, with stacks that a suppression cannot name. */
__attribute__((visibility("default"))) int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void) {
  return 1;
}

int main(int argc, char **argv) {
  setenv("OMPI_MCA_ess_singleton_isolated", "1", 0);
  MPI_Init(&argc, &argv);
  real_load();
  vp.mpi = &rank;
  handles_fix(4);
  Suite *const suite = suite_create("types_kept");
  TCase *const all = tcase_create("all");
  tcase_set_timeout(all, 60);
  self.vp = &vp;
  tcase_add_test(all, one_of_many_others);
  tcase_add_test(all, a_predefined_one);
  tcase_add_test(all, one_that_was_cut_off);
  tcase_add_test(all, one_of_a_part_that_is_not_there);
  tcase_add_test(all, those_of_a_rank);
  tcase_add_test(all, without_memory);
  suite_add_tcase(suite, all);
  /* The real library does not live on after a fork. */
  const int status = check_run_as(suite, CK_NOFORK);
  MPI_Finalize();
  return status;
}
