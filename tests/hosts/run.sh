#!/bin/sh
# Jobs on several hosts: how many processes each gets, what they are told, what
# is said where a host cannot take part. Quick.
. "$(dirname "$0")/lib.sh"

cat >"$work/where.c" <<'END'
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
  for (int n = argc > 2 ? atoi(argv[2]) : 0; n > 0; n--) { /* MiB */
    char *block = malloc(1 << 20);
    if (block)
      memset(block, 1, 1 << 20);
  }
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
# What one host lacks, that host says; a program that cannot start is not its neighbour.
if mount -t tmpfs -o size=24M tmpfs "$HOSTS_DIR/nodeB/scratch" 2>/dev/null; then
  begin "a scratch directory that gets full on one"
  run_hosts -n 6 --pems-memory=100M --pems-context=48M --pems-k=1 "$program" 0 30
  umount "$HOSTS_DIR/nodeB/scratch"
  expect_status 0
  expect_line "host nodeB: memory of rank [23]: .* malloc fails: no room in $HOSTS_DIR/scratch "
  expect_hosts_clean 5
  end
fi
printf '#!/bin/sh\n[ "$(hostname)" != nodeB ] || exit 127\nexec "$@"\n' >"$work/not_on_B"
chmod +x "$work/not_on_B"
if [ "$launcher" = hydra ]; then
  echo "SKIP a program that cannot start on one host: Hydra has no agent"
else
  bad "a program that cannot start on one host" 127 \
    'host nodeB: process 1 of 3, pid [0-9]*, has ended before MPI_Init' \
    -n 6 $few --wrapper="$work/not_on_B" "$program"
fi

# The same path, and another program there.
for node in nodeA nodeB nodeC; do
  cp "$program" "$HOSTS_DIR/shm/$node/where"
done
"$pemscc" -O2 -o "$HOSTS_DIR/shm/nodeC/where" "$work/where.c" || exit 1
begin "another build of the program on one host"
run_hosts -n 6 $few /dev/shm/where
expect_status 0
expect_line 'another build of the program on host nodeC than on host nodeA: '
[ "$(wc -l <"$err")" -eq 1 ] || fault "more than one line"
end
begin "another build of the program, with --pems-strict"
run_hosts -n 6 $few --pems-strict /dev/shm/where
expect_status 2
expect_line 'another build of the program on host nodeC than on host nodeA: '
find "$HOSTS_DIR"/shm -name where -delete
expect_hosts_clean 5
end

# Its build-id, which follows 16 bytes of a note, has another first byte.
library=$(ldd "$program" | sed -n 's/.*libpems.so.0 => \([^ ]*\) .*/\1/p')
at=$(readelf -SW "$library" | sed -n 's/.*\.note\.gnu\.build-id *NOTE *[^ ]* \([^ ]*\) .*/\1/p')
mkdir "$work/other_build" && cp "$library" "$work/other_build/libpems.so.0" || exit 1
first=$(od -An -tu1 -j$((0x$at + 16)) -N1 "$library")
# shellcheck disable=SC2059 # an octal number
printf "\\$(printf %03o $((first ^ 1)))" |
  dd of="$work/other_build/libpems.so.0" bs=1 seek=$((0x$at + 16)) conv=notrunc status=none
printf '#!/bin/sh\n[ "$(hostname)" != nodeB ] || export LD_LIBRARY_PATH=%s\nexec "$@"\n' \
  "$work/other_build" >"$work/other_on_B"
chmod +x "$work/other_on_B"
begin "another build of pems on one host"
run_hosts -n 6 $few --wrapper="$work/other_on_B" "$program"
expect_status 0
expect_line 'another build of pems on host nodeB than on host nodeA: '
[ "$(wc -l <"$err")" -eq 1 ] || fault "more than one line"
expect_hosts_clean 5
end

bad "too little memory" 2 'too little memory' \
  -n 6 --pems-memory=16M "$program"

conclude
