! What checkpoint_objects.sh says of objects.h, in Fortran: numbers are handles,
! and subroutines are called back.
module callbacks
  use mpi
  implicit none
  integer :: pairs, errors = 0, wrong = 0
  integer(mpi_address_kind) :: copies = 0
contains
  subroutine compose(a, b, n, type)
    integer :: n, type
    integer :: a(2, n), b(2, n)
    integer :: i, factor
    ! Collective calls may have a copy of the type.
    if (type == mpi_integer) wrong = wrong + 1
    do i = 1, n
      factor = b(1, i)
      b(2, i) = mod(a(2, i) * factor + b(2, i), 1009)
      b(1, i) = mod(factor * a(1, i), 1009)
    end do
  end subroutine
  subroutine copy(comm, keyval, extra, from, to, flag, ierr)
    integer :: comm, keyval, ierr
    integer(mpi_address_kind) :: extra, from, to
    logical :: flag
    if (extra /= 77) wrong = wrong + 1
    to = from + 1
    flag = .true.
    copies = copies + from
    ierr = mpi_success
  end subroutine
  subroutine handle_error(comm, code)
    integer :: comm, code
    integer :: r, ierr
    call mpi_comm_rank(comm, r, ierr)
    errors = errors + r + 1
  end subroutine
end module

program objects
  use callbacks
  implicit none
  integer :: ierr, rank, n, s, op, comm, dup, keyval, handler, info, group
  integer :: a(6), b(6), all, mine, size_of, i
  integer(mpi_address_kind) :: value
  logical :: flag
  call mpi_init(ierr)
  call mpi_comm_rank(mpi_comm_world, rank, ierr)
  call mpi_type_contiguous(2, mpi_integer, pairs, ierr)
  call mpi_type_commit(pairs, ierr)
  call mpi_op_create(compose, .false., op, ierr)
  call mpi_comm_split(mpi_comm_world, mod(rank, 2), -rank, comm, ierr)
  call mpi_comm_group(comm, group, ierr)
  call mpi_comm_create_keyval(copy, mpi_comm_null_delete_fn, keyval, &
    77_mpi_address_kind, ierr)
  call mpi_comm_set_attr(comm, keyval, int(rank + 5, mpi_address_kind), ierr)
  call mpi_comm_create_errhandler(handle_error, handler, ierr)
  call mpi_comm_set_errhandler(comm, handler, ierr)
  call mpi_info_create(info, ierr)
  call mpi_info_set(info, 'key', 'value', ierr)
  do s = 0, 4
    a = [(rank * 3 + i + s, i = 1, 6)]
    call mpi_allreduce(a, b, 3, pairs, op, mpi_comm_world, ierr)
    mine = sum(b)
    call mpi_reduce_local(a, b, 3, pairs, op, ierr)
    call mpi_scan(a, b, 3, pairs, op, comm, ierr)
    mine = mine + sum(b)
    call mpi_comm_dup(comm, dup, ierr)
    call mpi_comm_get_attr(dup, keyval, value, flag, ierr)
    if (.not. flag) wrong = wrong + 1
    mine = mine + int(value + copies)
    call mpi_comm_free(dup, ierr)
    call mpi_comm_call_errhandler(comm, mpi_err_tag, ierr)
    call mpi_group_size(group, n, ierr)
    call mpi_type_size(pairs, size_of, ierr)
    mine = mine + n + size_of + errors + wrong * 100000
    call mpi_info_get_nkeys(info, n, ierr)
    mine = mine + n
    call mpi_allreduce(mine, all, 1, mpi_integer, mpi_sum, mpi_comm_world, ierr)
    if (rank == 0) write (*, '(a,i0,a,i0,a,i0)') 'step ', s, ': ', all, ' ', wrong
    if (rank == 0) flush (6)
  end do
  call mpi_op_free(op, ierr)
  call mpi_type_free(pairs, ierr)
  call mpi_comm_free(comm, ierr)
  if (rank == 0) write (*, '(a)') 'the end'
  call mpi_finalize(ierr)
end program
