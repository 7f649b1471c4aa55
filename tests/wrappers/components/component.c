/* A preconditioner that PETSc opens: Jacobi's, which counts its calls. */
#include <petsc/private/pcimpl.h>

static PetscInt calls;

static PetscErrorCode apply(PC pc, Vec x, Vec y) {
  Mat a;
  Vec diagonal;
  calls++;
  PetscCall(PCGetOperators(pc, NULL, &a));
  PetscCall(VecDuplicate(x, &diagonal));
  PetscCall(MatGetDiagonal(a, diagonal));
  PetscCall(VecPointwiseDivide(y, x, diagonal));
  PetscCall(VecDestroy(&diagonal));
  return 0;
}

static PetscErrorCode destroy(PC pc) {
  PetscMPIInt rank;
  (void)pc;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCall(PetscSynchronizedPrintf(PETSC_COMM_WORLD, "rank %d: %d calls\n",
                                    (int)rank, (int)calls));
  PetscCall(PetscSynchronizedFlush(PETSC_COMM_WORLD, PETSC_STDOUT));
  return 0;
}

static PetscErrorCode create(PC pc) {
  pc->ops->apply = apply;
  pc->ops->destroy = destroy;
  return 0;
}

PETSC_EXTERN PetscErrorCode PetscDLLibraryRegister_component(void) {
  PetscCall(PCRegister("counting", create));
  return 0;
}
