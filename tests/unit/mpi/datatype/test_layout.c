/* Layouts against the real library's own packing. Runs as one MPI process. */
#define _GNU_SOURCE
#include "mpi/datatype/layout.h"

#include <check.h>
#include <mpi.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "mpi_below/real.h"

#include "check_main.h"

enum {
  REACH = 48 << 10, /* a random span stays within this of its base */
  SIZE = 24 << 10,  /* and holds at most so many bytes */
  SEEDS = 6000
};

static uint64_t state;

static unsigned below(unsigned n) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return n ? (unsigned)(state >> 33) % n : 0;
}

static int between(int low, int high) {
  return low + (int)below((unsigned)(high - low + 1));
}

static MPI_Datatype named(void) {
  const MPI_Datatype types[] = {MPI_CHAR,
                                MPI_BYTE,
                                MPI_SHORT,
                                MPI_INT,
                                MPI_LONG,
                                MPI_FLOAT,
                                MPI_DOUBLE,
                                MPI_LONG_DOUBLE,
                                MPI_C_DOUBLE_COMPLEX,
                                MPI_C_BOOL,
                                MPI_WCHAR,
                                MPI_INT16_T,
                                MPI_UINT64_T,
                                MPI_AINT,
                                MPI_COUNT,
                                MPI_2INT,
                                MPI_SHORT_INT,
                                MPI_LONG_INT,
                                MPI_FLOAT_INT,
                                MPI_DOUBLE_INT,
                                MPI_LONG_DOUBLE_INT,
                                MPI_C_FLOAT_COMPLEX};
  return types[below(sizeof(types) / sizeof(types[0]))];
}

static MPI_Datatype f90(void) {
  MPI_Datatype type;
  switch (below(3)) {
  case 0:
    MPI_Type_create_f90_real(6, 30, &type);
    break;
  case 1:
    MPI_Type_create_f90_complex(12, 100, &type);
    break;
  default:
    MPI_Type_create_f90_integer(9, &type);
  }
  return type;
}

