#!/bin/sh
# Figure 4 of Bingmann, Keh and Sanders 2015: the priority queue of pems beside
# STXXL's (parallel; sequence heap, parallelised and sequential) and both sorters,
# on the same disk, with the same budget, direct I/O and both cores. The measure
# is MiB that come and go at the queue in a second: 2 * size * records / time;
# what came out is verified. See tests/bench/pqueue.c for the workloads.
#
#   STXXL      where STXXL master is installed or was built by CMake, with OpenMP;
#              none: pems alone
#   SIZES      of items, in bytes (8 24)
#   LOGS       log2 of the items there are (27 28)
#   WORKLOADS  (push-rand-pop push-asc-pop asc-rbulk-rewrite bulk-rewrite
#              limit-rewrite)
#   BULKS      items of a bulk, of bulk-rewrite (5000 20000 80000 320000 1280000
#              5120000) and of the others (640000); BULK_LOG is their log2 (28)
#   QUEUES     (pems pems-single pems-sorter ppq spqp spqs sorter);
#              pems-single pushes record by record, pems in arrays of 1024
#   MEMORY     MiB (256)
#   ROUNDS     all of it again and again, the best counts (1)
#   PEMS       NAME=VALUE for tests/bench/pqueue
#   OUT        directory for pqueue.log (all RESULT lines; those there already
#              count, too), pqueue.txt (ratios), pqueue_SIZE.gp and .svg (.)
#   SECONDS_MOST  of one run (3600)
#
# pems runs in a cgroup of the budget, 16 MiB and what the benchmark holds itself;
# STXXL, which takes more than it is given, in one of twice the budget.
# shellcheck source=tests/bench/lib.sh
. "$(dirname "$0")/lib.sh"

STXXLLOGFILE=/dev/null
STXXLERRLOGFILE=/dev/null
export STXXLLOGFILE STXXLERRLOGFILE
program=${PQUEUE_BENCH:-$(dirname "$(command -v "$pemsrun")")/tests/bench/pqueue}
[ -x "$program" ] || skip "$program was not found: make tests/bench/pqueue"
queues=${QUEUES:-pems pems-single pems-sorter ppq spqp spqs sorter}
memory=${MEMORY:-256}
out=${OUT:-.}
mkdir -p "$out" || exit 1
out=$(cd "$out" && pwd)

# --- STXXL ---

# What was built, but not installed, has its headers in two places.
find_headers() {
  source=$(sed -n 's/^CMAKE_HOME_DIRECTORY:.*=//p' "$STXXL/CMakeCache.txt" \
    2>/dev/null)
  # The parallel queue crashes at the fifth external array (commit b9e44f0):
  # a loop down to 0 with an unsigned counter. It gets one that ends.
  tree=stxxl/bits/common/winner_tree.h
  mkdir -p "$work/include/${tree%/*}"
  for at in "${source:-$STXXL}" "$STXXL"; do
    [ ! -f "$at/include/$tree" ] || sed \
      's/unsigned_type i = \(.*\) - 1; i >= 0; --i/size_t i = \1; i-- > 0;/' \
      "$at/include/$tree" >"$work/include/$tree"
  done
}

compile() {
  name=$1
  shift
  "${CXX:-g++}" -std=c++14 -O3 -DNDEBUG -march=native -w -fopenmp \
    "-DQUEUE_MIB=$memory" "$@" "-I$work/include" "-I$STXXL/include" \
    ${source:+"-I$source/include"} -o "$work/$name" "$here/pqueue_stxxl.cc" \
    "-L$STXXL/lib" -lstxxl -laio -pthread >"$work/log" 2>&1 ||
    skip "STXXL does not compile: $(grep -m 1 error "$work/log")"
}

merge=-DSTXXL_PARALLEL_PQ_MULTIWAY_MERGE
if [ -n "${STXXL:-}" ]; then
  find_headers
  compile parallel
  compile sequential "${merge}_INTERNAL=0" "${merge}_EXTERNAL=0" \
    "${merge}_DELETE_BUFFER=0"
