#!/bin/sh
# The Diamond flow graph (apps/diamond.c) without, with some and with all of its
# asynchronous nodes, in turn, in a cgroup of MEMORY and 16 MiB, and the ratios
# of their medians and of the best of each.
#
#   N        pairs of 16 bytes (2^26)
#   MEMORY   budget in MiB (256)
#   THREADS  that sort (2, and 1)
#   ROUNDS   how often everything runs (3)
# shellcheck source=tests/bench/lib.sh
N=${N:-67108864}
. "$(dirname "$0")/lib.sh"

apps=${APPS:-$(dirname "$(command -v pemsrun)")/apps}
[ -x "$apps/diamond" ] || skip "$apps/diamond was not found: make apps/diamond"
MEMORY=${MEMORY:-256}
ROUNDS=${ROUNDS:-3}

measure() {
  : >"$work/log"
  seconds_of "$here/cgroup.sh" "$((MEMORY + 16))M" "$apps/diamond" \
    --async "$1" --threads "$2" --memory "${MEMORY}M" --n "$N" \
    --disk "$work" --out "$work/couples"
  [ "$status" -ne 77 ] || skip "$(grep '^cgroup.sh' "$work/log")"
  [ "$status" -eq 0 ] || give_up "diamond, $1: exit status $status"
  rm "$work/couples"
  printf 'RESULT bench=diamond %s limit=%s peak_anon=%s oom_kills=%s\n' \
    "$(sed -n 's/^RESULT app=diamond //p' "$work/log")" \
    "$(value limit "$work/log")" "$(value peak_anon "$work/log")" \
    "$(value oom_kills "$work/log")"
  value seconds "$work/log" >>"$work/$1.$2"
}

# median FILE, best FILE
median() {
  sort -g "$1" | sed -n "$(($(wc -l <"$1") / 2 + 1))p"
}
best() {
  sort -g "$1" | head -n 1
}

for threads in ${THREADS:-2 1}; do
  round=0
  while [ $round -lt "$ROUNDS" ]; do
    for async in none some all; do
      measure $async "$threads"
    done
    round=$((round + 1))
  done
  none=$work/none.$threads
  for async in some all; do
    it=$work/$async.$threads
    printf 'RESULT bench=diamond_ratio threads=%s async=%s seconds=%s ' \
      "$threads" "$async" "$(median "$it")"
    printf 'plain_seconds=%s ratio=%s ' "$(median "$none")" \
      "$(calculate "$(median "$it") / $(median "$none")")"
    printf 'best=%s plain_best=%s best_ratio=%s\n' "$(best "$it")" \
      "$(best "$none")" "$(calculate "$(best "$it") / $(best "$none")")"
  done
done
