#!/bin/sh
# Jobs on several hosts: how many processes each gets, what they are told, what
# is said where a host cannot take part. Quick.
. "$(dirname "$0")/lib.sh"

cat >"$work/where.c" <<'END'
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv) {
  char host[64];
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  gethostname(host, sizeof host);
  const char *process = getenv("OMPI_COMM_WORLD_RANK");
  const char *a = getenv("OMP_NUM_THREADS"), *b = getenv("MINE");
  printf("rank %d on %s process %s threads %s mine %s\n", rank, host,
         process ? process : getenv("PMI_RANK"), a ? a : "none", b ? b : "none");
  fflush(stdout);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return argc > 1 ? atoi(argv[1]) : 0;
}
END
"$pemscc" -o "$work/where" "$work/where.c" || exit 1
program=$work/where
few=--pems-memory=200M

on_hosts 3

# expect_places "NODE:RANKS ...": how many ranks each host has.
expect_places() {
  places=$(sed -n 's/^rank [0-9]* on \([^ ]*\) .*/\1/p' "$out" | sort | uniq -c |
    awk '{ printf "%s%s:%d", (NR > 1 ? " " : ""), $2, $1 }')
  [ "$places" = "$1" ] || fault "ranks are on '$places', expected '$1'"
}

# good TITLE PLACES ARGS...
good() {
  begin "$1"
  places=$2
  shift 2
  run_hosts "$@"
  expect_status 0
  expect_silence
  expect_places "$places"
  expect_hosts_clean 5
  end
}

# bad TITLE STATUS PATTERN ARGS...: one line of pems that matches.
bad() {
  begin "$1"
  wanted=$2
  pattern=$3
  shift 3
  run_hosts "$@"
  expect_status "$wanted"
  expect_line "$pattern"
  expect_hosts_clean 5
  end
}

good "one process on each host" "nodeA:2 nodeB:2 nodeC:2" \
  -n 6 $few "$program"
printf 'nodeB slots=2\nnodeC\n' >"$work/hosts"
good "slots of a file" "nodeB:4 nodeC:2" \
  -n 6 $few --hostfile "$work/hosts" "$program"
good "another number of processes" "nodeA:4 nodeC:2" \
  -n 6 $few --host nodeA:2,nodeC:1 --procs=3 "$program"

begin "variables reach all hosts"
OMP_NUM_THREADS=3
export OMP_NUM_THREADS
# shellcheck disable=SC2046 # options
run_hosts -n 3 $few $(launcher_forward MINE 7) "$program"
unset OMP_NUM_THREADS
expect_status 0
[ "$(grep -c 'threads 3 mine 7' "$out")" -eq 3 ] ||
  fault "not every process has them"
end

begin "the program's status"
run_hosts -n 3 $few "$program" 5
expect_status 5
expect_silence
expect_hosts_clean 5
end

if launcher_is_4_0; then
  echo "SKIP a host of unknown name: mpiexec of MPICH 4.0 waits for it"
else
  bad "a host of unknown name" 255 'mpirun: .*no process.*nodeA,nodeX' \
    -n 6 $few --host nodeA,nodeX "$program"
fi
mkdir "$HOSTS_DIR/nodeC/scratch/only"
# The directory is there, to C alone; hosts A and B lack it.
begin "a scratch directory that is not on every host"
run_hosts -n 6 $few --pems-disk="$HOSTS_DIR/scratch/only" "$program"
rmdir "$HOSTS_DIR/nodeC/scratch/only"
expect_status 2
expect_line 'host nodeA: scratch .*/scratch/only: does not exist'
expect_hosts_clean 5
end
if mount -t tmpfs -o ro tmpfs "$HOSTS_DIR/nodeB/scratch" 2>/dev/null; then
  bad "a scratch directory that cannot be written to on one" 2 \
    'host nodeB: scratch .*read-only' \
    -n 600 $few --pems-context=64M "$program"
  umount "$HOSTS_DIR/nodeB/scratch"
fi
bad "too little memory" 2 'too little memory' \
  -n 6 --pems-memory=16M "$program"

conclude
