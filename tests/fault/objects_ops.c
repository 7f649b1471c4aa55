/* Operations of the program's own, and what their functions see: see objects.h.
 */
#include "objects.h"

static MPI_Op first, second, young;
static MPI_Fint number;
static MPI_Datatype pair;
static long wrong;
static int alone; /* MPI_Reduce_local: collective calls may copy the type */

/* Not commutative: a pair is a linear function, and this is its composition. */
static void compose(void *in, void *inout, int *n, MPI_Datatype *type) {
  const int *const a = in;
  int *const b = inout;
  wrong += alone && *type != pair;
  for (int i = 0; i < *n; i++) {
    const int factor = b[2 * i], sum = b[2 * i + 1];
    b[2 * i] = factor * a[2 * i] % 1009;
    b[2 * i + 1] = (a[2 * i + 1] * factor + sum) % 1009;
  }
}

static void largest(void *in, void *inout, int *n, MPI_Datatype *type) {
  const int *const a = in;
  int *const b = inout;
  wrong += *type != MPI_INT;
  for (int i = 0; i < *n; i++) {
    b[i] = a[i] > b[i] ? a[i] : b[i];
  }
}

static void objects_make(void) {
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_commit(&pair);
  MPI_Op_create(compose, 0, &first);
  MPI_Op_create(largest, 1, &second);
  MPI_Op_create(largest, 1, &young);
  number = MPI_Op_c2f(first);
}

static void objects_use(int s) {
  int a[6], b[6] = {0}, commutes;
  for (int i = 0; i < 6; i++) {
    a[i] = rank * 5 + i + s;
  }
  expect(MPI_Op_f2c(number) == first, "number");
  MPI_Allreduce(a, b, 3, pair, first, MPI_COMM_WORLD);
  note_bytes(b, sizeof(b));
  MPI_Scan(a, b, 3, pair, first, MPI_COMM_WORLD);
  note_bytes(b, sizeof(b));
  alone = 1;
  MPI_Reduce_local(a, b, 3, pair, first);
  alone = 0;
  note_bytes(b, sizeof(b));
  MPI_Allreduce(a, b, 6, MPI_INT, second, MPI_COMM_WORLD);
  note_bytes(b, sizeof(b));
  MPI_Op_commutative(first, &commutes);
  note(commutes);
  MPI_Allreduce(a, b, 6, MPI_INT, young, MPI_COMM_WORLD);
  note_bytes(b, sizeof(b));
  MPI_Op_free(&young);
  MPI_Op_create(largest, s % 2, &young);
  note(wrong);
}

static void objects_free(void) {
  MPI_Op_free(&first);
  MPI_Op_free(&second);
  MPI_Op_free(&young);
  MPI_Type_free(&pair);
}
