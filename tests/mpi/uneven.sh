#!/bin/sh
# Processes that are not alike, with --pems-split=auto: who gets how many ranks,
# and that programs print what they print under mpirun. Each process has options
# of its own, in variables, as on another host.
set -u
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/limit.sh
. "$here/../limit.sh"
# shellcheck source=tests/launcher.sh
. "$here/../launcher.sh"
base=${TESTDIR:-${TMPDIR:-/var/tmp}}
mkdir -p "$base"
work=$(mktemp -d "$base/pems-uneven.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
mkdir "$work/disk" "$work/a" "$work/b" "$work/c" "$work/d"

failures=0
# complain WHAT: with the processes' variables and the messages.
complain() {
  failures=$((failures + 1))
  echo "FAIL $*"
  cat "$SETTINGS" "$work/err"
}

# As pemsrun with several processes, each with the variables of one line of
# $SETTINGS.
cat >"$work/run" <<'END'
#!/bin/sh
options='' ours=''
while :; do
  case $1 in
  -n)
    [ "$2" -eq 0 ] || ours="$ours --pems-v=$2" # 0: as the variables say
    shift
    ;;
  --output-filename | --output | -outfile-pattern) options="$1 $2" && shift ;;
  --pems-procs=*) ;;
  --pems-*) ours="$ours $1" ;;
  *) break ;;
  esac
  shift
done
command=
while read -r variables; do
  command="${command:+$command : }-n 1 env $variables $* $ours"
done <"$SETTINGS"
exec ${MPIRUN:-mpirun} $options $BIND none $command
END
chmod +x "$work/run"
SETTINGS=$work/settings
# PRRTE knows long options with two dashes only, Hydra with one.
case $launcher in
hydra) BIND=-bind-to ;;
*) BIND=--bind-to ;;
esac
export SETTINGS BIND

# Who shares memory: the ranks of a process.
cat >"$work/sizes.c" <<'END'
#include <mpi.h>
#include <stdio.h>
int main(void) {
  MPI_Comm together;
  int rank, size, place;
  MPI_Init(NULL, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL,
                      &together);
  MPI_Comm_size(together, &size);
  MPI_Comm_rank(together, &place);
  if (place == 0)
    printf("%d %d\n", rank, size);
  MPI_Finalize();
  return 0;
}
END
"${PEMSCC:-pemscc}" -o "$work/sizes" "$work/sizes.c" || exit 1

# settings LINE...: the variables of each process.
settings() {
  : >"$SETTINGS"
  for line in "$@"; do
    echo "PEMS_SPLIT=auto PEMS_DISK=$work/disk $line" >>"$SETTINGS"
  done
}

# Small contexts: by default each process reserves as much as there may be.
run() {
  limited "$work/run" "$@" --pems-context=1M "$work/sizes" >"$work/out" \
    2>"$work/err"
  status=$?
}

# gives WANTED V OPTION...: each process's first rank and number of ranks.
gives() {
  wanted=$1
  v=$2
  shift 2
  run -n "$v" "$@"
  got=$(sort -n "$work/out" | tr '\n' ';')
  [ "$got" = "$wanted" ] || complain "$v ranks: '$got', not '$wanted'"
}

# refuses PATTERN V
refuses() {
  run -n "$2"
  if [ $status -ne 2 ] || ! grep -q "^pems: $1" "$work/err"; then
    complain "$2 ranks: status $status, '$1'?"
  fi
}

settings PEMS_K=3 PEMS_K=1
gives '0 6;6 2;' 8
gives '0 4;4 4;' 8 --pems-split=even
refuses 'k > v/P: --pems-k=3 with .*: give --pems-k=2 or less' 3
settings PEMS_K=1 PEMS_K=1
gives '0 4;4 3;' 7
settings "PEMS_K=1 PEMS_DISK=$work/a,$work/b,$work/c,$work/d" "PEMS_K=1"
gives '0 10;10 4;' 14
gives '0 7;7 7;' 14 --pems-io=mem
settings PEMS_K=1 PEMS_K=2 PEMS_K=1
gives '0 2;2 4;6 2;' 8
settings PEMS_K=1 "PEMS_K=1 PEMS_SPLIT=even"
refuses '--pems-split: not the same in all processes' 8
settings PEMS_V=8 PEMS_V=9
refuses '--pems-v: not the same in all processes' 0

PEMSRUN=$work/run
export PEMSRUN

# different STATUS: compare.sh ended so; 99: out of time (tests/limit.sh).
different() {
  [ "$1" -ne 99 ] || exit 99
  failures=$((failures + 1))
}

# compare NAME [ARGUMENT]: with two and three processes; 8 ranks.
compare() {
  program=$here/$1.c
  shift
  settings PEMS_K=3 PEMS_K=1
  "$here/compare.sh" -n "${PEMS_TEST_LONG:+7 }8" -i unix \
    -c "EVICT --pems-procs=2 --pems-context=24M --pems-sigma=64K" "$program" \
    "$@" || different $?
  settings "PEMS_K=1 PEMS_MEMORY=400M" "PEMS_K=3 PEMS_MEMORY=600M" PEMS_K=2
  "$here/compare.sh" -n "${PEMS_TEST_LONG:+13 }8" -i unix \
    -c "EVICT --pems-procs=3 --pems-context=24M --pems-alpha=1" "$program" \
    "$@" || different $?
}

for name in alltoall allgather reduce p2p; do
  compare "$name" 40 # every fortieth case
done
for name in communicators ${PEMS_TEST_LONG:+win_fence file_collective}; do
  compare "$name"
done
[ $failures -eq 0 ]
