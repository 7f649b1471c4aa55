/* What MPI's standard says and Open MPI does not do, so that mpirun cannot
   tell: sides of grids, ranks that have no place in what is mapped, empty
   statuses, windows of MPI 4.1. tests/mpi/standard.sh runs it. */
#include "test.h"

static int code_class(int code) {
  int class;
  MPI_Error_class(code, &class);
  return class;
}

/* The least difference of the largest and the smallest of so many factors of n,
   none above `most`, the largest being `first` (0: none is chosen yet). */
static int least_range(int n, int factors, int most, int first) {
  if (factors == 1) {
    return n > most ? 1 << 30 : (first ? first : n) - n;
  }
  int least = 1 << 30;
  for (int f = 1; f <= n && f <= most; f++) {
    if (n % f == 0) {
      const int range = least_range(n / f, factors - 1, f, first ? first : f);
      least = range < least ? range : least;
    }
  }
  return least;
}

static void balanced(int n, int ndims) {
  int dims[8] = {0}, product = 1;
  MPI_Dims_create(n, ndims, dims);
  for (int i = 0; i < ndims; i++) {
    product *= dims[i];
    if (i && dims[i] > dims[i - 1]) {
      fail("%d in %d dimensions: ascending", n, ndims);
    }
  }
  if (product != n) {
    fail("%d in %d dimensions: %d ranks", n, ndims, product);
  } else if (dims[0] - dims[ndims - 1] != least_range(n, ndims, n, 0)) {
    fail("%d in %d dimensions: from %d to %d", n, ndims, dims[0],
         dims[ndims - 1]);
  }
}

static void dims_are(int n, int ndims, int given[], const int wanted[]) {
  const int code = MPI_Dims_create(n, ndims, given);
  for (int i = 0; i < ndims; i++) {
    if (code || given[i] != wanted[i]) {
      fail("%d in %d dimensions: side %d is %d, not %d", n, ndims, i, given[i],
           wanted[i]);
    }
  }
}

static void dims_fail(int n, int ndims, int given[], int class) {
  const int code = MPI_Dims_create(n, ndims, given);
  if (code_class(code) != class) {
    fail("%d in %d dimensions: class %d, not %d", n, ndims, code_class(code),
         class);
  }
}

static void sides(void) {
  for (int n = 1; n <= 800; n++) {
    for (int ndims = 1; ndims <= 5; ndims++) {
      balanced(n, ndims);
    }
  }
  dims_are(72, 2, (int[]){0, 0}, (int[]){9, 8});
  dims_are(6, 3, (int[]){0, 3, 0}, (int[]){2, 3, 1});
  dims_are(12, 2, (int[]){4, 3}, (int[]){4, 3});
  dims_are(2147483647, 2, (int[]){0, 0}, (int[]){2147483647, 1});
  dims_are(1396755360, 3, (int[]){0, 0, 0}, (int[]){1140, 1122, 1092});
  dims_are(1 << 30, 10, (int[10]){0}, (int[]){8, 8, 8, 8, 8, 8, 8, 8, 8, 8});
  dims_are(5, 0, NULL, NULL);
  dims_fail(7, 3, (int[]){0, 3, 0}, MPI_ERR_DIMS);
  dims_fail(12, 2, (int[]){4, 4}, MPI_ERR_DIMS);
  dims_fail(12, 2, (int[]){2, 3}, MPI_ERR_DIMS);
  dims_fail(12, 2, (int[]){-1, 0}, MPI_ERR_DIMS);
  dims_fail(0, 2, (int[]){0, 0}, MPI_ERR_DIMS);
  dims_fail(12, -1, (int[]){0}, MPI_ERR_DIMS);
  dims_fail(12, 1, NULL, MPI_ERR_ARG);
}

/* The first `places` ranks keep theirs, the others get none. */
static void mapped(const char *call, int code, int there, int places) {
  if (code || there != (rank < places ? rank : MPI_UNDEFINED)) {
    fail("%s to %d places: code %d, %d", call, places, code_class(code), there);
  }
}

static void maps(void) {
  int there = -7, periods[2] = {0, 1}, code;
  int index[1] = {0}, edges[1] = {0};
  code = MPI_Cart_map(MPI_COMM_WORLD, 1, (int[]){1}, periods, &there);
  mapped("MPI_Cart_map", code, there, 1);
  code = MPI_Cart_map(MPI_COMM_WORLD, 0, NULL, NULL, &there);
  mapped("MPI_Cart_map", code, there, 1);
  code = MPI_Cart_map(MPI_COMM_WORLD, 2, (int[]){1, size}, periods, &there);
  mapped("MPI_Cart_map", code, there, size);
  code = MPI_Cart_map(MPI_COMM_WORLD, 1, (int[]){size + 1}, periods, &there);
  if (code_class(code) != MPI_ERR_DIMS) {
    fail("MPI_Cart_map to too many places: class %d", code_class(code));
  }
  code = MPI_Graph_map(MPI_COMM_WORLD, 1, index, edges, &there);
  mapped("MPI_Graph_map", code, there, 1);
}

