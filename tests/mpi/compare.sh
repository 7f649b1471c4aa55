#!/bin/sh
# Runs an MPI program under mpirun and under pemsrun and compares: the sorted
# standard output and the exit status must be the same.
#
#   compare.sh [-n "RANKS..."] [-i "DRIVERS..."] [-c "CONFIGURATION"]...
#              [-q] [-t] [-r] program.c [arguments]
#
#   -n  numbers of ranks; default "1 2 3 5 8"
#   -i  I/O drivers; default "unix mmap mem"
#   -c  pemsrun's options of one run; may be repeated; the word EVICT among them
#       makes every context go to disk whenever its rank waits, and FIT=N gives
#       the memory for N contexts per process. One that has a --pems-io is not
#       run with the drivers of -i. Default: in memory, and swapped at every
#       wait, on 1 to 3 processes
#   -q  compare only the exit status (the program is killed: its output is not
#       determined)
#   -t  let mpirun send what all processes print to one stream: files of processes
#       that are spawned would take the places of others. For programs that
#       print less than 4 KiB per process, which then come in whole lines.
#   -r  what mpirun prints with N processes is recorded in NAME.N.txt beside the
#       program, and is asked of it anew with PEMS_TEST_LONG only: Open MPI 4.1
#       loses a spawned job in one of ten runs on a busy machine, and hangs; and
#       processes that poll take minutes there
#
# A configuration whose P is above the number of ranks is left out, as is one
# whose k is above ranks / P. PEMSCC, PEMSCXX, PEMSRUN, MPICC, MPICXX, MPIRUN
# name the tools (MPIFORT, PEMSFORT). A comment of the program that ends with a
# line "compare.sh: -OPTIONS" (in Fortran, one of its own) gives compilers' options; PLAIN_FLAGS are more, at
# the end, where pemscc needs none. COMPARE_PROGRAMS is a folder in which the
# programs are left, and from which a call with the same source takes them.
# One line per failure with the first lines of the difference; exit status 1 if
# there is any, 99 as soon as a run is out of time (tests/limit.sh).
set -u
# shellcheck source=tests/limit.sh
. "$(dirname "$0")/../limit.sh"
# shellcheck source=tests/launcher.sh
. "$(dirname "$0")/../launcher.sh"
ranks="1 2 3 5 8"
drivers="unix mmap mem"
quiet=
together=
recorded=
nl='
'
configurations=
while getopts n:i:c:qtr option; do
  case $option in
  n) ranks=$OPTARG ;;
  i) drivers=$OPTARG ;;
  c) configurations="$configurations$OPTARG$nl" ;;
  q) quiet=yes ;;
  t) together=yes ;;
  r) recorded=yes ;;
  *) exit 2 ;;
  esac
done
shift $((OPTIND - 1))
[ $# -ge 1 ] || {
  echo "usage: compare.sh [-n RANKS] [-i DRIVERS] [-c OPTIONS] [-q] [-t] [-r]" \
    "program.c [arguments]" >&2
  exit 2
}
source=$1
shift
[ -n "$configurations" ] || configurations="\
--pems-procs=1
--pems-procs=2
EVICT --pems-procs=1 --pems-k=2 --pems-context=24M
EVICT --pems-procs=2 --pems-k=1 --pems-context=24M --pems-sigma=64K
EVICT --pems-procs=3 --pems-k=1 --pems-context=24M --pems-alpha=1 \
--pems-between=copy
"

name=$(basename "$source")
program=${name%.*}
base=${TESTDIR:-${TMPDIR:-/var/tmp}}
mkdir -p "$base"
work=$(mktemp -d "$base/pems-compare.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
mkdir "$work/disk"

failures=0
runs=0
complain() {
  failures=$((failures + 1))
  echo "FAIL $program: $*"
}

case $source in
*.c)
  mpi="${MPICC:-mpicc} -std=gnu17" pems="${PEMSCC:-pemscc} -std=gnu17"
  ;;
*.f | *.f90)
  mpi=${MPIFORT:-mpifort} pems=${PEMSFORT:-pemsfort}
  # Modules are written beside the program; FORTRAN 77 has no choice arguments.
  flags="-J$work"
  case $source in
  *.f) flags="$flags -std=legacy -w" ;;
  esac
  mpi="$mpi $flags" pems="$pems $flags"
  command -v "${pems%% *}" >/dev/null || {
    echo "$program: skipped: pems was built without Fortran"
    exit 77
  }
  ;;
