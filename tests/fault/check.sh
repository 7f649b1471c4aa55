#!/bin/sh
# What --pems-check finds: one line or report, a status that is not 0, no hang;
# and nothing in a program that makes no mistake.
. "$(dirname "$0")/lib.sh"

build tests/fault/careless.c -g
here_at='at careless.c:[0-9]+'
overlap='what it sends and what it receives overlap at'

# careless PROCESSES MODE...
careless() {
  run -n 4 --pems-context=16M --pems-procs="$1" --pems-check "$program" "$2"
}

# found MODE FUNCTION RANK PATTERN
found() {
  for procs in 1 2; do
    begin "$1, $procs processes"
    careless $procs "$1"
    expect_status 1
    expect_line "^pems: $2: rank $3 $here_at: $4"
    if says 'all done'; then
      fault "it went on"
    fi
    expect_clean
    end
  done
}

# left PROCESSES: what is not freed.
left() {
  begin "what is left, $1 processes"
  careless "$1" leave
  expect_status 1
  expect_output 'all done'
  expect_line 'pems: left at MPI_Finalize:$'
  made="$here_at was not"
  expect_text \
    " rank 3: a message with tag 6 from rank 1 on the communicator of \
MPI_Comm_dup $made received \(3 times\) " \
    " ranks 0-1: the buffer of MPI_Buffer_attach was not detached " \
    " ranks 0-3: the communicator of MPI_Comm_dup $made freed " \
    " ranks 0-1: the file of MPI_File_open $made closed " \
    " ranks 0-1: the request of MPI_Irecv $made completed " \
    " ranks 0-3: the request of MPI_Recv_init $made freed " \
    " ranks 0-3: the window of MPI_Win_create $made freed "
  if grep -q MPI_Comm_split "$err"; then
    fault "it names a communicator that was freed"
  fi
  expect_clean
  end
}

found foreign-heap MPI_Send 1 'it sends 100 B at 0x.*, which is memory of rank 0'
found foreign-global MPI_Send 1 '.*, which is memory of rank 0'
found freed MPI_Send 1 'it sends 100000 B at 0x.*, which is not allocated'
found freed-small MPI_Send 1 'it sends 48 B at 0x.*, which is not allocated'
found too-long MPI_Bcast 1 \
  'it receives 1500 B at 0x[0-9a-f]+, but only 10[0-9]+ B are allocated there'
found inside-too-long MPI_Gather 1 'it sends 300 B at .*, but only 20[0-9] B are'
found wild MPI_Recv 1 'it receives 8 B at 0x10010, which is no memory'
found constant MPI_Recv 1 'it receives 8 B at 0x.*, which is read-only'
found overlap MPI_Allgather '[0-3]' "$overlap"
found overlap-reduce MPI_Allreduce '[0-3]' "$overlap"
found same-reduce MPI_Allreduce '[0-3]' "$overlap"
found overlap-sendrecv MPI_Sendrecv '[0-3]' "$overlap"
found messages-overlap MPI_Allgatherv '[0-3]' \
  'two of the messages that it receives overlap at'
found pending-receive MPI_Recv 1 \
  "it receives 10 B at .*, which MPI_Irecv $here_at still receives"
found pending-send MPI_Recv 1 \
  "it receives 10 B at .*, which MPI_Issend $here_at still sends"
found pending-collective MPI_Recv 1 \
  "it receives 1 B at .*, which MPI_Ibcast $here_at still receives"
found changed MPI_Wait 1 \
  "the buffer of MPI_Isend $here_at, 9 B at .*, was changed before it was complete"
found changed-persistent MPI_Wait 1 "the buffer of MPI_Send_init $here_at, .*changed"
left 1
left 2

for procs in 1 2; do
  begin "no mistake, $procs processes"
  PEMS_TEST_EVICT_ALWAYS=1
  export PEMS_TEST_EVICT_ALWAYS
  careless $procs right
  unset PEMS_TEST_EVICT_ALWAYS
  expect_status 0
  expect_silence
  expect_output 'all done'
  expect_clean
  end
done

begin "without --pems-check"
run -n 4 --pems-context=16M "$program" leave
expect_status 0
expect_silence
expect_clean
end

conclude
