#!/bin/sh
# The sort of psrs.sh beside STXXL's three ways to sort, each built without and
# with the parallel mode of libstdc++: same keys, same cgroup, same disk, same
# checks, direct I/O. Both sides generate the keys, sort them and verify them
# within the time; only stxxl::sort and ksort keep the result.
#
#   ROUNDS   how often everything runs, in turn (1)
#   METHODS  of STXXL (sort ksort sorter)
#   IO_STXXL file type of STXXL (linuxaio)
#
# Without pems, only STXXL is measured. Other sizes: see lib.sh. Debian:
# libstxxl-dev.
. "$(dirname "$0")/lib.sh"

# STXXL writes its log where it runs unless told otherwise.
STXXLLOGFILE=/dev/null
STXXLERRLOGFILE=/dev/null
export STXXLLOGFILE STXXLERRLOGFILE

compile() {
  ${CXX:-g++} -std=c++17 -O2 -Wno-deprecated-declarations -fopenmp "$@" \
    "$here/psrs_stxxl.cpp" -lstxxl -pthread >"$work/log" 2>&1
}

compile -o "$work/stxxl-serial" ||
  skip "STXXL does not compile (Debian: libstxxl-dev): $(head -n 1 "$work/log")"
compile -D_GLIBCXX_PARALLEL -o "$work/stxxl-parallel" ||
  give_up "STXXL does not compile in parallel mode"

# sort_with_stxxl BUILD METHOD: its budget is the largest part of LIMIT with
# which it is not killed for what it uses besides.
sort_with_stxxl() {
  for eighths in 7 6 5 4; do
    : >"$work/log"
    budget=$(($(bytes "$LIMIT") * eighths / 8))
    seconds_of "$here/cgroup.sh" "$LIMIT" "$work/stxxl-$1" "$2" "$N" \
      "$budget" "$work/stxxl.disk" "${IO_STXXL:-linuxaio}"
    rm -f "$work/stxxl.disk"
    if [ "$status" -ne 137 ]; then
      break
    fi
  done
  if [ "$status" -eq 77 ]; then
    skip "$(grep '^cgroup.sh' "$work/log")"
  elif [ "$status" -ne 0 ]; then
    give_up "STXXL $2: exit status $status"
  fi
}

# less A B: is A the smaller number? Anything is less than nothing.
less() {
  [ -z "$2" ] || awk "BEGIN { exit !($1 < $2) }"
}

best_pems=
best_stxxl=
best_method=
round=0
while [ $round -lt "${ROUNDS:-1}" ]; do
  round=$((round + 1))
  if command -v "$pemscc" >/dev/null && command -v "$pemsrun" >/dev/null; then
    psrs_with_pems
    printf 'RESULT bench=psrs_stxxl method=pems elements=%s ' "$N"
    printf 'seconds=%s bytes_read=%s bytes_written=%s peak_anon=%s\n' \
      "$(value seconds "$work/log")" "$(value bytes_read "$work/log")" \
      "$(value bytes_written "$work/log")" "$(value peak_anon "$work/log")"
    if less "$(value seconds "$work/log")" "$best_pems"; then
      best_pems=$(value seconds "$work/log")
    fi
  fi
  for build in serial parallel; do
    for method in ${METHODS:-sort ksort sorter}; do
      sort_with_stxxl $build "$method"
      took=$(value seconds "$work/log")
      printf 'RESULT bench=psrs_stxxl method=%s-%s elements=%s ' \
        "$method" $build "$N"
      printf 'seconds=%s sort_seconds=%s bytes_read=%s bytes_written=%s ' \
        "$took" "$(value sort_seconds "$work/log")" \
        "$(value bytes_read "$work/log")" "$(value bytes_written "$work/log")"
      printf 'peak_anon=%s budget=%s\n' \
        "$(value peak_anon "$work/log")" "$budget"
      if less "$took" "$best_stxxl"; then
        best_stxxl=$took
        best_method=$method-$build
      fi
    done
  done
done

printf 'RESULT bench=psrs_stxxl elements=%s limit=%s best=%s ' \
  "$N" "$(bytes "$LIMIT")" "$best_method"
printf 'stxxl_seconds=%s' "$best_stxxl"
if [ -n "$best_pems" ]; then
  printf ' pems_seconds=%s ratio_pems_to_stxxl=%s' \
    "$best_pems" "$(calculate "$best_pems / $best_stxxl")"
fi
echo
