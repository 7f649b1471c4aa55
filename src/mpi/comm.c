#include "mpi/comm.h"

#include "base/message.h"
#include "base/native.h"
#include "mpi/functions.h"
#include "mpi/refuse.h"
#include "net/real.h"
#include "vp/self.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

struct vp *comm_me(void) {
  return self.vp;
}

int comm_size(MPI_Comm comm) {
  return comm == MPI_COMM_SELF ? 1 : vps.plan.v;
}

bool comm_is_root(MPI_Comm comm, int root) {
  return comm == MPI_COMM_SELF || comm_me()->rank == root;
}

/* Functions behind error handlers that programs made. */
static struct {
  pthread_mutex_t lock;
  struct handler {
    struct handler *next;
    MPI_Errhandler handle;
    MPI_Comm_errhandler_function *function;
  } * first;
} handlers = {.lock = PTHREAD_MUTEX_INITIALIZER};

static MPI_Comm_errhandler_function *function_of(MPI_Errhandler handle) {
  MPI_Comm_errhandler_function *function = NULL;
  pthread_mutex_lock(&handlers.lock);
  for (const struct handler *h = handlers.first; h && !function; h = h->next) {
    if (h->handle == handle) {
      function = h->function;
    }
  }
  pthread_mutex_unlock(&handlers.lock);
  return function;
}

int pems_Comm_create_errhandler(MPI_Comm_errhandler_function *function,
                                MPI_Errhandler *handle) {
  const int code = real.Comm_create_errhandler(function, handle);
  if (code != MPI_SUCCESS) {
    return comm_error(MPI_COMM_WORLD, code, "MPI_Comm_create_errhandler");
  }
  struct handler *h = native_need(sizeof(*h), "error handler");
  pthread_mutex_lock(&handlers.lock);
  /* Newest first: a handle may be used again after it was freed. */
  *h = (struct handler){handlers.first, *handle, function};
  handlers.first = h;
  pthread_mutex_unlock(&handlers.lock);
  return MPI_SUCCESS;
}

static struct vp_errhandler *errhandler_of(struct vp *vp, MPI_Comm comm) {
  return comm == MPI_COMM_SELF ? &vp->self_errhandler : &vp->world_errhandler;
}

int pems_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler handle) {
  int code = check_comm(comm);
  if (!code && (!handle || handle == MPI_ERRHANDLER_NULL)) {
    code = MPI_ERR_ARG;
  }
  if (code) {
    return comm_error(comm, code, "MPI_Comm_set_errhandler");
  }
  /* The function outlives the handle, which the program may free. */
  *errhandler_of(comm_me(), comm) =
      (struct vp_errhandler){handle, (void (*)(void))function_of(handle)};
  return MPI_SUCCESS;
}

int pems_Comm_get_errhandler(MPI_Comm comm, MPI_Errhandler *handle) {
  int code = check_comm(comm);
  if (!code && !handle) {
    code = MPI_ERR_ARG;
  }
  if (code) {
    return comm_error(comm, code, "MPI_Comm_get_errhandler");
  }
  const MPI_Errhandler set = errhandler_of(comm_me(), comm)->handle;
  *handle = set ? set : MPI_ERRORS_ARE_FATAL;
  return MPI_SUCCESS;
}

int pems_Comm_call_errhandler(MPI_Comm comm, int code) {
  if (check_comm(comm)) {
    return comm_error(comm, MPI_ERR_COMM, "MPI_Comm_call_errhandler");
  }
  comm_error(comm, code, "MPI_Comm_call_errhandler");
  return MPI_SUCCESS;
}

static _Noreturn void fatal_error(int code, const char *function) {
  char text[MPI_MAX_ERROR_STRING] = "unknown error";
  int len, class = code;
  real.Error_string(code, text, &len);
  real.Error_class(code, &class);
  msg_fail(class, "%s: rank %d: %s: check the arguments of the call", function,
           comm_me()->rank, text);
}

int comm_error(MPI_Comm comm, int code, const char *function) {
  if (code == MPI_SUCCESS) {
    return code;
  }
  if (comm != MPI_COMM_SELF) {
    comm = MPI_COMM_WORLD;
  }
  const struct vp_errhandler *set = errhandler_of(comm_me(), comm);
  if (!set->handle || set->handle == (void *)MPI_ERRORS_ARE_FATAL) {
    fatal_error(code, function);
  }
  MPI_Comm_errhandler_function *f =
      (MPI_Comm_errhandler_function *)set->function;
  if (f) {
    /* The program's own code: its memory is its context again. */
    const int inside = self.inside;
    self.inside = 0;
    int passed = code;
    f(&comm, &passed, function);
    self.inside = inside;
  }
  return code;
}

static int delegated_failed(int code, const char *function) {
  return comm_error(MPI_COMM_WORLD, code, function);
}

void comm_install(void) {
  mpi_set_failed(delegated_failed);
}

int check_comm(MPI_Comm comm) {
  return comm == MPI_COMM_WORLD || comm == MPI_COMM_SELF ? MPI_SUCCESS
                                                         : MPI_ERR_COMM;
}

int check_root(MPI_Comm comm, int root) {
  return root >= 0 && root < comm_size(comm) ? MPI_SUCCESS : MPI_ERR_ROOT;
}

static int class_of(int code) {
  int class = code;
  if (code != MPI_SUCCESS) {
    real.Error_class(code, &class);
  }
  return class;
}

/* The real library knows best what a usable datatype is: it is asked to
   broadcast nothing to this process alone. */
static int check_type(MPI_Datatype type) {
  if (!type || type == MPI_DATATYPE_NULL) {
    return MPI_ERR_TYPE;
  }
  char nothing;
  return class_of(real.Bcast(&nothing, 0, type, 0, MPI_COMM_SELF));
}

int check_buffer(const void *buffer, int count, MPI_Datatype type) {
  if (count < 0) {
    return MPI_ERR_COUNT;
  }
  const int code = check_type(type);
  if (code || buffer || !count) {
    return code;
  }
  /* MPI_BOTTOM with absolute addresses is right for derived types only. */
  int integers, addresses, types, combiner;
  real.Type_get_envelope(type, &integers, &addresses, &types, &combiner);
  return combiner == MPI_COMBINER_NAMED ? MPI_ERR_BUFFER : MPI_SUCCESS;
}

int check_rooted(const void *buffer, int count, MPI_Datatype type, int root,
                 MPI_Comm comm) {
  int code = check_comm(comm);
  code = code ? code : check_root(comm, root);
  if (code) {
    return code;
  }
  if (buffer == MPI_IN_PLACE) {
    return comm_is_root(comm, root) ? MPI_SUCCESS : MPI_ERR_ARG;
  }
  return check_buffer(buffer, count, type);
}

int check_counts(const void *buffer, const int *counts, int n,
                 MPI_Datatype type) {
  if (!counts) {
    return MPI_ERR_COUNT;
  }
  int code = MPI_SUCCESS, largest = 0;
  for (int i = 0; i < n; i++) {
    if (counts[i] < 0) {
      return MPI_ERR_COUNT;
    }
    largest = counts[i] > largest ? counts[i] : largest;
  }
  code = check_buffer(buffer, largest, type);
  return code;
}

int check_op(MPI_Op op, MPI_Datatype type) {
  if (!op || op == MPI_OP_NULL) {
    return MPI_ERR_OP;
  }
  char nothing[64] = {0}, nothing_else[64] = {0};
  return class_of(
      real.Allreduce(nothing, nothing_else, 0, type, op, MPI_COMM_SELF));
}
