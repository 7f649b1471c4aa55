#!/bin/sh
# Ranks that cannot be spawned, and spawned ranks that fail: one line says so. And
# the job lasts as long as the last of them.
. "$(dirname "$0")/lib.sh"

build tests/fault/spawning.c -g

# spawn MODE P: two ranks on P processes, with room for eight.
spawn() {
  begin "$1, $2 processes"
  run -n 2 --pems-procs="$2" --pems-universe=8 --pems-context=24M "$program" \
    "$1"
}

# refused MODE PATTERN
refused() {
  for procs in 1 2; do
    spawn "$1" $procs
    expect_status 0
    expect_line "$2"
    expect_output MPI_ERR_SPAWN
    expect_clean
    end
  done
}

refused room 'MPI_Comm_spawn: 64 more ranks: the job has room for 8 in all: .*--pems-universe'
refused other 'MPI_Comm_spawn: /.*sh: another program: '
refused missing 'MPI_Comm_spawn: ./no-such-program: no such program: '
refused wdir 'MPI_Comm_spawn: wdir: /nowhere/at/all: no such directory: '

begin "without --pems-universe"
run -n 2 --pems-context=24M "$program" status
expect_failure
expect_text 'MPI_Comm_spawn: 3 more ranks: the job has room for 2 in all: '
expect_clean
end

begin "a universe that is too small"
run -n 4 --pems-universe=3 --pems-context=24M "$program" status
expect_status 2
expect_line '--pems-universe: 3: the job starts with 4 ranks: '
expect_clean
end

for procs in 1 2; do
  spawn status $procs
  expect_status 3
  expect_silence
  expect_clean
  end

  spawn abort $procs
  expect_status 7
  expect_line 'MPI_Abort: rank [234]: error code 7: the job ends'
  expect_clean
  end

  spawn early $procs
  expect_status 5
  expect_line 'rank 3: ended with status 5 before MPI_Finalize: the job ends'
  expect_clean
  end

  spawn crash $procs
  expect_failure
  expect_line 'rank 3: .*segmentation fault'
  expect_clean
  end

  spawn stuck $procs
  expect_status 1
  expect_line 'deadlock: no rank can go on'
  expect_text 'ranks 2-4 wait in MPI_Recv at spawning.c:[0-9]+ on MPI_COMM_PARENT for a message with tag 42 from rank 0' \
    'ranks 0-1 have ended'
  expect_clean
  end

  spawn chain4 $procs
  expect_status 0
  expect_silence
  for link in 4 3 2 1 0; do
    expect_output "link $link"
  done
  expect_clean
  end
done

conclude