*)
  mpi=${MPICXX:-mpicxx} pems=${PEMSCXX:-pemscxx}
  ;;
esac
# What the source says that it needs.
flags=$(sed -n -e 's|^ *compare.sh: \(-.*\) \*/$|\1|p' \
  -e 's|^! compare.sh: \(-.*\)$|\1|p' "$source")
programs=${COMPARE_PROGRAMS:-$work}
if [ -x "$programs/$program" ]; then
  cp "$programs/plain" "$programs/$program" "$work"
else
  # The compilers' names may carry options.
  # shellcheck disable=SC2086
  $mpi -O1 -g $flags -o "$work/plain" "$source" ${PLAIN_FLAGS:-} -lm || {
    complain "$mpi could not compile it"
    exit 1
  }
  # shellcheck disable=SC2086
  $pems -O1 -g $flags -o "$work/$program" "$source" -lm || {
    complain "$pems could not compile it"
    exit 1
  }
  [ "$programs" = "$work" ] || cp "$work/plain" "$work/$program" "$programs"
fi

# The value of an option in a list of pemsrun's.
value_of() {
  option=$1
  shift
  for word in "$@"; do
    case $word in
    --pems-"$option"=*) echo "${word#*=}" ;;
    esac
  done
}

# memory_for N CONFIGURATION: the least --pems-memory for N contexts in every
# process, as pems itself says when it has too little, and 1 MiB, since
# processes differ. The program must do little with -h.
memory_for() {
  fit=$1
  shift
  options="--pems-k=$fit"
  for size in procs context sigma; do
    value=$(value_of $size "$@")
    options="$options ${value:+--pems-$size=$value}"
  done
  answer="$work/memory$(echo "$n$options" | tr ' ' ,)"
  least=16
  # pemsrun's answer is too low, the job's is right; then it runs, in vain.
  while ! [ -e "$answer" ]; do
    # shellcheck disable=SC2086
    more=$(limited "${PEMSRUN:-pemsrun}" -n "$n" $options \
      --pems-memory=${least}M --pems-disk="$work/disk" "$work/$program" -h \
      2>&1 >/dev/null </dev/null |
      sed -n 's/.*need --pems-memory=\([0-9]*\)M or more.*/\1/p' | head -n 1)
    if [ -n "$more" ] && [ "$more" -gt "$least" ]; then
      least=$more
    else
      echo "$least" >"$answer"
    fi
  done
  echo "$(($(cat "$answer") + 1))M"
}

# Prints a configuration with FIT=N replaced by the memory for that.
fitted() {
  for word in "$@"; do
    case $word in
    FIT=*) printf -- '--pems-memory=%s ' "$(memory_for "${word#FIT=}" "$@")" ;;
    *) printf '%s ' "$word" ;;
    esac
  done
}

# plain N [ARGUMENTS]: under mpirun; leaves $plain_status and $work/oracle.raw.
# The mremap that UCX 1.13 puts in the place of libc's has no fifth argument.
plain() {
  its_n=$1
  shift
  apart='' before=''
  [ -n "$together" ] || {
    apart=$(launcher_apart "$work/outputs" mpirun)
    before=$(launcher_before "$work/outputs")
  }
  # shellcheck disable=SC2086
  limited env UCX_MEM_MMAP_HOOK_MODE=none \
    "${MPIRUN:-mpirun}" $apart -n "$its_n" $before \
    "$work/plain" "$@" >"$work/oracle.raw" 2>"$work/plain.err" </dev/null
  plain_status=$(launcher_status $?)
  [ -n "$together" ] || launcher_output "$work/outputs" >"$work/oracle.raw"
}

# can_end_with STATUS N [OPTIONS] PROGRAM [ARGUMENTS]: the status of a job that a
# process takes down is with Hydra that of any one of the processes, those
# included that it kills then: another run may give another one.
can_end_with() {
  its_status=$1 its_n=$2
  shift 2
  while [ "$1" != "$work/$program" ]; do shift; done
  shift
  for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    plain "$its_n" "$@"
    [ "$plain_status" -ne "$its_status" ] || return 0
  done
  return 1
}

