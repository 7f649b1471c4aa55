/* Fortran's functions that make groups of groups. */
#include "mpi_abi/fortran.h"

static void give(MPI_Group group, int code, MPI_Fint *number, MPI_Fint *ierr) {
  if (code == MPI_SUCCESS) {
    *number = MPI_Group_c2f(group);
  }
  fortran_result(ierr, code);
}

typedef int two_function(MPI_Group a, MPI_Group b, MPI_Group *made);
typedef int list_function(MPI_Group group, int n, const int *ranks,
                          MPI_Group *made);
typedef int range_function(MPI_Group group, int n, int ranges[][3],
                           MPI_Group *made);

static void of_two(two_function *f, const MPI_Fint *a, const MPI_Fint *b,
                   MPI_Fint *number, MPI_Fint *ierr) {
  MPI_Group made = MPI_GROUP_NULL;
  const int code = f(MPI_Group_f2c(*a), MPI_Group_f2c(*b), &made);
  give(made, code, number, ierr);
}

static void of_list(list_function *f, const MPI_Fint *group, const MPI_Fint *n,
                    const MPI_Fint *ranks, MPI_Fint *number, MPI_Fint *ierr) {
  MPI_Group made = MPI_GROUP_NULL;
  const int code = f(MPI_Group_f2c(*group), *n, ranks, &made);
  give(made, code, number, ierr);
}

static void of_ranges(range_function *f, const MPI_Fint *group,
                      const MPI_Fint *n, MPI_Fint ranges[][3], MPI_Fint *number,
                      MPI_Fint *ierr) {
  MPI_Group made = MPI_GROUP_NULL;
  const int code = f(MPI_Group_f2c(*group), *n, ranges, &made);
  give(made, code, number, ierr);
}

FORTRAN_ENTRY(group_union, GROUP_UNION, MPI_Fint *a, MPI_Fint *b,
              MPI_Fint *number, MPI_Fint *ierr) {
  of_two(MPI_Group_union, a, b, number, ierr);
}

FORTRAN_ENTRY(group_intersection, GROUP_INTERSECTION, MPI_Fint *a, MPI_Fint *b,
              MPI_Fint *number, MPI_Fint *ierr) {
  of_two(MPI_Group_intersection, a, b, number, ierr);
}

FORTRAN_ENTRY(group_difference, GROUP_DIFFERENCE, MPI_Fint *a, MPI_Fint *b,
              MPI_Fint *number, MPI_Fint *ierr) {
  of_two(MPI_Group_difference, a, b, number, ierr);
}

FORTRAN_ENTRY(group_incl, GROUP_INCL, MPI_Fint *group, MPI_Fint *n,
              MPI_Fint *ranks, MPI_Fint *number, MPI_Fint *ierr) {
  of_list(MPI_Group_incl, group, n, ranks, number, ierr);
}

FORTRAN_ENTRY(group_excl, GROUP_EXCL, MPI_Fint *group, MPI_Fint *n,
              MPI_Fint *ranks, MPI_Fint *number, MPI_Fint *ierr) {
  of_list(MPI_Group_excl, group, n, ranks, number, ierr);
}

FORTRAN_ENTRY(group_range_incl, GROUP_RANGE_INCL, MPI_Fint *group, MPI_Fint *n,
              MPI_Fint ranges[][3], MPI_Fint *number, MPI_Fint *ierr) {
  of_ranges(MPI_Group_range_incl, group, n, ranges, number, ierr);
}

FORTRAN_ENTRY(group_range_excl, GROUP_RANGE_EXCL, MPI_Fint *group, MPI_Fint *n,
              MPI_Fint ranges[][3], MPI_Fint *number, MPI_Fint *ierr) {
  of_ranges(MPI_Group_range_excl, group, n, ranges, number, ierr);
}
