/* What the MPI behaviour programs share. They are plain MPI programs: their
   output, sorted, must be the same under mpirun and pemsrun. */
#ifndef TESTS_MPI_TEST_H
#define TESTS_MPI_TEST_H

#include <mpi.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpich_4.h"

static int rank, size, failures;
static int pace = 1; /* argument 1: only every so many cases are run */
static uint64_t digest = 14695981039346656037u;

/* Can wrong calls be compared? Which class of error they return is each MPI's
   own matter, and MPICH crashes at some: pems returns what Open MPI does. */
#ifdef OPEN_MPI
enum { ERRORS_COMPARE = 1 };
#else
enum { ERRORS_COMPARE = 0 };
#endif

static inline void begin(int *argc, char ***argv) {
  MPI_Init(argc, argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  setvbuf(stdout, NULL, _IOLBF, 1024);
  if (*argc > 1 && atoi((*argv)[1]) > 0) {
    pace = atoi((*argv)[1]);
  }
}

/* True for a case that the pace leaves out; the same on all ranks. */
static inline bool left_out(void) {
  static int cases;
  return cases++ % pace != 0;
}

static inline void mix(const void *bytes, size_t n) {
  const unsigned char *p = bytes;
  for (size_t i = 0; i < n; i++) {
    digest = (digest ^ p[i]) * 1099511628211u;
  }
}

static inline void mix_number(uint64_t n) {
  mix(&n, sizeof(n));
}

/* One line for all that was mixed in since the last. */
static inline void report(const char *what) {
  printf("rank %d: %s: %016llx\n", rank, what, (unsigned long long)digest);
  digest = 14695981039346656037u;
}

static inline void fail(const char *format, ...) {
  va_list args;
  va_start(args, format);
  if (failures++ < 10) {
    char text[200];
    vsnprintf(text, sizeof(text), format, args);
    printf("rank %d: FAIL: %s\n", rank, text);
  }
  va_end(args);
}

static inline int end(void) {
  printf("rank %d: failures: %d\n", rank, failures);
  MPI_Finalize();
  return failures ? 1 : 0;
}

/* Data are streams of bytes that a seed determines. */
static inline uint64_t seed_of(uint64_t call, int from, int to) {
  uint64_t s = call * 0x9e3779b97f4a7c15u + (uint64_t)(from + 1) * 0x1000193 +
               (uint64_t)(to + 1) * 0x85ebca6b5f3u;
  s ^= s >> 31;
  return s * 0xbf58476d1ce4e5b9u | 1;
}

static inline void stream(void *bytes, size_t n, uint64_t seed) {
  unsigned char *p = bytes;
  for (size_t i = 0; i < n; i++) {
    seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
    p[i] = (unsigned char)(seed >> 24);
  }
}

static inline unsigned pick(uint64_t *state, unsigned below) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (unsigned)(*state >> 33) % below;
}

/* A datatype and where its bytes are. */
struct shape {
  const char *name;
  MPI_Datatype type;
  MPI_Aint lb, extent, true_lb, true_extent;
  int size;
};

static inline struct shape shape_of(const char *name, MPI_Datatype type) {
  struct shape s = {.name = name, .type = type};
  MPI_Type_get_extent(type, &s.lb, &s.extent);
  MPI_Type_get_true_extent(type, &s.true_lb, &s.true_extent);
  MPI_Type_size(type, &s.size);
  return s;
}

/* Shapes of 12 ints each, so that any one can be sent to any other; the last
   is predefined and takes 12 times the count. */
enum { SHAPES = 9, INTS = 12 };

static inline MPI_Datatype struct_of_ints(void) {
  int blocks[3] = {2, 7, 3};
  MPI_Aint places[3] = {0, 12, 44};
  MPI_Datatype types[3] = {MPI_INT, MPI_INT, MPI_INT}, type;
  MPI_Type_create_struct(3, blocks, places, types, &type);
  return type;
}

static inline void make_shapes(struct shape *shapes) {
  MPI_Datatype t[SHAPES], old;
  int blocks[3] = {1, 5, 6}, places[3] = {10, 0, 14};
  int full[2] = {5, 6}, part[2] = {3, 4}, first[2] = {1, 2};
  MPI_Type_contiguous(INTS, MPI_INT, &t[0]);
  MPI_Type_vector(4, 3, 5, MPI_INT, &t[1]);
  MPI_Type_indexed(3, blocks, places, MPI_INT, &t[2]);
  t[3] = struct_of_ints();
  MPI_Type_create_resized(t[1], -8, 104, &t[4]);
  MPI_Type_create_subarray(2, full, part, first, MPI_ORDER_FORTRAN, MPI_INT,
                           &t[5]);
  MPI_Type_create_hvector(6, 2, -12, MPI_INT, &t[6]);
  MPI_Type_vector(2, 3, 4, MPI_INT, &old);
  MPI_Type_create_hvector(2, 1, 46, old, &t[7]); /* unaligned */
  MPI_Type_free(&old);
  const char *names[SHAPES] = {"contiguous", "vector",  "indexed",
                               "struct",     "resized", "subarray",
                               "backwards",  "nested",  "int"};
  for (int i = 0; i < SHAPES - 1; i++) {
    MPI_Type_commit(&t[i]);
  }
  t[SHAPES - 1] = MPI_INT;
  for (int i = 0; i < SHAPES; i++) {
    shapes[i] = shape_of(names[i], t[i]);
  }
}

static inline void free_shapes(struct shape *shapes) {
  for (int i = 0; i < SHAPES - 1; i++) {
    MPI_Type_free(&shapes[i].type);
  }
}

/* How many elements of the shape hold `n` times 12 ints. */
static inline int count_of(const struct shape *s, int n) {
  return s->type == MPI_INT ? INTS * n : n;
}

