! use mpi: module data and ALLOCATEs private to each rank, derived types,
! communicators, groups, callbacks with address-sized integers, characters.
module state
  use mpi
  implicit none
  integer :: rank, n, failed = 0
  integer, save :: counter = 7
  real(8), allocatable, save :: field(:, :)
  type item
    integer :: i
    real(8) :: x(3)
    character(len=4) :: name
  end type
contains
  subroutine check(good, what)
    logical, intent(in) :: good
    character(len=*), intent(in) :: what
    if (.not. good) then
      failed = failed + 1
      print *, 'FAIL rank', rank, ': ', what
    end if
  end subroutine
end module

module callbacks
  use mpi
  use state
  implicit none
  integer(MPI_ADDRESS_KIND) :: deleted = 0
  integer :: freed = 0
contains
  subroutine copy(comm, key, extra, in, out, flag, ierr)
    integer :: comm, key, ierr
    integer(MPI_ADDRESS_KIND) :: extra, in, out
    logical :: flag
    out = in + extra
    flag = in /= 13
    ierr = MPI_SUCCESS
  end subroutine
  subroutine delete(comm, key, value, extra, ierr)
    integer :: comm, key, ierr
    integer(MPI_ADDRESS_KIND) :: value, extra
    deleted = value
    ierr = MPI_SUCCESS
  end subroutine
  subroutine query(extra, status, ierr)
    integer(MPI_ADDRESS_KIND) :: extra
    integer :: status(MPI_STATUS_SIZE), ierr
    call MPI_Status_set_elements(status, MPI_INTEGER, int(extra), ierr)
    call MPI_Status_set_cancelled(status, .false., ierr)
    status(MPI_SOURCE) = 3
    status(MPI_TAG) = 4
  end subroutine
  subroutine release(extra, ierr)
    integer(MPI_ADDRESS_KIND) :: extra
    integer :: ierr
    freed = freed + 1
    ierr = MPI_SUCCESS
  end subroutine
  subroutine cancel(extra, complete, ierr)
    integer(MPI_ADDRESS_KIND) :: extra
    logical :: complete
    integer :: ierr
    ierr = MPI_SUCCESS
  end subroutine
  subroutine add_items(in, inout, len, type)
    integer :: len, type, i
    real(8) :: in(2, len), inout(2, len)
    do i = 1, len ! 2x2 upper triangles: does not commute
      inout(2, i) = in(1, i) * inout(2, i) + in(2, i)
      inout(1, i) = in(1, i) * inout(1, i)
    end do
  end subroutine
end module

program fortran_mpi
  use mpi
  use state
  implicit none
  integer :: ierr, total, provided, halves
  call MPI_Init_thread(MPI_THREAD_SINGLE, provided, ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, n, ierr)
  call allocations
  call types
  call communicators
  call groups
  call attributes
  call exchanges(MPI_COMM_WORLD, 'world')
  call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), -rank, halves, ierr)
  call exchanges(halves, 'half')
  call MPI_Comm_free(halves, ierr)
  call operations
  call requests
  call texts
  call topologies
  call MPI_Allreduce(failed, total, 1, MPI_INTEGER, MPI_SUM, &
                     MPI_COMM_WORLD, ierr)
  print *, 'rank', rank, 'of', n, 'failures', total
  call MPI_Finalize(ierr)