compare() {
  n=$1
  shift
  label=$1
  shift
  unset PEMS_TEST_EVICT_ALWAYS
  if [ "$1" = EVICT ]; then
    shift
    PEMS_TEST_EVICT_ALWAYS=1
    export PEMS_TEST_EVICT_ALWAYS
  fi
  several=
  case " $* " in
  *" --pems-procs=1 "*) ;;
  *) several=$(launcher_apart "$work/outputs" pemsrun) ;;
  esac
  # shellcheck disable=SC2086
  limited "${PEMSRUN:-pemsrun}" -n "$n" $several "$@" \
    >"$work/out" 2>"$work/err" </dev/null
  status=$(launcher_status $?)
  if [ -n "$several" ]; then
    launcher_errors "$work/outputs" >>"$work/err"
    launcher_output "$work/outputs" >"$work/out"
  fi
  runs=$((runs + 1))
  sort "$work/out" >"$work/sorted"
  wanted=$(cat "$work/oracle.status")
  if [ "$status" -ne "$wanted" ] && {
    [ "$launcher" != hydra ] || [ "$wanted" -eq 0 ] ||
      ! can_end_with "$status" "$n" "$@"
  }; then
    complain "$label: exit status $status, not $wanted"
    head -n 5 "$work/err" | sed 's/^/  /'
    grep FAIL "$work/out" | head -n 5 | sed 's/^/  /'
  elif [ -z "$quiet" ] && ! cmp -s "$work/oracle" "$work/sorted"; then
    complain "$label: another output (< mpirun, > pemsrun)"
    diff "$work/oracle" "$work/sorted" | head -n 8 | sed 's/^/  /'
  fi
  left=$(find "$work/disk" -mindepth 1 | head -n 1)
  if [ -n "$left" ]; then
    complain "$label: files left behind: $left"
    rm -rf "$work/disk"
    mkdir "$work/disk"
  fi
}

# oracle N [ARGUMENTS]: what mpirun gives for N processes, into the files oracle
# and oracle.status.
oracle() {
  record="${source%.*}.$1.txt"
  if [ -n "$recorded" ] && [ -z "${PEMS_TEST_LONG:-}" ]; then
    cp "$record" "$work/oracle.raw" || exit 1
    plain_status=0
  else
    plain "$@"
  fi
  # Some programs print only what is wrong.
  if [ -z "$quiet" ] && [ ! -s "$work/oracle.raw" ] && [ -z "${works:-}" ]; then
    works=yes
    launcher_works "$work/outputs" || {
      complain "mpirun -n $1 printed nothing, nor does it for echo: nothing is compared"
      head -n 5 "$work/plain.err" | sed 's/^/  /'
    }
  fi
  echo "$plain_status" >"$work/oracle.status"
  sort "$work/oracle.raw" >"$work/oracle"
  if [ -n "$recorded" ] && ! sort "$record" | cmp -s - "$work/oracle"; then
    complain "mpirun -n $1 printed another output than $record"
  fi
}

for n in $ranks; do
  oracle "$n" "$@"
  rest=$configurations
  while [ -n "$rest" ]; do
    configuration=${rest%%"$nl"*}
    rest=${rest#*"$nl"}
    [ -n "$configuration" ] || continue
    # shellcheck disable=SC2086
    procs=$(value_of procs $configuration)
    # shellcheck disable=SC2086
    k=$(value_of k $configuration)
    [ "${procs:-1}" -le "$n" ] || continue
    [ "${k:-1}" -le $((n / ${procs:-1})) ] || continue
    # shellcheck disable=SC2086
    configuration=$(fitted $configuration)
    # shellcheck disable=SC2086
    own=$(value_of io $configuration)
    for driver in ${own:-$drivers}; do
      # shellcheck disable=SC2086
      compare "$n" "-n $n $configuration --pems-io=$driver" $configuration \
        --pems-io="$driver" --pems-disk="$work/disk" "$work/$program" "$@"
    done
  done
done
echo "$program: $runs runs, $failures failures"
[ $failures -eq 0 ]
