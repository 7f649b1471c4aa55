#include "mpi/object/comm.h"

#include "base/message.h"
#include "base/self.h"
#include "base/text.h"
#include "mpi/comm/comm_make.h"
#include "mpi/object/naming.h"
#include "mpi_abi/fortran.h"
#include "mpi_abi/functions.h"
#include "mpi_abi/refuse.h"
#include "mpi_below/real.h"
#include "os/native.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct vp *comm_me(void) {
  return self.vp;
}

/* --- handles --- */

struct comm *comm_of(MPI_Comm handle) {
  if (handle == MPI_COMM_WORLD) {
    return rank_me()->world;
  }
  if (handle == MPI_COMM_SELF) {
    return rank_me()->self;
  }
  if (!handle || handle == MPI_COMM_NULL) {
    return NULL;
  }
  struct comm *comm = (struct comm *)handle;
  return handle_is(comm, HANDLE_COMM) && !comm->freed ? comm : NULL;
}

MPI_Comm comm_handle(const struct comm *comm) {
  if (!comm) {
    return MPI_COMM_NULL;
  }
  const struct rank *rank = comm->vp->mpi;
  return comm == rank->world  ? MPI_COMM_WORLD
         : comm == rank->self ? MPI_COMM_SELF
                              : (MPI_Comm)comm;
}

static void set_groups(struct comm *comm) {
  const struct team *team = comm->team;
  const bool second = comm->peer >= team->first;
  comm->group = group_hold(team->groups[second]);
  comm->rank = comm->peer - (second ? team->first : 0);
  comm->index = team->index[comm->peer];
  comm->first_peer = 0;
  comm->peers = team->size;
  if (team->groups[1]) {
    comm->remote = group_hold(team->groups[!second]);
    comm->first_peer = second ? 0 : team->first;
    comm->peers = comm->remote->n;
  }
}

struct comm *comm_new(struct rank *rank, uint64_t id, const int *world,
                      int size, int first, int peer) {
  struct comm *comm = native_zneed(1, sizeof(*comm), "communicator");
  comm->handle = handle_make(HANDLE_COMM);
  comm->vp = rank->vp;
  comm->team = team_join(id, world, size, first);
  comm->peer = peer;
  comm->info = MPI_INFO_NULL;
  comm->function = self.function;
  comm->site = self.site;
  set_groups(comm);
  comm->next = rank->comms;
  if (comm->next) {
    comm->next->previous = comm;
  }
  rank->comms = comm;
  return comm;
}

static void comm_destroy(struct comm *comm) {
  struct rank *rank = comm->vp->mpi;
  if (comm->next) {
    comm->next->previous = comm->previous;
  }
  *(comm->previous ? &comm->previous->next : &rank->comms) = comm->next;
  comm_forget(comm);
  team_leave(comm->team);
  group_release(comm->group);
  group_release(comm->remote);
  handle_end(&comm->handle);
  native_free(comm);
}

void comm_use(struct comm *comm) {
  comm->users++;
}

void comm_unuse(struct comm *comm) {
  if (--comm->users == 0 && comm->freed) {
    comm_destroy(comm);
  }
}

void comm_free(struct comm *comm) {
  comm->freed = true;
  if (comm->users == 0) {
    comm_destroy(comm);
  }
}

/* --- error handlers --- */

/* Functions behind error handlers that programs made. */
static struct {
  pthread_mutex_t lock;
  struct handler {
    struct handler *next;
    struct errhandler what;
    int references; /* of the program: made, and got from objects */
  } *first;
} handlers = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void note(struct errhandler what) {
  struct handler *h = native_need(sizeof(*h), "error handler");
  pthread_mutex_lock(&handlers.lock);
  /* Newest first: a handle may be used again after it was freed. */
  *h = (struct handler){handlers.first, what, 1};
  handlers.first = h;
  pthread_mutex_unlock(&handlers.lock);
}

void errhandler_stands_in(void) {
}

void errhandler_note(MPI_Errhandler handle, void (*function)(void)) {
  note((struct errhandler){.handle = handle, .function = function});
}

void errhandler_note_fortran(MPI_Errhandler handle, void (*function)(void)) {
  note((struct errhandler){
      .handle = handle, .function = function, .fortran = true});
}

void errhandler_note_cxx(MPI_Errhandler handle, void (*function)(void),
                         errhandler_cxx *caller) {
  note((struct errhandler){
      .handle = handle, .function = function, .cxx = caller});
}

/* Locked. */
static struct handler *find_handler(MPI_Errhandler handle) {
  struct handler *h = handlers.first;
  while (h && h->what.handle != handle) {
    h = h->next;
  }
  return h;
}

MPI_Errhandler errhandler_get(const struct errhandler *set,
                              MPI_Errhandler none) {
  pthread_mutex_lock(&handlers.lock);
  struct handler *h = find_handler(set->handle);
  if (h) {
    h->references++;
  }
  pthread_mutex_unlock(&handlers.lock);
  return set->handle ? set->handle : none;
}

