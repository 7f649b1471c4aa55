#!/bin/sh
# The same PSRS by the operating system's swapping instead of pems: plain mpirun
# in the same cgroup, with a swap file on the same disk. It is given four times
# the time that pems takes, then killed; the kernel may kill it before.
#
#   TIME_OF_PEMS  pems's time, if known: else pems runs first
#   RANKS         numbers of ranks to try (one per core, and V)
#
# Other sizes: see lib.sh.
. "$(dirname "$0")/lib.sh"

[ "$(id -u)" -eq 0 ] || skip "only root may swap to a file"

pems_seconds=${TIME_OF_PEMS:-}
if [ -z "$pems_seconds" ]; then
  need_pems
  psrs_with_pems
  pems_seconds=$seconds
fi
allowed=$(calculate "4 * $pems_seconds")

add_swap
build_plain psrs
for ranks in ${RANKS:-$(nproc) $V}; do
  : >"$work/log"
  seconds_of "$here/cgroup.sh" "$LIMIT" --swap "$SWAP" \
    timeout -k 10 "$allowed" "$mpirun" -n "$ranks" "$work/psrs.plain" "$N"
  oom_kills=$(value oom_kills "$work/log")
  if [ "$status" -eq 77 ]; then
    skip "$(grep '^cgroup.sh' "$work/log")"
  fi
  outcome=$(outcome_of)
  [ "$outcome" != failed ] || give_up "plain mpirun: exit status $status"
  printf 'RESULT bench=psrs_swap elements=%s ranks=%s outcome=%s ' \
    "$N" "$ranks" "$outcome"
  printf 'wall_seconds=%s allowed_seconds=%s pems_seconds=%s ' \
    "$seconds" "$allowed" "$pems_seconds"
  printf 'ratio_to_pems=%.2f limit=%s swap=%s max_usage=%s oom_kills=%s\n' \
    "$(calculate "$seconds / $pems_seconds")" "$(value limit "$work/log")" \
    "$(value swap "$work/log")" "$(value max_usage "$work/log")" \
    "${oom_kills:-unknown}"
done
