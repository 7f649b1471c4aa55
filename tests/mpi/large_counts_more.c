/* More functions for large counts: persistent and nonblocking sends of each
   mode, neighbours, windows, external packing, and what a status holds. */
#include "test.h"

#if MPI_VERSION >= 4
enum { N = 150, MOST = 2, ALL = N * 4 };

static int in[ALL], out[ALL], to, from;
static MPI_Request request;

static void clear(void) {
  for (int i = 0; i < ALL; i++) {
    in[i] = rank * 1000 + i;
    out[i] = -1;
  }
}

static void over(const char *what) {
  mix(out, sizeof(out));
  report(what);
  clear();
}

/* Twice, with other data. */
static void rounds(MPI_Request *send, const char *what) {
  for (int i = 0; i < 2; i++) {
    MPI_Irecv_c(out + i * N, N, MPI_INT, from, 1, MPI_COMM_WORLD, &request);
    MPI_Barrier(MPI_COMM_WORLD); /* for those that need a receiver */
    in[0] = i;
    MPI_Start(send);
    MPI_Wait(send, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  MPI_Request_free(send);
  over(what);
}

static void persistent(void) {
  static char space[sizeof(in) + MPI_BSEND_OVERHEAD];
  MPI_Request send;
  void *address;
  MPI_Count n;
  MPI_Send_init_c(in, N, MPI_INT, to, 1, MPI_COMM_WORLD, &send);
  rounds(&send, "Send_init");
  MPI_Ssend_init_c(in, N, MPI_INT, to, 1, MPI_COMM_WORLD, &send);
  rounds(&send, "Ssend_init");
  MPI_Rsend_init_c(in, N, MPI_INT, to, 1, MPI_COMM_WORLD, &send);
  rounds(&send, "Rsend_init");
  MPI_Buffer_attach_c(space, sizeof(space));
  MPI_Bsend_init_c(in, N, MPI_INT, to, 1, MPI_COMM_WORLD, &send);
  rounds(&send, "Bsend_init");
  MPI_Buffer_detach_c(&address, &n);
}

static void nonblocking(void) {
  static char space[sizeof(in) + MPI_BSEND_OVERHEAD];
  MPI_Request send, receive;
  MPI_Message message;
  void *address;
  MPI_Count n;
  MPI_Buffer_attach_c(space, sizeof(space));
  MPI_Irecv_c(out, N, MPI_INT, from, 2, MPI_COMM_WORLD, &receive);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Irsend_c(in, N, MPI_INT, to, 2, MPI_COMM_WORLD, &send);
  MPI_Wait(&send, MPI_STATUS_IGNORE);
  MPI_Wait(&receive, MPI_STATUS_IGNORE);
  over("Irsend");
  MPI_Issend_c(in, N, MPI_INT, to, 3, MPI_COMM_WORLD, &send);
  MPI_Mprobe(from, 3, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
  MPI_Imrecv_c(out, N, MPI_INT, &message, &receive);
  MPI_Wait(&receive, MPI_STATUS_IGNORE);
  MPI_Wait(&send, MPI_STATUS_IGNORE);
  over("Issend, Imrecv");
  MPI_Ibsend_c(in, N, MPI_INT, to, 4, MPI_COMM_WORLD, &send);
  MPI_Wait(&send, MPI_STATUS_IGNORE);
  MPI_Recv_c(out, N, MPI_INT, from, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  over("Ibsend");
  MPI_Buffer_detach_c(&address, &n);
  MPI_Isendrecv_replace_c(in, N, MPI_INT, to, 5, from, 5, MPI_COMM_WORLD,
                          &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  memcpy(out, in, sizeof(out));
  over("Isendrecv_replace");
}

static void now(const char *what) {
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  over(what);
}

static void started(const char *what) {
  MPI_Start(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Request_free(&request);
  over(what);
}

static const MPI_Count counts[MOST] = {5, 5};
static const MPI_Aint places[MOST] = {10, 0},
                      bytes[MOST] = {11 * sizeof(int), sizeof(int)};
static const MPI_Datatype types[MOST] = {MPI_INT, MPI_INT};

static void of_neighbors(MPI_Comm ring) {
  MPI_Ineighbor_allgather_c(in, 3, MPI_INT, out, 3, MPI_INT, ring, &request);
  now("Ineighbor_allgather");
  MPI_Ineighbor_alltoall_c(in, 3, MPI_INT, out, 3, MPI_INT, ring, &request);
  now("Ineighbor_alltoall");
  MPI_Ineighbor_alltoallv_c(in, counts, places, MPI_INT, out, counts, places,
                            MPI_INT, ring, &request);
  now("Ineighbor_alltoallv");
  MPI_Ineighbor_alltoallw_c(in, counts, bytes, types, out, counts, bytes, types,
                            ring, &request);
  now("Ineighbor_alltoallw");
}

static void of_neighbors_persistent(MPI_Comm ring) {
  MPI_Neighbor_allgather_init_c(in, 3, MPI_INT, out, 3, MPI_INT, ring,
                                MPI_INFO_NULL, &request);
  started("Neighbor_allgather_init");
  MPI_Neighbor_alltoall_init_c(in, 3, MPI_INT, out, 3, MPI_INT, ring,
                               MPI_INFO_NULL, &request);
  started("Neighbor_alltoall_init");
  MPI_Neighbor_alltoallv_init_c(in, counts, places, MPI_INT, out, counts,
                                places, MPI_INT, ring, MPI_INFO_NULL, &request);
  started("Neighbor_alltoallv_init");
  MPI_Neighbor_alltoallw_init_c(in, counts, bytes, types, out, counts, bytes,
                                types, ring, MPI_INFO_NULL, &request);
  started("Neighbor_alltoallw_init");
}

static void neighbors(void) {
  const int dims = size, periodic = 1;
  MPI_Comm ring;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &dims, &periodic, 0, &ring);
  MPI_Neighbor_allgatherv_c(in, 5, MPI_INT, out, counts, places, MPI_INT, ring);
  over("Neighbor_allgatherv");
  MPI_Neighbor_allgatherv_init_c(in, 5, MPI_INT, out, counts, places, MPI_INT,
                                 ring, MPI_INFO_NULL, &request);
  started("Neighbor_allgatherv_init");
  of_neighbors_persistent(ring);
  of_neighbors(ring);
  MPI_Comm_free(&ring);
}

static void accesses(MPI_Win win) {
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, to, 0, win);
  MPI_Rput_c(in, N, MPI_INT, to, 1, N, MPI_INT, win, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Win_flush(to, win);
  MPI_Raccumulate_c(in, N, MPI_INT, to, 1, N, MPI_INT, MPI_SUM, win, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Win_flush(to, win);
  MPI_Rget_c(out, N, MPI_INT, to, 0, N, MPI_INT, win, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Win_unlock(to, win);
  over("Rput, Raccumulate, Rget");
  MPI_Win_fence(0, win);
  MPI_Get_accumulate_c(in, N, MPI_INT, out, N, MPI_INT, to, 2, N, MPI_INT,
                       MPI_MAX, win);
  MPI_Win_fence(0, win);
  over("Get_accumulate");
}

static void windows(void) {
  static int shown[ALL];
  MPI_Win win;
  MPI_Win_create_c(shown, sizeof(shown), sizeof(int), MPI_INFO_NULL,
                   MPI_COMM_WORLD, &win);
  accesses(win);
  MPI_Win_free(&win);
  memcpy(out, shown, sizeof(out));
  over("Win_create");
}

/* A rank's part begins where the last one's ends. */
static void shared_windows(void) {
  MPI_Comm node;
  MPI_Win win;
  MPI_Aint size_of = -1, unit = -1;
  int *mine, *theirs, me, n;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL,
                      &node);
  MPI_Comm_rank(node, &me);
  MPI_Comm_size(node, &n);
  MPI_Win_allocate_shared_c(N * sizeof(int), sizeof(int), MPI_INFO_NULL, node,
                            &mine, &win);
  MPI_Win_fence(0, win);
  memcpy(mine, in, N * sizeof(int));
  MPI_Win_fence(0, win);
  MPI_Win_shared_query_c(win, (me + 1) % n, &size_of, &unit, &theirs);
  if (size_of != N * (MPI_Aint)sizeof(int) || unit != sizeof(int)) {
    fail("Win_shared_query: %ld bytes, unit %ld", (long)size_of, (long)unit);
  }
  mix_number((uint64_t)(theirs[N - 1] % 1000));
  MPI_Win_fence(0, win);
  over("Win_shared_query");
  MPI_Win_free(&win);
  MPI_Comm_free(&node);
}

/* Bytes in a given order, the same everywhere. */
static void external(void) {
  static char packed[2 * sizeof(in)];
  MPI_Count n = -1, position = 0;
  MPI_Pack_external_size_c("external32", N, MPI_INT, &n);
  mix_number((uint64_t)n);
  MPI_Pack_external_c("external32", in, N, MPI_INT, packed, sizeof(packed),
                      &position);
  mix_number((uint64_t)position);
  mix(packed, (size_t)position);
  position = 0;
  MPI_Unpack_external_c("external32", packed, sizeof(packed), &position, out, N,
                        MPI_INT);
  over("Pack_external");
}

static void statuses(void) {
  const MPI_Count large = (MPI_Count)7 << 31;
  MPI_Status status;
  MPI_Count n = -1;
  memset(&status, 0, sizeof(status));
#if MPI_VERSION * 10 + MPI_SUBVERSION >= 41
  MPI_Status_set_elements_c(&status, MPI_INT, large);
#else
  MPI_Status_set_elements_x(&status, MPI_INT, large);
#endif
  MPI_Get_elements_c(&status, MPI_INT, &n);
  if (n != large) {
    fail("Status_set_elements: %lld elements", (long long)n);
  }
  report("Status_set_elements");
}

int main(int argc, char **argv) {
  begin(&argc, &argv);
  to = (rank + 1) % size;
  from = (rank + size - 1) % size;
  clear();
  persistent();
  nonblocking();
  neighbors();
  windows();
  shared_windows();
  external();
  statuses();
  return end();
}
#else
int main(int argc, char **argv) {
  begin(&argc, &argv);
  if (rank == 0) {
    printf("no large counts in this MPI\n");
  }
  return end();
}
#endif
