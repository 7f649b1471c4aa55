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

swap_file=
remove_all() {
  if [ -n "$swap_file" ]; then
    swapoff "$swap_file" 2>/dev/null
  fi
  rm -rf "$work"
}
trap remove_all EXIT

add_swap() {
  fallocate -l "$SWAP" "$work/swap" || skip "no room for $SWAP in $DISK"
  chmod 600 "$work/swap"
  mkswap "$work/swap" >/dev/null || skip "mkswap failed on $DISK"
  swapon "$work/swap" || skip "swapon failed on $DISK"
  swap_file=$work/swap
}

pems_seconds=${TIME_OF_PEMS:-}
if [ -z "$pems_seconds" ]; then
  need_pems
  psrs_with_pems
  pems_seconds=$seconds
fi
allowed=$(calculate "4 * $pems_seconds")

add_swap
"$mpicc" -O2 -o "$work/plain" "$top/apps/psrs.c" || exit 1
for ranks in ${RANKS:-$(nproc) $V}; do
  : >"$work/log"
  seconds_of "$here/cgroup.sh" "$LIMIT" --swap "$SWAP" \
    timeout -k 10 "$allowed" "$mpirun" -n "$ranks" "$work/plain" "$N"
  oom_kills=$(value oom_kills "$work/log")
  case $status in
    0) outcome=finished ;;
    77) skip "$(grep '^cgroup.sh' "$work/log")" ;;
    *)
      if [ "${oom_kills:-0}" -gt 0 ]; then
        outcome=killed_by_kernel # thrashing, it found no page to give up
      elif [ "$status" -eq 124 ] || [ "$status" -eq 137 ]; then
        outcome=killed_at_limit
      else
        give_up "plain mpirun: exit status $status"
      fi
      ;;
  esac
  printf 'RESULT bench=psrs_swap elements=%s ranks=%s outcome=%s ' \
    "$N" "$ranks" "$outcome"
  printf 'wall_seconds=%s allowed_seconds=%s pems_seconds=%s ' \
    "$seconds" "$allowed" "$pems_seconds"
  printf 'ratio_to_pems=%.2f limit=%s swap=%s max_usage=%s oom_kills=%s\n' \
    "$(calculate "$seconds / $pems_seconds")" "$(value limit "$work/log")" \
    "$(value swap "$work/log")" "$(value max_usage "$work/log")" \
    "${oom_kills:-unknown}"
done
