#!/bin/sh
# Programs whose ranks wait for each other: one report that says where each
# waits and for whom, a status that is not 0, no hang; in one process and in two.
. "$(dirname "$0")/lib.sh"

build tests/fault/stuck.c -g

# line TEXT: where the program has it.
line() {
  grep -nF "$1" "$here/tests/fault/stuck.c" | head -1 | cut -d: -f1
}

# stuck RANKS MODE PATTERN...
stuck() {
  ranks=$1 mode=$2
  shift 2
  for procs in 1 2; do
    begin "$mode, $procs processes"
    unset PEMS_TEST_EVICT_ALWAYS
    if [ $procs -eq 1 ]; then
      PEMS_TEST_EVICT_ALWAYS=1
      export PEMS_TEST_EVICT_ALWAYS
    fi
    run -n "$ranks" --pems-procs=$procs --pems-k=$procs --pems-context=16M \
      "$program" "$mode"
    expect_status 1
    expect_line 'deadlock: no rank can go on'
    expect_text "$@"
    expect_clean
    end
  done
}

world='on MPI_COMM_WORLD'
message="$world for a message with"
recv=$(line 'MPI_Recv(data, 1, MPI_CHAR, from')
made="call 2 $world, which"

stuck 4 ring \
  "rank 0 waits in MPI_Recv at stuck.c:$recv $message tag 3 from rank 1 " \
  "rank 3 waits in MPI_Recv at stuck.c:$recv $message tag 3 from rank 0 "
# Too many lines: the ranks together.
stuck 40 ring \
  "ranks 0-39 wait in MPI_Recv at .* $message tag 3 from ranks 0-39"
stuck 4 any 'ranks 0-3 wait in MPI_Recv .* with any tag from any rank'
send="MPI_Ssend at stuck.c:$(line 'MPI_Ssend(')"
stuck 4 send \
  "rank 0 waits in $send $world for its message with tag 5 to be received by rank 1" \
  "rank 3 waits in $send $world for its message with tag 5 to be received by rank 2"
stuck 4 many \
  "rank 2 waits in MPI_Waitall at .* for 3 requests, first MPI_Issend at \
stuck.c:$(line 'MPI_Issend(') .* with tag 20 to be received by rank 3"
stuck 4 tag \
  "rank 0 waits in MPI_Waitall at stuck.c:$(line 'MPI_Waitall(2') for \
MPI_Irecv at stuck.c:$(line 'MPI_Irecv(data, 1') $message tag 7 from rank 1" \
  "ranks 1-3 wait in MPI_Finalize at .*, $made rank 0 has not made"
stuck 4 probe \
  "rank 3 waits in MPI_Probe at stuck.c:$(line 'MPI_Probe(') $message tag 9 \
from rank 0" 'ranks 0-2 wait in MPI_Finalize'
stuck 4 barrier \
  "ranks 0-2 wait in MPI_Barrier at stuck.c:[0-9]+, $made rank 3 has not made" \
  'rank 3 waits in MPI_Recv .* with tag 11 from rank 0'
stuck 4 ibarrier \
  "ranks 0-2 wait in MPI_Wait at .* for MPI_Ibarrier at stuck.c:\
$(line 'MPI_Ibarrier('), $made rank 3 has not made"
stuck 4 comms \
  "ranks 0-2 wait in MPI_Barrier at .*, call 3 $world, which rank 3 has not made" \
  "rank 3 waits in MPI_Barrier at .*, call 1 on the communicator of MPI_Comm_dup \
at stuck.c:$(line 'MPI_Comm_dup('), which ranks 0-2 have not made"
stuck 4 bcast \
  "ranks 1-3 wait in MPI_Bcast at .*, $made rank 0 has not made"
stuck 4 halves 'rank 0 waits in MPI_Recv .* with tag 15 from rank 2' \
  'ranks 2-3 wait in MPI_Finalize .*, which ranks 0-1 have not made'
# Ranks are those of MPI_COMM_WORLD.
stuck 4 split 'rank 1 waits in MPI_Recv at .* on half .* tag 17 from rank 3' \
  'ranks 2-3 wait in MPI_Finalize'

# Without -g there are symbols, and without these addresses.
build tests/fault/stuck.c
stuck 4 ring 'rank 0 waits in MPI_Recv at [a-z]+\+0x[0-9a-f]+ on'
build tests/fault/stuck.c -s
stuck 4 ring 'rank 0 waits in MPI_Recv at ([a-z_]+\+|address )0x[0-9a-f]+ on'

conclude
