/* Solves the one-dimensional Laplace equation with the preconditioner of the
   options (-pc_type), and prints how it went. */
#include <petscksp.h>

enum { N = 200 };

static PetscErrorCode fill(Mat a) {
  PetscInt first, past;
  PetscCall(MatGetOwnershipRange(a, &first, &past));
  for (PetscInt i = first; i < past; i++) {
    PetscCall(MatSetValue(a, i, i, 2.5, INSERT_VALUES));
    if (i > 0) {
      PetscCall(MatSetValue(a, i, i - 1, -1, INSERT_VALUES));
    }
    if (i < N - 1) {
      PetscCall(MatSetValue(a, i, i + 1, -1, INSERT_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(a, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(a, MAT_FINAL_ASSEMBLY));
  return 0;
}

int main(int argc, char **argv) {
  Mat a;
  Vec x, b;
  KSP solver;
  PC pc;
  PCType type;
  PetscReal norm;
  PetscInt steps;
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, N, N, 3,
                         NULL, 1, NULL, &a));
  PetscCall(fill(a));
  PetscCall(MatCreateVecs(a, &x, &b));
  PetscCall(VecSet(b, 1));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &solver));
  PetscCall(KSPSetOperators(solver, a, a));
  PetscCall(KSPSetFromOptions(solver));
  PetscCall(KSPSolve(solver, b, x));
  PetscCall(VecNorm(x, NORM_2, &norm));
  PetscCall(KSPGetIterationNumber(solver, &steps));
  PetscCall(KSPGetPC(solver, &pc));
  PetscCall(PCGetType(pc, &type));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %d steps, norm %.8f\n", type,
                        (int)steps, (double)norm));
  PetscCall(KSPDestroy(&solver));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&a));
  return PetscFinalize();
}
