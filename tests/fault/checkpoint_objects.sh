#!/bin/sh
# Programs that have objects of MPI go on from each of their checkpoints, with
# other processes, k and memory than before: what they print is what they would
# have printed, so their handles are what they were.
. "$(dirname "$0")/checkpoint_lib.sh"

# compile KIND: $program is objects_KIND.
compile() {
  if [ "$1" != fortran ]; then
    build "tests/fault/objects_$1.c" -I"$here/tests/fault"
    return
  fi
  program=$work/objects_fortran
  if ! (cd "$work" && "${PEMSFORT:-pemsfort}" -O1 -o "$program" \
    "$here/tests/fault/objects_fortran.f90") >"$out" 2>&1; then
    echo "FAIL $name: pemsfort cannot compile objects_fortran.f90"
    sed 's/^/    /' "$out"
    exit 1
  fi
}

# has KIND: the program objects_KIND, from each of its supersteps; from one of
# the first with checkpoints again, and from those, or every third of them.
has() {
  compile "$1"
  begin "$1: without checkpoints"
  run -n 6 --pems-procs=2 "$program" 5
  expect_status 0
  expect_silence
  expect_output 'the end'
  cp "$out" "$work/reference"
  end
  rm -rf "$shelf" "$work/second"
  begin "$1: from each of its checkpoints"
  run -n 6 --pems-procs=2 --pems-checkpoint="$shelf,every=1,keep=99" "$program" 5
  if [ "$1" = fortran ] && grep -q "keys of threads' data" "$err"; then
    echo "SKIP: libgfortran has keys of threads' data, which are not saved yet"
    return
  fi
  expect_status 0
  expect_silence
  cmp -s "$work/reference" "$out" || fault "checkpoints change the output"
  number=0
  each_resumes "$work/reference" "$shelf"
  [ "$number" -ge 5 ] || fault "too few checkpoints: $number"
  expect_clean
  end
  begin "$1: again, from checkpoints of a job that was restarted"
  resumes "$work/reference" --restart="$shelf/checkpoint-000002" \
    --pems-checkpoint="$work/second,every=1,keep=99" --pems-procs=2
  each_resumes "$work/reference" "$work/second" $every
  expect_clean
  end
}

# Of the checkpoints of a job that was restarted.
every=3
[ -z "${PEMS_TEST_LONG:-}" ] || every=1
OBJECTS_DIR=$work # of files
export OBJECTS_DIR
for kind in comms groups types ops infos errhandlers attributes windows files \
  requests; do
  has "$kind"
done

compile shared
begin "shared windows: without checkpoints"
run -n 6 --pems-procs=2 "$program" 5
expect_status 0
expect_silence
cp "$out" "$work/reference"
end
rm -rf "$shelf"
begin "shared windows: from each of its checkpoints"
run -n 6 --pems-procs=2 --pems-memory=64M \
  --pems-checkpoint="$shelf,every=1,keep=99" "$program" 5
expect_status 0
expect_silence
cmp -s "$work/reference" "$out" || fault "checkpoints change the output"
number=0
for checkpoint in "$shelf"/checkpoint-*; do
  number=$((number + 1))
  case $((number % 3)) in
    0) set -- --pems-procs=1 --pems-memory=64M --pems-k=1 ;;
    1) set -- --pems-procs=1 --pems-io=mmap ;;
    2) set -- --pems-procs=2 --pems-swapin=lazy ;;
  esac
  resumes "$work/reference" --restart="$checkpoint" "$@"
done
[ "$number" -ge 5 ] || fault "too few checkpoints: $number"
expect_clean
end
begin "shared windows: ranks that are of several processes"
run --restart="$shelf/checkpoint-000003" --pems-procs=3
expect_failure
expect_line 'restart: rank [0-9]+ shares memory with 2 others .*: choose another --pems-procs'
expect_clean
end
if command -v "${PEMSFORT:-pemsfort}" >/dev/null; then
  has fortran
else
  echo "SKIP: no pemsfort"
fi

conclude
