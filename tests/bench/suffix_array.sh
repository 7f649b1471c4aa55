#!/bin/sh
# Suffix arrays of a text that is larger than the memory: DC3, quadrupling and
# doubling, each in a cgroup of MEMORY and 16 MiB, on the same disk; each array
# is checked, outside of the time.
#
#   SIZE        MiB of text (128)
#   MEMORY      budget in MiB (64)
#   ALGORITHMS  dc3 quadrupling doubling
#   ASYNC       none, all: asynchronous nodes (none)
#   TEXT        a file; else documentation, manual pages and headers of this
#               machine, uncompressed
#   OPTIONS     for suffix_array
# shellcheck source=tests/bench/lib.sh
. "$(dirname "$0")/lib.sh"

apps=${APPS:-$(dirname "$(command -v pemsrun)")/apps}
[ -x "$apps/suffix_array" ] ||
  skip "$apps/suffix_array was not found: make apps/suffix_array"
SIZE=${SIZE:-128}
MEMORY=${MEMORY:-64}

text=${TEXT:-$work/text}
if [ -z "${TEXT:-}" ]; then
  find /usr/include /usr/share/doc /usr/share/man -type f 2>/dev/null | sort |
    xargs zcat -f 2>/dev/null | head -c "${SIZE}M" >"$text"
  [ "$(wc -c <"$text")" -eq $((SIZE << 20)) ] ||
    skip "this machine has less than $SIZE MiB of documentation"
fi

measure() {
  : >"$work/log"
  # shellcheck disable=SC2086 # a list
  seconds_of "$here/cgroup.sh" "$((MEMORY + 16))M" "$apps/suffix_array" \
    --algorithm "$1" --async "$2" --memory "${MEMORY}M" --disk "$work" \
    ${OPTIONS:-} --check "$text" "$work/array"
  [ "$status" -ne 77 ] || skip "$(grep '^cgroup.sh' "$work/log")"
  [ "$status" -eq 0 ] || give_up "$1: exit status $status"
  cmp -s "$work/array" "$work/first" || [ ! -e "$work/first" ] ||
    give_up "$1: another array"
  mv "$work/array" "$work/first"
  took=$(value seconds "$work/log")
  printf 'RESULT bench=suffix_array %s ns_per_byte=%.0f ' \
    "$(sed -n 's/^RESULT app=suffix_array //p' "$work/log")" \
    "$(calculate "$took * 1e9 / $(value n "$work/log")")"
  printf 'limit=%s peak_anon=%s oom_kills=%s\n' "$(value limit "$work/log")" \
    "$(value peak_anon "$work/log")" "$(value oom_kills "$work/log")"
}

for async in ${ASYNC:-none}; do
  times=
  for algorithm in ${ALGORITHMS:-dc3 quadrupling doubling}; do
    measure "$algorithm" "$async"
    times="$times $algorithm=$took"
  done
  echo "RESULT bench=suffix_array_order async=$async$times in_order=$(
    echo "$times" | tr ' ' '\n' | sed -n 's/.*=//p' | sort -gC && echo 1 || echo 0
  )"
done
