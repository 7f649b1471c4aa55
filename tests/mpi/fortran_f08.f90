! use mpi_f08: handles of types of their own, optional error codes, callbacks
! with their interfaces, assumed-size and contiguous buffers.
module work
  use mpi_f08
  implicit none
  integer :: rank, n, failed = 0, handled = 0, deleted = 0
  type(MPI_Comm) :: handled_comm
contains
  subroutine check(good, what)
    logical, intent(in) :: good
    character(len=*), intent(in) :: what
    if (.not. good) then
      failed = failed + 1
      print *, 'FAIL rank', rank, ': ', what
    end if
  end subroutine

  subroutine first(in, inout, len, type)
    use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
    type(c_ptr), value :: in, inout
    integer :: len
    type(MPI_Datatype) :: type
    integer, pointer :: a(:), b(:)
    call c_f_pointer(in, a, [len])
    call c_f_pointer(inout, b, [len])
    if (type == MPI_INTEGER) b = a
  end subroutine

  subroutine copy(comm, key, extra, in, out, flag, ierror)
    type(MPI_Comm) :: comm
    integer :: key, ierror
    integer(MPI_ADDRESS_KIND) :: extra, in, out
    logical :: flag
    out = 2 * in + extra
    flag = .true.
    ierror = MPI_SUCCESS
  end subroutine

  subroutine delete(comm, key, value, extra, ierror)
    type(MPI_Comm) :: comm
    integer :: key, ierror
    integer(MPI_ADDRESS_KIND) :: value, extra
    deleted = int(value)
    ierror = MPI_SUCCESS
  end subroutine

  subroutine handler(comm, code)
    type(MPI_Comm) :: comm
    integer :: code, class
    call MPI_Error_class(code, class)
    handled = class
    handled_comm = comm
  end subroutine
end module

