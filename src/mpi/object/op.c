#include "mpi/object/op.h"

#include "base/need.h"
#include "base/self.h"
#include "mpi/object/comm.h"
#include "mpi/object/comm_error.h"
#include "mpi/object/rank.h"
#include "mpi_abi/carried.h"
#include "mpi_abi/functions.h"
#include "mpi_below/real.h"
#include "os/lock.h"
#include "os/native.h"

#include <errno.h>
#include <stdint.h>

/* A collective call needs it. */
struct held {
  struct held *next;
  MPI_Op op;
  int holders;
  bool freed; /* by the program, while it was needed */
};

/* How one was made, where handles are pems's. */
struct made {
  struct made *next;
  MPI_Op op;
  void (*function)(void);
  int commute;
  bool large;   /* a function for large counts, */
  bool fortran; /* or one of Fortran's */
  bool foreign; /* the real library has been told more */
};

/* What its function gets besides, in the memory of the rank that made it. */
struct stateful {
  struct stateful *next;
  MPI_Op op; /* MPI_OP_NULL: it is freed, and this is to be destroyed */
  const struct vp *vp;
  void (*destroy)(void *state);
  void *state;
};

static struct {
  struct lock lock;
  struct held *first;
  struct made *made;
  struct stateful *stateful;
} ops = {.lock = LOCK_INITIALIZER(LOCK_OPS)};

/* Those are never freed. */
static bool is_predefined(MPI_Op op) {
  const MPI_Op all[] = {MPI_MAX,     MPI_MIN,   MPI_SUM,    MPI_PROD,
                        MPI_LAND,    MPI_BAND,  MPI_LOR,    MPI_BOR,
                        MPI_LXOR,    MPI_BXOR,  MPI_MAXLOC, MPI_MINLOC,
                        MPI_REPLACE, MPI_NO_OP, MPI_OP_NULL};
  for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
    if (op == all[i]) {
      return true;
    }
  }
  return false;
}

bool op_is_user(MPI_Op op) {
  return !is_predefined(op);
}

/* --- how they were made --------------------------------------------------- */

static void note(MPI_Op op, struct made how) {
  struct made *const m = need_alloc(sizeof(*m), "operation");
  *m = how;
  m->op = op;
  lock_take(&ops.lock);
  m->next = ops.made;
  ops.made = m;
  lock_give(&ops.lock);
}

static struct made **find_made(MPI_Op op) {
  struct made **link = &ops.made;
  while (*link && (*link)->op != op) {
    link = &(*link)->next;
  }
  return link;
}

static struct made made_of(MPI_Op op) {
  lock_take(&ops.lock);
  const struct made *const m = *find_made(op);
  const struct made found = m ? *m : (struct made){0};
  lock_give(&ops.lock);
  return found;
}

/* Before another one can have its handle. */
static void forget(MPI_Op op) {
  lock_take(&ops.lock);
  struct made **const link = find_made(op);
  struct made *const m = *link;
  if (m) {
    *link = m->next;
  }
  for (struct stateful *s = ops.stateful; s; s = s->next) {
    if (s->op == op) {
      s->op = MPI_OP_NULL;
    }
  }
  lock_give(&ops.lock);
  native_free(m);
}

static bool mark(MPI_Op op, bool fortran) {
  lock_take(&ops.lock);
  struct made *const m = *find_made(op);
  if (m) {
    m->fortran |= fortran;
    m->foreign |= !fortran;
  }
  lock_give(&ops.lock);
  return m;
}

bool op_set_fortran(MPI_Op op) {
  return mark(op, true);
}

void op_set_foreign(MPI_Op op) {
  (void)mark(op, false);
}

int pems_Op_create(MPI_User_function *function, int commute, MPI_Op *op) {
  const int code = real.Op_create(function, commute, op);
  if (!code && handles_fixed) {
    note(*op, (struct made){.function = (void (*)(void))function,
                            .commute = commute});
  }
  return comm_error(MPI_COMM_WORLD, code, "MPI_Op_create");
}

