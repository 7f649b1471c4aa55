! For tests of checkpoints: what a rank has of Fortran: units, the command line,
! random numbers. Rank 0 prints a line for each superstep.
!
!   kept_fortran STEPS DIR HOLD
program kept_fortran
  use mpi
  implicit none
  integer :: rank, ierr, steps, s, number, record, seed(64), n
  integer :: mine, total
  real :: x
  character(len=1000) :: text, dir, hold
  logical :: there

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call get_command_argument(1, text)
  read (text, *) steps
  call get_command_argument(2, dir)
  call get_command_argument(3, hold)
  call random_seed(size=n)
  seed = 1234 + rank
  call random_seed(put=seed(1:n))
  write (text, '(A,"/out.",I0)') trim(dir), rank
  open (10, file=trim(text), action='write', status='replace')
  open (11, file=trim(dir)//'/in', action='read', status='old')
  write (text, '(A,"/direct.",I0)') trim(dir), rank
  open (12, file=trim(text), access='direct', recl=8, form='unformatted', &
        status='replace')
  write (text, '(A,"/stream.",I0)') trim(dir), rank
  open (13, file=trim(text), access='stream', form='unformatted', &
        status='replace')
  do s = 0, steps - 1
    write (text, '(A,".",I0)') trim(hold), s
    inquire (file=trim(text), exist=there)
    do while (there .and. rank == 0)
      call sleep(1)
      inquire (file=trim(text), exist=there)
    end do
    read (11, *) number
    write (10, '("rank ",I0,", step ",I0,": ",I0)') rank, s, number
    call random_number(x)
    write (12, rec=s + 1) number, s
    write (13) s, number
    read (12, rec=s / 2 + 1) record, n
    mine = number + record + n + int(x * 1000) + command_argument_count()
    call get_command_argument(1, text)
    mine = mine + len_trim(text)
    call MPI_Allreduce(mine, total, 1, MPI_INTEGER, MPI_SUM, &
                       MPI_COMM_WORLD, ierr)
    if (rank == 0) then
      print '("step ",I0,": ",I0)', s, total
      flush (6)
    end if
  end do
  call get_command_argument(1, text)
  if (rank == 0) print '("the end of ",A)', trim(text)
  close (13)
  call MPI_Finalize(ierr)
end program kept_fortran