contains

  subroutine allocations
    real(8), allocatable :: sums(:)
    character(len=:), allocatable :: text
    integer :: i, round
    counter = counter + rank
    allocate (field(300, 200 + 10 * rank))
    text = repeat('x', 1000 + rank)
    do i = 1, size(field, 2)
      field(:, i) = rank + i
    end do
    do round = 1, 3
      call MPI_Barrier(MPI_COMM_WORLD, ierr)
      sums = sum(field, 1)
      call check(all(sums == [(300d0 * (rank + i), i=1, size(sums))]), 'field')
      field = reshape(field, shape(field))
      text = text // 'y'
    end do
    call check(len(text) == 1003 + rank, 'deferred length')
    call check(counter == 7 + rank, 'module variable')
    deallocate (field)
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    call check(.not. allocated(field), 'deallocated')
  end subroutine

  subroutine types
    type(item) :: a(5), b(5)
    integer :: parts(3), kinds(3), made, resized, sub, i, to, from
    integer(MPI_ADDRESS_KIND) :: at(3), base, next, lb, extent
    integer :: status(MPI_STATUS_SIZE), count
    real(8) :: whole(6, 8), block(2, 3)
    call MPI_Get_address(a(1), base, ierr)
    call MPI_Get_address(a(2), next, ierr)
    call MPI_Get_address(a(1)%i, at(1), ierr)
    call MPI_Get_address(a(1)%x, at(2), ierr)
    call MPI_Get_address(a(1)%name, at(3), ierr)
    at = at - base
    parts = [1, 3, 4]
    kinds = [MPI_INTEGER, MPI_DOUBLE_PRECISION, MPI_CHARACTER]
    call MPI_Type_create_struct(3, parts, at, kinds, made, ierr)
    call MPI_Type_create_resized(made, 0_MPI_ADDRESS_KIND, next - base, &
                                 resized, ierr)
    call MPI_Type_commit(resized, ierr)
    call MPI_Type_get_extent(resized, lb, extent, ierr)
    call check(extent == next - base, 'extent')
    do i = 1, 5
      a(i)%i = 10 * rank + i
      a(i)%x = [1d0, 2d0, 3d0] * rank
      write (a(i)%name, '(i4)') rank
    end do
    to = mod(rank + 1, n)
    from = mod(rank + n - 1, n)
    call MPI_Sendrecv(a, 5, resized, to, 1, b, 5, resized, from, 1, &
                      MPI_COMM_WORLD, status, ierr)
    call MPI_Get_count(status, resized, count, ierr)
    call check(count == 5, 'struct: count')
    call check(b(5)%i == 10 * from + 5, 'struct: integer')
    call check(all(b(3)%x == [1d0, 2d0, 3d0] * from), 'struct: doubles')
    read (b(2)%name, '(i4)') i
    call check(i == from, 'struct: characters')
    call MPI_Type_free(made, ierr)
    call MPI_Type_free(resized, ierr)
    call MPI_Type_create_subarray(2, [6, 8], [2, 3], [3, 4], &
                        MPI_ORDER_FORTRAN, MPI_DOUBLE_PRECISION, sub, ierr)
    call MPI_Type_commit(sub, ierr)
    whole = reshape([(dble(i + 100 * rank), i=1, 48)], [6, 8])
    call MPI_Sendrecv(whole, 1, sub, to, 2, block, 6, MPI_DOUBLE_PRECISION, &
                      from, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    call check(block(2, 3) == (7 - 1) * 6 + 5 + 100 * from, 'subarray')
    call MPI_Type_free(sub, ierr)
    ! A part of an array with a stride: the compiler passes a copy.
    block = 0
    if (rank == 0) block = 9
    call MPI_Bcast(block(1, :), 3, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, &
                   ierr)
    call check(block(1, 3) == 9, 'section')
  end subroutine

  subroutine communicators
    integer :: half, me, many, sum, result, remote, inter, merged
    logical :: flag
    call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), -rank, half, ierr)
    call MPI_Comm_rank(half, me, ierr)
    call MPI_Comm_size(half, many, ierr)
    call MPI_Allreduce(rank, sum, 1, MPI_INTEGER, MPI_SUM, half, ierr)
    print *, 'split', rank, me, many, sum
    call MPI_Comm_compare(half, MPI_COMM_WORLD, result, ierr)
    call check(n == 1 .or. result /= MPI_IDENT, 'compare')
    call MPI_Comm_test_inter(half, flag, ierr)
    call check(.not. flag, 'test_inter')
    if (n > 1) then
      call MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, &
                                leader(1 - mod(rank, 2)), 5, inter, ierr)
      call MPI_Comm_test_inter(inter, flag, ierr)
      call check(flag, 'test_inter: inter')
      call MPI_Comm_remote_size(inter, remote, ierr)
      call check(remote == n - many, 'remote_size')
      call MPI_Intercomm_merge(inter, rank == 0 .or. mod(rank, 2) == 0, &
                               merged, ierr)
      call MPI_Comm_size(merged, many, ierr)
      call check(many == n, 'merge')
      call MPI_Comm_free(merged, ierr)
      call MPI_Comm_free(inter, ierr)
    end if
    call MPI_Comm_free(half, ierr)
    call check(half == MPI_COMM_NULL, 'comm_free')
    call MPI_Comm_split(MPI_COMM_WORLD, MPI_UNDEFINED, 0, half, ierr)
    call check(half == MPI_COMM_NULL, 'undefined')
  end subroutine

  ! Keys are negative ranks: the last of each half leads it.
  integer function leader(half)
    integer, intent(in) :: half
    leader = n - 1
    if (mod(leader, 2) /= half) leader = leader - 1
  end function

  subroutine groups
    integer :: world, some, others, both, ranges(3, 1), ranks(64), i, many
    integer :: comm, result
    call MPI_Comm_group(MPI_COMM_WORLD, world, ierr)
    call MPI_Group_incl(world, 1, [n - 1], some, ierr)
    call MPI_Group_excl(world, 1, [n - 1], others, ierr)
    call MPI_Group_union(some, others, both, ierr)
    call MPI_Group_size(both, many, ierr)
    call check(many == n, 'union')
    call MPI_Group_translate_ranks(both, 1, [0], world, ranks, ierr)
    call check(ranks(1) == n - 1, 'translate')
    call MPI_Group_free(both, ierr)
    call MPI_Group_intersection(some, others, both, ierr)
    call check(both == MPI_GROUP_EMPTY, 'intersection')
    call MPI_Group_difference(world, others, both, ierr)
    call MPI_Group_compare(both, some, result, ierr)
    call check(result == MPI_IDENT, 'difference')
    ranges(:, 1) = [n - 1, 0, -1]
    call MPI_Group_free(both, ierr)
    call MPI_Group_range_incl(world, 1, ranges, both, ierr)
    call MPI_Comm_create(MPI_COMM_WORLD, both, comm, ierr)
    call MPI_Comm_rank(comm, i, ierr)
    call check(i == n - 1 - rank, 'range_incl, comm_create')
    call MPI_Comm_free(comm, ierr)
    call MPI_Group_free(both, ierr)
    ranges(:, 1) = [0, n - 1, 1]
    call MPI_Group_range_excl(world, 1, ranges, both, ierr)
    call check(both == MPI_GROUP_EMPTY, 'range_excl')
    call MPI_Group_free(some, ierr)
    call check(some == MPI_GROUP_NULL, 'group_free')
    call MPI_Group_free(others, ierr)
    call MPI_Group_free(world, ierr)
  end subroutine

  subroutine attributes
    use callbacks
    integer :: key, comm, type, twin, i
    integer(MPI_ADDRESS_KIND) :: extra, value, large
    logical :: flag
    large = 2_MPI_ADDRESS_KIND**40 + rank
    extra = 5
    call MPI_Comm_create_keyval(copy, delete, key, extra, ierr)
    extra = 99 ! is taken by value
    call MPI_Comm_set_attr(MPI_COMM_WORLD, key, large, ierr)
    call MPI_Comm_get_attr(MPI_COMM_WORLD, key, value, flag, ierr)
    call check(flag .and. value == large, 'get_attr')
    call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierr)
    call MPI_Comm_get_attr(comm, key, value, flag, ierr)
    call check(flag .and. value == large + 5, 'copied attribute')
    call MPI_Comm_delete_attr(comm, key, ierr)
    call check(deleted == large + 5, 'deleted attribute')
    call MPI_Comm_get_attr(comm, key, value, flag, ierr)
    call check(.not. flag, 'attribute is gone')
    call MPI_Comm_free(comm, ierr)
    call MPI_Comm_set_attr(MPI_COMM_WORLD, key, 13_MPI_ADDRESS_KIND, ierr)
    call check(deleted == large, 'replaced attribute')
    call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierr)
    call MPI_Comm_get_attr(comm, key, value, flag, ierr)
    call check(.not. flag, 'attribute that is not copied')
    call MPI_Comm_free(comm, ierr)
    call MPI_Comm_delete_attr(MPI_COMM_WORLD, key, ierr)
    call MPI_Comm_free_keyval(key, ierr)
    call check(key == MPI_KEYVAL_INVALID, 'free_keyval')
    ! Ranks of one process do so at the same time, on one type.
    do i = 1, 500
      call MPI_Type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, &
                                  key, extra, ierr)
      call MPI_Type_set_attr(MPI_INTEGER, key, large + i, ierr)
      call MPI_Type_get_attr(MPI_INTEGER, key, value, flag, ierr)
      call check(flag .and. value == large + i, 'attribute of a type')
      call MPI_Type_delete_attr(MPI_INTEGER, key, ierr)
      call MPI_Type_free_keyval(key, ierr)
    end do
    call MPI_Type_create_keyval(copy, delete, key, extra, ierr)
    call MPI_Type_contiguous(2, MPI_INTEGER, type, ierr)
    call MPI_Type_set_attr(type, key, large, ierr)
    call MPI_Type_dup(type, twin, ierr)
    call MPI_Type_get_attr(twin, key, value, flag, ierr)
    call check(flag .and. value == large + extra, 'copied attribute of a type')
    call MPI_Type_free(twin, ierr)
    call check(deleted == large + extra, 'deleted attribute of a type')
    call MPI_Type_free(type, ierr)
    call MPI_Type_free_keyval(key, ierr)
    call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, value, flag, &
                           ierr)
    call check(.not. flag .or. value == 0 .or. value == 1, 'wtime_is_global')
  end subroutine

  ! Each member's own datatypes, one that is derived.
  subroutine exchanges(comm, what)
    integer, intent(in) :: comm
    character(len=*), intent(in) :: what
    integer :: me, members, pair, i
    integer, allocatable :: out(:, :), in(:, :), counts(:), at(:), types(:)
    call MPI_Comm_rank(comm, me, ierr)
    call MPI_Comm_size(comm, members, ierr)
    allocate(out(2, members), in(2, members), counts(members), at(members), &
             types(members))
    call MPI_Type_contiguous(2, MPI_INTEGER, pair, ierr)
    call MPI_Type_commit(pair, ierr)
    do i = 1, members
      out(:, i) = [100 * me + i, -i]
      at(i) = 8 * (i - 1)
      counts(i) = merge(1, 2, mod(me + i - 1, 2) == 0)
      types(i) = merge(pair, MPI_INTEGER, mod(me + i - 1, 2) == 0)
    end do
    in = 0
    call MPI_Alltoallw(out, counts, at, types, in, counts, at, types, comm, ierr)
    call check(all(in(1, :) == [(100 * (i - 1) + me + 1, i = 1, members)]) &
               .and. all(in(2, :) == -me - 1), 'alltoallw '//what)
    call MPI_Alltoallw(MPI_IN_PLACE, counts, at, types, out, counts, at, types, &
                       comm, ierr)
    call check(all(out == in), 'alltoallw in place '//what)
    call MPI_Type_free(pair, ierr)
  end subroutine

  subroutine operations
    use callbacks
    integer :: op, pair, i
    real(8) :: mine(2, 3), all(2, 3)
    call MPI_Type_contiguous(2, MPI_DOUBLE_PRECISION, pair, ierr)
    call MPI_Type_commit(pair, ierr)
    call MPI_Op_create(add_items, .false., op, ierr)
    do i = 1, 3
      mine(:, i) = [2d0, dble(rank + i)]
    end do
    call MPI_Allreduce(mine, all, 3, pair, op, MPI_COMM_WORLD, ierr)
    print *, 'operation', rank, nint(all)
    call MPI_Exscan(MPI_IN_PLACE, mine, 3, pair, op, MPI_COMM_WORLD, ierr)
    if (rank > 0) print *, 'exscan', rank, nint(mine)
    call MPI_Op_free(op, ierr)
    call MPI_Type_free(pair, ierr)
  end subroutine

  subroutine requests
    use callbacks
    integer :: request(2), status(MPI_STATUS_SIZE), count, buffer(100), size
    integer :: all(MPI_STATUS_SIZE, 2), message, i, got(100)
    logical :: flag
    integer(MPI_ADDRESS_KIND) :: extra
    extra = 6
    call MPI_Grequest_start(query, release, cancel, extra, request(1), ierr)
    extra = 0
    call MPI_Test(request(1), flag, MPI_STATUS_IGNORE, ierr)
    call check(.not. flag, 'grequest: not complete')
    call MPI_Grequest_complete(request(1), ierr)
    call MPI_Wait(request(1), status, ierr)
    call check(status(MPI_SOURCE) == 3 .and. status(MPI_TAG) == 4, 'grequest')
    call check(freed == 1, 'grequest: freed')
    ! Nonblocking collectives, and one that is never a message.
    buffer = rank
    call MPI_Iallreduce(MPI_IN_PLACE, buffer, 100, MPI_INTEGER, MPI_SUM, &
                        MPI_COMM_WORLD, request(1), ierr)
    call MPI_Ibarrier(MPI_COMM_WORLD, request(2), ierr)
    call MPI_Waitall(2, request, all, ierr)
    call check(buffer(100) == n * (n - 1) / 2, 'iallreduce')
    ! Matched probes.
    got = 0
    call MPI_Isend(buffer, 100, MPI_INTEGER, mod(rank + 1, n), 8, &
                   MPI_COMM_WORLD, request(1), ierr)
    call MPI_Mprobe(MPI_ANY_SOURCE, 8, MPI_COMM_WORLD, message, status, ierr)
    call MPI_Get_count(status, MPI_INTEGER, count, ierr)
    call check(count == 100, 'mprobe')
    call MPI_Mrecv(got, count, MPI_INTEGER, message, status, ierr)
    call check(message == MPI_MESSAGE_NULL, 'mrecv: message')
    call check(got(100) == n * (n - 1) / 2, 'mrecv: data')
    call MPI_Wait(request(1), MPI_STATUS_IGNORE, ierr)
    call MPI_Irecv(got, 100, MPI_INTEGER, 0, 77, MPI_COMM_SELF, request(1), &
                   ierr)
    call MPI_Cancel(request(1), ierr)
    call MPI_Wait(request(1), status, ierr)
    call MPI_Test_cancelled(status, flag, ierr)
    call check(flag, 'cancelled')
    ! Packing, and buffered messages.
    i = 0
    call MPI_Pack(rank, 1, MPI_INTEGER, buffer, 400, i, MPI_COMM_WORLD, ierr)
    call MPI_Pack(1.5d0, 1, MPI_DOUBLE_PRECISION, buffer, 400, i, &
                  MPI_COMM_WORLD, ierr)
    call MPI_Buffer_attach(got, 400, ierr)
    call MPI_Bsend(buffer, i, MPI_PACKED, 0, 3, MPI_COMM_SELF, ierr)
    buffer = 0
    call MPI_Recv(buffer, 400, MPI_PACKED, 0, 3, MPI_COMM_SELF, &
                  MPI_STATUS_IGNORE, ierr)
    call MPI_Buffer_detach(got, size, ierr)
    call check(size == 400, 'buffer_detach')
    i = 0
    call MPI_Unpack(buffer, 400, i, count, 1, MPI_INTEGER, MPI_COMM_WORLD, &
                    ierr)
    call check(count == rank, 'unpack')
  end subroutine

  subroutine texts
    character(len=MPI_MAX_OBJECT_NAME) :: name
    character(len=MPI_MAX_PROCESSOR_NAME) :: where
    character(len=20) :: value
    integer :: len, comm, info
    logical :: flag
    call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierr)
    call MPI_Comm_set_name(comm, '  a name  ', ierr)
    call MPI_Comm_get_name(comm, name, len, ierr)
    call check(trim(name) == 'a name', 'name')
    call MPI_Comm_get_name(MPI_COMM_WORLD, name, len, ierr)
    call check(name == 'MPI_COMM_WORLD', 'name of world')
    call MPI_Comm_free(comm, ierr)
    call MPI_Get_processor_name(where, len, ierr)
    call check(len > 0 .and. where(len + 1:) == ' ', 'processor name')
    call MPI_Info_create(info, ierr)
    call MPI_Info_set(info, 'key', 'some value', ierr)
    call MPI_Info_get(info, 'key', 20, value, flag, ierr)
    call check(flag .and. value == 'some value', 'info')
    call MPI_Info_free(info, ierr)
  end subroutine

  subroutine topologies
    integer :: cart, dims(2), coords(2), from, to, x, y, graph
    integer :: in, out, sources(1), targets(1), weights(1)
    logical :: periods(2), weighted
    dims = 0
    call MPI_Dims_create(n, 2, dims, ierr)
    call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, [.true., .false.], .false., &
                         cart, ierr)
    call MPI_Cart_get(cart, 2, dims, periods, coords, ierr)
    call check(periods(1) .and. .not. periods(2), 'periods')
    call MPI_Cart_shift(cart, 0, 1, from, to, ierr)
    call MPI_Sendrecv(rank, 1, MPI_INTEGER, to, 1, x, 1, MPI_INTEGER, from, 1, &
                      cart, MPI_STATUS_IGNORE, ierr)
    call check(x == from, 'shift')
    call MPI_Comm_free(cart, ierr)
    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &
         [mod(rank + n - 1, n)], MPI_UNWEIGHTED, 1, [mod(rank + 1, n)], &
         MPI_UNWEIGHTED, MPI_INFO_NULL, .false., graph, ierr)
    call MPI_Dist_graph_neighbors_count(graph, in, out, weighted, ierr)
    call check(in == 1 .and. out == 1 .and. .not. weighted, 'neighbours')
    call MPI_Dist_graph_neighbors(graph, 1, sources, MPI_UNWEIGHTED, 1, &
                                  targets, MPI_UNWEIGHTED, ierr)
    call check(targets(1) == mod(rank + 1, n), 'targets')
    call MPI_Neighbor_allgather(rank, 1, MPI_INTEGER, y, 1, MPI_INTEGER, graph, &
                                ierr)
    call check(y == mod(rank + n - 1, n), 'neighbor_allgather')
    call MPI_Comm_free(graph, ierr)
    weights = 0
  end subroutine
end program
