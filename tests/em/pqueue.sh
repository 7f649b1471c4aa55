#!/bin/sh
# The priority queue and what goes wrong: options, too little memory, full and
# failing disks: one line, exit status 1, no hang, nothing left; then that it
# works when all of the process is in a cgroup of the budget and 16 MiB. By the
# program of the benchmark, which verifies what comes out.
# shellcheck source=tests/em/lib.sh
. "$(dirname "$0")/lib.sh"

QUIET=1
program=${top_builddir:-$(dirname "$(command -v pems-sort)")}/tests/bench/pqueue
[ -x "$program" ] || {
  echo "SKIP $name: $program was not found: make tests/bench/pqueue"
  exit 77
}

# number NAME: what the RESULT line says.
number() {
  sed -n "s/^RESULT .* $1=\([0-9]*\).*/\1/p" stdout.txt
}

# fine TITLE: it has worked.
fine() {
  if [ "$status" -ne 0 ] || ! grep -q ' right=1$' stdout.txt; then
    fault "$1: status $status"
  elif [ -s stderr.txt ]; then
    fault "$1: something on stderr"
  elif clean "$1"; then
    pass "$1"
  fi
}

# failed TITLE PATTERN
failed() {
  if [ "$status" -ne 1 ]; then
    fault "$1: status $status"
  elif [ "$(wc -l <stderr.txt)" -ne 1 ] || ! grep -Eq "^pqueue: .*$2" stderr.txt
  then
    fault "$1: not one line with '$2'"
  elif [ -s stdout.txt ]; then
    fault "$1: something on stdout"
  elif clean "$1"; then
    pass "$1"
  fi
}

# --- options ---

# bad PATTERN DIR MEMORY NAME=VALUE...
bad() {
  pattern=$1 where=$2 bytes=$3
  shift 3
  try "$program" "$where" push-rand-pop 1000 "$bytes" "$@"
  failed "$where $bytes $*" "$pattern"
}
bad 'block.*1000' "$disk" 8388608 block=1000
bad 'kernel: bogo' "$disk" 8388608 kernel=bogo
bad 'floppy' "$disk" 8388608 io=floppy
bad 'I/O driver' "$disk" 8388608 io=fault:unix,never
bad 'arrays' "$disk" 8388608 arrays=1
bad 'record' "$disk" 8388608 size=4104
bad '/nowhere: No such file' /nowhere 8388608

if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
  chmod 755 "$work"
  chmod 700 disk
  try setpriv --reuid=65534 --regid=65534 --clear-groups "$program" "$disk" \
    push-rand-pop 1000 8388608
  if grep -q 'setpriv' stderr.txt; then
    echo "permissions: not tested: $(head -n 1 stderr.txt)"
  else
    failed "scratch space that may not be written" "$disk: Permission denied"
  fi
  chmod 755 disk
else
  echo "permissions: not tested: only root can become somebody who has fewer"
fi

# --- too little memory: what the message says is enough ---

# enough NAME=VALUE...: sets $least, in bytes.
enough() {
  try "$program" "$disk" push-rand-pop 1000 1 "$@"
  failed "memory: $*" 'memory.*: give [0-9]+K or more'
  least=$(sed -n 's/.*give \([0-9]*\)K or more.*/\1/p' stderr.txt)
  least=$((${least:-0} << 10))
  size=8
  for pair; do
    case $pair in size=*) size=${pair#size=} ;; esac
  done
  for workload in push-rand-pop push-asc-pop asc-rbulk-rewrite limit-rewrite; do
    try "$program" "$disk" $workload $((least * 3 / size)) $least bulk=1000 "$@"
    fine "$workload in $least bytes: $*"
    if [ "$(number memory_used)" -gt $least ]; then
      fault "$workload in $least bytes: $*: more was used"
    fi
  done
}
for threads in 1 2 4; do
  enough threads=$threads
  enough threads=$threads size=24 disks=3
  enough threads=$threads size=64
  enough threads=$threads block=8192 arrays=2 external_arrays=2
  enough threads=$threads block=16384 io=uring push=plain pop=one batch=1
done

# --- full disks ---

