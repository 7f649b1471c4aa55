#!/bin/sh
# A program that only sends messages has checkpoints, while its ranks wait in
# each of the calls that wait for one, and goes on from each of them. Where some
# rank cannot stop, those that have go on, and it is tried again.
. "$(dirname "$0")/checkpoint_lib.sh"

build tests/fault/between.c
STEPS=20

begin "without checkpoints"
run -n 4 "$program" "$shelf"
expect_status 0
expect_silence
expect_output 'the end: '
cp "$out" "$work/reference"
end

# each OPTION...: the job, and from each of its checkpoints.
each() {
  rm -rf "$shelf"
  begin "at calls for messages ($*)"
  run -n 4 "$@" --pems-checkpoint="$shelf,keep=99" "$program" "$shelf"
  expect_status 0
  expect_silence
  cmp -s "$work/reference" "$out" || fault "checkpoints change the output"
  number=0
  each_resumes "$work/reference" "$shelf"
  [ "$number" -eq "$STEPS" ] || fault "$number checkpoints, not $STEPS"
  expect_clean
  end
}

each --pems-procs=1
each --pems-procs=2
PEMS_TEST_EVICT_ALWAYS=1 each --pems-procs=1 --pems-k=1

# In mpi_f08 of MPICH 4.0 ranks wait with requests in memory that is not theirs,
# in which no rank stops.
modules="mpi mpi_f08"
if launcher_is_4_0; then
  modules=mpi
  echo "SKIP: mpi_f08: MPICH 4.0"
fi

# Arrays are made of Fortran's for these calls.
fortran_waits() {
  for module in $modules; do
    begin "use $module: Waitall, Waitany, Waitsome"
    rm -rf "$shelf"
    name=between_$module
    [ $module = mpi ] || set -- -DUSE_MPI_F08
    "${PEMSFORT:-pemsfort}" -O1 "$@" -o "$work/$name" \
      "$here/tests/fault/between_fortran.F90" || fault "it cannot be compiled"
    run -n 3 --pems-procs=2 --pems-checkpoint="$shelf,keep=9" "$work/$name" "$shelf"
    expect_status 0
    expect_silence
    expect_output 'the end: '
    cp "$out" "$work/$name.reference"
    number=0
    each_resumes "$work/$name.reference" "$shelf"
    [ "$number" -eq 3 ] || fault "$number checkpoints, not 3"
    expect_clean
    end
  done
}
if command -v "${PEMSFORT:-pemsfort}" >/dev/null; then
  fortran_waits
else
  echo "SKIP: no pemsfort"
fi

begin "by time, and SIGTERM ends the job with one"
rm -rf "$shelf"
start -n 4 --pems-procs=2 --pems-checkpoint="$shelf,every=1s,on-term" \
  "$program" "$work/none" 1
await_checkpoint
kill -TERM "$job"
finish
expect_status 143
expect_line 'SIGTERM: superstep [0-9]+: the job ends with its checkpoint'
end

conclude
