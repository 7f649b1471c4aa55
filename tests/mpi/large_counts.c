/* The functions for large counts, MPI_X_c: each gives what MPI_X gives; counts
   above those of an int, of elements without bytes; datatypes made and taken
   apart with large counts. */
#include "test.h"

#if MPI_VERSION >= 4
enum { N = 200, MOST = 8, ALL = N * MOST };

static const MPI_Count LARGE = (MPI_Count)5 << 30; /* more than an int counts */

static int in[ALL], out[ALL];
static MPI_Count counts[MOST];
static MPI_Aint places[MOST], bytes[MOST];
static MPI_Datatype types[MOST];
static MPI_Request request;
static int me;

static void clear(void) {
  for (int i = 0; i < ALL; i++) {
    in[i] = me * 1000 + i;
    out[i] = -1;
  }
}

/* Waits for the last call, if it was not blocking. */
static void over(const char *what) {
  if (request != MPI_REQUEST_NULL) {
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  mix(out, sizeof(out));
  report(what);
  clear();
}

/* The same call in its three ways: blocking, not, and persistent. */
#define WAYS(blocking, nonblocking, persistent, ...)                           \
  do {                                                                         \
    blocking(__VA_ARGS__, MPI_COMM_WORLD);                                     \
    over(#blocking);                                                           \
    nonblocking(__VA_ARGS__, MPI_COMM_WORLD, &request);                        \
    over(#nonblocking);                                                        \
    persistent(__VA_ARGS__, MPI_COMM_WORLD, MPI_INFO_NULL, &request);          \
    MPI_Start(&request);                                                       \
    MPI_Wait(&request, MPI_STATUS_IGNORE);                                     \
    MPI_Request_free(&request);                                                \
    over(#persistent);                                                         \
  } while (0)

static void moving(void) {
  for (int i = 0; i < size; i++) {
    counts[i] = 10 + i + me;
    places[i] = (MPI_Aint)(size - 1 - i) * N;
    bytes[i] = places[i] * (MPI_Aint)sizeof(int);
    types[i] = MPI_INT;
  }
  WAYS(MPI_Bcast_c, MPI_Ibcast_c, MPI_Bcast_init_c, me ? out : in, N, MPI_INT,
       0);
  WAYS(MPI_Gather_c, MPI_Igather_c, MPI_Gather_init_c, in, 7, MPI_INT, out, 7,
       MPI_INT, size - 1);
  WAYS(MPI_Scatter_c, MPI_Iscatter_c, MPI_Scatter_init_c, in, 7, MPI_INT, out,
       7, MPI_INT, size - 1);
  WAYS(MPI_Allgather_c, MPI_Iallgather_c, MPI_Allgather_init_c, in, 7, MPI_INT,
       out, 7, MPI_INT);
  WAYS(MPI_Alltoall_c, MPI_Ialltoall_c, MPI_Alltoall_init_c, in, 7, MPI_INT,
       out, 7, MPI_INT);
  WAYS(MPI_Alltoallv_c, MPI_Ialltoallv_c, MPI_Alltoallv_init_c, in, counts,
       places, MPI_INT, out, counts, places, MPI_INT);
  WAYS(MPI_Alltoallw_c, MPI_Ialltoallw_c, MPI_Alltoallw_init_c, in, counts,
       bytes, types, out, counts, bytes, types);
  for (int i = 0; i < size; i++) {
    counts[i] = 10 + i;
  }
  WAYS(MPI_Gatherv_c, MPI_Igatherv_c, MPI_Gatherv_init_c, in, counts[me],
       MPI_INT, out, counts, places, MPI_INT, 0);
  WAYS(MPI_Scatterv_c, MPI_Iscatterv_c, MPI_Scatterv_init_c, in, counts, places,
       MPI_INT, out, counts[me], MPI_INT, 0);
  WAYS(MPI_Allgatherv_c, MPI_Iallgatherv_c, MPI_Allgatherv_init_c, in,
       counts[me], MPI_INT, out, counts, places, MPI_INT);
}

static void computing(void) {
  WAYS(MPI_Reduce_c, MPI_Ireduce_c, MPI_Reduce_init_c, in, out, N, MPI_INT,
       MPI_SUM, 0);
  WAYS(MPI_Allreduce_c, MPI_Iallreduce_c, MPI_Allreduce_init_c, in, out, N,
       MPI_INT, MPI_MAX);
  WAYS(MPI_Scan_c, MPI_Iscan_c, MPI_Scan_init_c, in, out, N, MPI_INT, MPI_SUM);
  WAYS(MPI_Exscan_c, MPI_Iexscan_c, MPI_Exscan_init_c, in, out, N, MPI_INT,
       MPI_SUM);
  for (int i = 0; i < size; i++) {
    counts[i] = 3 * i + 1;
  }
  WAYS(MPI_Reduce_scatter_c, MPI_Ireduce_scatter_c, MPI_Reduce_scatter_init_c,
       in, out, counts, MPI_INT, MPI_SUM);
  WAYS(MPI_Reduce_scatter_block_c, MPI_Ireduce_scatter_block_c,
       MPI_Reduce_scatter_block_init_c, in, out, 20, MPI_INT, MPI_SUM);
  MPI_Reduce_local_c(in, out, N, MPI_INT, MPI_SUM);
  over("Reduce_local");
}

/* Each half of a number is modulo 2^16: of x -> f x + t, f and t. First `a`,
   then `b`: the order of ranks matters, but not which two of them come first.
 */
static void user(void *a, void *b, MPI_Count *n, MPI_Datatype *type) {
  (void)type;
  for (MPI_Count i = 0; i < *n; i++) {
    const uint32_t first = ((const uint32_t *)a)[i];
    const uint32_t then = ((const uint32_t *)b)[i];
    const uint32_t f = (first >> 16) * (then >> 16);
    const uint32_t t = (then >> 16) * (first & 0xffff) + then;
    ((uint32_t *)b)[i] = f << 16 | (t & 0xffff);
  }
}

static void operation(void) {
  MPI_Op op;
  MPI_Op_create_c(user, 0, &op);
  MPI_Allreduce_c(in, out, N, MPI_INT, op, MPI_COMM_WORLD);
  over("Op_create");
  MPI_Scan(in, out, N, MPI_INT, op, MPI_COMM_WORLD);
  over("Op_create, Scan");
  MPI_Op_free(&op);
}

static void neighbors(void) {
  MPI_Comm ring;
  const int dims = size, periodic = 1;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &dims, &periodic, 0, &ring);
  for (int i = 0; i < 2; i++) {
    counts[i] = 5;
    places[i] = 7 * (MPI_Aint)i;
    bytes[i] = 9 * (MPI_Aint)i * (MPI_Aint)sizeof(int);
    types[i] = MPI_INT;
  }
  MPI_Neighbor_allgather_c(in, 3, MPI_INT, out, 3, MPI_INT, ring);
  over("Neighbor_allgather");
  MPI_Ineighbor_allgatherv_c(in, 5, MPI_INT, out, counts, places, MPI_INT, ring,
                             &request);
  over("Ineighbor_allgatherv");
  MPI_Neighbor_alltoall_c(in, 3, MPI_INT, out, 3, MPI_INT, ring);
  over("Neighbor_alltoall");
  MPI_Neighbor_alltoallv_c(in, counts, places, MPI_INT, out, counts, places,
                           MPI_INT, ring);
  over("Neighbor_alltoallv");
  MPI_Neighbor_alltoallw_c(in, counts, bytes, types, out, counts, bytes, types,
                           ring);
  over("Neighbor_alltoallw");
  MPI_Comm_free(&ring);
}

/* Messages in a ring. */
static void exchange(void) {
  const int to = (me + 1) % size, from = (me + size - 1) % size;
  MPI_Status status;
  MPI_Message message;
  MPI_Count n;
  MPI_Sendrecv_c(in, N, MPI_INT, to, 1, out, ALL, MPI_INT, from, 1,
                 MPI_COMM_WORLD, &status);
  MPI_Get_count_c(&status, MPI_INT, &n);
  mix_number((uint64_t)n);
  MPI_Get_elements_c(&status, MPI_INT, &n);
  mix_number((uint64_t)n);
  over("Sendrecv");
  MPI_Isend_c(in, N, MPI_INT, to, 2, MPI_COMM_WORLD, &request);
  MPI_Recv_c(out, N, MPI_INT, from, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  over("Isend, Recv");
  MPI_Irecv_c(out, N, MPI_INT, from, 3, MPI_COMM_WORLD, &request);
  MPI_Send_c(in, N, MPI_INT, to, 3, MPI_COMM_WORLD);
  over("Send, Irecv");
  MPI_Isend_c(in, 20, MPI_INT, to, 4, MPI_COMM_WORLD, &request);
  MPI_Mprobe(from, 4, MPI_COMM_WORLD, &message, &status);
  MPI_Mrecv_c(out, 20, MPI_INT, &message, &status);
  over("Mrecv");
  MPI_Sendrecv_replace_c(in, N, MPI_INT, to, 5, from, 5, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
  memcpy(out, in, sizeof(out));
  over("Sendrecv_replace");
  MPI_Isendrecv_c(in, N, MPI_INT, to, 6, out, N, MPI_INT, from, 6,
                  MPI_COMM_WORLD, &request);
  over("Isendrecv");
  MPI_Recv_init_c(out, N, MPI_INT, from, 7, MPI_COMM_WORLD, &request);
  MPI_Start(&request);
  MPI_Ssend_c(in, me % 2 ? 3 : 0, MPI_INT, MPI_PROC_NULL, 7, MPI_COMM_WORLD);
  MPI_Rsend_c(in, 3, MPI_INT, MPI_PROC_NULL, 7, MPI_COMM_WORLD);
  MPI_Send_c(in, N, MPI_INT, to, 7, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Request_free(&request);
  over("Recv_init");
}

static void buffered(void) {
  static char space[sizeof(in) + MPI_BSEND_OVERHEAD];
  const int to = (me + 1) % size, from = (me + size - 1) % size;
  char *address;
  MPI_Count n;
  MPI_Buffer_attach_c(space, sizeof(space));
  MPI_Bsend_c(in, N, MPI_INT, to, 8, MPI_COMM_WORLD);
  MPI_Recv_c(out, N, MPI_INT, from, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Buffer_detach_c(&address, &n);
  mix_number((uint64_t)n + (address == space));
  over("Bsend");
}

static void windows(void) {
  const int to = (me + 1) % size;
  MPI_Win win;
  int *shown;
  MPI_Win_allocate_c(ALL * sizeof(int), sizeof(int), MPI_INFO_NULL,
                     MPI_COMM_WORLD, &shown, &win);
  memset(shown, 0, ALL * sizeof(int));
  MPI_Win_fence(0, win);
  MPI_Put_c(in, N, MPI_INT, to, 3, N, MPI_INT, win);
  MPI_Win_fence(0, win);
  MPI_Accumulate_c(in, N, MPI_INT, to, 3, N, MPI_INT, MPI_SUM, win);
  MPI_Win_fence(0, win);
  MPI_Get_c(out, N, MPI_INT, to, 1, N, MPI_INT, win);
  MPI_Win_fence(0, win);
  over("Put, Accumulate, Get");
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, to, 0, win);
  MPI_Rget_accumulate_c(in, 9, MPI_INT, out, 9, MPI_INT, to, 0, 9, MPI_INT,
                        MPI_SUM, win, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Win_unlock(to, win);
  over("Rget_accumulate");
  MPI_Win_free(&win);
}

static void files(void) {
  char name[] = "large_counts.XXXXXX";
  MPI_File file;
  MPI_Status status;
  MPI_Count n, extent;
  if (me == 0) {
    (void)!mkstemp(name);
  }
  MPI_Bcast(name, sizeof(name), MPI_CHAR, 0, MPI_COMM_WORLD);
  MPI_File_open(MPI_COMM_WORLD, name,
                MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE,
                MPI_INFO_NULL, &file);
  MPI_File_get_type_extent_c(file, MPI_INT, &extent);
  mix_number((uint64_t)extent);
  MPI_File_write_at_all_c(file, me * (MPI_Offset)sizeof(in), in, ALL, MPI_INT,
                          &status);
  MPI_Get_count_c(&status, MPI_INT, &n);
  mix_number((uint64_t)n);
  MPI_File_sync(file);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_sync(file);
  MPI_File_iread_at_c(file, (size - 1 - me) * (MPI_Offset)sizeof(in), out, ALL,
                      MPI_INT, &request);
  over("File_iread_at");
  MPI_File_read_all_c(file, out, N, MPI_INT, &status);
  over("File_read_all");
  MPI_File_read_at_all_begin_c(file, 0, out, N, MPI_INT);
  MPI_File_read_at_all_end(file, out, &status);
  over("File_read_at_all_begin");
  MPI_File_close(&file);
}

/* Takes it apart and sends data of it. */
static void use(MPI_Datatype type, const char *what) {
  MPI_Count ints, addresses, large, n, size_of, lb, extent;
  int combiner, i[2 * MOST];
  MPI_Aint a[2 * MOST];
  MPI_Count c[2 * MOST];
  MPI_Datatype t[MOST];
  MPI_Type_commit(&type);
  MPI_Type_get_envelope_c(type, &ints, &addresses, &large, &n, &combiner);
  mix_number((uint64_t)(ints + 100 * addresses + 10000 * large));
  MPI_Type_get_contents_c(type, ints, addresses, large, n, i, a, c, t);
  for (int k = 0; k < large; k++) {
    mix_number((uint64_t)c[k]);
  }
  MPI_Type_size_c(type, &size_of);
  MPI_Type_get_extent_c(type, &lb, &extent);
  mix_number((uint64_t)(size_of + 1000 * lb + 1000000 * extent));
  MPI_Type_get_true_extent_c(type, &lb, &extent);
  mix_number((uint64_t)(lb + 1000000 * extent));
  if (lb + extent < N * (MPI_Count)sizeof(int)) {
    MPI_Sendrecv_c(in, 2, type, (me + 1) % size, 9, out, 2, type,
                   (me + size - 1) % size, 9, MPI_COMM_WORLD,
                   MPI_STATUS_IGNORE);
  }
  MPI_Type_free(&type);
  over(what);
}

static void datatypes(void) {
  const MPI_Count blocks[] = {1, 3, 2}, at[] = {1, 9, 4},
                  at_bytes[] = {4, 48, 20}, sizes[] = {6, 7}, parts[] = {2, 3},
                  starts[] = {1, 2};
  const MPI_Datatype some[] = {MPI_INT, MPI_FLOAT, MPI_INT};
  const int how[] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC},
            args[] = {MPI_DISTRIBUTE_DFLT_DARG, 2}, procs[] = {2, 1};
  MPI_Datatype type;
  MPI_Type_contiguous_c(5, MPI_INT, &type);
  use(type, "Type_contiguous");
  MPI_Type_vector_c(3, 2, 4, MPI_INT, &type);
  use(type, "Type_vector");
  MPI_Type_create_hvector_c(3, 2, 16, MPI_INT, &type);
  use(type, "Type_create_hvector");
  MPI_Type_indexed_c(3, blocks, at, MPI_INT, &type);
  use(type, "Type_indexed");
  MPI_Type_create_hindexed_c(3, blocks, at_bytes, MPI_INT, &type);
  use(type, "Type_create_hindexed");
  MPI_Type_create_indexed_block_c(3, 2, at, MPI_INT, &type);
  use(type, "Type_create_indexed_block");
  MPI_Type_create_hindexed_block_c(3, 2, at_bytes, MPI_INT, &type);
  use(type, "Type_create_hindexed_block");
  MPI_Type_create_struct_c(3, blocks, at_bytes, some, &type);
  use(type, "Type_create_struct");
  MPI_Type_create_subarray_c(2, sizes, parts, starts, MPI_ORDER_C, MPI_INT,
                             &type);
  use(type, "Type_create_subarray");
  MPI_Type_create_darray_c(2, 1, 2, sizes, how, args, procs, MPI_ORDER_FORTRAN,
                           MPI_INT, &type);
  use(type, "Type_create_darray");
  MPI_Type_create_resized_c(MPI_INT, -4, 12, &type);
  use(type, "Type_create_resized");
  MPI_Type_contiguous_c(LARGE, MPI_INT, &type);
  use(type, "Type_contiguous, large");
  MPI_Type_create_hvector_c(2, 1, LARGE, MPI_INT, &type);
  use(type, "Type_create_hvector, large");
}

static void packing(void) {
  char packed[sizeof(in)];
  MPI_Count position = 0, n;
  MPI_Pack_size_c(N, MPI_INT, MPI_COMM_WORLD, &n);
  mix_number((uint64_t)n);
  MPI_Pack_c(in, N, MPI_INT, packed, sizeof(packed), &position, MPI_COMM_WORLD);
  mix_number((uint64_t)position);
  position = 0;
  MPI_Unpack_c(packed, sizeof(packed), &position, out, N, MPI_INT,
               MPI_COMM_WORLD);
  over("Pack");
}

/* More elements than an int counts, none of which has a byte. */
static void nothing(void) {
  const int to = (me + 1) % size, from = (me + size - 1) % size;
  MPI_Datatype empty;
  MPI_Status status;
  MPI_Type_contiguous(0, MPI_INT, &empty);
  MPI_Type_commit(&empty);
  MPI_Sendrecv_c(in, LARGE, empty, to, 10, out, LARGE + 1, empty, from, 10,
                 MPI_COMM_WORLD, &status);
  mix_number((uint64_t)status.MPI_TAG);
  MPI_Bcast_c(in, LARGE, empty, 0, MPI_COMM_WORLD);
  for (int i = 0; i < size; i++) {
    counts[i] = LARGE;
    places[i] = 0;
  }
  MPI_Alltoallv_c(in, counts, places, empty, out, counts, places, empty,
                  MPI_COMM_WORLD);
  over("nothing");
  MPI_Type_free(&empty);
}

int main(int argc, char **argv) {
  begin(&argc, &argv);
  me = rank;
  request = MPI_REQUEST_NULL;
  clear();
  moving();
  computing();
  operation();
  neighbors();
  exchange();
  buffered();
  windows();
  files();
  datatypes();
  packing();
  nothing();
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
