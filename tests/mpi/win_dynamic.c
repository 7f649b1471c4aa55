/* Dynamic windows: regions that come and go, addressed by where they are. */
#include "test.h"

enum { N = 3000, ROUNDS = 4 };
static int global[N];

static MPI_Aint address_of(const void *p) {
  MPI_Aint address;
  MPI_Get_address(p, &address);
  return address;
}

/* Everybody says where its memory is; then gets and puts by address. */
static void round_of(MPI_Win win, int *memory, uint64_t call) {
  MPI_Aint *at = malloc(sizeof(MPI_Aint) * (size_t)size);
  const MPI_Aint mine = address_of(memory);
  const int to = (rank + 1) % size, from = (rank + size - 1) % size;
  int *data = malloc(sizeof(int) * N);
  MPI_Allgather(&mine, 1, MPI_AINT, at, 1, MPI_AINT, MPI_COMM_WORLD);
  stream(data, sizeof(int) * N, seed_of(call, rank, to));
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, to, 0, win);
  MPI_Put(data, N - 1, MPI_INT, to, MPI_Aint_add(at[to], sizeof(int)), N - 1,
          MPI_INT, win);
  MPI_Win_unlock(to, win);
  MPI_Barrier(MPI_COMM_WORLD);
  stream(data, sizeof(int) * N, seed_of(call, from, rank));
  MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
  if (memcmp(data, memory + 1, sizeof(int) * (N - 1)) != 0) {
    fail("put: call %d", (int)call);
  }
  MPI_Win_unlock(rank, win);
  MPI_Win_lock_all(0, win);
  memset(data, 0, sizeof(int) * N);
  MPI_Get(data, N - 1, MPI_INT, from, at[from] + (MPI_Aint)sizeof(int), N - 1,
          MPI_INT, win);
  const int one = 1;
  MPI_Accumulate(&one, 1, MPI_INT, 0, at[0], 1, MPI_INT, MPI_SUM, win);
  MPI_Win_unlock_all(win);
  mix(data, sizeof(int) * N);
  MPI_Barrier(MPI_COMM_WORLD);
  free(data);
  free(at);
}

int main(int argc, char **argv) {
  begin(&argc, &argv);
  MPI_Win win;
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  int *unit, flag;
  MPI_Aint *bytes;
  char *base = "";
  MPI_Win_get_attr(win, MPI_WIN_BASE, &base, &flag);
  if (!flag || base != MPI_BOTTOM) {
    fail("MPI_WIN_BASE");
  }
  MPI_Win_get_attr(win, MPI_WIN_SIZE, &bytes, &flag);
  if (!flag || *bytes != 0) {
    fail("MPI_WIN_SIZE");
  }
  MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, &unit, &flag);
  if (!flag || *unit != 1) {
    fail("MPI_WIN_DISP_UNIT");
  }
  int *kept = calloc(N, sizeof(int));
  MPI_Win_attach(win, kept, sizeof(int) * N);
  for (int i = 0; i < ROUNDS; i++) {
    int *memory = calloc(N, sizeof(int));
    MPI_Win_attach(win, memory, sizeof(int) * N);
    round_of(win, memory, (uint64_t)(2 * i));
    round_of(win, kept, (uint64_t)(2 * i + 1));
    if (rank == 0 && (memory[0] != size || kept[0] != size * (i + 1))) {
      fail("sums: %d %d", memory[0], kept[0]);
    }
    MPI_Win_detach(win, memory);
    free(memory);
  }
  MPI_Win_attach(win, global, sizeof(global));
  round_of(win, global, 99);
  MPI_Win_detach(win, global);
  MPI_Win_detach(win, kept);
  MPI_Win_free(&win);
  free(kept);
  report("dynamic");
  return end();
}