enum { PREDEFINED = 34 };
static inline void make_predefined(struct shape *shapes) {
  const MPI_Datatype types[PREDEFINED] = {
      MPI_CHAR,
      MPI_SIGNED_CHAR,
      MPI_UNSIGNED_CHAR,
      MPI_BYTE,
      MPI_WCHAR,
      MPI_SHORT,
      MPI_UNSIGNED_SHORT,
      MPI_INT,
      MPI_UNSIGNED,
      MPI_LONG,
      MPI_UNSIGNED_LONG,
      MPI_LONG_LONG,
      MPI_UNSIGNED_LONG_LONG,
      MPI_FLOAT,
      MPI_DOUBLE,
      MPI_LONG_DOUBLE,
      MPI_C_BOOL,
      MPI_INT8_T,
      MPI_UINT8_T,
      MPI_INT16_T,
      MPI_UINT32_T,
      MPI_INT64_T,
      MPI_AINT,
      MPI_OFFSET,
      MPI_COUNT,
      MPI_C_FLOAT_COMPLEX,
      MPI_C_DOUBLE_COMPLEX,
      MPI_C_LONG_DOUBLE_COMPLEX,
      MPI_2INT,
      MPI_SHORT_INT,
      MPI_LONG_INT,
      MPI_FLOAT_INT,
      MPI_DOUBLE_INT,
      MPI_LONG_DOUBLE_INT,
  };
  for (int i = 0; i < PREDEFINED; i++) {
    shapes[i] = shape_of("predefined", types[i]);
  }
}

/* Memory around `count` elements, filled with a background of `seed`. What a
   call must not touch is checked with what it must fill. */
struct arena {
  struct shape shape;
  size_t bytes;
  uint64_t seed;
  char *memory; /* the caller's, or of malloc */
  char *origin; /* the buffer's address for MPI */
  int owned;
};

enum { MARGIN = 32 };

static inline size_t arena_bytes(const struct shape *s, int count) {
  MPI_Aint reach = count > 1 ? (count - 1) * s->extent : 0;
  return (size_t)(s->true_extent + (reach < 0 ? -reach : reach)) + 2 * MARGIN;
}

static inline char *arena_origin(const struct arena *a, char *memory, int count,
                                 int odd) {
  MPI_Aint reach = count > 1 ? (count - 1) * a->shape.extent : 0;
  return memory + MARGIN + odd - a->shape.true_lb - (reach < 0 ? reach : 0);
}

/* `odd` is added to the address, 0 to 15. In `room` if it is not NULL and the
   arena fits its `room_bytes`. */
static inline struct arena arena_make(const struct shape *s, int count, int odd,
                                      uint64_t seed, char *room,
                                      size_t room_bytes) {
  struct arena a = {.shape = *s, .seed = seed};
  a.bytes = arena_bytes(s, count) + 16;
  a.owned = !room || a.bytes > room_bytes;
  a.memory = a.owned ? malloc(a.bytes) : room;
  if (!a.memory) {
    fail("malloc of %zu bytes", a.bytes);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  a.origin = arena_origin(&a, a.memory, count, odd);
  stream(a.memory, a.bytes, seed);
  return a;
}

/* Puts the stream of `seed` into `count` elements from element `place` on. */
static inline void put(const struct arena *a, char *origin, MPI_Aint place,
                       int count, uint64_t seed) {
  const size_t n = (size_t)count * (size_t)a->shape.size;
  int position = 0;
  if (n == 0) {
    return;
  }
  char *bytes = malloc(n);
  stream(bytes, n, seed);
  MPI_Unpack(bytes, (int)n, &position, origin + place * a->shape.extent, count,
             a->shape.type, MPI_COMM_SELF);
  free(bytes);
}

static inline void arena_put(const struct arena *a, MPI_Aint place, int count,
                             uint64_t seed) {
  put(a, a->origin, place, count, seed);
}

/* What an arena should hold: the same background, and what is put into it. */
static inline struct arena arena_twin(const struct arena *a) {
  struct arena twin = *a;
  twin.memory = malloc(a->bytes);
  twin.origin = twin.memory + (a->origin - a->memory);
  twin.owned = 1;
  stream(twin.memory, a->bytes, a->seed);
  return twin;
}

static inline void arena_free(struct arena *a) {
  if (a->owned) {
    free(a->memory);
  }
}

/* Compares, mixes into the digest, frees both. */
static inline void arena_check(struct arena *a, struct arena *expected,
                               const char *what) {
  if (memcmp(a->memory, expected->memory, a->bytes) != 0) {
    size_t i = 0;
    while (a->memory[i] == expected->memory[i]) {
      i++;
    }
    fail("%s: %s: byte %zu of %zu", what, a->shape.name, i, a->bytes);
  }
  mix(a->memory, a->bytes);
  arena_free(a);
  arena_free(expected);
}

/* Sizes in bytes around blocks and pages. */
enum { SIZES = 10 };
static const int sizes[SIZES] = {0,    1,    511,   4095,  4096,
                                 4097, 8193, 65536, 65549, 1 << 20};

/* Where buffers lie: on the heap, among globals, on the stack. */
enum { ROOM = 48 << 10, WHERES = 3 };
static char globals_a[ROOM], globals_b[ROOM];

struct rooms {
  char *a, *b; /* ROOM bytes each, or NULL: use malloc */
};

typedef void case_fn(const struct rooms *rooms);

static inline void run_everywhere(case_fn *run) {
  char stack_a[ROOM], stack_b[ROOM];
  const struct rooms heap = {NULL, NULL};
  const struct rooms globals = {globals_a, globals_b};
  const struct rooms stack = {stack_a, stack_b};
  run(&heap);
  run(&globals);
  run(&stack);
}

#endif
