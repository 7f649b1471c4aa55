#!/bin/sh
# Shortest paths in graphs whose edges are SHARE times as large as the memory: by
# pems-graph in a cgroup of that memory, with the edges read in sweeps, and with the
# same file mapped into memory (as if all fitted), killed after LIMIT_SECONDS.
#
#   GRAPHS  ("rmat --scale 22 --factor 64 --permute"); several: separated by ;
#   SHARE   (10)          LIMIT_SECONDS  (600)
#   THREADS (2)           WAYS  (swept mapped)
#
# Prints one RESULT line for each run; both must find the same distances.
# shellcheck source=tests/bench/lib.sh
. "$(dirname "$0")/lib.sh"

command -v pems-graph >/dev/null || skip "pems-graph was not found: build pems"

# sssp WAY MIB: the sum of the distances is $sum
sssp() {
  memory=${2}M
  [ "$1" = swept ] || memory=1000G
  : >"$work/log"
  drop_caches
  rm -f "$work/distances.bin"
  read_before=$(device_bytes 6)
  seconds_of "$here/cgroup.sh" "${2}M" timeout "${LIMIT_SECONDS:-600}" \
    pems-graph sssp --memory "$memory" --threads "${THREADS:-2}" \
    -o "$work/distances.bin" "$work/graph.csr"
  [ "$status" -ne 77 ] || skip "$(grep '^cgroup.sh' "$work/log")"
  moved=$(calculate "($(device_bytes 6) - $read_before) / 1048576")
  sum=none
  [ "$status" -ne 0 ] || sum=$(md5sum <"$work/distances.bin" | cut -c1-32)
}

IFS=';'
for graph in ${GRAPHS:-rmat --scale 22 --factor 64 --permute}; do
  IFS=' '
  # shellcheck disable=SC2086 # words
  pems-graph generate $graph -o "$work/graph.csr" --disk "$work" \
    >"$work/log" 2>&1 || give_up "generate $graph"
  mib=$(($(stat -c %s "$work/graph.csr") / ${SHARE:-10} >> 20))
  right=
  for way in ${WAYS:-swept mapped}; do
    sssp "$way" "$mib"
    outcome=$(outcome_of)
    [ "$sum" = none ] || [ "$sum" = "${right:=$sum}" ] || outcome=wrong
    echo "RESULT bench=semi_external way=$way graph=$(echo $graph | tr -d -- - | tr ' ' _)" \
      "csr_mib=$((mib * ${SHARE:-10})) memory_mib=$mib seconds=$seconds" \
      "read_mib=$moved outcome=$outcome load=$(cut -d' ' -f1 /proc/loadavg)"
  done
  IFS=';'
done