static void sub_of_nothing(void) {
  MPI_Comm grid, alone;
  int result = -1, periods[1] = {1}, dims[1] = {size}, remain[1] = {0}, n = -1;
  MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &grid);
  MPI_Cart_sub(grid, remain, &alone);
  MPI_Comm_compare(MPI_COMM_SELF, alone, &result);
  MPI_Cartdim_get(alone, &n);
  if (result != MPI_CONGRUENT || n) {
    fail("a grid without dimensions: %d, %d dimensions", result, n);
  }
  MPI_Comm_free(&alone);
  MPI_Comm_free(&grid);
}

static void check_empty(const char *call, MPI_Status *status) {
  int count = -1;
  MPI_Get_count(status, MPI_INT, &count);
  if (status->MPI_SOURCE != MPI_ANY_SOURCE || status->MPI_TAG != MPI_ANY_TAG ||
      status->MPI_ERROR != MPI_SUCCESS || count) {
    fail("%s: no empty status", call);
  }
  memset(status, 0x55, sizeof(*status));
}

/* MPI_ERROR is part of them. */
static void empty_statuses(void) {
  MPI_Request none[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL}, idle;
  MPI_Status status[2];
  int flag = 0, index, in;
  memset(status, 0x55, sizeof(status));
  MPI_Wait(none, status);
  check_empty("MPI_Wait", status);
  MPI_Test(none, &flag, status);
  check_empty("MPI_Test", status);
  MPI_Waitany(2, none, &index, status);
  check_empty("MPI_Waitany", status);
  MPI_Testany(2, none, &index, &flag, status);
  check_empty("MPI_Testany", status);
  MPI_Waitall(2, none, status);
  check_empty("MPI_Waitall", &status[0]);
  check_empty("MPI_Waitall", &status[1]);
  MPI_Request_get_status(MPI_REQUEST_NULL, &flag, status);
  check_empty("MPI_Request_get_status", status);
  MPI_Recv_init(&in, 1, MPI_INT, rank, 6, MPI_COMM_WORLD, &idle);
  MPI_Wait(&idle, status);
  check_empty("MPI_Wait of an inactive request", status);
  MPI_Request_get_status(idle, &flag, status);
  check_empty("MPI_Request_get_status of an inactive request", status);
  MPI_Request_free(&idle);
}

/* Leaders may know each other by an inter-communicator, too. */
static void through_an_intercomm(void) {
  MPI_Comm half, first, second;
  int there = -1, in = -1, result = -1;
  if (size < 2) {
    return;
  }
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank % 2 ? 0 : 1, 4, &first);
  MPI_Intercomm_create(half, 0, first, 0, 5, &second);
  MPI_Comm_remote_size(second, &there);
  MPI_Comm_compare(first, second, &result);
  MPI_Allreduce(&rank, &in, 1, MPI_INT, MPI_MIN, second);
  if (there != (rank % 2 ? size - size / 2 : size / 2) ||
      result != MPI_CONGRUENT || in != (rank % 2 ? 0 : 1)) {
    fail("by an inter-communicator: %d there, %d, first %d", there, result, in);
  }
  MPI_Comm_free(&second);
  MPI_Comm_free(&first);
  MPI_Comm_free(&half);
}

/* What pems returns as Open MPI does where that is below, and by the standard
   elsewhere. */
static void null_and_keyvals(void) {
#ifndef OPEN_MPI
  MPI_Group world;
  int keyval, flag, codes[4];
  void *value;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  codes[0] = MPI_Group_union(world, world, NULL);
  codes[1] = MPI_Group_range_incl(world, 1, (int[1][3]){{0, 0, 1}}, NULL);
  codes[2] = MPI_Group_translate_ranks(world, 1, (int[]){0}, world, NULL);
  codes[3] = MPI_Comm_get_info(MPI_COMM_WORLD, NULL);
  for (int i = 0; i < 4; i++) {
    if (code_class(codes[i]) != MPI_ERR_ARG) {
      fail("NULL, call %d: class %d", i, code_class(codes[i]));
    }
  }
  MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &keyval,
                        NULL);
  if (!MPI_Comm_get_attr(MPI_COMM_WORLD, keyval, &value, &flag)) {
    fail("an attribute of windows on a communicator");
  }
  MPI_Win_free_keyval(&keyval);
  MPI_Group_free(&world);
