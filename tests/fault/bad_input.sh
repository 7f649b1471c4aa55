#!/bin/sh
# Bad input: one clear line, before any rank starts, and exit status 2.
. "$(dirname "$0")/lib.sh"

build tests/fault/misbehave.c

# refused TITLE PATTERN [options] program...: pemsrun refuses this, and its line
# matches the pattern.
refused() {
  begin "$1"
  pattern=$2
  shift 2
  run "$@"
  expect_refusal "$pattern"
}

# refused_by_ranks TITLE PATTERN P [arguments]: so does the program itself where
# mpirun started it.
refused_by_ranks() {
  begin "$1"
  pattern=$2
  processes=$3
  shift 3
  launch "$mpirun" -n "$processes" "$program" "--pems-disk=$disk" "$@" none 0
  finish
  ! launcher_ended 2 "$status" || status=2
  expect_refusal "$pattern"
}

expect_refusal() {
  expect_status 2
  expect_line "$1"
  expect_not_started
  expect_clean
  end
}

refused "no ranks" '\<0\>' -n 0 "$program" none 0
refused "a negative number of ranks" '-3' -n -3 "$program" none 0
refused "ranks that are no number" 'many' -n many "$program" none 0
refused "fewer ranks than processes" '\<5\>.*\<8\>|\<8\>.*\<5\>' \
  --pems-v=5 --pems-procs=8 "$program" none 0
refused "more running than there are" '\<5\>' \
  -n 4 --pems-k=5 "$program" none 0
refused "memory for fewer than k contexts" 'memory|context' \
  -n 8 --pems-k=4 --pems-memory=256M --pems-context=128M "$program" none 0
refused "a size that is none" 'lots' -n 4 --pems-memory=lots "$program" none 0
refused "an unknown option" '--pems-memroy.*--pems-memory' \
  -n 4 --pems-memroy=1G "$program" none 0
refused "an unknown driver" 'floppy' -n 4 --pems-io=floppy "$program" none 0
# shellcheck disable=SC2086 # $budget is two options
refused "a missing disk" "$work/missing" \
  -n 8 --pems-k=2 $budget --pems-disk="$work/missing" "$program" none 0 $array
refused "a program not built with pemscc" '/bin/ls.*pemscc' -n 4 /bin/ls
refused "a program that does not exist" "$work/nothing" -n 4 "$work/nothing"
refused "no program" 'program' -n 4

if "$mpicc" -O1 -o "$work/plain" "$here/tests/fault/misbehave.c" 2>"$err"; then
  refused "an MPI program not built with pemscc" "$work/plain.*pemscc" \
    -n 4 "$work/plain" none 0
fi

# What `ulimit` keeps a job from is told by that name. Sanitizers take more
# addresses than such limits have.
# limited_by NAME VALUE OPTION [COMMAND...]: prlimit's option for it; COMMAND runs
# the job.
limited_by() {
  begin "ulimit $1"
  limit_line="ulimit $1 is $2( KiB)?: raise it"
  shift 2
  launch prlimit "$@" "$(command -v "$pemsrun")" "--pems-disk=$disk" -n 8 \
    "$program" none 0
  finish
  expect_failure
  expect_line "$limit_line"
  expect_clean
  end
}

if [ -z "${ASAN_OPTIONS:-}${TSAN_OPTIONS:-}" ]; then
  limited_by -v 1000000 --as=1024000000
  limited_by -d 200000 --data=204800000
fi
limited_by -n 20 --nofile=20
nobody='setpriv --reuid=54321 --regid=54321 --clear-groups'
chmod 755 "$work" && chmod 777 "$disk"
if [ "$(id -u)" -eq 0 ] && $nobody test -x "$program" &&
  $nobody test -x "$(command -v "$pemsrun")"; then
  # shellcheck disable=SC2086 # words
  limited_by -u 3 --nproc=3 $nobody
fi

# Memory that the machine does not have.
misbehave() {
  run -n 8 "$@" "$program" none 0
}
begin "more memory than the machine has"
misbehave --pems-memory=1000G
expect_status 0
expect_line '--pems-memory: 1000.0 GiB: the (machine|cgroup or Slurm) has .*: give less'
expect_clean
end
refused "more memory than the machine has, strictly" '--pems-memory: 1000.0 GiB: ' \
  -n 8 --pems-memory=1000G --pems-strict "$program" none 0
if [ "$FAULT_TEST_SHM" = own ]; then
  begin "a disk that is memory"
  misbehave --pems-disk=/dev/shm
  expect_status 0
  expect_line 'scratch directory: /dev/shm: lies in memory: .*: name one on a disk'
  end
  refused "a disk that is memory, strictly" 'scratch directory: /dev/shm: lies' \
    -n 8 --pems-disk=/dev/shm --pems-strict "$program" none 0
  begin "a disk that is memory, with room for all that may be there"
  misbehave --pems-disk=/dev/shm --pems-memory=128M --pems-context=32M \
    --pems-strict
  expect_status 0
  expect_silence
  expect_clean
  end
fi

refused_by_ranks "mpirun: fewer ranks than processes" \
  '\<5\>.*\<8\>|\<8\>.*\<5\>' 8 --pems-v=5
refused_by_ranks "mpirun: more running than there are" '\<5\>' \
  2 --pems-v=8 --pems-k=5
refused_by_ranks "mpirun: memory for fewer than k contexts" 'memory|context' \
  2 --pems-v=8 --pems-k=4 --pems-memory=256M --pems-context=128M
refused_by_ranks "mpirun: an unknown option" '--pems-memroy.*--pems-memory' \
  2 --pems-memroy=1G
refused_by_ranks "mpirun: an unknown driver" 'floppy' 2 --pems-io=floppy
refused_by_ranks "mpirun: a missing disk" "$work/missing" \
  2 --pems-v=16 --pems-k=1 --pems-memory=256M --pems-context=64M \
  --pems-disk="$work/missing"
refused_by_ranks "mpirun: a missing disk that a driver in memory has no use for" \
  "$work/missing" 2 --pems-v=4 --pems-io=mem --pems-disk="$work/missing"
refused_by_ranks "mpirun: a disk that takes no files, though all fits in memory" \
  '/proc: no file can be made' \
  2 --pems-v=4 --pems-memory=512M --pems-context=8M --pems-disk=/proc
refused_by_ranks "mpirun: a driver's plan, though all fits in memory" \
  'fault:unix,x=1: give' \
  2 --pems-v=4 --pems-memory=512M --pems-context=8M --pems-io=fault:unix,x=1

conclude
