! A recursive subroutine whose arrays are on the stack, and that waits at every
! depth.
program deep_fortran
  use mpi
  implicit none
  integer :: rank, ranks, ierr, errors
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  errors = 0
  call down(60)
  print *, 'rank', rank, 'errors', errors
  call MPI_Finalize(ierr)
contains
  recursive subroutine down(n)
    integer, intent(in) :: n
    real(8) :: a(6000)
    integer :: one, total
    a = n + rank
    one = 1
    call MPI_Allreduce(one, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
    if (total /= ranks) errors = errors + 1
    if (n > 1) call down(n - 1)
    call MPI_Allreduce(one, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
    if (any(a /= n + rank)) errors = errors + 1
  end subroutine
end program
