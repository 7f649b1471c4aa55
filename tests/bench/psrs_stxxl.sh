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
. "$here/stxxl_lib.sh"

build_stxxl ||
  skip "STXXL does not compile (Debian: libstxxl-dev): $(head -n 1 "$work/log")"

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
