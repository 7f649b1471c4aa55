#include "mpi/object/op.h"

#include "base/need.h"
#include "mpi/object/comm.h"
#include "mpi_abi/functions.h"
#include "mpi_below/real.h"
#include "os/lock.h"
#include "os/native.h"

#include <pthread.h>

struct held {
  struct held *next;
  MPI_Op op;
  int holders;
  bool freed; /* by the program, while it was needed */
};

static struct {
  struct lock lock;
  struct held *first;
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
  return comm_error(MPI_COMM_WORLD, real.Op_free(op), "MPI_Op_free");
}
