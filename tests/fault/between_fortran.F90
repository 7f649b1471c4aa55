! What between.c is for C: rank 0 asks for a checkpoint and waits until there is
! one, while others wait for several messages at once. With -DUSE_MPI_F08 by
! that module, else by `use mpi`.
#ifdef USE_MPI_F08
#define MODULE mpi_f08
#define REQUEST type(mpi_request)
#define STATUSES(n) type(mpi_status), dimension(n)
#define TAG_OF(statuses, i) statuses(i)%mpi_tag
#define FIRST_OF(statuses) statuses(1)
#else
#define MODULE mpi
#define REQUEST integer
#define STATUSES(n) integer, dimension(mpi_status_size, n)
#define TAG_OF(statuses, i) statuses(mpi_tag, i)
#define FIRST_OF(statuses) statuses(:, 1)
#endif
program between_fortran
  use MODULE
  use iso_c_binding
  implicit none
  interface
    integer(c_int) function ask() bind(c, name='pems_api_checkpoint')
      import
    end function
    integer(c_int) function usleep(us) bind(c)
      import
      integer(c_int), value :: us
    end function
  end interface
  integer, parameter :: n = 100000
  integer :: r, v, step, i, ierr, which, some, places(2)
  integer :: in(n, 2), out(n)
  integer(8) :: total = 0, all
  REQUEST :: requests(2)
  STATUSES(2) :: statuses
  character(4096) :: shelf
  call mpi_init(ierr)
  call mpi_comm_rank(mpi_comm_world, r, ierr)
  call mpi_comm_size(mpi_comm_world, v, ierr)
  call get_command_argument(1, shelf)
  do step = 1, 3
    if (r == 0) then
      call take(step)
      cycle
    end if
    call mpi_irecv(in(:, 1), n, mpi_integer, 0, 1, mpi_comm_world, requests(1), ierr)
    call mpi_irecv(in(:, 2), n, mpi_integer, 0, 2, mpi_comm_world, requests(2), ierr)
    select case (step)
    case (1)
      call mpi_waitall(2, requests, statuses, ierr)
      do i = 1, 2
        if (TAG_OF(statuses, i) /= i) call mpi_abort(mpi_comm_world, 1, ierr)
      end do
    case (2)
      do i = 1, 2
        call mpi_waitany(2, requests, which, FIRST_OF(statuses), ierr)
        if (TAG_OF(statuses, 1) /= which) call mpi_abort(mpi_comm_world, 1, ierr)
      end do
    case (3)
      i = 0
      do while (i < 2)
        call mpi_waitsome(2, requests, some, places, statuses, ierr)
        if (TAG_OF(statuses, 1) /= places(1)) call mpi_abort(mpi_comm_world, 1, ierr)
        i = i + some
      end do
    end select
    total = total + step * (sum(int(in(:, 1), 8)) + 2 * sum(int(in(:, 2), 8)))
  end do
  call mpi_reduce(total, all, 1, mpi_integer8, mpi_sum, 0, mpi_comm_world, ierr)
  if (r == 0) print '(a, i0)', 'the end: ', all
  call mpi_finalize(ierr)
contains
  subroutine take(step)
    integer, intent(in) :: step
    integer :: to, tag
    logical :: there
    character(6) :: digits
    write (digits, '(i6.6)') step
    if (ask() == 0) then
      there = .false.
      do while (.not. there)
        call mpi_iprobe(0, 1, mpi_comm_self, there, mpi_status_ignore, ierr)
        i = usleep(20000)
        inquire (file=trim(shelf)//'/checkpoint-'//digits//'/manifest', exist=there)
      end do
    end if
    do i = 1, n
      out(i) = mod(i * (step + 6), 10007)
    end do
    do tag = 1, 2
      do to = 1, v - 1
        call mpi_send(out, n, mpi_integer, to, tag, mpi_comm_world, ierr)
      end do
    end do
    print '(a, i0)', 'step ', step
  end subroutine
end program