program fortran_f08
  use mpi_f08
  use work
  implicit none
  integer :: total
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, n)
  call messages
  call collectives
  call callbacks
  if (n > 1) call windows ! Open MPI 4.1 has none for one rank
  call files
  call MPI_Allreduce(failed, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  print *, 'rank', rank, 'of', n, 'failures', total
  call MPI_Finalize()

contains

  subroutine messages
    type(MPI_Request) :: requests(4)
    type(MPI_Status) :: status, all(4)
    integer, asynchronous :: in(100, 2), out(100, 2)
    integer :: i, next, last, count, which, ierror
    logical :: flag
    next = mod(rank + 1, n)
    last = mod(rank + n - 1, n)
    out = rank
    do i = 1, 2
      call MPI_Irecv(in(:, i), 100, MPI_INTEGER, last, i, MPI_COMM_WORLD, &
                     requests(i))
      call MPI_Isend(out(:, i), 100, MPI_INTEGER, next, i, MPI_COMM_WORLD, &
                     requests(i + 2))
    end do
    call MPI_Waitall(4, requests, all, ierror)
    call check(ierror == MPI_SUCCESS, 'waitall')
    call check(all(2)%MPI_TAG == 2 .and. all(2)%MPI_SOURCE == last, 'statuses')
    call MPI_Get_count(all(1), MPI_INTEGER, count)
    call check(count == 100, 'count')
    call check(sum(in) == 200 * last, 'data')
    call check(requests(1) == MPI_REQUEST_NULL, 'request')
    call MPI_Recv_init(in, 200, MPI_INTEGER, last, 5, MPI_COMM_WORLD, &
                       requests(1))
    do i = 1, 2
      out = rank + i
      call MPI_Start(requests(1))
      call MPI_Ssend(out, 200, MPI_INTEGER, next, 5, MPI_COMM_WORLD)
      do
        call MPI_Testany(1, requests, which, flag, status)
        if (flag) exit
      end do
      call check(which == 1 .and. status%MPI_TAG == 5, 'testany')
      call check(in(100, 2) == last + i, 'persistent')
      if (n == 1) exit
    end do
    call MPI_Request_free(requests(1))
    call MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, flag, status)
    call check(.not. flag, 'iprobe')
    call MPI_Waitall(0, requests, MPI_STATUSES_IGNORE)
  end subroutine

  subroutine collectives
    integer :: mine(n), every(n), i
    real(8), allocatable :: block(:)
    type(MPI_Datatype) :: triple
    type(MPI_Comm) :: half
    type(MPI_Request) :: request
    mine = [(rank * 10 + i, i=1, n)]
    call MPI_Alltoall(mine, 1, MPI_INTEGER, every, 1, MPI_INTEGER, &
                      MPI_COMM_WORLD)
    call check(all(every == [((i - 1) * 10 + rank + 1, i=1, n)]), 'alltoall')
    every(rank + 1) = rank
    call MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, every, 1, &
                       MPI_INTEGER, MPI_COMM_WORLD)
    call check(sum(every) == n * (n - 1) / 2, 'allgather in place')
    allocate (block(30000))
    block = 0
    if (rank == n - 1) block = 1.5d0
    call MPI_Type_contiguous(3, MPI_REAL8, triple)
    call MPI_Type_commit(triple)
    call MPI_Ibcast(block, 10000, triple, n - 1, MPI_COMM_WORLD, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call check(sum(block) == 45000d0, 'ibcast')
    call MPI_Type_free(triple)
    call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), rank, half)
    i = 1
    call MPI_Allreduce(MPI_IN_PLACE, i, 1, MPI_INTEGER, MPI_SUM, half)
    call check(i == (n + 1 - mod(rank, 2)) / 2, 'split')
    call MPI_Comm_free(half)
    call check(half == MPI_COMM_NULL, 'comm_free')
  end subroutine

  subroutine callbacks
    type(MPI_Op) :: op
    type(MPI_Errhandler) :: eh
    type(MPI_Comm) :: comm
    integer :: a(3), b(3), key, code, length
    character(MPI_MAX_LIBRARY_VERSION_STRING) :: version
    integer(MPI_ADDRESS_KIND) :: extra, value
    logical :: flag
    call MPI_Op_create(first, .false., op)
    a = [rank, rank + 1, rank + 2]
    call MPI_Allreduce(a, b, 3, MPI_INTEGER, op, MPI_COMM_WORLD)
    call check(all(b == [0, 1, 2]), 'operation')
    call MPI_Op_free(op)
    extra = 3
    call MPI_Comm_create_keyval(copy, delete, key, extra)
    value = rank
    call MPI_Comm_set_attr(MPI_COMM_WORLD, key, value)
    call MPI_Comm_dup(MPI_COMM_WORLD, comm)
    call MPI_Comm_get_attr(comm, key, value, flag)
    call check(flag .and. value == 2 * rank + 3, 'attribute')
    call MPI_Comm_create_errhandler(handler, eh)
    call MPI_Comm_set_errhandler(comm, eh)
    call MPI_Send(a, 1, MPI_INTEGER, n + 3, 0, comm, code)
    ! MPICH's own returns none after a handler of Fortran.
    call MPI_Get_library_version(version, length)
    call check(code /= MPI_SUCCESS .or. index(version, 'MPICH') > 0, 'error is returned')
    call check(handled == MPI_ERR_RANK, 'error is handled')
    call check(handled_comm == comm, 'whose error it is')
    call MPI_Errhandler_free(eh)
    call MPI_Comm_free(comm)
    call check(deleted == 2 * rank + 3, 'deleted')
    call MPI_Comm_delete_attr(MPI_COMM_WORLD, key)
    call MPI_Comm_free_keyval(key)
  end subroutine

  subroutine windows
    integer, asynchronous :: shared(4)
    integer :: one, next
    integer(MPI_ADDRESS_KIND) :: size, value, place
    logical :: flag
    type(MPI_Win) :: win
    next = mod(rank + 1, n)
    size = 16
    shared = 0
    call MPI_Win_create(shared, size, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win)
    call MPI_Win_get_attr(win, MPI_WIN_SIZE, value, flag)
    call check(flag .and. value == 16, 'win_size')
    call MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, value, flag)
    call check(flag .and. value == 4, 'win_disp_unit')
    call MPI_Win_fence(0, win)
    one = rank + 100
    place = 2
    call MPI_Put(one, 1, MPI_INTEGER, next, place, 1, MPI_INTEGER, win)
    call MPI_Win_fence(0, win)
    call check(shared(3) == mod(rank + n - 1, n) + 100, 'put')
    call MPI_Win_free(win)
    call check(win == MPI_WIN_NULL, 'win_free')
  end subroutine

  subroutine files
    type(MPI_File) :: file
    type(MPI_Status) :: status
    integer :: block(50), got(50), count
    integer(MPI_OFFSET_KIND) :: at, size
    character(len=500) :: program
    character(len=:), allocatable :: name
    call get_command_argument(0, program)
    name = trim(program) // '.file'
    block = rank
    call MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE + MPI_MODE_RDWR &
                       + MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, file)
    at = 200_MPI_OFFSET_KIND * rank
    call MPI_File_write_at_all(file, at, block, 50, MPI_INTEGER, status)
    call MPI_Get_count(status, MPI_INTEGER, count)
    call check(count == 50, 'file: count')
    call MPI_File_sync(file)
    call MPI_Barrier(MPI_COMM_WORLD)
    call MPI_File_get_size(file, size)
    call check(size == 200 * n, 'file: size')
    at = 200_MPI_OFFSET_KIND * mod(rank + 1, n)
    call MPI_File_read_at_all(file, at, got, 50, MPI_INTEGER, status)
    call check(all(got == mod(rank + 1, n)), 'file: data')
    call MPI_File_close(file)
    call check(file == MPI_FILE_NULL, 'file: close')
  end subroutine
end program
