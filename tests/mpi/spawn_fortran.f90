! MPI_COMM_SPAWN and MPI_COMM_SPAWN_MULTIPLE of Fortran, of this program itself:
! commands and arguments padded with blanks, tables of arguments, the constants that
! stand for none. tests/mpi/check.sh gives the job room for the children.
module talks
  use mpi
  implicit none
  integer :: error
contains
  ! Collective over both groups.
  subroutine talk(inter, name, high)
    integer, intent(in) :: inter
    character(len=*), intent(in) :: name
    logical, intent(in) :: high
    integer :: both, me, n, there, total
    call MPI_Comm_remote_size(inter, there, error)
    call MPI_Intercomm_merge(inter, high, both, error)
    call MPI_Comm_rank(both, me, error)
    call MPI_Comm_size(both, n, error)
    call MPI_Allreduce(me, total, 1, MPI_INTEGER, MPI_SUM, both, error)
    print '(2a,i0,a,i0,a,i0,a,i0,a)', name, ' ', me, ' of ', n, ', sum ', &
      total, ', ', there, ' there'
    call MPI_Comm_free(both, error)
  end subroutine

  subroutine child(parent)
    integer, intent(inout) :: parent
    character(len=80) :: argument, line
    integer :: i, me, length, number(1)
    logical :: found
    integer(MPI_ADDRESS_KIND) :: value
    call MPI_Comm_rank(MPI_COMM_WORLD, me, error)
    call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, value, found, error)
    number(1) = -1
    if (found) number(1) = int(value)
    line = ''
    do i = 1, command_argument_count()
      call get_command_argument(i, argument, length)
      line = trim(line)//' ['//argument(:length)//']'
    end do
    print '(a,i0,2a,i0)', 'child ', me, trim(line), ', number ', number(1)
    call talk(parent, 'child', .true.)
    call MPI_Comm_disconnect(parent, error)
  end subroutine

  subroutine part(inter, codes)
    integer, intent(inout) :: inter
    integer, intent(in) :: codes(:)
    if (any(codes /= MPI_SUCCESS)) print *, 'FAIL: codes', codes
    call talk(inter, 'parent', .false.)
    call MPI_Comm_disconnect(inter, error)
    if (inter /= MPI_COMM_NULL) print *, 'FAIL: parted, and no MPI_COMM_NULL'
  end subroutine
end module

program spawn_fortran
  use mpi
  use talks
  implicit none
  integer :: parent, inter, n, codes(3)
  character(len=400) :: command, commands(2)
  character(len=12) :: arguments(3), table(2, 3)
  call MPI_Init(error)
  call MPI_Comm_get_parent(parent, error)
  if (parent /= MPI_COMM_NULL) then
    call child(parent)
    call MPI_Finalize(error)
    stop
  end if
  call MPI_Comm_size(MPI_COMM_WORLD, n, error)
  call get_command_argument(0, command)

  arguments = [character(len=12) :: 'first', 'two words', ' ']
  codes = -1
  call MPI_Comm_spawn(command, arguments, 2, MPI_INFO_NULL, n - 1, &
    MPI_COMM_WORLD, inter, codes, error)
  call part(inter, codes(:2))

  call MPI_Comm_spawn(command, MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, &
    MPI_COMM_SELF, inter, MPI_ERRCODES_IGNORE, error)
  call part(inter, [MPI_SUCCESS])

  commands = command
  table(1, :) = [character(len=12) :: 'one', 'two', ' ']
  table(2, :) = [character(len=12) :: 'three', ' ', ' ']
  codes = -1
  call MPI_Comm_spawn_multiple(2, commands, table, [1, 2], &
    [MPI_INFO_NULL, MPI_INFO_NULL], 0, MPI_COMM_WORLD, inter, codes, error)
  call part(inter, codes)

  call MPI_Comm_spawn_multiple(2, commands, MPI_ARGVS_NULL, [1, 1], &
    [MPI_INFO_NULL, MPI_INFO_NULL], 0, MPI_COMM_WORLD, inter, &
    MPI_ERRCODES_IGNORE, error)
  call part(inter, [MPI_SUCCESS])
  call MPI_Finalize(error)
end program
