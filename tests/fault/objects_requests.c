/* Generalized requests, and requests on a communicator that was freed: see
   objects.h. */
#include "objects.h"

static MPI_Request grequest = MPI_REQUEST_NULL, done = MPI_REQUEST_NULL;
static long state = 5, asked, freed, cancelled;
static MPI_Comm gone;
static MPI_Request on_gone;
static int from_gone;

static int query(void *arg, MPI_Status *status) {
  asked += *(long *)arg;
  MPI_Status_set_elements(status, MPI_INT, 3);
  MPI_Status_set_cancelled(status, 0);
  status->MPI_SOURCE = (int)state;
  status->MPI_TAG = 11;
  return MPI_SUCCESS;
}

static int forget(void *arg) {
  freed += *(long *)arg;
  return MPI_SUCCESS;
}

static int cancel(void *arg, int complete) {
  cancelled += *(long *)arg + complete;
  return MPI_SUCCESS;
}

/* One that is done is asked for in the next step; the other is done then. */
static void use_generalized(void) {
  MPI_Status status;
  int n;
  if (done != MPI_REQUEST_NULL) {
    MPI_Wait(&done, &status);
    MPI_Get_count(&status, MPI_INT, &n);
    note(n + status.MPI_TAG);
    MPI_Cancel(&grequest);
    MPI_Grequest_complete(grequest);
    MPI_Wait(&grequest, &status);
    note(status.MPI_SOURCE);
  }
  MPI_Grequest_start(query, forget, cancel, &state, &done);
  MPI_Grequest_complete(done);
  MPI_Grequest_start(query, forget, cancel, &state, &grequest);
  note(asked);
  note(freed);
  note(cancelled);
}

/* On a communicator that was freed. */
static void use_freed(int s) {
  if (s % 2 == 0) {
    MPI_Comm_dup(MPI_COMM_WORLD, &gone);
    MPI_Irecv(&from_gone, 1, MPI_INT, (rank + 1) % size, 3, gone, &on_gone);
    const int value = 10 * s + rank;
    MPI_Send(&value, 1, MPI_INT, (rank + size - 1) % size, 4, gone);
    MPI_Send(&value, 1, MPI_INT, (rank + size - 1) % size, 3, gone);
    int early;
    MPI_Recv(&early, 1, MPI_INT, (rank + 1) % size, 4, gone, MPI_STATUS_IGNORE);
    MPI_Comm_free(&gone);
  } else {
    MPI_Wait(&on_gone, MPI_STATUS_IGNORE);
    note(from_gone);
  }
}

static void objects_make(void) {
}

static void objects_use(int s) {
  use_generalized();
  use_freed(s);
}

static void objects_free(void) {
  MPI_Wait(&done, MPI_STATUS_IGNORE);
  MPI_Grequest_complete(grequest);
  MPI_Wait(&grequest, MPI_STATUS_IGNORE);
  if (on_gone != MPI_REQUEST_NULL) {
    MPI_Wait(&on_gone, MPI_STATUS_IGNORE);
  }
}
