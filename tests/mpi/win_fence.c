/* Windows of every flavour between fences: who puts where, who gets what,
   attributes, names, groups; windows of part of the ranks. */
#include "test.h"

enum { CELLS = 4000, BIG = 300000 };

/* Every rank puts a piece of its own into every window and gets one from the
   next rank. */
static void round_of(MPI_Win win, int *memory, int n, int me, int members,
                     uint64_t call, const char *what) {
  const int piece = n / members;
  int *mine = malloc(sizeof(int) * (size_t)piece);
  int *theirs = calloc((size_t)piece, sizeof(int));
  MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
  for (int to = 0; to < members; to++) {
    stream(mine, sizeof(int) * (size_t)piece, seed_of(call, me, to));
    MPI_Put(mine, piece, MPI_INT, to, (MPI_Aint)me * piece, piece, MPI_INT,
            win);
    /* The buffer may be used again after the fence only. */
    MPI_Win_fence(0, win);
  }
  for (int from = 0; from < members; from++) {
    stream(mine, sizeof(int) * (size_t)piece, seed_of(call, from, me));
    if (memcmp(mine, memory + from * piece, sizeof(int) * (size_t)piece) != 0) {
      fail("%s: put from %d", what, from);
    }
  }
  const int next = (me + 1) % members;
  MPI_Get(theirs, piece, MPI_INT, next, (MPI_Aint)me * piece, piece, MPI_INT,
          win);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
  stream(mine, sizeof(int) * (size_t)piece, seed_of(call, me, next));
  if (memcmp(mine, theirs, sizeof(int) * (size_t)piece) != 0) {
    fail("%s: get", what);
  }
  mix(memory, sizeof(int) * (size_t)n);
  mix(theirs, sizeof(int) * (size_t)piece);
  free(mine);
  free(theirs);
}

static void flavours(void) {
  static int global[CELLS];
  int stack[CELLS] = {0};
  int *heap = calloc(BIG, sizeof(int)), *allocated;
  MPI_Win win[4];
  MPI_Win_create(global, sizeof(global), sizeof(int), MPI_INFO_NULL,
                 MPI_COMM_WORLD, &win[0]);
  MPI_Win_create(stack, sizeof(stack), sizeof(int), MPI_INFO_NULL,
                 MPI_COMM_WORLD, &win[1]);
  MPI_Win_create(heap, sizeof(int) * BIG, sizeof(int), MPI_INFO_NULL,
                 MPI_COMM_WORLD, &win[2]);
  MPI_Win_allocate(sizeof(int) * CELLS, sizeof(int), MPI_INFO_NULL,
                   MPI_COMM_WORLD, &allocated, &win[3]);
  memset(allocated, 0, sizeof(int) * CELLS);
  int *memory[4] = {global, stack, heap, allocated};
  const char *names[4] = {"globals", "stack", "heap", "allocated"};
  for (int again = 0; again < 2; again++) {
    for (int i = 0; i < 4; i++) {
      round_of(win[i], memory[i], i == 2 ? BIG : CELLS, rank, size,
               (uint64_t)(10 * again + i), names[i]);
    }
  }
  for (int i = 3; i >= 0; i--) {
    MPI_Win_free(&win[i]);
  }
  if (win[0] != MPI_WIN_NULL) {
    fail("freed, and no MPI_WIN_NULL");
  }
  free(heap);
  report("flavours");
}

/* Members of a communicator in another order; others make no window (Open MPI
   4.1 cannot make two at a time in disjoint communicators). */
static void part(void) {
  MPI_Comm some;
  int me, members, memory[CELLS / 4] = {0};
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &some);
  MPI_Comm_rank(some, &me);
  MPI_Comm_size(some, &members);
  if (rank % 2 == 0 && members > 1) {
    MPI_Win win;
    MPI_Win_create(memory, sizeof(memory), sizeof(int), MPI_INFO_NULL, some,
                   &win);
    MPI_Comm_free(&some); /* the window goes on */
    round_of(win, memory, CELLS / 4, me, members, 99, "part");
    MPI_Group group, world;
    int list[64], in_world[64];
    MPI_Win_get_group(win, &group);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    for (int i = 0; i < members; i++) {
      list[i] = i;
    }
    MPI_Group_translate_ranks(group, members, list, world, in_world);
    mix(in_world, sizeof(int) * (size_t)members);
    MPI_Group_free(&group);
    MPI_Group_free(&world);
    MPI_Win_free(&win);
  } else {
    MPI_Comm_free(&some);
  }
  report("part");
}

/* Windows that differ between ranks: sizes, units, none at all. */
static void uneven(void) {
  const int unit = 1 + rank % 3, n = rank == 1 ? 0 : 600;
  char *memory = calloc(601, 1);
  MPI_Win win;
  MPI_Win_create(n ? memory : NULL, n, unit, MPI_INFO_NULL, MPI_COMM_WORLD,
                 &win);
  MPI_Win_fence(0, win);
  for (int to = 0; to < size; to++) {
    char text[8];
    snprintf(text, sizeof(text), "%03d", rank % 1000);
    if (to != 1) {
      MPI_Put(text, 3, MPI_CHAR, to, 6 * rank, 3, MPI_CHAR, win);
    }
    MPI_Win_fence(0, win);
  }
  /* Nothing at all to one that has nothing, and to nobody. */
  MPI_Put(memory, 0, MPI_CHAR, size > 1 ? 1 : 0, 0, 0, MPI_CHAR, win);
  MPI_Put(memory, 3, MPI_CHAR, MPI_PROC_NULL, 0, 3, MPI_CHAR, win);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
  for (int from = 0; n && from < size; from++) {
    char text[8];
    snprintf(text, sizeof(text), "%03d", from % 1000);
    if (memcmp(text, memory + 6 * from * unit, 3) != 0) {
      fail("uneven: from %d", from);
    }
  }
  mix(memory, 601);
  MPI_Win_free(&win);
  free(memory);
  report("uneven");
}