else
  queues=$(echo "$queues" | tr ' ' '\n' | grep pems | tr '\n' ' ')
  echo "SKIP STXXL: no \$STXXL was given"
fi

# --- one run ---

# in_cgroup MIB COMMAND...: a RESULT line goes to the log.
in_cgroup() {
  limit=${1}M
  shift
  : >"$work/log"
  seconds_of "$here/cgroup.sh" "$limit" timeout "${SECONDS_MOST:-3600}" "$@"
  [ "$status" -ne 77 ] || skip "$(grep '^cgroup.sh' "$work/log")"
  if [ "$status" -ne 0 ] || ! grep -q '^RESULT bench=.*right=1' "$work/log"; then
    wrong=
    ! grep -q '^RESULT bench=.*right=0' "$work/log" || wrong=': what came out is wrong'
    echo "FAIL $queue $workload size=$size log2=$log bulk=$bulk:" \
      "exit status $status$wrong" | tee -a "$out/pqueue.log"
    grep -v '^\[STXXL' "$work/log" | tail -n 3
    return
  fi
  grep '^RESULT bench=' "$work/log" | sed "s/queue=[^ ]*/queue=$queue log2=$log/
    s/\$/ peak_anon=$(value peak_anon "$work/log")/" | tee -a "$out/pqueue.log"
}

run_queue() {
  n=$((1 << log))
  limit=$((memory + 16 + (bulk * size >> 20) + 1))
  case $queue in
    pems) set -- batch=1024 ;;
    pems-single) set -- batch=1 ;;
    pems-sorter) set -- queue=sorter batch=1024 ;;
  esac
  case $queue in
    *sorter)
      case $workload in *rewrite) return ;; esac
      ;;
  esac
  case $queue in
    pems*)
      # shellcheck disable=SC2086 # a list
      in_cgroup $limit "$program" "$work" "$workload" "$n" \
        $((memory << 20)) "size=$size" "bulk=$bulk" "$@" ${PEMS:-}
      ;;
    *)
      binary=parallel
      [ "$queue" != spqs ] || binary=sequential
      kind=$queue
      [ "${queue%[ps]}" != spq ] || kind=spq
      in_cgroup $((limit + memory)) "$work/$binary" "$kind" "$workload" "$n" \
        $((memory << 20)) "$work" "size=$size" "bulk=$bulk"
      ;;
  esac
}

# In turn, so that what else the machine does meets all.
all_queues() {
  for queue in $queues; do
    run_queue
  done
}

# --- all runs ---

round=0
while [ $round -lt "${ROUNDS:-1}" ]; do
  round=$((round + 1))
  for size in ${SIZES:-8 24}; do
    for workload in ${WORKLOADS:-push-rand-pop push-asc-pop asc-rbulk-rewrite \
      bulk-rewrite limit-rewrite}; do
      if [ "$workload" = bulk-rewrite ]; then
        log=${BULK_LOG:-28}
        for bulk in ${BULKS:-5000 20000 80000 320000 1280000 5120000}; do
          all_queues
        done
      else
        bulk=640000
        for log in ${LOGS:-27 28}; do
          all_queues
        done
      fi
    done
  done
done

# --- the table, and the figure ---

# best: lines "size workload log2 bulk queue MiB/s" of the log, the best each.
best() {
  sed -n 's/^RESULT bench=pqueue //p' "$out/pqueue.log" | awk '
    {
      for (i = 1; i <= NF; i++) {
        split($i, pair, "=")
        v[pair[1]] = pair[2]
      }
      key = v["size"] " " v["workload"] " " v["log2"] " " v["bulk"] " " v["queue"]
      if (v["mib_per_second"] + 0 > most[key] + 0)
        most[key] = v["mib_per_second"]
    }
    END { for (key in most) print key, most[key] }' | sort -k1,1n -k2,2 -k3,3n \
    -k4,4n -k5,5
}