#endif
}

#ifndef OPEN_MPI
static void forgive(MPI_File *file, int *code, ...) {
  (void)file;
  *code = MPI_SUCCESS;
}
#endif

/* The handler's verdict is the call's. */
static void forgiven(void) {
#ifndef OPEN_MPI
  MPI_Errhandler handler;
  MPI_File file;
  MPI_File_create_errhandler(forgive, &handler);
  MPI_File_set_errhandler(MPI_FILE_NULL, handler);
  const int code = MPI_File_open(MPI_COMM_SELF, "/nowhere/nothing",
                                 MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  if (code) {
    fail("a handler's code is not returned: class %d", code_class(code));
  }
  MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
  MPI_Errhandler_free(&handler);
#endif
}

/* MPICH has MPI_COMM_WORLD's handler called for what none was set for. */
static void without_handler(void) {
#ifdef MPICH_VERSION
  char port[MPI_MAX_PORT_NAME];
  MPI_Win win;
  int code = MPI_Lookup_name("nobody's", MPI_INFO_NULL, port);
  if (code_class(code) != MPI_ERR_NAME) {
    fail("a name that is not published: class %d", code_class(code));
  }
  MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  code = MPI_Put(NULL, 0, MPI_INT, size, 0, 0, MPI_INT, win);
  if (code_class(code) != MPI_ERR_RANK) {
    fail("a window without handler: class %d", code_class(code));
  }
  MPI_Win_free(&win);
#endif
}

/* A part of a shared window that has no bytes, and need not follow the others.
 */
static void no_part(void) {
  int *mine, *theirs, unit;
  MPI_Aint bytes;
  MPI_Comm node;
  MPI_Info info;
  MPI_Win win;
  int me, members;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL,
                      &node);
  MPI_Comm_rank(node, &me);
  MPI_Comm_size(node, &members);
  MPI_Info_create(&info);
  MPI_Info_set(info, "alloc_shared_noncontig", "true");
  MPI_Win_allocate_shared(me % 2 ? 0 : 40, 4, info, node, &mine, &win);
  MPI_Info_free(&info);
  for (int r = 0; r < members; r++) {
    MPI_Win_shared_query(win, r, &bytes, &unit, &theirs);
    if (r % 2 ? bytes != 0 || theirs : bytes < 40 || !theirs) {
      fail("part %d of a shared window: %ld bytes at %p", r, (long)bytes,
           (void *)theirs);
    }
  }
  MPI_Win_free(&win);
  MPI_Comm_free(&node);
}

/* Parts by what the machine has: none where no hint guides to them, and several
   or none where the library may choose. */
static void parts_of_machine(void) {
#if MPI_VERSION >= 4
  MPI_Comm part = MPI_COMM_WORLD;
  MPI_Info info;
  int n = 0, found = 0;
  char value[64] = "";
  MPI_Info_create(&info);
  MPI_Info_set(info, "another_key", "node");
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, 0, info, &part);
  if (part != MPI_COMM_NULL) {
    fail("MPI_COMM_TYPE_HW_GUIDED without its key");
    MPI_Comm_free(&part);
  }
  MPI_Info_set(info, "mpi_hw_resource_type", "nothing that there is");
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, 0, info, &part);
  if (part != MPI_COMM_NULL) {
    fail("MPI_COMM_TYPE_HW_GUIDED to nothing");
    MPI_Comm_free(&part);
  }
  MPI_Info_set(info, "mpi_hw_resource_type", "mpi_shared_memory");
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, 0, info, &part);
  if (part == MPI_COMM_NULL) {
    fail("MPI_COMM_TYPE_HW_GUIDED to shared memory");
  } else {
    MPI_Comm_free(&part);
  }
  MPI_Info_delete(info, "mpi_hw_resource_type");
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_UNGUIDED, 0, info,
                      &part);
  if (part != MPI_COMM_NULL) {
    MPI_Comm_size(part, &n);
    MPI_Info_get(info, "mpi_hw_resource_type", 63, value, &found);
    if (n >= size || !found || !value[0]) {
      fail("MPI_COMM_TYPE_HW_UNGUIDED: %d of %d: %s", n, size,
           found ? value : "not said");
    }
    MPI_Comm_free(&part);
  }
  MPI_Info_free(&info);
#endif
}