static void attributes(void) {
  double memory[7], *base;
  int *unit, *flavour, *model, flag, len;
  MPI_Aint *bytes;
  MPI_Win win;
  char name[MPI_MAX_OBJECT_NAME];
  MPI_Win_create(memory, sizeof(memory), 8, MPI_INFO_NULL, MPI_COMM_WORLD,
                 &win);
  MPI_Win_get_attr(win, MPI_WIN_BASE, &base, &flag);
  if (!flag || base != memory) {
    fail("MPI_WIN_BASE");
  }
  MPI_Win_get_attr(win, MPI_WIN_SIZE, &bytes, &flag);
  if (!flag || *bytes != sizeof(memory)) {
    fail("MPI_WIN_SIZE");
  }
  MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, &unit, &flag);
  if (!flag || *unit != 8) {
    fail("MPI_WIN_DISP_UNIT");
  }
  MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &flavour, &flag);
  if (!flag || *flavour != MPI_WIN_FLAVOR_CREATE) {
    fail("MPI_WIN_CREATE_FLAVOR");
  }
  MPI_Win_get_attr(win, MPI_WIN_MODEL, &model, &flag);
  printf("rank %d: model %d %d\n", rank, flag, *model == MPI_WIN_UNIFIED);
  MPI_Win_set_name(win, "a window of mine");
  MPI_Win_get_name(win, name, &len);
  printf("rank %d: name %d %s\n", rank, len, name);
  MPI_Win_free(&win);
}

static int deleted;
static int note_delete(MPI_Win win, int key, void *value, void *extra) {
  (void)win, (void)key;
  deleted += *(int *)value + *(int *)extra;
  return MPI_SUCCESS;
}

static void own_attributes(void) {
  int memory = 0, key, value = 5, extra = 100, flag, *found;
  MPI_Win win;
  MPI_Win_create(&memory, sizeof(memory), 1, MPI_INFO_NULL, MPI_COMM_WORLD,
                 &win);
  MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, note_delete, &key, &extra);
  MPI_Win_get_attr(win, key, &found, &flag);
  printf("rank %d: attribute before: %d\n", rank, flag);
  MPI_Win_set_attr(win, key, &value);
  MPI_Win_get_attr(win, key, &found, &flag);
  printf("rank %d: attribute: %d %d\n", rank, flag, *found);
  MPI_Win_set_attr(win, key, &value);
  MPI_Win_delete_attr(win, key);
  printf("rank %d: deleted: %d\n", rank, deleted);
  MPI_Win_set_attr(win, key, &value);
  MPI_Win_free_keyval(&key);
  MPI_Win_free(&win);
  printf("rank %d: freed: %d\n", rank, deleted);
}

static void infos(void) {
  int memory = 0, keys, flag;
  char value[32] = "";
  MPI_Info info, got;
  MPI_Win win;
  MPI_Info_create(&info);
  MPI_Info_set(info, "no_locks", "true");
  MPI_Info_set(info, "same_size", "true");
  MPI_Win_create(&memory, sizeof(memory), 1, info, MPI_COMM_WORLD, &win);
  MPI_Win_get_info(win, &got);
  MPI_Info_get_nkeys(got, &keys);
  MPI_Info_get(got, "no_locks", 31, value, &flag);
#ifndef OPEN_MPI /* MPICH adds what it would accept */
  keys = 2;
#endif
  printf("rank %d: info: %d keys, no_locks %d %s\n", rank, keys, flag, value);
  MPI_Info_free(&got);
  MPI_Info_free(&info);
  MPI_Win_free(&win);
}

/* Accesses to itself, and collectives on the communicator in between. */
static void mixed(void) {
  long memory[16] = {0}, sum = 0, one = rank + 1;
  MPI_Win win;
  MPI_Win_create(memory, sizeof(memory), sizeof(long), MPI_INFO_NULL,
                 MPI_COMM_WORLD, &win);
  for (int i = 0; i < 8; i++) {
    MPI_Win_fence(0, win);
    MPI_Put(&one, 1, MPI_LONG, rank, i, 1, MPI_LONG, win);
    MPI_Win_fence(0, win);
    MPI_Allreduce(&memory[i], &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    MPI_Bcast(&sum, 1, MPI_LONG, i % size, MPI_COMM_WORLD);
    mix(&sum, sizeof(sum));
  }
  MPI_Win_free(&win);
  report("mixed");
}

int main(int argc, char **argv) {
  begin(&argc, &argv);
  flavours();
  part();
  uneven();
  attributes();
  own_attributes();
  infos();
  mixed();
  return end();
}
