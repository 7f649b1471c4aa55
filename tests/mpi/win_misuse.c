/* Wrong calls about windows which MPICH notices and Open MPI lets pass, or the
   other way round: each MPI's answer is that of pems on it. */
#include "test.h"

static void class_of(int code, const char *what) {
  int class;
  MPI_Error_class(code, &class);
  printf("rank %d: %s: class %d\n", rank, what, class);
}

/* A grid larger than the communicator gives none. */
static void grid(void) {
  const int dims[] = {size, size + 1}, periods[] = {0, 0};
  MPI_Comm comm = MPI_COMM_NULL;
  if (MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &comm) ==
          MPI_SUCCESS ||
      comm != MPI_COMM_NULL) {
    fail("a grid that is too large");
  }
}

#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
static void names(void) {
  char name[MPI_MAX_OBJECT_NAME];
  int n = -1;
  MPI_Win_get_name(MPI_WIN_NULL, name, &n);
  printf("rank %d: no window: %s %d\n", rank, name, n);
}
#endif

#ifndef OPEN_MPI
static void nobody(MPI_Win win) {
  static int value = 3;
  class_of(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, MPI_PROC_NULL, 0, win),
           "lock nobody's");
  class_of(MPI_Put(&value, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win),
           "put to nobody");
  class_of(MPI_Win_unlock(MPI_PROC_NULL, win), "unlock nobody's");
}

static void swaps(MPI_Win win) {
  static double value, compare, result;
  MPI_Datatype four;
  MPI_Type_contiguous(4, MPI_BYTE, &four);
  MPI_Type_commit(&four);
  MPI_Win_fence(0, win);
  const struct {
    MPI_Datatype type;
    const char *name;
  } of[] = {{MPI_INT, "int"},      {MPI_CHAR, "char"},   {MPI_C_BOOL, "bool"},
            {MPI_AINT, "address"}, {MPI_FLOAT, "float"}, {MPI_DOUBLE, "double"},
            {four, "four bytes"}};
  for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
    class_of(
        MPI_Compare_and_swap(&value, &compare, &result, of[i].type, 0, 0, win),
        of[i].name);
  }
  MPI_Win_fence(0, win);
  MPI_Type_free(&four);
}

static void early_end(MPI_Win *win) {
  MPI_Group all;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, *win);
  class_of(MPI_Win_free(win), "free while locked");
  MPI_Win_unlock(rank, *win);
  MPI_Win_post(all, 0, *win);
  MPI_Win_start(all, 0, *win);
  class_of(MPI_Win_free(win), "free while started");
  MPI_Win_complete(*win);
  class_of(MPI_Win_free(win), "free while posted");
  MPI_Win_wait(*win);
  class_of(MPI_Win_free(win), "free at last");
  MPI_Group_free(&all);
}

static void windows(void) {
  static long memory[2];
  MPI_Win win;
  MPI_Win_create(memory, sizeof(memory), 1, MPI_INFO_NULL, MPI_COMM_WORLD,
                 &win);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  nobody(win);
  swaps(win);
  early_end(&win);
}
#endif

int main(int argc, char **argv) {
  begin(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  grid();
#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
  names();
#endif
#ifndef OPEN_MPI
  windows();
#endif
  return end();
}
