#!/bin/sh
# What the C++ headers cost beside the C functions (a sorter and a queue with a
# key), and what they save where records are compared, beside a C function
# pointer and STXXL's sorter, built without and with the parallel mode of
# libstdc++: tests/bench/cxx.cc, all methods by turns.
#
#   COUNT   records of 16 bytes (2^26)     MEMORY  MiB (256)
#   ROUNDS  (5)                            METHODS (all that can be compiled)
#   EM_FLAGS  how to compile and link with libpems-em (pkg-config pems-em)
#   STXXL_FLAGS  for another STXXL than Debian's: -I and -L of it
#
# Prints one RESULT line for each run, and for each method one with the medians.
# shellcheck source=tests/bench/lib.sh
. "$(dirname "$0")/lib.sh"

STXXLLOGFILE=/dev/null
STXXLERRLOGFILE=/dev/null
export STXXLLOGFILE STXXLERRLOGFILE
em=${EM_FLAGS:-$(pkg-config --cflags --libs pems-em 2>/dev/null)}
[ -n "$em" ] || skip "pkg-config does not know pems-em: set EM_FLAGS"

# compile NAME FLAGS...: $work/NAME; FLAGS may be libraries.
compile() {
  to=$1
  shift
  # shellcheck disable=SC2086 # several flags
  ${CXX:-g++} -std=c++20 -O2 -march=native -Wno-deprecated-declarations \
    -o "$work/$to" "$here/cxx.cc" $em "$@" -pthread >"$work/log" 2>&1
}

methods='c-key cxx-key c-queue cxx-queue c-compare cxx-compare'
compile plain || give_up "it does not compile"
# shellcheck disable=SC2086 # several flags
if compile serial -DWITH_STXXL -fopenmp ${STXXL_FLAGS:-} -lstxxl &&
  compile parallel -DWITH_STXXL -D_GLIBCXX_PARALLEL -fopenmp \
    ${STXXL_FLAGS:-} -lstxxl; then
  methods="$methods stxxl-serial stxxl-parallel"
else
  echo "without STXXL: $(grep -m 1 error "$work/log")"
fi

: >"$work/all"
run_method() {
  program=plain
  [ "${1#stxxl-}" = "$1" ] || program=${1#stxxl-}
  : >"$work/log"
  seconds_of "$work/$program" "$1" "${COUNT:-67108864}" \
    $((${MEMORY:-256} << 20)) "$work"
  [ "$status" -eq 0 ] || give_up "$1: exit status $status"
  grep '^RESULT bench=cxx' "$work/log" | tee -a "$work/all"
}

round=0
while [ $round -lt "${ROUNDS:-5}" ]; do
  round=$((round + 1))
  for method in ${METHODS:-$methods}; do
    run_method "$method"
  done
done

# median METHOD KEY
median() {
  sed -n "s/^RESULT bench=cxx method=$1 .*\<$2=\([^ ]*\).*/\1/p" "$work/all" |
    sort -n | awk '{ x[NR] = $1 } END { printf "%s", x[int((NR + 1) / 2)] }'
}

for method in ${METHODS:-$methods}; do
  echo "RESULT bench=cxx_median method=$method" \
    "seconds=$(median "$method" seconds)" \
    "cpu_seconds=$(median "$method" cpu_seconds)"
done
