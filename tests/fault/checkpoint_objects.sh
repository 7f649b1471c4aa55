#!/bin/sh
# Programs that have objects of MPI go on from each of their checkpoints, with
# other processes, k and memory than before: what they print is what they would
# have printed, so their handles are what they were.
. "$(dirname "$0")/lib.sh"

# What killed jobs leave there, other tests' jobs would remove, and say so.
TMPDIR=$work/tmp
mkdir "$TMPDIR"
export TMPDIR
shelf=$work/shelf

setarch -R true 2>/dev/null || skip "personality(2) is not allowed here"

# What --restart is given, of several, by a number.
other() {
  case $(($1 % 4)) in
    0) echo --pems-procs=1 --pems-k=1 ;;
    1) echo --pems-procs=3 ;;
    2) echo --pems-procs=2 --pems-k=1 --pems-io=mmap ;;
    3) echo --pems-procs=1 --pems-k=3 ;;
  esac
}

# goes_on ROUND OPTION...: the job restarts as the options say, and prints what
# is missing of the reference.
goes_on() {
  round=$1
  shift
  # shellcheck disable=SC2046 # these are words
  run "$@" $(other "$round")
  expect_status 0
  expect_silence
  lines=$(wc -l <"$out")
  tail -n "$lines" "$work/reference" | cmp -s - "$out" ||
    fault "it does not go on as it was"
}

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
# the first with checkpoints again, and from those.
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
  for checkpoint in "$shelf"/checkpoint-*; do
    number=$((number + 1))
    goes_on $number --restart="$checkpoint"
  done
  [ "$number" -ge 5 ] || fault "too few checkpoints: $number"
  expect_clean
  end
  begin "$1: again, from checkpoints of a job that was restarted"
  goes_on 1 --restart="$shelf/checkpoint-000002" \
    --pems-checkpoint="$work/second,every=1,keep=99"
  for checkpoint in "$work"/second/checkpoint-*; do
    number=$((number + 1))
    goes_on $number --restart="$checkpoint"
  done
  expect_clean
  end
}

for kind in comms groups types ops infos errhandlers attributes; do
  has "$kind"
done
if command -v "${PEMSFORT:-pemsfort}" >/dev/null; then
  has fortran
else
  echo "SKIP: no pemsfort"
fi

conclude
