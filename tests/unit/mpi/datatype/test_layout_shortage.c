/* Layouts of datatypes where an allocation fails, each in its turn: there is no
   layout then, nothing is lost, and the next time there is one. */
#define _GNU_SOURCE
#include "mpi/datatype/layout.h"

#include <check.h>
#include <errno.h>
#include <mpi.h>
#include <stdlib.h>

#include "check_main.h"
#include "check_memory.h"
#include "check_seen.h"
#include "mpi_below/real.h"

/* Layouts come from libc's allocator. Check uses malloc, so only
   what comes from the others fails and counts. */
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *p, size_t n);
void __real_free(void *p);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *p, size_t n);
void __wrap_free(void *p);

void *__wrap_calloc(size_t count, size_t size) {
  return memory_is_out() ? NULL : seen_counted(__real_calloc(count, size));
}

void *__wrap_realloc(void *p, size_t n) {
  if (memory_is_out()) {
    return NULL;
  }
  if (!p) {
    return seen_counted(__real_realloc(NULL, n));
  }
  void *const new = __real_realloc(p, n);
  if (new) {
    seen_move(p, new);
  }
  return new;
}

void __wrap_free(void *p) {
  seen_freed(p);
  __real_free(p);
}

static MPI_Datatype darray(void) {
  const int sizes[] = {8, 9}, places[] = {2, 2};
  const int how[] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_BLOCK};
  const int args[] = {2, MPI_DISTRIBUTE_DFLT_DARG};
  MPI_Datatype type;
  MPI_Type_create_darray(4, 1, 2, sizes, how, args, places, MPI_ORDER_C,
                         MPI_INT, &type);
  return type;
}

static MPI_Datatype subarray(void) {
  const int sizes[] = {5, 6, 7}, part[] = {2, 3, 2}, at[] = {1, 1, 3};
  MPI_Datatype type;
  MPI_Type_create_subarray(3, sizes, part, at, MPI_ORDER_FORTRAN, MPI_DOUBLE,
                           &type);
  return type;
}

static MPI_Datatype structure(void) {
  const int lengths[] = {1, 3, 2};
  const MPI_Aint at[] = {0, 16, 512};
  MPI_Datatype vector, type;
  MPI_Type_vector(6, 2, 5, MPI_SHORT, &vector);
  const MPI_Datatype types[] = {MPI_CHAR, MPI_DOUBLE, vector};
  MPI_Type_create_struct(3, lengths, at, types, &type);
  MPI_Type_free(&vector);
  return type;
}

static MPI_Datatype indexed(void) {
  int lengths[100], at[100];
  for (int i = 0; i < 100; i++) {
    lengths[i] = 1 + i % 3;
    at[i] = 4 * i;
  }
  MPI_Datatype type;
  MPI_Type_indexed(100, lengths, at, MPI_FLOAT, &type);
  return type;
}

typedef MPI_Datatype make_type(void);
static make_type *const makers[] = {darray, subarray, structure, indexed};
enum { MAKERS = sizeof(makers) / sizeof(*makers) };

/* Each time of a type that has none yet. */
static int layout(void *arg) {
  make_type *const *const make = arg;
  MPI_Datatype type = (*make)();
  MPI_Type_commit(&type);
  const struct layout *const t = layout_of(type);
  int size;
  MPI_Type_size(type, &size);
  const bool right = t && t->size == (size_t)size;
  MPI_Type_free(&type);
  return right ? 0 : t ? EINVAL : ENOMEM;
}

START_TEST(no_layout_without_memory) {
  memory_every(layout, (void *)&makers[_i], ENOMEM, MEMORY_NEEDED);
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
  Suite *const suite = suite_create("layout_shortage");
  TCase *const all = tcase_create("all");
  tcase_set_timeout(all, 120);
  tcase_add_loop_test(all, no_layout_without_memory, 0, MAKERS);
  suite_add_tcase(suite, all);
  const int status = check_run_as(suite, CK_NOFORK);
  MPI_Finalize();
  return status;
}
