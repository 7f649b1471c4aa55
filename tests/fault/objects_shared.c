/* Windows of MPI_Win_allocate_shared, whose memory several ranks write to by
   themselves: see objects.h. */
#include "objects.h"

enum { SLOTS = 2, CELLS = 4096 };

static MPI_Comm node;
static MPI_Win together, apart;
static long *mine, *page, *list;
static int me, n;

static void objects_make(void) {
  MPI_Info info;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL,
                      &node);
  MPI_Comm_rank(node, &me);
  MPI_Comm_size(node, &n);
  MPI_Win_allocate_shared(SLOTS * CELLS * sizeof(long), sizeof(long),
                          MPI_INFO_NULL, node, &mine, &together);
  MPI_Info_create(&info);
  MPI_Info_set(info, "alloc_shared_noncontig", "true");
  MPI_Win_allocate_shared(me == 1 ? 0 : sizeof(long *) * CELLS, 1, info, node,
                          &list, &apart);
  MPI_Info_free(&info);
  MPI_Win_lock_all(0, together);
  MPI_Barrier(MPI_COMM_WORLD);
}

/* Memory of another rank, where this one reaches it. */
static long *of(int who) {
  MPI_Aint bytes;
  int unit;
  long *base;
  MPI_Win_shared_query(together, who, &bytes, &unit, &base);
  expect(bytes == SLOTS * CELLS * sizeof(long), "the size of a part");
  return base;
}

static void objects_use(int s) {
  const int now = s % SLOTS, old = (s + 1) % SLOTS;
  page = of((me + 1) % n) + old * CELLS;
  note_bytes(page, CELLS * sizeof(long) / 64);
  note(page[CELLS - 1]);
  /* The others' memory has been saved when they are written to. */
  for (int i = 0; i < n; i++) {
    of(i)[now * CELLS + me] = 100 * s + rank;
    of(i)[now * CELLS + CELLS - 1 - me] = s;
  }
  if (me == 0) {
    list[s] = (long)(of(n - 1) - of(0)); /* addresses stay */
    note(list[s]);
  }
  const long value = s;
  MPI_Put(&value, 1, MPI_LONG, (me + 1) % n, now * CELLS + 32 + me, 1, MPI_LONG,
          together);
  MPI_Win_flush_all(together);
  MPI_Win_sync(together);
}

static void objects_free(void) {
  MPI_Win_unlock_all(together);
  MPI_Win_free(&together);
  MPI_Win_free(&apart);
  MPI_Comm_free(&node);
}