best >"$work/best"
awk '
  function show(  k, q, stxxl, name, ours) {
    if (!n) return
    line = sprintf("%4s %-17s %5s %8s", at[1], at[2], at[3], at[4])
    for (k = 1; k <= split("pems pems-single pems-sorter ppq spqp spqs sorter", q,
         " "); k++)
      line = line sprintf(" %11s", q[k] in speed ? speed[q[k]] : "-")
    for (k = 4; k <= 6; k++)
      if (speed[q[k]] + 0 > stxxl + 0) stxxl = speed[q[k]]
    ours = speed["pems"]
    line = line sprintf(" %9s", ours && stxxl ? sprintf("%.2f", ours / stxxl) : "-")
    ours = ours && speed["pems-sorter"] ? \
      sprintf("%.2f", ours / speed["pems-sorter"]) : "-"
    print line sprintf(" %9s", ours)
    delete speed
  }
  BEGIN {
    print "MiB/s at the queue; pems / the best queue of STXXL, pems / its sorter"
    printf "%4s %-17s %5s %8s %11s %11s %11s %11s %11s %11s %11s %9s %9s\n",
      "size", "workload", "log2", "bulk", "pems", "pems-single", "pems-sorter",
      "ppq", "spqp", "spqs", "sorter", "to-stxxl", "to-sorter"
  }
  {
    group = $1 " " $2 " " $3 " " $4
    if (group != last) show()
    split(group, at, " ")
    last = group
    n = 1
    speed[$5] = $6
  }
  END { show() }' "$work/best" | tee "$out/pqueue.txt"

# points SIZE WORKLOAD COLUMN QUEUE: an inline block of data for gnuplot.
points() {
  awk -v size="$1" -v workload="$2" -v column="$3" -v queue="$4" '
    $1 == size && $2 == workload && $5 == queue { print $column, $6 }' \
    "$work/best" | sort -n
}

# One plot of a figure.
plot() {
  echo "set title \"$2\""
  if [ "$3" -eq 4 ]; then
    echo 'set logscale x; set xlabel "items of a bulk"'
  else
    echo 'unset logscale x; set xlabel "log_2 of the items"; set xtics 1'
  fi
  list=
  for queue in pems pems-single pems-sorter ppq spqp spqs sorter; do
    points "$1" "$2" "$3" "$queue" >"$work/points"
    [ -s "$work/points" ] || continue
    block=\$data$1_$(echo "$2 $queue" | tr -c 'a-z\n' _)
    printf '%s << END\n%s\nEND\n' "$block" "$(cat "$work/points")"
    list="$list${list:+, }$block using 1:2 with linespoints title \"$queue\""
  done
  if [ -n "$list" ]; then
    echo "plot $list"
  else
    echo 'set multiplot next'
  fi
}

for size in ${SIZES:-8 24}; do
  {
    echo 'set terminal svg size 1000,800 dynamic background "white"'
    echo "set output \"pqueue_$size.svg\""
    echo 'set grid; set yrange [0:*]; set key left top; set ylabel "MiB/s"'
    echo "set multiplot layout 2,2 title \"items of $size bytes, $memory MiB\""
    plot "$size" push-rand-pop 3
    plot "$size" push-asc-pop 3
    plot "$size" asc-rbulk-rewrite 3
    plot "$size" bulk-rewrite 4
    echo 'unset multiplot'
  } >"$out/pqueue_$size.gp"
  if command -v gnuplot >/dev/null; then
    (cd "$out" && gnuplot "pqueue_$size.gp") ||
      give_up "gnuplot could not draw $out/pqueue_$size.gp"
    echo "drawn: $out/pqueue_$size.svg"
  else
    echo "SKIP drawing: gnuplot was not found; later: gnuplot pqueue_$size.gp"
  fi
done