#if defined PEMS_MPI_HAS_Op_create_c
int pems_Op_create_c(MPI_User_function_c *function, int commute, MPI_Op *op) {
  const int code = real.Op_create_c(function, commute, op);
  if (!code && handles_fixed) {
    note(*op, (struct made){.function = (void (*)(void))function,
                            .commute = commute,
                            .large = true});
  }
  return comm_error(MPI_COMM_WORLD, code, "MPI_Op_create_c");
}
#endif

/* --- with a state -----------------------------------------------------------
 */

/* One of the calling rank's that nothing needs any more, out of the list; or
   NULL. */
static struct stateful *take_needless(void) {
  lock_take(&ops.lock);
  struct stateful **link = &ops.stateful;
  while (*link && ((*link)->op != MPI_OP_NULL || (*link)->vp != self.vp)) {
    link = &(*link)->next;
  }
  struct stateful *const s = *link;
  if (s) {
    *link = s->next;
  }
  lock_give(&ops.lock);
  return s;
}

/* The state is the rank's memory, and what destroys it the program's code: that
   is for the rank's own thread, whichever thread freed the operation last. */
static void destroy_needless(void) {
  const int inside = self.inside;
  for (struct stateful *s; (s = take_needless());) {
    self.inside = 0;
    s->destroy(s->state);
    self.inside = inside;
    native_free(s);
  }
}

/* Some MPIs' libraries for Fortran call it. */
#if defined PEMS_MPI_HAS_X_Op_create_x
static void destroys_nothing(void *state) {
  (void)state;
}

static void note_state(MPI_Op op, MPIX_Destructor_function *destroy,
                       void *state) {
  struct stateful *const s = need_alloc(sizeof(*s), "operation");
  *s = (struct stateful){
      .op = op, .vp = self.vp, .destroy = destroy, .state = state};
  lock_take(&ops.lock);
  s->next = ops.stateful;
  ops.stateful = s;
  lock_give(&ops.lock);
}

int pems_X_Op_create_x(MPIX_User_function_x *function,
                       MPIX_Destructor_function *destructor, int commute,
                       void *state, MPI_Op *op) {
  destroy_needless();
  const int code =
      real.X_Op_create_x(function, destroys_nothing, commute, state, op);
  if (!code && handles_fixed) {
    note(*op, (struct made){.foreign = true});
  }
  if (!code && destructor) {
    note_state(*op, destructor, state);
  }
  return comm_error(MPI_COMM_WORLD, code, "MPI_Op_create");
}
#endif

/* --- calling them --------------------------------------------------------- */

typedef void c_function(const void *in, void *inout, int *n,
                        MPI_Datatype *type);
typedef void large_function(const void *in, void *inout, MPI_Count *n,
                            MPI_Datatype *type);
/* Its INTEGERs are ints. */
typedef void fortran_function(const void *in, void *inout, int *n, int *type);

static void call_fortran(const struct made *m, const void *in, void *inout,
                         int n, MPI_Datatype type) {
  int count = n, number = abi_type_number(type);
  struct carried *const c = carried_of_real(HANDLE_TYPE, (uintptr_t)type);
  if (c) {
    number = handle_c2f(&c->handle);
  }
  ((fortran_function *)m->function)(in, inout, &count, &number);
}

bool op_call(const void *in, void *inout, MPI_Count n, MPI_Datatype type,
             MPI_Op op) {
  const struct made m =
      handles_fixed && op_is_user(op) ? made_of(op) : (struct made){0};
  MPI_Datatype seen = type;
  int count = (int)n;
  if (!m.function || m.foreign || n < 0 || (!m.large && n != count)) {
    return false;
  }
  if (m.fortran) {
    call_fortran(&m, in, inout, count, type);
    return true;
  }
  seen = carried_seen_Datatype(type);
  if (m.large) {
    ((large_function *)m.function)(in, inout, &n, &seen);
  } else {
    ((c_function *)m.function)(in, inout, &count, &seen);
  }
  return true;
}