# shellcheck disable=SC2317 # called by the trap
unmount() {
  cd /
  umount "$work/tiny" 2>/dev/null
  rm -rf "$work"
}
trap unmount EXIT
enough threads=2 block=32768
small=$least
records=$((small * 2 / 8))
mkdir tiny
if mount -t tmpfs -o size=1m none tiny 2>mount.txt; then
  for io in unix uring; do
    for options in push=bulk 'push=plain batch=1' push=plain; do
      # shellcheck disable=SC2086 # a list
      try "$program" tiny push-rand-pop $((records * 4)) "$small" block=32768 \
        io=$io $options
      failed "a full disk: $io $options" '(No space left|no room for a block)'
      [ -z "$(ls -A tiny)" ] || fault "a full disk: $(ls -A tiny)"
    done
  done
else
  echo "full disks: not tested: $(cat mount.txt)"
fi

# --- the n-th request fails, for every n ---

# every WORKLOAD NAME=VALUE...: neighbours among the requests become one, so the
# last ones of those that were counted are never reached.
failures_seen=0
often=5
[ -z "${PEMS_TEST_LONG:-}" ] || often=1
every() {
  workload=$1
  shift
  set -- "$disk" "$workload" "$records" "$small" block=32768 bulk=20000 threads=2 "$@"
  try "$program" "$@" io=fault:unix
  fine "$* without a fault"
  reads=$(number all_reads)
  writes=$(number all_writes)
  if [ "${reads:-0}" -lt 1 ] || [ "${writes:-0}" -lt 1 ]; then
    fault "$*: nothing was read or written"
    return
  fi
  for what in read:EIO write:EIO write:ENOSPC torn: short:; do
    kind=${what%:*}
    error=${what#*:}
    last=$writes
    [ "$kind" = read ] && last=$reads
    # Usually some of those that end as others do.
    step=$often
    [ "$error" = EIO ] && step=1
    n=$((1 - step))
    missed=0
    while [ $((n + step)) -le "$last" ] && [ $missed -lt 20 ]; do
      n=$((n + step))
      try "$program" "$@" "io=fault:unix,$kind=$n${error:+:$error}"
      if [ "$kind" = short ]; then
        fine "$*: request $n is short"
      elif [ "$status" -eq 0 ]; then
        missed=$((missed + 1))
        fine "$*: $kind $n was missed"
      else
        missed=0
        failures_seen=$((failures_seen + 1))
        failed "$*: $kind $n" '(Input/output error|No space left|no room for a block)'
      fi
    done
  done
}
for arguments in push-rand-pop 'push-rand-pop push=plain pop=one batch=100' \
  'asc-rbulk-rewrite arrays=2 external_arrays=2' limit-rewrite; do
  workload=${arguments%% *}
  [ "$workload" = "$arguments" ] && options= || options=${arguments#* }
  # shellcheck disable=SC2086 # a list
  every "$workload" $options
done
if [ $failures_seen -lt 200 ]; then
  fault "only $failures_seen requests have failed"
fi

# --- out of core ---

budget=64
cgroup=$top/tests/bench/cgroup.sh
# outside WORKLOAD NAME=VALUE...: 8 times the budget.
outside() {
  workload=$1
  shift
  try "$cgroup" $((budget + 16))M "$program" "$disk" "$workload" \
    $((budget << 20)) $((budget << 20)) bulk=50000 "$@"
  if [ "$status" -eq 77 ]; then
    echo "out of core: not tested: $(grep '^cgroup.sh' stderr.txt)"
    return
  fi
  sed '/^RESULT cgroup/d' stderr.txt >others.txt
  mv others.txt stderr.txt
  fine "$workload $* out of core"
  peak=$(number peak_rss_mib)
  if [ "${peak:-999}" -gt $((budget + 16)) ]; then
    fault "$workload $* out of core: $peak MiB, the budget is $budget"
  fi
}
for workload in push-rand-pop push-asc-pop asc-rbulk-rewrite limit-rewrite; do
  outside $workload
done
outside push-rand-pop io=uring pop=one
outside asc-rbulk-rewrite push=plain disks=3
conclude
