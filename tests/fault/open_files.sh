#!/bin/sh
# Open files: each rank may have as many as a process, where the hard limit
# allows; where it does not, that is said.
. "$(dirname "$0")/lib.sh"

build tests/fault/many_files.c

# limited_to HARD SOFT N: eight ranks of one process open N files each.
limited_to() {
  # shellcheck disable=SC2016 # for the other shell
  launch sh -c 'ulimit -Sn "$2" && ulimit -Hn "$1" && shift 2 && exec "$@"' sh \
    "$1" "$2" "$pemsrun" -n 8 --pems-procs=1 --pems-disk="$disk" "$program" "$3"
  finish
}

begin "as many files for each rank as the soft limit says"
limited_to 4096 256 200
expect_status 0
expect_silence
expect_clean
[ "$(grep -c '200 of 200, soft 256 256, child 1$' "$out")" -eq 8 ] ||
  fault "$(head -n 3 "$out")"
grep -qx 'raised: 0 512' "$out" || fault "$(grep raised "$out")"
end

begin "more than the hard limit allows"
limited_to 400 256 200
expect_status 0
expect_line 'open files: rank [0-9]* gets no more: .*ulimit -Hn is 400: raise it'
expect_clean
end

conclude
