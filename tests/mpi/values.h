/* Numbers of every type and operations on them, for the reductions. Values are
   small integers, so that every order of evaluation gives the same. */
#ifndef TESTS_MPI_VALUES_H
#define TESTS_MPI_VALUES_H

#include <complex.h>
#include <stdbool.h>

#include "test.h"

#include <stddef.h>

enum { INTEGER = 1, FLOATING = 2, COMPLEX = 4, LOGICAL = 8, BYTES = 16 };

struct number {
  MPI_Datatype type;
  int class;
  size_t bytes;
  void (*store)(char *, long long);
  long long (*load)(const char *);
};

#define NUMBERS(X)                                                             \
  X(schar, signed char, MPI_SIGNED_CHAR, INTEGER)                              \
  X(uchar, unsigned char, MPI_UNSIGNED_CHAR, INTEGER)                          \
  X(short, short, MPI_SHORT, INTEGER)                                          \
  X(ushort, unsigned short, MPI_UNSIGNED_SHORT, INTEGER)                       \
  X(int, int, MPI_INT, INTEGER)                                                \
  X(uint, unsigned, MPI_UNSIGNED, INTEGER)                                     \
  X(long, long, MPI_LONG, INTEGER)                                             \
  X(ulong, unsigned long, MPI_UNSIGNED_LONG, INTEGER)                          \
  X(llong, long long, MPI_LONG_LONG, INTEGER)                                  \
  X(ullong, unsigned long long, MPI_UNSIGNED_LONG_LONG, INTEGER)               \
  X(int8, int8_t, MPI_INT8_T, INTEGER)                                         \
  X(int16, int16_t, MPI_INT16_T, INTEGER)                                      \
  X(int32, int32_t, MPI_INT32_T, INTEGER)                                      \
  X(int64, int64_t, MPI_INT64_T, INTEGER)                                      \
  X(uint8, uint8_t, MPI_UINT8_T, INTEGER)                                      \
  X(uint16, uint16_t, MPI_UINT16_T, INTEGER)                                   \
  X(uint32, uint32_t, MPI_UINT32_T, INTEGER)                                   \
  X(uint64, uint64_t, MPI_UINT64_T, INTEGER)                                   \
  X(aint, MPI_Aint, MPI_AINT, INTEGER)                                         \
  X(offset, MPI_Offset, MPI_OFFSET, INTEGER)                                   \
  X(count, MPI_Count, MPI_COUNT, INTEGER)                                      \
  X(float, float, MPI_FLOAT, FLOATING)                                         \
  X(double, double, MPI_DOUBLE, FLOATING)                                      \
  X(ldouble, long double, MPI_LONG_DOUBLE, FLOATING)                           \
  X(fcomplex, float complex, MPI_C_FLOAT_COMPLEX, COMPLEX)                     \
  X(dcomplex, double complex, MPI_C_DOUBLE_COMPLEX, COMPLEX)                   \
  X(bool, _Bool, MPI_C_BOOL, LOGICAL)                                          \
  X(byte, unsigned char, MPI_BYTE, BYTES)

#define NUMBER_FUNCTIONS(name, c_type, mpi_type, class)                        \
  static inline void store_##name(char *p, long long v) {                      \
    c_type x = (c_type)v;                                                      \
    memcpy(p, &x, sizeof(x));                                                  \
  }                                                                            \
  static inline long long load_##name(const char *p) {                         \
    c_type x;                                                                  \
    memcpy(&x, p, sizeof(x));                                                  \
    return (long long)x;                                                       \
  }
NUMBERS(NUMBER_FUNCTIONS)
#undef NUMBER_FUNCTIONS

enum { MAX_NUMBERS = 40 };
static struct number numbers[MAX_NUMBERS];
static int nnumbers;

static inline void make_numbers(void) {
#define NUMBER_ROW(name, c_type, mpi_type, class)                              \
  numbers[nnumbers++] = (struct number){mpi_type, class, sizeof(c_type),       \
                                        store_##name, load_##name};
  NUMBERS(NUMBER_ROW)
#undef NUMBER_ROW
}

struct operation {
  MPI_Op op;
  int classes;
  long long (*fold)(long long, long long);
};

#define OPERATIONS(X)                                                          \
  X(sum, MPI_SUM, INTEGER | FLOATING | COMPLEX, a + b)                         \
  X(prod, MPI_PROD, INTEGER | FLOATING | COMPLEX, a * b)                       \
  X(max, MPI_MAX, INTEGER | FLOATING, a > b ? a : b)                           \
  X(min, MPI_MIN, INTEGER | FLOATING, a < b ? a : b)                           \
  X(land, MPI_LAND, INTEGER | LOGICAL, a && b)                                 \
  X(lor, MPI_LOR, INTEGER | LOGICAL, a || b)                                   \
  X(lxor, MPI_LXOR, INTEGER | LOGICAL, !a != !b)                               \
  X(band, MPI_BAND, INTEGER | BYTES, a & b)                                    \
  X(bor, MPI_BOR, INTEGER | BYTES, a | b)                                      \
  X(bxor, MPI_BXOR, INTEGER | BYTES, a ^ b)

#define OPERATION_FUNCTION(name, mpi_op, classes, expression)                  \
  static inline long long fold_##name(long long a, long long b) {              \
    return expression;                                                         \
  }