/* The real one is kept: something may have it set. */
int pems_Errhandler_free(MPI_Errhandler *handle) {
  if (!handle || *handle == MPI_ERRHANDLER_NULL) {
    return comm_error(MPI_COMM_WORLD, MPI_ERR_ARG, "MPI_Errhandler_free");
  }
  pthread_mutex_lock(&handlers.lock);
  struct handler *h = find_handler(*handle);
  const bool gone = h && --h->references < 0;
  pthread_mutex_unlock(&handlers.lock);
  *handle = MPI_ERRHANDLER_NULL;
  return comm_error(MPI_COMM_WORLD, gone ? MPI_ERR_ARG : MPI_SUCCESS,
                    "MPI_Errhandler_free");
}

struct errhandler errhandler_make(MPI_Errhandler handle) {
  /* The function outlives the handle, which the program may free. */
  struct errhandler set = {.handle = handle};
  pthread_mutex_lock(&handlers.lock);
  const struct handler *h = find_handler(handle);
  if (h) {
    set = h->what;
  }
  pthread_mutex_unlock(&handlers.lock);
  return set;
}

static _Noreturn void fatal_error(int code, const char *function) {
  char text[MPI_MAX_ERROR_STRING] = "unknown error";
  int len, class = code;
  real.Error_string(code, text, &len);
  real.Error_class(code, &class);
  /* Calls that are delegated note no place. */
  char site[160] = "";
  struct text t = text_in(site, sizeof(site));
  if (self.function && strcmp(self.function, function) == 0) {
    name_site(&t, self.vp, self.site);
  }
  msg_fail(class, "%s: rank %d%s: %s: check the arguments of the call",
           function, comm_me()->rank, site, text);
}

int errhandler_call(const struct errhandler *set, void *handle, int code,
                    const char *function) {
  if (code == MPI_SUCCESS) {
    return code;
  }
  if (!set->handle || set->handle == MPI_ERRORS_ARE_FATAL) {
    fatal_error(code, function);
  }
  if (!set->function) {
    return code;
  }
  /* The program's own code: its memory is its context again. */
  const int inside = self.inside;
  self.inside = 0;
  int passed = code;
  if (set->fortran) {
    MPI_Fint number = fortran_number(*(void **)handle);
    ((void (*)(MPI_Fint *, MPI_Fint *))set->function)(&number, &passed);
  } else if (set->cxx) {
    set->cxx(handle, &passed, function, set->function);
  } else {
    /* Those of communicators, windows and files differ only in what the first
       argument points to. */
    ((void (*)(void *, int *, ...))set->function)(handle, &passed, function);
  }
  self.inside = inside;
  return code;
}

int comm_error(MPI_Comm handle, int code, const char *function) {
  if (code == MPI_SUCCESS) {
    return code;
  }
  const struct comm *comm = comm_of(handle);
  if (!comm) {
    handle = MPI_COMM_WORLD;
    comm = rank_me()->world;
  }
  return errhandler_call(&comm->errhandler, &handle, code, function);
}

int pems_Comm_create_errhandler(MPI_Comm_errhandler_function *function,
                                MPI_Errhandler *handle) {
  const int code = real.Comm_create_errhandler(function, handle);
  if (code != MPI_SUCCESS) {
    return comm_error(MPI_COMM_WORLD, code, "MPI_Comm_create_errhandler");
  }
  errhandler_note(*handle, (void (*)(void))function);
  return MPI_SUCCESS;
}

int pems_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler handle) {
  int code = check_comm(comm);
  if (!code && (!handle || handle == MPI_ERRHANDLER_NULL)) {
    code = MPI_ERR_ARG;
  }
  if (code) {
    return comm_error(comm, code, "MPI_Comm_set_errhandler");
  }
  comm_of(comm)->errhandler = errhandler_make(handle);
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
  *handle = errhandler_get(&comm_of(comm)->errhandler, MPI_ERRORS_ARE_FATAL);
  return MPI_SUCCESS;
}

int pems_Comm_call_errhandler(MPI_Comm comm, int code) {
  if (check_comm(comm)) {
    return comm_error(comm, MPI_ERR_COMM, "MPI_Comm_call_errhandler");
  }
  comm_error(comm, code, "MPI_Comm_call_errhandler");
  return MPI_SUCCESS;
}

static int delegated_failed(int code, const char *function) {
  return comm_error(MPI_COMM_WORLD, code, function);
}

void comm_install(void) {
  mpi_set_failed(delegated_failed);
}

/* --- checks --- */

int check_comm(MPI_Comm comm) {
  return comm_of(comm) ? MPI_SUCCESS : MPI_ERR_COMM;
}

int check_intra(MPI_Comm handle) {
  const struct comm *comm = comm_of(handle);
  return comm && !comm_is_inter(comm) ? MPI_SUCCESS : MPI_ERR_COMM;
}

int check_peer(const struct comm *comm, int rank, bool any) {
  return (rank >= 0 && rank < comm->peers) || rank == MPI_PROC_NULL ||
                 (any && rank == MPI_ANY_SOURCE)
             ? MPI_SUCCESS
             : MPI_ERR_RANK;
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