void op_combine(const void *in, void *inout, int n, MPI_Datatype type,
                MPI_Op op) {
  if (op_call(in, inout, n, type, op)) {
    return;
  }
  /* Without code of the program's all that it allocates, and may keep, is the
     real MPI's. */
  const bool inside = is_predefined(op);
  self.inside += inside;
  real.Reduce_local(in, inout, n, type, op);
  self.inside -= inside;
}

/* --- operations that are needed ------------------------------------------ */

static struct held **find(MPI_Op op) {
  struct held **link = &ops.first;
  while (*link && (*link)->op != op) {
    link = &(*link)->next;
  }
  return link;
}

void op_hold(MPI_Op op) {
  if (is_predefined(op)) {
    return;
  }
  lock_take(&ops.lock);
  struct held **link = find(op);
  if (!*link) {
    *link = need_zalloc(1, sizeof(**link), "operation");
    (*link)->op = op;
  }
  (*link)->holders++;
  lock_give(&ops.lock);
}

void op_release(MPI_Op op) {
  bool freed = false;
  if (is_predefined(op)) {
    return;
  }
  lock_take(&ops.lock);
  struct held **link = find(op);
  struct held *h = *link;
  if (--h->holders == 0) {
    *link = h->next;
    freed = h->freed;
    native_free(h);
  }
  lock_give(&ops.lock);
  if (freed) {
    forget(op);
    real.Op_free(&op);
  }
}

/* Frees it when it is needed no more; false if it is not needed now. */
static bool free_later(MPI_Op op) {
  lock_take(&ops.lock);
  struct held *h = *find(op);
  if (h) {
    h->freed = true;
  }
  lock_give(&ops.lock);
  return h != NULL;
}

int pems_Op_free(MPI_Op *op) {
  if (op && !is_predefined(*op) && free_later(*op)) {
    *op = MPI_OP_NULL;
    return MPI_SUCCESS;
  }
  if (op && !is_predefined(*op)) {
    forget(*op);
  }
  const int code = real.Op_free(op);
  destroy_needless();
  return comm_error(MPI_COMM_WORLD, code, "MPI_Op_free");
}

/* --- in a checkpoint ------------------------------------------------------ */

const char *ops_obstacle(const struct rank *rank) {
  const struct carried *c = NULL;
  while ((c = carried_next(rank->vp->rank, HANDLE_OP, c))) {
    if (made_of((MPI_Op)c->real).foreign) {
      return "operations of another language";
    }
  }
  return NULL;
}

void ops_save(const struct rank *rank, struct parcel *to) {
  const struct carried *c = NULL;
  while ((c = carried_next(rank->vp->rank, HANDLE_OP, c))) {
    const struct made m = made_of((MPI_Op)c->real);
    parcel_put_number(to, c->handle.fortran);
    parcel_put(to, &m, sizeof(m));
  }
  parcel_put_number(to, 0);
}

static int make(const struct made *m, MPI_Op *op) {
#if defined PEMS_MPI_HAS_Op_create_c
  if (m->large) {
    return real.Op_create_c((MPI_User_function_c *)m->function, m->commute, op);
  }
#endif
  return real.Op_create((MPI_User_function *)m->function, m->commute, op);
}

int ops_load(struct rank *rank, struct parcel *from) {
  int code = 0, number;
  (void)rank;
  while (!code && (number = (int)parcel_number(from))) {
    struct made m = {0};
    MPI_Op op = MPI_OP_NULL;
    parcel_get(from, &m, sizeof(m));
    code = make(&m, &op) ? ENOMEM : 0;
    if (!code) {
      note(op, m);
      const struct carried c = {.real = (uintptr_t)op, .references = 1};
      code = carried_restore(HANDLE_OP, &c, number) ? 0 : ENOMEM;
    }
  }
  return code;
}