/* MPI 4.1: memory that a rank cannot access is no bytes. */
static void unshared_query(void) {
#if MPI_VERSION * 10 + MPI_SUBVERSION >= 41
  int mine[10], unit;
  void *base;
  MPI_Aint bytes;
  MPI_Win win;
  MPI_Win_create(mine, sizeof(mine), 4, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  for (int r = 0; r < size; r++) {
    MPI_Win_shared_query(win, r, &bytes, &unit, &base);
    if (r == rank ? bytes != sizeof(mine) || unit != 4 || base != mine
                  : bytes != 0 || base) {
      fail("part %d of a window: %ld bytes at %p", r, (long)bytes, base);
    }
  }
  MPI_Win_shared_query(win, MPI_PROC_NULL, &bytes, &unit, &base);
  if (base != mine) {
    fail("the first part that can be accessed is at %p", base);
  }
  MPI_Win_free(&win);
#endif
}

/* Without elements nothing is combined, and types need not agree. */
static void nothing_combined(void) {
  const int to = (rank + 1) % size;
  int memory = 100 + rank, got = -1;
  MPI_Win win;
  MPI_Win_create(&memory, sizeof(int), sizeof(int), MPI_INFO_NULL,
                 MPI_COMM_WORLD, &win);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  MPI_Win_fence(0, win);
  const int codes[] = {
      MPI_Accumulate(&got, 0, MPI_DOUBLE, to, 0, 0, MPI_INT, MPI_SUM, win),
      MPI_Get_accumulate(&got, 0, MPI_DOUBLE, &got, 0, MPI_CHAR, to, 0, 0,
                         MPI_INT, MPI_SUM, win),
      MPI_Accumulate(&got, 1, MPI_DOUBLE, to, 0, 1, MPI_INT, MPI_SUM, win)};
  MPI_Win_fence(0, win);
  if (codes[0] || codes[1] || !codes[2]) {
    fail("accumulates of nothing: codes %d, %d, of something: %d", codes[0],
         codes[1], codes[2]);
  }
  if (memory != 100 + rank || got != -1) {
    fail("accumulates of nothing: %d, %d", memory, got);
  }
  MPI_Win_free(&win);
}

/* What reaches from one attached region into the next, and beyond both. */
static void across_regions(void) {
  enum { N = 64 };
  static int memory[3 * N];
  int mine[2 * N];
  const int to = (rank + 1) % size;
  MPI_Aint there;
  MPI_Win win;
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  MPI_Win_attach(win, memory + N, N * sizeof(int));
  MPI_Win_attach(win, memory, N * sizeof(int));
  MPI_Get_address(memory, &there);
  MPI_Sendrecv_replace(&there, 1, MPI_AINT, (rank + size - 1) % size, 3, to, 3,
                       MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int i = 0; i < 2 * N; i++) {
    mine[i] = 1000 * rank + i;
  }
  MPI_Win_fence(0, win);
  if (MPI_Put(mine, 2 * N, MPI_INT, to, there, 2 * N, MPI_INT, win)) {
    fail("a put across two regions");
  }
  MPI_Win_fence(0, win);
  const int from = (rank + size - 1) % size;
  if (memory[0] != 1000 * from ||
      memory[2 * N - 1] != 1000 * from + 2 * N - 1) {
    fail("across two regions: %d to %d", memory[0], memory[2 * N - 1]);
  }
  MPI_Get_address(memory + 2 * N, &there);
  const int beyond = MPI_Put(mine, 1, MPI_INT, rank, there, 1, MPI_INT, win);
  if (code_class(beyond) != MPI_ERR_RMA_RANGE) {
    fail("beyond both regions: class %d", code_class(beyond));
  }
  MPI_Win_fence(0, win);
  MPI_Win_detach(win, memory);
  MPI_Win_detach(win, memory + N);
  MPI_Win_free(&win);
}

/* An operation that only MPICH's own engine computes: an error, not the end. */
#ifdef MPIX_EQUAL
static void not_computed(void) {
  int in = 7, out = -1;
  const int code =
      MPI_Allreduce(&in, &out, 1, MPI_INT, MPIX_EQUAL, MPI_COMM_WORLD);
  if (code_class(code) != MPI_ERR_OP) {
    fail("MPIX_EQUAL: class %d", code_class(code));
  }
}
#else
static void not_computed(void) {
}
#endif

int main(int argc, char **argv) {
  begin(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (rank == 0) {
    sides();
  }
  maps();
  sub_of_nothing();
  empty_statuses();
  through_an_intercomm();
  without_handler();
  null_and_keyvals();
  forgiven();
  no_part();
  unshared_query();
  parts_of_machine();
  nothing_combined();
  across_regions();
  not_computed();
  return end();
}
