#!/bin/sh
# Messages and collectives in memory: pems beside the MPI that carries it, without
# pems, on the same cores (osu.c). One RESULT line for each test, number of ranks and
# length with both times; times=T: pems takes T times as long as that MPI.
#
#   TESTS    (latency bandwidth rate)   also exchange put get bcast allreduce alltoall
#   RANKS    of rate and the collectives (64); others take 2
#   PROCS    real processes of pems (1)
#   SECONDS_EACH  for each measurement (0.3)
#   ROUNDS   of both by turns, the best of which counts (3)
set -u
tests=${TESTS:-latency bandwidth rate}
ranks=${RANKS:-64}
procs=${PROCS:-1}
each=${SECONDS_EACH:-0.3}
rounds=${ROUNDS:-3}
here=$(dirname "$0")

# shellcheck source=tests/launcher.sh
. "$here/../launcher.sh"

for tool in "${PEMSCC:-pemscc}" "${MPICC:-mpicc}"; do
  command -v "$tool" >/dev/null || {
    echo "osu.sh: $tool was not found: skipped"
    exit 77
  }
done
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
"${MPICC:-mpicc}" -O2 -o "$work/plain" "$here/osu.c" &&
  "${PEMSCC:-pemscc}" -O2 -o "$work/pems" "$here/osu.c" || exit 1

# Prints the fastest line of each length, as "bytes us".
best() {
  sed -n 's/^RESULT osu .* bytes=\([0-9]*\) us=\([0-9.]*\) .*/\1 \2/p' "$1" |
    LC_ALL=C sort -k1,1 -k2,2n | awk '!seen[$1]++'
}

status=0
for test in $tests; do
  case $test in
  latency | bandwidth | exchange | put | get) n=2 ;;
  *) n=$ranks ;;
  esac
  launcher_measure "$n"
  : >"$work/plain.out"
  : >"$work/pems.out"
  round=0
  while [ $round -lt "$rounds" ]; do
    round=$((round + 1))
    "${MPIRUN:-mpirun}" -n "$n" "$work/plain" "$test" "$each" \
      >>"$work/plain.out" || status=1
    "${PEMSRUN:-pemsrun}" -n "$n" --pems-procs="$procs" "$work/pems" "$test" "$each" \
      >>"$work/pems.out" || status=1
  done
  best "$work/plain.out" >"$work/plain.best"
  best "$work/pems.out" >"$work/pems.best"
  join "$work/plain.best" "$work/pems.best" |
    awk -v test="$test" -v n="$n" -v p="$procs" '{
      printf "RESULT bench=osu test=%s ranks=%s procs=%s bytes=%s mpi_us=%s " \
        "pems_us=%s times=%.2f\n", test, n, p, $1, $2, $3, $3 / $2 }'
done
exit $status
