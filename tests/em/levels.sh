#!/bin/sh
# pems-sort on processors that can do less than this one, emulated by qemu-user:
# with AVX2 but not AVX-512, and with SSE4 only; results are those of this machine,
# byte by byte. PEMS_FOREIGN_SORT: a command that runs a pems-sort built for
# another architecture with the same order of bytes, which is tested, too.
# shellcheck source=tests/em/lib.sh
. "$(dirname "$0")/lib.sh"

QUIET=1
native=$(command -v pems-sort)
levels=
if [ "$(uname -m)" = x86_64 ] && command -v qemu-x86_64 >/dev/null; then
  for cpu in Haswell Nehalem; do
    qemu-x86_64 -cpu $cpu "$native" --version >stdout.txt 2>stderr.txt &&
      levels="$levels $cpu"
  done
fi
[ -z "${PEMS_FOREIGN_SORT:-}" ] || levels="$levels foreign"
[ -n "$levels" ] || {
  echo "SKIP $name: no qemu-x86_64 that runs $native: install qemu-user"
  exit 77
}

# compared OPTIONS...: the file `input`, at each level and here.
compared() {
  try pems-sort --memory 2M --threads 2 --disk "$disk" "$@" input native
  [ $status -eq 0 ] || fault "$*: status $status"
  for level in $levels; do
    case $level in
      foreign) run=$PEMS_FOREIGN_SORT ;;
      *) run="qemu-x86_64 -cpu $level $native" ;;
    esac
    # shellcheck disable=SC2086 # a command
    try $run --memory 2M --threads 2 --disk "$disk" --verify "$@" input \
      out/result
    if [ $status -eq 0 ] && cmp -s native out/result; then
      pass "$* by $level"
    else
      fault "$* by $level: status $status, or another result"
    fi
    rm -f out/result
  done
}

# Words of all sizes, records that are sorted by pairs and by digits, and in runs
# that are merged or in one; random, few different ones, in order.
head -c 2400000 /dev/urandom >random
head -c 600000 /dev/zero >few
head -c 3000 /dev/urandom >>few
for kind in random few; do
  cp $kind input
  for key in u8 u16 u32 i32 f32 u64 i64:desc f64 u128 12; do
    truncate -s $(($(stat -c %s input) / 48 * 48)) input
    compared --key "0:$key"
  done
  # What is beside equal keys may be in any order: all of it counts.
  compared --record 24 --key 8:u64 --key 0:8 --key 16:8
  compared --record 16 --key 0:16
  compared --record 48 --key 0:48
done
truncate -s $((2400000 / 24 * 24)) random
mv random input
compared --record 24 --key 8:u64
compared --record 32 --key 24:i64:desc
compared --record 16 --key 8:u64
echo "levels:$levels"
conclude