OPERATIONS(OPERATION_FUNCTION)
#undef OPERATION_FUNCTION

enum { NOPERATIONS = 10 };
static struct operation operations[NOPERATIONS];

static inline void make_operations(void) {
  int n = 0;
#define OPERATION_ROW(name, mpi_op, classes, expression)                       \
  operations[n++] = (struct operation){mpi_op, classes, fold_##name};
  OPERATIONS(OPERATION_ROW)
#undef OPERATION_ROW
}

/* What rank r contributes as its i-th number. */
static inline long long value(const struct operation *o, int r, int i) {
  return o->op == MPI_PROD ? (r * 3 + i) % 2 + 1 : (r * 3 + i * 5) % 7;
}

/* The operation over ranks [first, last], first <= last. */
static inline long long folded(const struct operation *o, int first, int last,
                               int i) {
  long long v = value(o, first, i);
  for (int r = first + 1; r <= last; r++) {
    v = o->fold(v, value(o, r, i));
  }
  return v;
}

/* Products of 8-bit numbers wrap around. */
static inline long long as_stored(const struct number *n, long long v) {
  char bytes[32];
  n->store(bytes, v);
  return n->load(bytes);
}

/* 2 x 2 matrices of integers modulo a prime: associative, not commutative. The
   type may have gaps: the function asks for its extent. */
enum { PRIME = 30011 };

static inline void multiply(void *left, void *right, int *n,
                            MPI_Datatype *type) {
  MPI_Aint lb, extent;
  MPI_Type_get_extent(*type, &lb, &extent);
  for (int i = 0; i < *n; i++) {
    int a[4], b[4], c[4];
    memcpy(a, (char *)left + i * extent, sizeof(a));
    memcpy(b, (char *)right + i * extent, sizeof(b));
    for (int j = 0; j < 4; j++) {
      c[j] = (a[j & 2] * b[j & 1] + a[(j & 2) + 1] * b[(j & 1) + 2]) % PRIME;
    }
    memcpy((char *)right + i * extent, c, sizeof(c));
  }
}

/* The hash and the length of a string: of two, those of both in a row. */
struct text {
  uint64_t hash;
  uint64_t power; /* 31 to the length */
};

static inline void concatenate(void *left, void *right, int *n,
                               MPI_Datatype *type) {
  struct text *a = left, *b = right;
  (void)type;
  for (int i = 0; i < *n; i++) {
    b[i].hash = a[i].hash * b[i].power + b[i].hash;
    b[i].power *= a[i].power;
  }
}

/* A number and a tally with a gap between: commutative. */
struct tally {
  short votes;
  double weight;
};

static inline void add_tallies(void *left, void *right, int *n,
                               MPI_Datatype *type) {
  struct tally *a = left, *b = right;
  (void)type;
  for (int i = 0; i < *n; i++) {
    b[i].votes = (short)(a[i].votes + b[i].votes);
    b[i].weight += a[i].weight;
  }
}

/* A user's operation and type with what makes and compares its values. */
struct user {
  const char *name;
  MPI_Op op;
  MPI_Datatype type;
  size_t extent;
  MPI_User_function *function;
  void (*make)(char *, int r, int i);
  bool (*equal)(const char *, const char *);
};

static inline void make_matrix(char *p, int r, int i) {
  const int m[4] = {r + 2, i % 5 + 1, (r * i) % 7 + 3, r % 3 + 4};
  memcpy(p, m, sizeof(m));
}
static inline bool equal_matrices(const char *a, const char *b) {
  return memcmp(a, b, 4 * sizeof(int)) == 0;
}
static inline void make_text(char *p, int r, int i) {
  const struct text t = {(uint64_t)(65 + (r * 7 + i) % 26), 31};
  memcpy(p, &t, sizeof(t));
}
static inline bool equal_texts(const char *a, const char *b) {
  return memcmp(a, b, sizeof(struct text)) == 0;
}
static inline void make_tally(char *p, int r, int i) {
  const struct tally t = {.votes = (short)(r + i % 10), .weight = r * 0.25 + i};
  memcpy(p, &t, sizeof(t));
}
static inline bool equal_tallies(const char *a, const char *b) {
  struct tally x, y;
  memcpy(&x, a, sizeof(x));
  memcpy(&y, b, sizeof(y));
  return x.votes == y.votes && x.weight == y.weight;
}

enum { USERS = 4 };
static struct user users[USERS];

static inline void make_users(void) {
  MPI_Datatype matrix, spaced, text, tally, pair[2] = {MPI_SHORT, MPI_DOUBLE};
  int blocks[2] = {1, 1};
  MPI_Aint places[2] = {0, (MPI_Aint)offsetof(struct tally, weight)};
  MPI_Type_contiguous(4, MPI_INT, &matrix);
  MPI_Type_create_resized(matrix, 0, 28, &spaced);
  MPI_Type_contiguous(2, MPI_UINT64_T, &text);
  MPI_Type_create_struct(2, blocks, places, pair, &tally);
  users[0] = (struct user){"matrices", MPI_OP_NULL, matrix,        16,
                           multiply,   make_matrix, equal_matrices};
  users[1] = (struct user){"spaced matrices", MPI_OP_NULL, spaced,        28,
                           multiply,          make_matrix, equal_matrices};
  users[2] = (struct user){"texts",     MPI_OP_NULL, text,       16,
                           concatenate, make_text,   equal_texts};
  users[3] = (struct user){"tallies",   MPI_OP_NULL, tally,        16,
                           add_tallies, make_tally,  equal_tallies};
  for (int i = 0; i < USERS; i++) {
    MPI_Type_commit(&users[i].type);
    MPI_Op_create(users[i].function, i == 3, &users[i].op);
  }
}

static inline void free_users(void) {
  for (int i = 0; i < USERS; i++) {
    MPI_Type_free(&users[i].type);
    MPI_Op_free(&users[i].op);
  }
}

/* The i-th result over ranks [first, last]. */
static inline void user_folded(const struct user *u, int first, int last, int i,
                               char *result) {
  int one = 1;
  /* The function computes left * right into right: start from the last. */
  u->make(result, last, i);
  for (int r = last - 1; r >= first; r--) {
    char left[32];
    u->make(left, r, i);
    u->function(left, result, &one, (MPI_Datatype *)&u->type);
  }
}

/* Buffers of `count` elements, and their contents. */
static inline char *blank(size_t bytes) {
  char *p = malloc(bytes + 16);
  memset(p, 0x5a, bytes + 16);
  return p;
}

/* The bytes beyond a buffer's end, or of all of it, are still blank. */
static inline void check_blank(const char *p, size_t from, size_t to,
                               const char *what) {
  for (size_t i = from; i < to + 16; i++) {
    if (p[i] != 0x5a) {
      fail("%s: byte %zu of %zu was written", what, i, to);
      return;
    }
  }
}

/* Numbers first + [0, count) of rank r. */
static inline char *contribution(const struct number *n,
                                 const struct operation *o, int r, int first,
                                 int count) {
  char *p = blank((size_t)count * n->bytes);
  for (int i = 0; i < count; i++) {
    n->store(p + (size_t)i * n->bytes, value(o, r, first + i));
  }
  return p;
}

static inline void check_folded(const char *p, const struct number *n,
                                const struct operation *o, int first_rank,
                                int last_rank, int first, int count,
                                const char *what) {
  for (int i = 0; i < count; i++) {
    const long long got = n->load(p + (size_t)i * n->bytes);
    const long long want =
        as_stored(n, folded(o, first_rank, last_rank, first + i));
    mix_number((uint64_t)got);
    if (got != want) {
      fail("%s: type %d, operation %d, number %d: %lld, not %lld", what,
           (int)(n - numbers), (int)(o - operations), first + i, got, want);
      return;
    }
  }
  check_blank(p, (size_t)count * n->bytes, (size_t)count * n->bytes, what);
}

static inline char *user_contribution(const struct user *u, int r, int first,
                                      int count) {
  char *p = blank((size_t)count * u->extent);
  for (int i = 0; i < count; i++) {
    u->make(p + (size_t)i * u->extent, r, first + i);
  }
  return p;
}

static inline void check_user(const char *p, const struct user *u,
                              int first_rank, int last_rank, int first,
                              int count, const char *what) {
  for (int i = 0; i < count; i++) {
    char want[32];
    user_folded(u, first_rank, last_rank, first + i, want);
    if (!u->equal(p + (size_t)i * u->extent, want)) {
      fail("%s: %s: element %d", what, u->name, first + i);
      return;
    }
    mix(p + (size_t)i * u->extent, sizeof(short));
  }
  check_blank(p, (size_t)count * u->extent, (size_t)count * u->extent, what);
}

static inline void begin_values(int *argc, char ***argv) {
  begin(argc, argv);
  make_numbers();
  make_operations();
  make_users();
}

static inline int end_values(void) {
  free_users();
  return end();
}

#endif
