/* Start and end, and questions about the environment. */
#include "mpi/coll/barrier.h"
#include "mpi/object/comm.h"

#include "base/message.h"
#include "base/self.h"
#include "context/calls/allocate.h"
#include "mpi/check/check_buffers.h"
#include "mpi/coll/call/coll.h"
#include "mpi/object/attribute_world.h"
#include "mpi/object/comm_error.h"
#include "mpi/request/request.h"
#include "mpi/verify/check_leaks.h"
#include "mpi_abi/functions.h"
#include "mpi_below/real.h"
#include "vp/run_queue.h"

#include <string.h>

static int begin(struct vp *vp, int level, const char *function) {
  if (vp->initialized) {
    msg_fail(MPI_ERR_OTHER, "%s: rank %d: called twice: call it once", function,
             vp->rank);
  }
  vp->initialized = true;
  vp->thread_level = level;
  if (level == MPI_THREAD_MULTIPLE) {
    run_queue_share(vp);
  }
  return MPI_SUCCESS;
}

int pems_Init(int *argc, char ***argv) {
  (void)argc, (void)argv;
  return begin(comm_me(), MPI_THREAD_SINGLE, "MPI_Init");
}

int pems_Init_thread(int *argc, char ***argv, int required, int *provided) {
  (void)argc, (void)argv;
  *provided = required < MPI_THREAD_SINGLE     ? MPI_THREAD_SINGLE
              : required < MPI_THREAD_MULTIPLE ? required
                                               : MPI_THREAD_MULTIPLE;
  return begin(comm_me(), *provided, "MPI_Init_thread");
}

int pems_Initialized(int *flag) {
  *flag = self.vp->initialized;
  return MPI_SUCCESS;
}

int pems_Finalized(int *flag) {
  *flag = self.vp->finalized;
  return MPI_SUCCESS;
}

int pems_Query_thread(int *provided) {
  *provided = self.vp->thread_level;
  return MPI_SUCCESS;
}

int pems_Is_thread_main(int *flag) {
  *flag = !self.helper;
  return MPI_SUCCESS;
}

int pems_Finalize(void) {
  struct vp *vp = comm_me();
  if (!vp->initialized || vp->finalized) {
    msg_fail(MPI_ERR_OTHER, "MPI_Finalize: rank %d: %s", vp->rank,
             vp->finalized ? "called twice: call it once"
                           : "MPI_Init was not called: call it first");
  }
  /* The program's own functions may still use MPI. */
  comm_error(MPI_COMM_SELF, attribute_world_finalize(), "MPI_Finalize");
  requests_end("MPI_Finalize");
  if (check_buffers_on) {
    check_leaks_objects();
  }
  coll_barrier(rank_me()->world, "MPI_Finalize");
  if (check_buffers_on) {
    check_leaks_messages();
  }
  vp->finalized = true;
  return MPI_SUCCESS;
}

int pems_Abort(MPI_Comm comm, int code) {
  (void)comm;
  char hint[CONTEXT_HINT];
  /* A status of 0 would look like success. */
  msg_fail(code & 0xff ? code & 0xff : MSG_FAILED,
           "MPI_Abort: rank %d: error code %d: the job ends%s", comm_me()->rank,
           code, context_hint(comm_me()->context, hint, sizeof(hint)));
}

int pems_Comm_rank(MPI_Comm handle, int *rank) {
  const struct comm *comm = comm_of(handle);
  const int code = !comm ? MPI_ERR_COMM : !rank ? MPI_ERR_ARG : MPI_SUCCESS;
  if (code) {
    return comm_error(handle, code, "MPI_Comm_rank");
  }
  *rank = comm->rank;
  return MPI_SUCCESS;
}

int pems_Comm_size(MPI_Comm handle, int *size) {
  const struct comm *comm = comm_of(handle);
  const int code = !comm ? MPI_ERR_COMM : !size ? MPI_ERR_ARG : MPI_SUCCESS;
  if (code) {
    return comm_error(handle, code, "MPI_Comm_size");
  }
  *size = comm->group->n;
  return MPI_SUCCESS;
}

int pems_Get_processor_name(char *name, int *len) {
  if (!name || !len) {
    return comm_error(MPI_COMM_WORLD, MPI_ERR_ARG, "MPI_Get_processor_name");
  }
  return real.Get_processor_name(name, len);
}

int pems_Alloc_mem(MPI_Aint size, MPI_Info info, void *pointer) {
  (void)info;
  if (size < 0 || !pointer) {
    return comm_error(MPI_COMM_WORLD, MPI_ERR_ARG, "MPI_Alloc_mem");
  }
  void *p = context_alloc(comm_me()->context, size, 64);
  if (!p) {
    return comm_error(MPI_COMM_WORLD, MPI_ERR_NO_MEM, "MPI_Alloc_mem");
  }
  memcpy(pointer, &p, sizeof(p));
  return MPI_SUCCESS;
}

int pems_Free_mem(void *p) {
  struct context *c = p ? context_of_block(comm_me()->context, p) : NULL;
  if (p && !c) {
    return comm_error(MPI_COMM_WORLD, MPI_ERR_BASE, "MPI_Free_mem");
  }
  if (c) {
    context_free(c, p);
  }
  return MPI_SUCCESS;
}
