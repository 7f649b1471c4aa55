# shellcheck shell=sh
# Sorting the keys of apps/psrs.c with STXXL, for benchmarks that have read
# lib.sh.

# STXXL writes its log where it runs unless told otherwise.
STXXLLOGFILE=/dev/null
STXXLERRLOGFILE=/dev/null
export STXXLLOGFILE STXXLERRLOGFILE

# compile_stxxl OPTION...: fails if STXXL is not there (Debian: libstxxl-dev).
compile_stxxl() {
  ${CXX:-g++} -std=c++17 -O2 -Wno-deprecated-declarations -fopenmp "$@" \
    "$here/psrs_stxxl.cpp" -lstxxl -pthread >"$work/log" 2>&1
}

# build_stxxl: $work/stxxl-serial, and with the parallel mode of libstdc++
# $work/stxxl-parallel.
build_stxxl() {
  compile_stxxl -o "$work/stxxl-serial" || return
  compile_stxxl -D_GLIBCXX_PARALLEL -o "$work/stxxl-parallel" ||
    give_up "STXXL does not compile in parallel mode"
}

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
