#!/bin/sh
# Sorting files of random records: pems beside STXXL's sort, ksort and sorter,
# each built without and with the parallel mode of libstdc++: same records, same
# budget, same disk, direct I/O, both cores. The time is from a file to a sorted
# file; results are verified outside of it.
#
#   TYPES    u64 u32 pair record
#   COUNTS   records (2^28); RECORD_COUNT of 100 bytes (2^31 / 100)
#   MEMORY   budgets in MiB (256)
#   ROUNDS   how often everything runs, in turn (1)
#   METHODS  of STXXL (sort ksort sorter); BUILDS (serial parallel)
#   STXXL_FLAGS  for another STXXL than Debian's: -I and -L of it
#   SORT     arguments NAME=VALUE for tests/bench/sort
#
# pems runs in a cgroup of the budget and 16 MiB; STXXL, which takes more than it
# is given, in one of twice the budget. Debian: libstxxl-dev.
# shellcheck source=tests/bench/lib.sh
. "$(dirname "$0")/lib.sh"

STXXLLOGFILE=/dev/null
STXXLERRLOGFILE=/dev/null
export STXXLLOGFILE STXXLERRLOGFILE
sort=${SORT_BENCH:-$(dirname "$(command -v pemsrun)")/tests/bench/sort}
[ -x "$sort" ] || skip "$sort was not found: make tests/bench/sort"

compile() {
  # shellcheck disable=SC2086 # several flags
  ${CXX:-g++} -std=c++17 -O2 -march=native -Wno-deprecated-declarations \
    -fopenmp "$@" "$here/sort_stxxl.cpp" ${STXXL_FLAGS:-} -lstxxl -pthread \
    >"$work/log" 2>&1
}

for build in ${BUILDS:-serial parallel}; do
  flag=
  [ "$build" = parallel ] && flag=-D_GLIBCXX_PARALLEL
  # shellcheck disable=SC2086 # none or one
  compile $flag -o "$work/$build" ||
    skip "STXXL does not compile (Debian: libstxxl-dev): $(head -n 1 "$work/log")"
done


less() {
  [ -z "$2" ] || awk "BEGIN { exit !($1 < $2) }"
}

measure_pems() {
  limit=$(($3 + 16))
  : >"$work/log"
  # shellcheck disable=SC2086 # a list
  seconds_of "$here/cgroup.sh" "${limit}M" "$sort" "$work" "$1" "$2" \
    $(($3 << 20)) ${SORT:-}
  [ "$status" -ne 77 ] || skip "$(grep '^cgroup.sh' "$work/log")"
  [ "$status" -eq 0 ] || give_up "pems $1: exit status $status"
  grep '^RESULT bench=sort' "$work/log"
  took=$(value seconds "$work/log")
  if less "$took" "$best_pems"; then
    best_pems=$took
  fi
}

measure_stxxl() {
  : >"$work/log"
  seconds_of "$here/cgroup.sh" "$(($5 * 2))M" "$work/$1" "$2" "$3" "$4" \
    $(($5 << 20)) "$work"
  if [ "$status" -ne 0 ]; then
    echo "FAIL stxxl-$2 $1 $3: exit status $status" >&2
    return
  fi
  grep '^RESULT bench=sort' "$work/log" | sed "s/method=stxxl-[a-z]*/&-$1/"
  took=$(value seconds "$work/log")
  if [ -n "$took" ] && less "$took" "$best_stxxl"; then
    best_stxxl=$took
    best_method=$2-$1
  fi
}

for type in ${TYPES:-u64 u32 pair record}; do
  counts=${COUNTS:-268435456}
  [ "$type" = record ] && counts=${RECORD_COUNT:-21474836}
  for count in $counts; do
    for memory in ${MEMORY:-256}; do
      best_pems=""
      best_stxxl=""
      best_method=""
      round=0
      while [ $round -lt "${ROUNDS:-1}" ]; do
        round=$((round + 1))
        measure_pems "$type" "$count" "$memory"
        for build in ${BUILDS:-serial parallel}; do
          for method in ${METHODS:-sort ksort sorter}; do
            measure_stxxl "$build" "$method" "$type" "$count" "$memory"
          done
        done
      done
      printf 'RESULT bench=sort_stxxl type=%s records=%s memory_mib=%s ' \
        "$type" "$count" "$memory"
      printf 'best=%s stxxl_seconds=%s pems_seconds=%s times_faster=%s\n' \
        "$best_method" "$best_stxxl" "$best_pems" \
        "$(calculate "$best_stxxl / $best_pems")"
    done
  done
done
