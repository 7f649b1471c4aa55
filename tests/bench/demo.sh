#!/bin/sh
# Sorts more data than the memory it may use, on one process and on two, checks
# the results and prints a table. Called by ./bootstrap demo.
#
#   demo.sh BIN SOURCE     BIN: where pemscc and pemsrun are; SOURCE: psrs.c
#
# DEMO_ELEMENTS (2^28), DEMO_RANKS (32) and DEMO_LIMIT_MIB (512) change the size,
# DEMO_DISK the scratch directory.
set -eu

bin=${1:?usage: demo.sh BIN SOURCE}
source=${2:?usage: demo.sh BIN SOURCE}
elements=${DEMO_ELEMENTS:-268435456}
ranks=${DEMO_RANKS:-32}
limit_mib=${DEMO_LIMIT_MIB:-512}
limit=$((limit_mib * 1048576))

work=$(mktemp -d "${TMPDIR:-/var/tmp}/pems-demo.XXXXXX")
disk=${DEMO_DISK:-$work}
rows=$work/rows
cgroup=
failed=0
: >"$rows"

tidy() {
  if [ -n "$cgroup" ]; then
    rmdir "$cgroup" 2>/dev/null || echo "demo: $cgroup: could not be removed" >&2
  fi
  rm -rf "$work"
}
trap tidy EXIT
trap 'exit 1' HUP INT TERM

wrong() {
  echo "demo: $*" >&2
  failed=1
}

# Makes a group in directory $1 with the limit in its file $2.
try_cgroup() {
  mkdir "$1/pems-demo-$$" 2>/dev/null || return 1
  cgroup=$1/pems-demo-$$
  # The shell that tries to enter it leaves it again by ending.
  if { echo "$limit" >"$cgroup/$2"; } 2>/dev/null &&
    sh -c "echo \$\$ >'$cgroup/cgroup.procs'" 2>/dev/null; then
    # Swap must not help out, where it is counted at all.
    { echo "$limit" >"$cgroup/memory.memsw.limit_in_bytes"; } 2>/dev/null || :
    { echo 0 >"$cgroup/memory.swap.max"; } 2>/dev/null || :
    return 0
  fi
  rmdir "$cgroup"
  cgroup=
  return 1
}

# $cgroup stays empty where no group can be made. Version 1 or 2; below the
# group that this process is in, else below the top.
make_cgroup() {
  if [ -d /sys/fs/cgroup/memory ]; then
    top=/sys/fs/cgroup/memory name=memory file=memory.limit_in_bytes
  else
    top=/sys/fs/cgroup name='' file=memory.max
  fi
  own=$(sed -n "s/^[0-9]*:$name:\(.*\)/\1/p" /proc/self/cgroup | head -n 1)
  try_cgroup "$top$own" $file || try_cgroup "$top" $file || :
}

# Value of key $1 in the line of $2 that starts with $3; 0 if there is none.
value() {
  sed -n "/^$3/s/.* $1=\([0-9.]*\).*/\1/p" "$2" | tail -n 1 | grep . || echo 0
}

# run P: sorts on P processes and adds a row.
run() {
  procs=$1
  out=$work/out.$procs
  err=$work/err.$procs
  budget=
  most=$limit # bytes that one process may use
  if [ -z "$cgroup" ]; then
    budget=--pems-memory=$((limit_mib / procs))M
    most=$((limit / procs))
  fi
  echo "demo: $ranks ranks on $procs process(es)"
  # The shell enters the group, and so does everything that it starts.
  status=0
  {
    # shellcheck disable=SC2086 # $budget is empty or one word
    sh -c 'if [ -n "$1" ]; then echo $$ >"$1/cgroup.procs"; fi
      shift; exec "$@"' sh "$cgroup" \
      "$bin/pemsrun" -n "$ranks" --pems-procs="$procs" $budget \
      --pems-disk="$disk" --pems-stats --pems-progress \
      "$work/psrs" "$elements" 2>&1 >"$out" || echo $? >"$work/status"
  } | tee "$err" >&2
  if [ -f "$work/status" ]; then
    status=$(cat "$work/status")
    rm "$work/status"
  fi
  judge
}

judge() {
  seconds=$(value seconds "$out" 'RESULT app=psrs')
  peak=$(value peak_rss "$err" '.*RESULT pems')
  read=$(value bytes_read "$err" '.*RESULT pems')
  written=$(value bytes_written "$err" '.*RESULT pems')
  [ "$status" -eq 0 ] || wrong "exit status $status on $procs process(es)"
  for fact in "elements=$elements" sorted=1 count_ok=1 checksum_ok=1; do
    grep -q "^RESULT app=psrs .*\<$fact\>" "$out" ||
      wrong "the program did not report $fact"
  done
  [ "$peak" -gt 0 ] || wrong "no figures of pems (RESULT pems ...)"
  [ "$peak" -le "$most" ] ||
    wrong "a process used $peak bytes of memory, more than $most"
  [ "$written" -ge "$limit" ] ||
    wrong "only $written bytes went to disk: the data was not larger than memory"
  echo "$procs $elements $limit $peak $read $written $seconds" >>"$rows"
}

table() {
  echo
  awk -v ranks="$ranks" 'BEGIN {
    format = "%-18s %11s %10s %10s %9s %12s %9s %8s\n"
    printf format, "run", "elements", "limit MiB", "peak MiB", "GiB read",
      "GiB written", "seconds", "MB/s"
  } {
    gib = 1024 ^ 3
    printf format, ranks " ranks, P = " $1, $2, sprintf("%.0f", $3 / 1024 ^ 2),
      sprintf("%.0f", $4 / 1024 ^ 2), sprintf("%.2f", $5 / gib),
      sprintf("%.2f", $6 / gib), sprintf("%.1f", $7),
      ($7 > 0 ? sprintf("%.0f", ($5 + $6) / $7 / 1e6) : "-")
  }' "$rows"
  echo
  echo "peak: the largest process; MB/s: read and written, over the time of the sort"
}

echo "demo: compiling psrs.c with pemscc"
"$bin/pemscc" -O2 -o "$work/psrs" "$source"

make_cgroup
if [ -n "$cgroup" ]; then
  echo "demo: limit of $limit_mib MiB by the cgroup $cgroup"
else
  echo "demo: no cgroup can be made here: limit of $limit_mib MiB by --pems-memory"
fi
run 1
run 2
table
[ "$failed" -eq 0 ] || exit 1
echo "demo: sorted, with the same count and checksum, within the limit"
