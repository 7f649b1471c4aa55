/* Datatypes made anew of what MPI tells of one. */
#include "mpi/datatype/contents.h"

#include "mpi_below/real.h"
#include "os/native.h"

bool contents_make_knows(int combiner) {
  static const int known[] = {
    MPI_COMBINER_DUP,
    MPI_COMBINER_CONTIGUOUS,
    MPI_COMBINER_VECTOR,
    MPI_COMBINER_HVECTOR,
    MPI_COMBINER_INDEXED,
    MPI_COMBINER_HINDEXED,
    MPI_COMBINER_STRUCT,
    MPI_COMBINER_INDEXED_BLOCK,
    MPI_COMBINER_SUBARRAY,
    MPI_COMBINER_HINDEXED_BLOCK,
    MPI_COMBINER_DARRAY,
    MPI_COMBINER_RESIZED,
    MPI_COMBINER_F90_REAL,
    MPI_COMBINER_F90_COMPLEX,
    MPI_COMBINER_F90_INTEGER,
#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
    MPI_COMBINER_VALUE_INDEX,
#endif
  };
  bool found = false;
  for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
    found |= combiner == known[i];
  }
  return found;
}

/* The numbers as the constructors take them: `i` as ints, `a` as addresses. */
static int make_small(const struct contents *c, const int *i, const MPI_Aint *a,
                      MPI_Datatype *made) {
  const MPI_Datatype *const t = c->types;
  const int n = i[0];
  switch (c->combiner) {
  case MPI_COMBINER_DUP:
    return real.Type_dup(t[0], made);
  case MPI_COMBINER_CONTIGUOUS:
    return real.Type_contiguous(n, t[0], made);
  case MPI_COMBINER_VECTOR:
    return real.Type_vector(n, i[1], i[2], t[0], made);
  case MPI_COMBINER_HVECTOR:
    return real.Type_create_hvector(n, i[1], a[2], t[0], made);
  case MPI_COMBINER_INDEXED:
    return real.Type_indexed(n, i + 1, i + 1 + n, t[0], made);
  case MPI_COMBINER_HINDEXED:
    return real.Type_create_hindexed(n, i + 1, a + 1 + n, t[0], made);
  case MPI_COMBINER_INDEXED_BLOCK:
    return real.Type_create_indexed_block(n, i[1], i + 2, t[0], made);
  case MPI_COMBINER_HINDEXED_BLOCK:
    return real.Type_create_hindexed_block(n, i[1], a + 2, t[0], made);
  case MPI_COMBINER_STRUCT:
    return real.Type_create_struct(n, i + 1, a + 1 + n, t, made);
  case MPI_COMBINER_SUBARRAY:
    return real.Type_create_subarray(n, i + 1, i + 1 + n, i + 1 + 2 * n,
                                     i[1 + 3 * n], t[0], made);
  case MPI_COMBINER_RESIZED:
    return real.Type_create_resized(t[0], a[0], a[1], made);
  default: {
    const int dims = i[2];
    return real.Type_create_darray(i[0], i[1], dims, i + 3, i + 3 + dims,
                                   i + 3 + 2 * dims, i + 3 + 3 * dims,
                                   i[3 + 4 * dims], t[0], made);
  }
  }
}

/* Those that have no datatypes, or only predefined ones. */
static bool make_basic(const struct contents *c, const int *i,
                       MPI_Datatype *made, int *code) {
  switch (c->combiner) {
  case MPI_COMBINER_F90_REAL:
    *code = real.Type_create_f90_real(i[0], i[1], made);
    return true;
  case MPI_COMBINER_F90_COMPLEX:
    *code = real.Type_create_f90_complex(i[0], i[1], made);
    return true;
  case MPI_COMBINER_F90_INTEGER:
    *code = real.Type_create_f90_integer(i[0], made);
    return true;
#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
  case MPI_COMBINER_VALUE_INDEX:
    *code = real.Type_get_value_index(c->types[0], c->types[1], made);
    return true;
#endif
  default:
    return false;
  }
}

#if defined REAL_HAS_Type_get_envelope_c
static int make_large(const struct contents *c, const int *i,
                      MPI_Datatype *made) {
  const MPI_Datatype *const t = c->types;
  const MPI_Count *const l = c->n;
  const MPI_Count n = l[0];
  switch (c->combiner) {
  case MPI_COMBINER_CONTIGUOUS:
    return real.Type_contiguous_c(n, t[0], made);
  case MPI_COMBINER_VECTOR:
    return real.Type_vector_c(n, l[1], l[2], t[0], made);
  case MPI_COMBINER_HVECTOR:
    return real.Type_create_hvector_c(n, l[1], l[2], t[0], made);
  case MPI_COMBINER_INDEXED:
    return real.Type_indexed_c(n, l + 1, l + 1 + n, t[0], made);
  case MPI_COMBINER_HINDEXED:
    return real.Type_create_hindexed_c(n, l + 1, l + 1 + n, t[0], made);
  case MPI_COMBINER_INDEXED_BLOCK:
    return real.Type_create_indexed_block_c(n, l[1], l + 2, t[0], made);
  case MPI_COMBINER_HINDEXED_BLOCK:
    return real.Type_create_hindexed_block_c(n, l[1], l + 2, t[0], made);
  case MPI_COMBINER_STRUCT:
    return real.Type_create_struct_c(n, l + 1, l + 1 + n, t, made);
  case MPI_COMBINER_SUBARRAY:
    return real.Type_create_subarray_c(i[0], l + 1, l + 1 + n, l + 1 + 2 * n,
                                       i[1 + 3 * i[0]], t[0], made);
  case MPI_COMBINER_RESIZED:
    return real.Type_create_resized_c(t[0], l[0], l[1], made);
  default: {
    const int dims = i[2];
    return real.Type_create_darray_c(i[0], i[1], dims, l + 3, i + 3 + dims,
                                     i + 3 + 2 * dims, i + 3 + 3 * dims,
                                     i[3 + 4 * dims], t[0], made);
  }
  }
}
#endif

static int make(const struct contents *c, const int *i, const MPI_Aint *a,
                MPI_Datatype *made) {
  int code = MPI_SUCCESS;
  if (make_basic(c, i, made, &code)) {
    return code;
  }
#if defined REAL_HAS_Type_get_envelope_c
  if (c->large) {
    return make_large(c, i, made);
  }
#endif
  return make_small(c, i, a, made);
}

int contents_make(const struct contents *c, MPI_Datatype *made) {
  int *const i = native_zalloc((size_t)c->nn + 1, sizeof(*i));
  MPI_Aint *const a = native_zalloc((size_t)c->nn + 1, sizeof(*a));
  int code = MPI_ERR_NO_MEM;
  if (i && a) {
    for (MPI_Count k = 0; k < c->nn; k++) {
      i[k] = (int)c->n[k];
      a[k] = (MPI_Aint)c->n[k];
    }
    code = make(c, i, a, made);
  }
  native_free(i);
  native_free(a);
  return code;
}
