#!/bin/sh
# Each benchmark runs at a size where its figures mean nothing, and prints the
# lines that it promises; the programs for them are right in memory and swapped.
set -u
here=$(cd "$(dirname "$0")" && pwd)
top=${top_srcdir:-$(cd "$here/../.." && pwd)}
# shellcheck source=tests/limit.sh
. "$top/tests/limit.sh"
pemscc=${PEMSCC:-pemscc}
pemsrun=${PEMSRUN:-pemsrun}
base=${TESTDIR:-${TMPDIR:-/var/tmp}}
mkdir -p "$base"
work=$(mktemp -d "$base/pems-smoke.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 130' HUP INT TERM
failed=0

wrong() {
  echo "FAIL $*"
  failed=1
  cat "$work/out"
}

# right PROGRAM ARGUMENT...: on pems, swapped and not.
right() {
  "$pemscc" -O2 -o "$work/$1" "$top/apps/$1.c" || exit 1
  program=$1
  shift
  for memory in 64M 1G; do
    limited "$pemsrun" -n 8 --pems-memory=$memory --pems-k=2 \
      --pems-disk="$work" "$work/$program" "$@" >"$work/out" 2>&1 ||
      wrong "$program $* in $memory: exit status $?"
    grep -q "^RESULT app=$program .* wrong=0\$" "$work/out" ||
      wrong "$program $* in $memory: it did not say wrong=0"
  done
}

for where in same moving pages; do
  right touch 8 3 --read 30 --write 10 --where $where
done
right randomaccess 8 3 1000
for arguments in '' '8' '8 x' '8 3 --where nowhere' '8 3 --read 101'; do
  # shellcheck disable=SC2086 # words
  "$pemsrun" -n 2 "$work/touch" $arguments >"$work/out" 2>&1
  [ $? -eq 2 ] || wrong "touch $arguments: not refused"
  grep -q '^usage: touch' "$work/out" || wrong "touch $arguments: no usage"
done

# bench NAME LINES PATTERN: the script prints LINES lines that match, or skips.
bench() {
  limited "$here/$1.sh" ${PROGRAM:+"$PROGRAM"} >"$work/out" 2>&1
  status=$?
  if [ $status -eq 77 ]; then
    cat "$work/out"
    return
  fi
  [ $status -eq 0 ] || wrong "$1.sh: exit status $status"
  lines=$(grep -c "^RESULT bench=$1 .*$3" "$work/out")
  [ "$lines" -eq "$2" ] || wrong "$1.sh: $lines lines match $3 instead of $2"
}

DISK=$work DRIVERS='unix nonesuch' V=8 MIB=12 LIMIT=128M STEPS=2
OUT=$work NS='1048576 2097152' N=2097152
PEERS=file APPS='psrs random touch' UPDATES=1000 TIMES=1000
export DISK DRIVERS V MIB LIMIT STEPS OUT NS N PEERS APPS UPDATES TIMES
bench sweep 2 'read_per_step=[1-9].* ratio_to_formula=[0-9.]* .*under_limit=1'
grep -q '^SKIP driver nonesuch' "$work/out" || grep -q '^SKIP' "$work/out" ||
  wrong "sweep.sh: a driver that is not there was not skipped with a reason"
bench clean 2 'written_per_step=.* writes_saved_percent='
bench lazy 9 'where=.* swapin=.* times_faster_than_first='
bench fig7_2 4 'k=[12] .*seconds=[0-9.]'
if grep -q '^RESULT' "$work/out"; then
  [ "$(grep -c '^[0-9]' "$work/fig7_2.dat")" -eq 2 ] ||
    wrong "fig7_2.dat: it has not two rows"
fi
PS='1 2' ROUNDS=1 MEMORY=64M K=1 N=16777216
export PS ROUNDS MEMORY K
bench predict 4 'predicted=[0-9.]* .*predicted_mb=[1-9].*mb_ratio='
unset PS ROUNDS MEMORY K
N=2097152
MEMORY=64M limited "$here/plan.sh" psrs >"$work/out" 2>&1 ||
  wrong "plan.sh: exit status $?"
grep -q '^RESULT bench=plan app=psrs .* ratio_seconds=[0-9.]* .* ratio_written=[0-9.]* ' \
  "$work/out" || wrong "plan.sh: no prediction beside what was taken"
bench peers 3 'with=file .*outcome=finished .*pems_times_faster='

# The measuring run moves the floor itself, so that its ratio is 1.
"$pemscc" -O2 -o "$work/touch" "$top/apps/touch.c" || exit 1
if SWAPINS=eager V=4 K=1 MEMORY=96M OPTIONS='--pems-context=16M' \
  limited "$here/floor.sh" "$work/touch" 8 3 >"$work/out" 2>&1; then
  grep -q '^RESULT bench=floor .* swapin=pages .* ratio=1.00 ' "$work/out" ||
    wrong "floor.sh: the measuring run is not the floor"
  grep -q '^RESULT bench=floor .* swapin=eager .* floor=[0-9]* ratio=[0-9.]* ' \
    "$work/out" || wrong "floor.sh: no line for eager"
  grep -q '^superstep' "$work/out" || wrong "floor.sh: no table"
else
  wrong "floor.sh: exit status $?"
fi
"$here/floor.sh" "$work/nonesuch" >"$work/out" 2>&1
[ $? -eq 77 ] || wrong "floor.sh: a program that is not there was not skipped"

# What optimum.sh records of known touches is exactly those, and the simulation
# of them has a line for each policy.
"${MPICC:-mpicc}" -O2 -o "$work/pattern" "$here/optimum_pattern.c" || exit 1
V=3 TRACE=$work/trace DUMP=1 limited "$here/optimum.sh" "$work/pattern" \
  >"$work/turns" 2>"$work/out"
status=$?
if [ $status -eq 77 ]; then
  cat "$work/turns"
else
  cat "$work/out" "$work/turns" >"$work/all"
  awk -f "$here/optimum_pattern.awk" "$work/all" >>"$work/out" ||
    wrong "optimum.sh: not the touches of the pattern"
  V=3 TRACE=$work/trace FRACTIONS='0.5 2'
  PROGRAM=$work/pattern
  export V TRACE FRACTIONS
  bench optimum 60 'k=[12] fraction=.* policy=[a-z0-9]* .*ratio=[0-9.]*'
  grep -q 'k=1 fraction=2.00 .*policy=lru read_mib=0.00 written_mib=0.00' \
    "$work/out" || wrong "optimum.sh: moves what fits"
  unset V TRACE FRACTIONS PROGRAM
fi

# The figures of the thesis; true if there is something to see.
thesis() {
  limited env QUICK=1 OUT="$work/figures" "$here/thesis" >"$work/out" 2>&1
  status=$?
  if [ $status -eq 77 ]; then
    cat "$work/out"
    return 1
  fi
  [ $status -eq 0 ] || wrong "thesis: exit status $status"
}

unset N V K LIMIT
if thesis; then
  [ "$(grep -c '^RESULT bench=thesis check=' "$work/out")" -ge 6 ] ||
    wrong "thesis: too little was checked"
  for table in "$work"/figures/thesis_*.dat; do
    [ "$(grep -c '^[a-z].* [0-9]' "$table")" -ge 2 ] ||
      wrong "thesis: $table has no rows"
    if command -v gnuplot >/dev/null && [ ! -s "${table%.dat}.svg" ]; then
      wrong "thesis: nothing was drawn of $table"
    fi
  done
  thesis
  if grep -q '^[a-z-]*-P[12] ' "$work/out"; then
    wrong "thesis: what was there was measured again"
  fi
fi
[ $failed -eq 0 ] || exit 1
echo "PASS smoke"