static MPI_Datatype random_subarray(MPI_Datatype old) {
  int sizes[3], subsizes[3], starts[3];
  const int ndims = between(1, 3);
  for (int i = 0; i < ndims; i++) {
    sizes[i] = between(1, 5);
    subsizes[i] = between(1, sizes[i]);
    starts[i] = between(0, sizes[i] - subsizes[i]);
  }
  MPI_Datatype type;
  MPI_Type_create_subarray(ndims, sizes, subsizes, starts,
                           below(2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN, old,
                           &type);
  return type;
}

static MPI_Datatype random_darray(MPI_Datatype old) {
  int sizes[3], distributions[3], arguments[3], procs[3], nprocs = 1;
  const int ndims = between(1, 3);
  for (int i = 0; i < ndims; i++) {
    sizes[i] = between(1, 7);
    procs[i] = between(1, 3);
    arguments[i] = MPI_DISTRIBUTE_DFLT_DARG;
    switch (below(3)) {
    case 0:
      distributions[i] = MPI_DISTRIBUTE_NONE;
      procs[i] = 1;
      break;
    case 1:
      distributions[i] = MPI_DISTRIBUTE_BLOCK;
      if (below(2)) {
        arguments[i] = (sizes[i] + procs[i] - 1) / procs[i] + between(0, 2);
      }
      break;
    default:
      distributions[i] = MPI_DISTRIBUTE_CYCLIC;
      if (below(2)) {
        arguments[i] = between(1, 3);
      }
    }
    nprocs *= procs[i];
  }
  MPI_Datatype type;
  MPI_Type_create_darray(
      nprocs, between(0, nprocs - 1), ndims, sizes, distributions, arguments,
      procs, below(2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN, old, &type);
  return type;
}

/* Open MPI 4.1 crashes when it makes arrays of elements without data, and packs
   structures that have such members wrongly. */
static MPI_Datatype not_empty(MPI_Datatype type) {
  int size;
  MPI_Type_size(type, &size);
  return size > 0 ? type : MPI_INT;
}

static MPI_Datatype random_type(int depth);

static MPI_Datatype random_struct(int depth) {
  int blocks[4];
  MPI_Aint places[4];
  MPI_Datatype olds[4], type;
  const int n = between(0, 4);
  for (int i = 0; i < n; i++) {
    blocks[i] = between(0, 3);
    places[i] = between(-40, 200);
    olds[i] = not_empty(random_type(depth - 1));
  }
  MPI_Type_create_struct(n, blocks, places, olds, &type);
  return type;
}

/* Strides are even: Open MPI 4.1 takes one of -1 byte for "none given".
   Types made on the way are not freed one by one: the real library keeps them
   alive anyhow, and the test ends soon. */
static MPI_Datatype random_type(int depth) {
  if (depth == 0 || below(8) == 0) {
    return below(20) == 0 ? f90() : named();
  }
  int blocks[5], places[5];
  MPI_Aint bytes[5];
  const int n = between(0, 4);
  for (int i = 0; i < n; i++) {
    blocks[i] = between(0, 3);
    places[i] = between(-6, 12);
    bytes[i] = between(-50, 100);
  }
  MPI_Datatype old = random_type(depth - 1), type;
  switch (below(12)) {
  case 0:
    MPI_Type_contiguous(between(0, 5), old, &type);
    break;
  case 1:
    MPI_Type_vector(n, between(0, 3), 2 * between(-2, 3), old, &type);
    break;
  case 2:
    MPI_Type_create_hvector(n, between(0, 3), 2 * between(-35, 45), old, &type);
    break;
  case 3:
    MPI_Type_indexed(n, blocks, places, old, &type);
    break;
  case 4:
    MPI_Type_create_hindexed(n, blocks, bytes, old, &type);
    break;
  case 5:
    MPI_Type_create_indexed_block(n, between(0, 3), places, old, &type);
    break;
  case 6:
    MPI_Type_create_hindexed_block(n, between(0, 3), bytes, old, &type);
    break;
  case 7:
    type = random_struct(depth);
    break;
  case 8:
    type = random_subarray(not_empty(old));
    break;
  case 9:
    type = random_darray(not_empty(old));
    break;
  case 10:
    MPI_Type_create_resized(old, between(-30, 30), between(-60, 120), &type);
    break;
  default:
    MPI_Type_dup(old, &type);
  }
  return type;
}

/* A committed type and a count of it that fit REACH and SIZE. */
static struct layout_span random_span(MPI_Datatype *type, char *base) {
  for (;;) {
    *type = random_type(between(0, 4));
    MPI_Type_commit(type);
    const struct layout *t = layout_of(*type);
    ck_assert_ptr_nonnull(t);
    const struct layout_span s = {base, (size_t)between(0, 6), t};
    char *low;
    const size_t len = span_bounds(&s, &low);
    if (low >= base - REACH && low + len <= base + REACH &&
        span_size(&s) <= SIZE) {
      return s;
    }
  }
}

static void fill(unsigned char *p, size_t n) {
  for (size_t i = 0; i < n; i++) {
    p[i] = (unsigned char)below(256);
  }
}

static unsigned char memory[2 * REACH], other[2 * REACH];
static unsigned char packed[SIZE], expected[SIZE];

static void check_pack(const struct layout_span *s, MPI_Datatype type) {
  const size_t size = span_size(s);
  int position = 0;
  MPI_Pack(s->base, (int)s->count, type, expected, SIZE, &position,
           MPI_COMM_SELF);
  ck_assert_uint_eq((size_t)position, size);
  for (size_t at = 0; at < size;) {
    const size_t n = 1 + below((unsigned)(size - at));
    span_pack(s, at, packed + at, n);
    at += n;
  }
  ck_assert_mem_eq(packed, expected, size);
  for (int i = 0; i < 8 && size > 0; i++) {
    const size_t at = below((unsigned)size);
    const size_t n = 1 + below((unsigned)(size - at));
    memset(packed, 0, size);
    span_pack(s, at, packed, n);
    ck_assert_mem_eq(packed, expected + at, n);
  }
}

/* Data may be received only where no two entries overlap. */
static bool overlaps(const struct layout_span *s) {
  static unsigned char hit[2 * REACH];
  memset(hit, 0, sizeof(hit));
  struct layout_cursor c;
  char *p;
  size_t n;
  span_cursor_start(&c, s, 0);
  while ((n = span_cursor_next(&c, SIZE, &p)) > 0) {
    for (size_t i = 0; i < n; i++) {
      if (hit[(unsigned char *)p + i - memory]++) {
        return true;
      }
    }
  }
  return false;
}

static void check_unpack(const struct layout_span *s, MPI_Datatype type) {
  const size_t size = span_size(s);
  if (overlaps(s)) {
    return;
  }
  fill(expected, size);
  fill(memory, sizeof(memory));
  memcpy(other, memory, sizeof(memory));
  int position = 0;
  MPI_Unpack(expected, (int)size, &position, other + REACH, (int)s->count, type,
             MPI_COMM_SELF);
  /* Piece by piece, the second half first. */
  const size_t half = below((unsigned)size + 1);
  for (int part = 1; part >= 0; part--) {
    const size_t end = part ? size : half;
    for (size_t at = part ? half : 0; at < end;) {
      const size_t n = 1 + below((unsigned)(end - at));
      span_unpack(s, at, expected + at, n);
      at += n;
    }
  }
  ck_assert_mem_eq(memory, other, sizeof(memory));
}

static void check_measures(const struct layout *t, MPI_Datatype type) {
  MPI_Count size, lb, extent, true_lb, true_extent;
  MPI_Type_size_x(type, &size);
  MPI_Type_get_extent_x(type, &lb, &extent);
  MPI_Type_get_true_extent_x(type, &true_lb, &true_extent);
  ck_assert_int_eq(t->size, size);
  ck_assert_int_eq(t->lb, lb);
  ck_assert_int_eq(t->extent, extent);
  if (size > 0) {
    ck_assert_int_eq(t->true_lb, true_lb);
    ck_assert_int_eq(t->true_extent, true_extent);
  }
}

/* The segments as the header promises them. */
static void check_segments(const struct layout *t) {
  size_t before = 0;
  for (size_t i = 0; i < t->nsegments; i++) {
    const struct layout_segment *s = &t->segments[i];
    ck_assert_uint_gt(s->len, 0);
    ck_assert_uint_eq(s->before, before);
    if (i > 0) {
      ck_assert_int_ne(s->offset, s[-1].offset + (ptrdiff_t)s[-1].len);
    }
    before += s->len;
  }
  ck_assert_uint_eq(before, t->size);
  ck_assert_int_eq(t->dense, t->nsegments == 1 && t->segments[0].offset == 0 &&
                                 (ptrdiff_t)t->segments[0].len == t->extent);
}

START_TEST(random_types_agree_with_mpi) {
  state = (uint64_t)_i * 1000003 + 17;
  fill(memory, sizeof(memory));
  MPI_Datatype type;
  const struct layout_span s = random_span(&type, (char *)memory + REACH);
  check_measures(s.layout, type);
  check_segments(s.layout);
  check_pack(&s, type);
  check_unpack(&s, type);
}
END_TEST

START_TEST(every_predefined_type_agrees_with_mpi) {
  for (int i = 0; i < 500; i++) {
    state = (uint64_t)i;
    MPI_Datatype type = i % 10 ? named() : f90();
    const struct layout_span s = {(char *)memory + REACH, 5, layout_of(type)};
    check_measures(s.layout, type);
    check_pack(&s, type);
    check_unpack(&s, type);
  }
}
END_TEST

START_TEST(bounds_are_those_of_the_bytes_touched) {
  for (int i = 0; i < 500; i++) {
    state = (uint64_t)i;
    MPI_Datatype type;
    const struct layout_span s = random_span(&type, (char *)memory + REACH);
    char *low = NULL, *high = NULL, *p, *found;
    struct layout_cursor c;
    size_t n;
    span_cursor_start(&c, &s, 0);
    while ((n = span_cursor_next(&c, SIZE, &p)) > 0) {
      low = !low || p < low ? p : low;
      high = !high || p + n > high ? p + n : high;
    }
    ck_assert_uint_eq(span_bounds(&s, &found), (size_t)(high - low));
    if (low) {
      ck_assert_ptr_eq(found, low);
    }
  }
}
END_TEST

START_TEST(gaps_of_pairs_are_not_data) {
  const struct layout *t = layout_of(MPI_SHORT_INT);
  ck_assert_uint_eq(t->nsegments, 2);
  ck_assert_uint_eq(t->segments[0].len, 2);
  ck_assert_int_eq(t->segments[1].offset, 4);
  ck_assert(!t->dense);
  t = layout_of(MPI_LONG_DOUBLE_INT);
  ck_assert_uint_eq(t->size, 20);
  ck_assert_int_eq(t->extent, 32);
  ck_assert(layout_of(MPI_2INT)->dense);
}
END_TEST

START_TEST(dense_elements_come_as_one_piece) {
  MPI_Datatype type;
  MPI_Type_contiguous(1000, MPI_INT, &type);
  MPI_Type_commit(&type);
  const struct layout_span s = {(char *)memory, 20, layout_of(type)};
  ck_assert(s.layout->dense);
  struct layout_cursor c;
  char *p;
  span_cursor_start(&c, &s, 10);
  ck_assert_uint_eq(span_cursor_next(&c, 100, &p), 100);
  ck_assert_ptr_eq(p, memory + 10);
  ck_assert_uint_eq(span_cursor_next(&c, SIZE_MAX, &p), 80000 - 110);
  ck_assert_ptr_eq(p, memory + 110);
  ck_assert_uint_eq(span_cursor_next(&c, SIZE_MAX, &p), 0);
  MPI_Type_free(&type);
}
END_TEST

START_TEST(spans_may_pass_2_to_the_31) {
  MPI_Datatype row, type;
  MPI_Type_contiguous(1 << 30, MPI_INT, &row);
  MPI_Type_contiguous(3, row, &type);
  MPI_Type_commit(&type);
  const struct layout_span s = {NULL, 1 << 20, layout_of(type)};
  ck_assert_uint_eq(span_size(&s), (size_t)12 << 50);
  struct layout_cursor c;
  char *p;
  span_cursor_start(&c, &s, ((size_t)12 << 50) - 5);
  ck_assert_uint_eq(span_cursor_next(&c, 100, &p), 5);
  ck_assert_uint_eq((uintptr_t)p, ((size_t)12 << 50) - 5);
  MPI_Type_free(&type);
  MPI_Type_free(&row);
}
END_TEST

START_TEST(a_position_past_the_end_gives_nothing) {
  const struct layout_span s = {(char *)memory, 3, layout_of(MPI_DOUBLE_INT)};
  const struct layout_span none = {NULL, 0, layout_of(MPI_INT)};
  struct layout_cursor c;
  char *p;
  span_cursor_start(&c, &s, 36);
  ck_assert_uint_eq(span_cursor_next(&c, 1, &p), 0);
  span_cursor_start(&c, &none, 0);
  ck_assert_uint_eq(span_cursor_next(&c, 1, &p), 0);
  ck_assert_uint_eq(span_bounds(&none, &p), 0);
  MPI_Datatype empty;
  MPI_Type_contiguous(0, MPI_INT, &empty);
  MPI_Type_commit(&empty);
  const struct layout_span nothing = {(char *)memory, 7, layout_of(empty)};
  ck_assert_uint_eq(span_size(&nothing), 0);
  span_cursor_start(&c, &nothing, 0);
  ck_assert_uint_eq(span_cursor_next(&c, 1, &p), 0);
  memset(packed, 7, 40);
  span_pack(&s, 30, packed, 40); /* only 6 are left */
  ck_assert_int_eq(packed[6], 7);
  MPI_Type_free(&empty);
}
END_TEST

START_TEST(seeking_into_many_segments) {
  enum { COUNT = 1000000 };
  MPI_Datatype type;
  MPI_Type_vector(COUNT, 1, 2, MPI_INT, &type);
  MPI_Type_commit(&type);
  int *const numbers = malloc(2 * COUNT * sizeof(*numbers));
  for (int i = 0; i < 2 * COUNT; i++) {
    numbers[i] = i;
  }
  const struct layout_span s = {(char *)numbers, 1, layout_of(type)};
  ck_assert_uint_eq(s.layout->nsegments, COUNT);
  for (int i = 0; i < 100000; i++) {
    const int at = (int)below(COUNT);
    int got;
    span_pack(&s, 4 * (size_t)at, &got, 4);
    ck_assert_int_eq(got, 2 * at);
  }
  MPI_Type_free(&type);
  free(numbers);
}
END_TEST

START_TEST(layouts_are_cached_on_the_type) {
  MPI_Datatype type, twin, other;
  MPI_Type_vector(3, 1, 2, MPI_INT, &type);
  MPI_Type_commit(&type);
  const struct layout *t = layout_of(type);
  ck_assert_ptr_eq(layout_of(type), t);
  MPI_Type_vector(3, 1, 3, MPI_INT, &other);
  ck_assert_ptr_ne(layout_of(other), t);
  MPI_Type_dup(type, &twin); /* looks the same: one layout serves both */
  ck_assert_ptr_eq(layout_of(twin), t);
  MPI_Type_free(&type);
  ck_assert_ptr_eq(layout_of(twin), t);
  ck_assert_uint_eq(t->nsegments, 3);
  MPI_Type_free(&twin);
  MPI_Type_free(&other);
  ck_assert_ptr_eq(layout_of(MPI_INT), layout_of(MPI_INT));
}
END_TEST

START_TEST(a_held_layout_outlives_its_type) {
  MPI_Datatype type;
  MPI_Type_vector(5, 2, 7, MPI_SHORT, &type);
  const struct layout *t = layout_hold(type);
  MPI_Type_free(&type);
  ck_assert_uint_eq(t->nsegments, 5);
  ck_assert_uint_eq(t->size, 20);
  MPI_Type_vector(5, 2, 7, MPI_SHORT, &type); /* found again */
  ck_assert_ptr_eq(layout_of(type), t);
  layout_release(t);
  ck_assert_uint_eq(layout_of(type)->size, 20);
  MPI_Type_free(&type);
  layout_release(NULL);
}
END_TEST

enum { THREADS = 8, TYPES = 200 };
static MPI_Datatype shared_types[TYPES];
static pthread_barrier_t start;

static void *ask_all(void *result) {
  const struct layout **layouts = result;
  for (int i = 0; i < TYPES; i++) {
    pthread_barrier_wait(&start);
    layouts[i] = layout_of(shared_types[i]);
  }
  return NULL;
}

START_TEST(a_described_layout_is_the_one_that_there_is) {
  MPI_Datatype type;
  MPI_Type_vector(3, 2, 5, MPI_INT, &type);
  MPI_Type_commit(&type);
  const struct layout *const l = layout_of(type);
  const struct layout *const again =
      layout_again(l->lb, l->extent, l->segments, l->nsegments);
  ck_assert_ptr_eq(again, l);
  layout_release(again);
  MPI_Type_free(&type);
  const struct layout_segment dense = {0, 24, 77};
  const struct layout *const new = layout_again(0, 24, &dense, 1);
  ck_assert(new->dense);
  ck_assert_uint_eq(new->size, 24);
  ck_assert_uint_eq(new->segments[0].before, 0);
  layout_release(new);
}
END_TEST

START_TEST(threads_get_the_same_layout) {
  static const struct layout *layouts[THREADS][TYPES];
  pthread_t threads[THREADS];
  for (int i = 0; i < TYPES; i++) {
    MPI_Type_vector(100, 1, 2, MPI_INT, &shared_types[i]);
    MPI_Type_commit(&shared_types[i]);
  }
  pthread_barrier_init(&start, NULL, THREADS);
  for (int i = 0; i < THREADS; i++) {
    pthread_create(&threads[i], NULL, ask_all, layouts[i]);
  }
  for (int i = 0; i < THREADS; i++) {
    pthread_join(threads[i], NULL);
  }
  for (int i = 0; i < TYPES; i++) {
    for (int j = 0; j < THREADS; j++) {
      ck_assert_ptr_eq(layouts[j][i], layouts[0][i]);
    }
    ck_assert_uint_eq(layouts[0][i]->nsegments, 100);
    MPI_Type_free(&shared_types[i]);
  }
  pthread_barrier_destroy(&start);
}
END_TEST

/* Open MPI leaks at its end, with stacks that a suppression cannot name. */
__attribute__((visibility("default"))) int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void) {
  return 1;
}

int main(int argc, char **argv) {
  int provided;
  setenv("OMPI_MCA_ess_singleton_isolated", "1", 0);
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  real_load();
  Suite *suite = suite_create("layout");
  TCase *tcase = tcase_create("layout");
  tcase_set_timeout(tcase, 60);
  tcase_add_loop_test(tcase, random_types_agree_with_mpi, 0, SEEDS);
  tcase_add_test(tcase, every_predefined_type_agrees_with_mpi);
  tcase_add_test(tcase, bounds_are_those_of_the_bytes_touched);
  tcase_add_test(tcase, gaps_of_pairs_are_not_data);
  tcase_add_test(tcase, dense_elements_come_as_one_piece);
  tcase_add_test(tcase, spans_may_pass_2_to_the_31);
  tcase_add_test(tcase, a_position_past_the_end_gives_nothing);
  tcase_add_test(tcase, seeking_into_many_segments);
  tcase_add_test(tcase, layouts_are_cached_on_the_type);
  tcase_add_test(tcase, a_held_layout_outlives_its_type);
  tcase_add_test(tcase, a_described_layout_is_the_one_that_there_is);
  tcase_add_test(tcase, threads_get_the_same_layout);
  suite_add_tcase(suite, tcase);
  /* The real library does not live on after a fork. */
  const int status = check_run_as(suite, CK_NOFORK);
  if (status == EXIT_SUCCESS) {
    MPI_Finalize();
  }
  return status;
}
