/* Atomic mode: all ranks write the same places, and no access shows parts of
   two. */
#include "files.h"

enum { N = 4000, ROUNDS = 12 };

static int data[N], back[N];

/* Not there in a plain program. */
extern int pems_main(void) __attribute__((weak));

static void check_same(int n, const char *what) {
  for (int i = 1; i < n; i++) {
    if (back[i] != back[0]) {
      fail("%s: element %d is %d, the first %d", what, i, back[i], back[0]);
      return;
    }
  }
}

static void overlap(MPI_File f, const char *what) {
  MPI_Status status;
  for (int i = 0; i < N; i++) {
    data[i] = -1;
  }
  MPI_File_write_at_all(f, 0, data, N, MPI_INT, &status);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int round = 0; round < ROUNDS; round++) {
    for (int i = 0; i < N; i++) {
      data[i] = rank * 1000 + round;
    }
    if ((rank + round) % 3 == 0) {
      MPI_File_read_at(f, 0, back, N, MPI_INT, &status);
    } else {
      MPI_File_write_at(f, 0, data, N, MPI_INT, &status);
    }
    if ((rank + round) % 3 == 0) {
      check_same(elements(&status, MPI_INT), what);
    }
    if (round % 4 == 3) {
      MPI_Barrier(MPI_COMM_WORLD);
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_read_at(f, 0, back, N, MPI_INT, &status);
  check_same(N, what);
  MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
  begin(&argc, &argv);
  name_file("atomic");
  int flag = -1;
  MPI_File f = open_file(MPI_COMM_WORLD, MPI_MODE_CREATE | MPI_MODE_RDWR);
  MPI_File_get_atomicity(f, &flag);
  mix_number((uint64_t)flag);
  MPI_File_set_atomicity(f, 7);
  MPI_File_get_atomicity(f, &flag);
  mix_number((uint64_t)flag);
  /* Open MPI itself does not keep accesses of several ranks apart: that is
     asked of pems only. */
  if (size == 1 || pems_main) {
    MPI_Datatype holes;
    overlap(f, "contiguous");
    MPI_Type_vector(N, 1, 3, MPI_INT, &holes);
    MPI_Type_commit(&holes);
    MPI_File_set_view(f, 4, MPI_INT, holes, "native", MPI_INFO_NULL);
    overlap(f, "with holes");
    MPI_Type_free(&holes);
  }
  MPI_File_set_atomicity(f, 0);
  MPI_File_get_atomicity(f, &flag);
  mix_number((uint64_t)flag);
  MPI_File_close(&f);
  report("flags");
  remove_file();
  return end();
}
