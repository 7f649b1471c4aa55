#!/bin/sh
# pems-graph ended by signals at many moments, while it reads, sorts and writes:
# what was there before is still there as it was, or it is whole and new; nothing
# else is left, neither beside it nor in scratch space.
# shellcheck source=tests/em/apps_lib.sh
. "$(dirname "$0")/../em/apps_lib.sh"
cd "$work" || exit 1
mkdir out.d
echo old >old

# whole TITLE: whether out.d has one file, and which: the old or the new one.
whole() {
  if [ "$(ls -A out.d)" != result ]; then
    fail "$1: in the folder: $(ls -A out.d)"
  elif ! cmp -s old out.d/result && ! cmp -s new out.d/result; then
    fail "$1: the output is neither old nor new"
  elif [ -n "$(ls -A disk)" ]; then
    fail "$1: in scratch space: $(ls -A disk)"
  fi
  rm -rf out.d disk
  mkdir out.d disk
}

# killed COMMAND...: which makes out.d/result, at moments from its beginning to
# behind its end.
killed() {
  cp old out.d/result
  began=$(date +%s%N)
  limited "$@" >out 2>err || fail "$*: status $?"
  took=$((($(date +%s%N) - began) / 1000000 + 1))
  cmp -s old out.d/result && fail "$*: has written nothing"
  cp out.d/result new
  ends=0
  for signal in INT TERM HUP KILL; do
    for part in 1 2 3 4 5 6 7 8 9 11; do
      cp old out.d/result
      delay=$(awk "BEGIN { print $took * $part / 10000 }")
      timeout -s $signal "$delay" "$@" >out 2>err
      got=$?
      case $got in
      0) ;;
      *) ends=$((ends + 1)) ;;
      esac
      ! grep -q '^pems: ' err || fail "SIG$signal after $delay s: a message"
      whole "$*: SIG$signal after $delay s"
    done
  done
  [ $ends -gt 0 ] || echo "$*: was never ended in time"
}

try "a graph" pems-graph generate uniform --nodes 50000 --edges 500000 \
  -o large.csr
try "as text" pems-graph convert large.csr large.txt
killed pems-graph convert large.txt out.d/result --to csr
killed pems-graph convert large.txt out.d/result --to csr --memory 9M \
  --disk "$work/disk"
killed pems-graph generate rmat --scale 15 --to csr -o out.d/result \
  --memory 9M --disk "$work/disk"
killed pems-graph convert large.csr out.d/result --to snap
killed pems-graph sssp large.csr --threads 2 -o out.d/result --source 0

# For certain in the midst: it waits for the rest of a pipe.
mkfifo pipe
for signal in TERM HUP KILL; do # what runs in the background ignores SIGINT
  cp old out.d/result
  pems-graph convert - out.d/result --from snap --to csr <pipe >out 2>err &
  reader=$!
  exec 8>pipe
  head -c 3000000 large.txt >&8
  kill -0 $reader || fail "SIG$signal: it has not waited"
  kill -$signal $reader
  wait $reader
  [ $? -gt 128 ] || fail "SIG$signal: it has not ended by it"
  exec 8>&-
  cp old new
  whole "SIG$signal while reading"
done
[ $status -ne 0 ] || echo "PASS kills"
exit $status
