#!/bin/sh
# pems beside what one would do without it, in the same cgroup and on the same
# disk, with the plain MPI:
#   swap  the system swaps to a file (needs root)
#   file  every large block of malloc is a file mapped into memory (in_file.c)
# Programs: PSRS; a sweep over all memory; random updates of single words, many
# and few; and the same percent of memory in every superstep.
# Each peer has TIMES times as long as pems, then it is killed, and the ratio is
# a bound. The last line of each program says who won.
#
#   APPS     (psrs sweep random random_few touch)
#   PEERS    (swap file)
#   TIMES    (4)
#   RANKS    numbers of ranks that peers try, with the same data in all (V)
#   N        keys of PSRS (2^27)          MIB      of a rank's array (64)
#   STEPS    supersteps (4)               UPDATES  many, per rank and superstep
#   FEW      few updates (200)                     (200000)
#   IO       driver of pems (unix)        PEMS_WITH  more of its options
#
# Other sizes: see lib.sh.
V=${V:-16}
LIMIT=${LIMIT:-448M}
N=${N:-134217728}
SWAP=${SWAP:-4G}
. "$(dirname "$0")/lib.sh"

mib=${MIB:-64}
steps=${STEPS:-4}
updates=${UPDATES:-200000}
few=${FEW:-200}
times=${TIMES:-4}

need_pems
command -v "$mpicc" >/dev/null || skip "$mpicc was not found"

# use APP RANKS: $program and $arguments, with the same data on RANKS ranks as
# on V.
use() {
  share=$((mib * V / $2))
  case $1 in
    psrs) program=psrs arguments=$N ;;
    sweep) program=sweep arguments="$share $steps" ;;
    random)
      program=randomaccess
      arguments="$share $steps $((updates * V / $2))"
      ;;
    random_few)
      program=randomaccess
      arguments="$share $steps $((few * V / $2))"
      ;;
    touch)
      program="touch"
      arguments="$share $steps --read 1 --write 1 --where same"
      ;;
    *) give_up "no such program: $1" ;;
  esac
}

# run_peer PEER RANKS: the outcome is in $outcome, $seconds and the log.
run_peer() {
  allowed=$(awk "BEGIN { printf \"%.1f\", $times * $pems_seconds }")
  build_plain "$program"
  : >"$work/log"
  # shellcheck disable=SC2046,SC2086 # arguments and options are words
  if [ "$1" = swap ]; then
    seconds_of "$here/cgroup.sh" "$LIMIT" --swap "$SWAP" \
      timeout -k 5 "$allowed" "$mpirun" -n "$2" \
      "$work/$program.plain" $arguments
  else
    seconds_of "$here/cgroup.sh" "$LIMIT" \
      timeout -k 5 "$allowed" "$mpirun" -n "$2" \
      $(launcher_forward LD_PRELOAD "$work/in_file.so") \
      $(launcher_forward IN_FILE_DIR "$DISK") \
      "$work/$program.plain" $arguments
  fi
  outcome=$(outcome_of)
  [ "$outcome" != failed ] || give_up "$1: $program: exit status $status"
}

peers=
for peer in ${PEERS:-swap file}; do
  if [ "$peer" = swap ] && [ "$(id -u)" -ne 0 ]; then
    echo "SKIP peer swap: only root may swap to a file"
    continue
  fi
  peers="$peers $peer"
  case $peer in
    swap) add_swap ;;
    file)
      ${CC:-cc} -O2 -fPIC -shared -pthread -o "$work/in_file.so" \
        "$here/in_file.c" || give_up "in_file.c does not compile"
      ;;
    *) give_up "no such peer: $peer" ;;
  esac
done

for app in ${APPS:-psrs sweep random random_few touch}; do
  use "$app" "$V"
  build "$program"
  # shellcheck disable=SC2086 # words
  run_pems "${IO:-unix}" ${PEMS_WITH:-} "$program" $arguments
  pems_seconds=$seconds
  printf 'RESULT bench=peers app=%s with=pems io=%s ranks=%s k=%s ' \
    "$app" "${IO:-unix}" "$V" "$K"
  printf 'wall_seconds=%s seconds=%s bytes_read=%s bytes_written=%s ' \
    "$seconds" "$(app_value seconds)" "$(value bytes_read "$work/log")" \
    "$(value bytes_written "$work/log")"
  printf 'limit=%s peak_anon=%s\n' "$(value limit "$work/log")" \
    "$(value peak_anon "$work/log")"

  # Programs tell the time of what matters, without their start and, where
  # all is touched at the beginning and the end, without that.
  pems_program=$(app_value seconds)
  winner=pems
  least=$pems_program
  for peer in $peers; do
    for ranks in ${RANKS:-$V}; do
      use "$app" "$ranks"
      run_peer "$peer" "$ranks"
      if [ "$outcome" = finished ]; then
        bound=exact
        took=$(app_value seconds)
        faster=$(calculate "$took / $pems_program")
        if awk "BEGIN { exit !($took < $least) }"; then
          winner=$peer
          least=$took
        fi
      else
        bound=at_least # had it gone on, it would have taken longer
        took=unknown
        faster=$(calculate "$seconds / $pems_seconds")
      fi
      printf 'RESULT bench=peers app=%s with=%s ranks=%s outcome=%s ' \
        "$app" "$peer" "$ranks" "$outcome"
      printf 'wall_seconds=%s allowed_seconds=%s seconds=%s ' \
        "$seconds" "$allowed" "$took"
      printf 'pems_times_faster=%.2f bound=%s limit=%s oom_kills=%s\n' \
        "$faster" "$bound" "$(value limit "$work/log")" \
        "$(value oom_kills "$work/log")"
    done
  done
  printf 'RESULT bench=peers app=%s winner=%s pems_seconds=%s ' \
    "$app" "$winner" "$pems_program"
  printf 'winner_seconds=%s\n' "$least"
done
