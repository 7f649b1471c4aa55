/* Which operations and datatypes accumulate calls accept. */
#include "base/need.h"
#include "mpi/object/check.h"
#include "mpi/object/envelope.h"
#include "mpi/rma/win.h"

#include "mpi_below/real.h"
#include "os/native.h"

#include <stdatomic.h>

enum { LARGEST_GRAIN = 64 << 10 };

bool win_op_is_predefined(MPI_Op op) {
  const MPI_Op all[] = {MPI_MAX,    MPI_MIN,    MPI_SUM,     MPI_PROD, MPI_LAND,
                        MPI_BAND,   MPI_LOR,    MPI_BOR,     MPI_LXOR, MPI_BXOR,
                        MPI_MINLOC, MPI_MAXLOC, MPI_REPLACE, MPI_NO_OP};
  size_t i = 0;
  while (i < sizeof(all) / sizeof(all[0]) && all[i] != op) {
    i++;
  }
  return i < sizeof(all) / sizeof(all[0]);
}

/* What MPI_Type_create_f90_X gives is a predefined datatype of its own: other
   processes know it as one of C's. */
static MPI_Datatype basic_of_f90(MPI_Datatype type, int combiner) {
  int size;
  real.Type_size(type, &size);
  const bool is_real = combiner == MPI_COMBINER_F90_REAL;
  if (combiner == MPI_COMBINER_F90_INTEGER) {
    return size == 1   ? MPI_INT8_T
           : size == 2 ? MPI_INT16_T
           : size == 4 ? MPI_INT32_T
                       : MPI_INT64_T;
  }
  size /= is_real ? 1 : 2;
  return size == 4   ? (is_real ? MPI_FLOAT : MPI_C_FLOAT_COMPLEX)
         : size == 8 ? (is_real ? MPI_DOUBLE : MPI_C_DOUBLE_COMPLEX)
                     : (is_real ? MPI_LONG_DOUBLE : MPI_C_LONG_DOUBLE_COMPLEX);
}

/* The one that all have in common. Takes the list and its derived datatypes. */
static MPI_Datatype common(MPI_Datatype *types, MPI_Count n) {
  MPI_Datatype found = MPI_DATATYPE_NULL;
  bool same = true;
  for (MPI_Count i = 0; i < n; i++) {
    const MPI_Datatype basic = win_basic_type(types[i]);
    same = same && basic != MPI_DATATYPE_NULL && (i == 0 || basic == found);
    found = basic;
  }
  envelope_release(types, n);
  return same ? found : MPI_DATATYPE_NULL;
}

MPI_Datatype win_basic_type(MPI_Datatype type) {
  const struct envelope e = envelope_of(type);
  if (e.combiner == MPI_COMBINER_NAMED) {
    return type;
  }
  if (envelope_is_predefined(&e)) {
    return basic_of_f90(type, e.combiner);
  }
  int *i = need_alloc(((size_t)e.ints + 1) * sizeof(*i), "a datatype");
  MPI_Aint *a =
      need_alloc(((size_t)e.addresses + 1) * sizeof(*a), "a datatype");
  MPI_Count *l = need_alloc(((size_t)e.large + 1) * sizeof(*l), "a datatype");
  MPI_Datatype *t =
      need_alloc(((size_t)e.types + 1) * sizeof(MPI_Datatype), "a datatype");
  MPI_Datatype found = MPI_DATATYPE_NULL;
  if (envelope_contents(&e, type, i, a, l, t) == MPI_SUCCESS) {
    found = common(t, e.types);
  }
  native_free(i);
  native_free(a);
  native_free(l);
  native_free(t);
  return found;
}

/* The last pair that was right: programs use few. */
static bool is_known(MPI_Op op, MPI_Datatype basic, bool add) {
  static _Thread_local MPI_Op last_op;
  static _Thread_local MPI_Datatype last_basic;
  if (add) {
    last_op = op;
    last_basic = basic;
  }
  return op == last_op && basic == last_basic;
}

static int check_operator(MPI_Op op, MPI_Datatype basic) {
  if (is_known(op, basic, false)) {
    return MPI_SUCCESS;
  }
  const int code = check_op(op, basic);
  if (!code) {
    is_known(op, basic, true);
  }
  return code;
}

/* Any bytes may replace others; those of one element, as far as can be told, at
   once. */
static size_t grain_of(MPI_Datatype basic, MPI_Datatype target) {
  const struct layout *t =
      layout_of(basic != MPI_DATATYPE_NULL ? basic : target);
  return t->size > 0 && t->size <= LARGEST_GRAIN ? t->size : 1;
}

int win_operator_make(struct win_operator *o, MPI_Op op, MPI_Datatype origin,
                      MPI_Datatype target) {
  const MPI_Datatype basic = win_basic_type(target);
  *o = (struct win_operator){op, MPI_DATATYPE_NULL, NULL,
                             grain_of(basic, target)};
  if (op == MPI_REPLACE || op == MPI_NO_OP) {
    return MPI_SUCCESS;
  }
  if (basic == MPI_DATATYPE_NULL ||
      (origin != target && win_basic_type(origin) != basic)) {
    return MPI_ERR_ARG;
  }
  o->basic = basic;
  o->layout = layout_of(basic);
  return check_operator(op, basic);
}
