#!/bin/sh
# pems-sort with random records, keys, orders and memory: sizes and counts that
# are small or beside the border of what is read at a time; sorted, verified and
# checked, while reading beside mapped memory ends the process. FUZZ_CASES of
# them (more with PEMS_TEST_LONG), from FUZZ_SEED on: a fault names its own.
# shellcheck source=tests/em/lib.sh
. "$(dirname "$0")/lib.sh"

QUIET=1
cases=120
[ -z "${PEMS_TEST_LONG:-}" ] || cases=3000
cases=${FUZZ_CASES:-$cases}
first=${FUZZ_SEED:-1}

# Sanitizers map memory in their own way.
guard=$work/guard.so
${REAL_CC:-cc} -O1 -shared -fPIC -o "$guard" "$top/tests/em/guard.c" || exit 1
if ! LD_PRELOAD=$guard pems-sort --version >version.txt 2>&1; then
  echo "guard pages: not tested: $(head -n 1 version.txt)"
  guard=
fi

# The cases, one on a line: SEED SIZE COUNT KEY ORDER KIND OPTIONS...
cases() {
  awk -v first="$first" -v cases="$cases" '
    function below(n) { return int(rand() * n) }
    function one(list, all) { return all[1 + below(split(list, all, "|"))] }
    function count(size, step) {
      step = int(4194304 / size) + 1
      if (size > 50 && below(3) == 0)
        return step * (1 + below(2)) - 2 + below(12)
      return below(2) ? below(18) : below(below(4) ? 600 : int(3e5 / size) + 9)
    }
    function key(size, type, bytes) {
      type = one("u8|u16|u32|u64|u128|i8|i16|i32|i64|f32|f64")
      bytes = substr(type, 2) / 8
      if (below(3) == 0 || bytes > size) {
        bytes = 1 + below(below(2) && size > 12 ? 12 : size)
        type = bytes
      }
      return below(size - bytes + 1) ":" type
    }
    BEGIN {
      for (seed = first; seed < first + cases; seed++) {
        srand(seed)
        below(2)
        size = below(2) ? one("1|2|4|5|8|9|16|100|4096") : \
          1 + below(below(3) ? 70 : 4096)
        runs = one("half|long")
        memory = one(size > 1500 ? "8M|40M" : \
          runs == "long" ? "6M|40M" : "2M|4M|40M")
        print seed, size, count(size), key(size), one("a|d|s|ds"), \
          one("random|few|equal"), "--memory", memory, "--threads", \
          1 + below(3), "--runs", runs, \
          "--io", one("unix|unix|aio|uring|mmap|mem"), \
          one("--stats|--verify|--verify|--verify")
      }
    }' </dev/null
}

# guarded STATUS COMMAND...: whether that is how it ends.
guarded() {
  wanted=$1
  shift
  try env LD_PRELOAD="$guard" "$@"
  [ $status -eq "$wanted" ] || fault "$title: $*: status $status, not $wanted"
}

# fuzz SEED SIZE COUNT KEY ORDER KIND OPTIONS...
fuzz() {
  title="FUZZ_SEED=$1: $*"
  its_seed=$1 its_size=$2 its_count=$3 its_key=$4 its_order=$5 its_kind=$6
  shift 6
  "$reference" records "$its_size" "$its_count" "$its_kind" "$its_seed" >input
  sort="pems-sort --record $its_size --key $its_key"
  case $its_order in *d*) sort="$sort --reverse" ;; esac
  case $its_order in *s*) sort="$sort --stable" ;; esac
  before=$failures
  # shellcheck disable=SC2086 # a list
  guarded 0 $sort "$@" --disk "$disk" input out/result
  try "$reference" check "$its_size" "$its_key" "$its_order" input out/result
  [ $status -eq 0 ] || fault "$title: the result is wrong"
  # shellcheck disable=SC2086
  guarded 0 $sort --check out/result
  grep -q "^$its_count record" stdout.txt || fault "$title: --check: the count"
  case $its_order in
  *s*)
    sorted=0
    cmp -s input out/result || sorted=1
    # shellcheck disable=SC2086
    guarded $sorted $sort --check input
    ;;
  esac
  clean "$title" && [ "$failures" -eq "$before" ] && pass "$title"
  rm -f out/result
}

while read -r line; do
  # shellcheck disable=SC2086 # a list
  fuzz $line
done <<EOF
$(cases)
EOF
[ $((passed + failures)) -ge "$cases" ] || fault "only $passed cases"
conclude
