/* Error handlers of the program's own, freed ones that are still set, too: see
   objects.h. */
#include "objects.h"

static MPI_Comm comms[3];
static MPI_Errhandler first, young;
static MPI_Fint number;
static int errors, others;

static void count(MPI_Comm *comm, int *code, ...) {
  int class, r = -1;
  MPI_Error_class(*code, &class);
  MPI_Comm_rank(*comm, &r);
  errors += class + r;
}

static void count_other(MPI_Comm *comm, int *code, ...) {
  (void)comm, (void)code;
  others++;
}

static void objects_make(void) {
  MPI_Errhandler gone;
  for (int i = 0; i < 3; i++) {
    MPI_Comm_split(MPI_COMM_WORLD, rank % (i + 1), -rank, &comms[i]);
  }
  MPI_Comm_create_errhandler(count, &first);
  MPI_Comm_create_errhandler(count_other, &gone);
  MPI_Comm_create_errhandler(count_other, &young);
  MPI_Comm_set_errhandler(comms[0], first);
  MPI_Comm_set_errhandler(comms[1], gone);
  MPI_Comm_set_errhandler(comms[2], young);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, first);
  MPI_Errhandler_free(&gone);
  number = MPI_Errhandler_c2f(first);
}

static void objects_use(int s) {
  MPI_Errhandler got;
  MPI_Comm made;
  expect(MPI_Errhandler_f2c(number) == first, "number");
  for (int i = 0; i < 3; i++) {
    MPI_Comm_dup(comms[i], &made);
    MPI_Comm_call_errhandler(comms[i], MPI_ERR_TAG);
    MPI_Comm_call_errhandler(made, MPI_ERR_RANK);
    MPI_Comm_free(&made);
    note(errors * 1000 + others);
  }
  MPI_Send(NULL, 1, MPI_INT, size + 5, 0, MPI_COMM_WORLD);
  MPI_Comm_get_errhandler(comms[0], &got);
  expect(got == first, "the handle that was set");
  MPI_Errhandler_free(&got);
  MPI_Comm_get_errhandler(comms[1], &got);
  MPI_Comm_set_errhandler(comms[2], got);
  MPI_Errhandler_free(&got);
  MPI_Errhandler_free(&young);
  MPI_Comm_create_errhandler(s % 2 ? count : count_other, &young);
  MPI_Comm_set_errhandler(comms[2], young);
  note(errors * 1000 + others);
}

static void objects_free(void) {
  for (int i = 0; i < 3; i++) {
    MPI_Comm_free(&comms[i]);
  }
  MPI_Errhandler_free(&first);
  MPI_Errhandler_free(&young);
}
