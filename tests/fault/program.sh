#!/bin/sh
# Programs that end badly: the job ends too, with their status, and pems says
# which rank it was.
. "$(dirname "$0")/lib.sh"

build tests/fault/misbehave.c

# case_of TITLE MODE: rank 2 of 8 misbehaves; contexts are swapped meanwhile.
case_of() {
  begin "$1"
  # shellcheck disable=SC2086 # $budget is two options
  run -n 8 --pems-k=2 $budget "$program" "$2" 2 $array
}

case_of "nothing wrong" none
expect_status 0
expect_silence
expect_clean
end

case_of "a rank returns 3" return3
expect_status 3
expect_silence
expect_clean
end

case_of "a rank exits with 4 before MPI_Finalize" exit4
expect_status 4
expect_few_lines
expect_clean
end

case_of "a rank exits with 0 before MPI_Finalize" exit0
expect_failure
expect_line 'rank 2'
expect_clean
end

case_of "a rank calls abort" abort
expect_status 134 1
expect_line 'rank 2'
expect_clean
end

case_of "a rank dereferences NULL" null
expect_status 139 1
expect_line 'rank 2'
expect_clean
end

case_of "a rank ends by a signal that it sends to itself" usr2
expect_status 140 1
expect_line 'rank 2: User defined signal 2'
expect_clean
end

case_of "a rank uses what malloc has not given it" no_memory_null
expect_status 139 1
expect_line 'rank 2: Segmentation fault: .* 0x8, in main.*: .*malloc has failed before: .*--pems-context'
expect_clean
end

case_of "a rank aborts when its malloc fails" no_memory_abort
expect_status 134 1
expect_line 'rank 2: aborted .*malloc has failed before: .*--pems-context'
expect_clean
end

case_of "a rank has more on its stack than that is" stack
expect_status 139 1
expect_line 'rank 2: stack overflow: .*a rank has .*ulimit -s'
expect_clean
end

soft=$(prlimit --pid $$ --stack --noheadings --output SOFT)
if prlimit --pid $$ --stack=unlimited: 2>"$err"; then
  case_of "the same fits where stacks are unlimited" stack
  expect_status 0
  expect_clean
  end
  case_of "a rank has more than 1 GiB on its stack" stack_huge
  prlimit --pid $$ --stack="$soft:"
  expect_status 139 1
  expect_line "rank 2: stack overflow: .*'unlimited': .*ulimit -s [0-9]"
  expect_clean
  end
else
  echo "SKIP unlimited stacks: $(cat "$err")"
fi

case_of "a rank calls MPI_Abort with 7" mpi_abort7
expect_status 7
expect_few_lines
expect_clean
end

case_of "a rank gives up when its malloc fails" no_memory
expect_status 3
expect_line 'MPI_Abort: rank [0-9]*: error code 3: .*malloc has failed before: .*--pems-context'
expect_clean
end

case_of "a rank allocates more than its context" memory
expect_status 0
expect_output 'malloc: Cannot allocate memory'
expect_silence
expect_clean
end

begin "a rank allocates more than its context, whose size nobody has chosen"
# shellcheck disable=SC2086 # $array is options of the program
run -n 4 --pems-k=2 --pems-memory=300M "$program" memory 2 $array
expect_status 0
expect_output 'malloc: Cannot allocate memory'
expect_line 'memory of rank 2: 1.0 MiB more: malloc fails: it has .* --pems-memory'
expect_few_lines
expect_clean
end

case_of "a rank leaves while the others wait in a barrier" leave
expect_failure
expect_line 'MPI_Barrier|MPI_Finalize|deadlock'
expect_clean
end

conclude
