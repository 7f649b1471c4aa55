! Common blocks and saved variables that are threadprivate.
! compare.sh: -fopenmp
module shared
  implicit none
  integer, parameter :: many = 100000
  integer, save :: values(many)
  real(8), save :: sum_of(3) = (/ 1.0d0, 2.0d0, 3.0d0 /)
  !$omp threadprivate(values, sum_of)
end module shared

program thread_data_fortran
  use mpi
  use shared
  implicit none
  integer :: ierr, rank, ranks, next, last, round, i, wrong
  integer :: block(50000), counter
  common /kept/ block, counter
  !$omp threadprivate(/kept/)

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  next = mod(rank + 1, ranks)
  last = mod(rank + ranks - 1, ranks)
  counter = rank
  wrong = 0
  do round = 1, 4
    do i = 1, many
      values(i) = rank * 1000 + i + round
    end do
    do i = 1, 50000
      block(i) = -i - rank
    end do
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    call MPI_Sendrecv_replace(values(5), many - 10, MPI_INTEGER, next, 0, &
        last, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    call MPI_Allreduce(MPI_IN_PLACE, sum_of, 3, MPI_DOUBLE_PRECISION, MPI_SUM, &
        MPI_COMM_WORLD, ierr)
    do i = 5, many - 6
      if (values(i) /= last * 1000 + i + round) wrong = wrong + 1
    end do
    do i = 1, 50000
      if (block(i) /= -i - rank) wrong = wrong + 1
    end do
    counter = counter + round
  end do
  print '(a, i0, a, i0, a, i0, 3f14.1)', 'rank ', rank, ' wrong ', wrong, &
      ' counter ', counter, sum_of
  call MPI_Finalize(ierr)
end program thread_data_fortran
