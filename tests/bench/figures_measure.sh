# shellcheck shell=sh
# shellcheck disable=SC2154 # set by figures, which reads this
# What figures of figures.d measure with: for figures.

# size SMALL PAPER: the one of this scale.
size() {
  if [ "$scale" = paper ]; then echo "$2"; else echo "$1"; fi
}

# value NAME: of RESULT lines that are read: "NAME=VALUE" -> VALUE
value() {
  sed -n "s/^RESULT .* $1=\([^ ]*\).*/\1/p"
}

# best_seconds: the least of the runs in $scratch/log (--repeat).
best_seconds() {
  value seconds <"$scratch/log" | sort -g | head -n 1
}

# bench PROGRAM ARGUMENT...: runs a program of the build folder that prints a RESULT
# line; what it prints is in $scratch/log.
bench() {
  benched=$(program "$1") || return 1
  shift
  "$benched" "$@" >"$scratch/log" || return 1
}

# point SERIES X EXPRESSION: prints a point; y is an expression of awk's in which
# names are those of the RESULT line.
point() {
  series=$1 x=$2 y=$3
  set --
  for key in $(echo "$y" | grep -oE '\b[a-z_]+\b'); do
    set -- "$@" -v "$key=$(value "$key" <"$scratch/log")"
  done
  awk "$@" -v series="$series" -v x="$x" \
    "BEGIN { printf \"%s %s %.6g\\n\", series, x, $y }"
}

# medians: of lines "SERIES X Y" of several rounds, one each.
medians() {
  awk '{ at = $1 " " $2
      if (!(at in n)) order[++m] = at
      y[at, ++n[at]] = $3 }
    END {
      for (i = 1; i <= m; i++) {
        at = order[i]
        for (a = 2; a <= n[at]; a++)
          for (b = a; b > 1 && y[at, b] + 0 < y[at, b - 1] + 0; b--) {
            swap = y[at, b]; y[at, b] = y[at, b - 1]; y[at, b - 1] = swap
          }
        print at, y[at, int((n[at] + 1) / 2)]
      }
    }'
}

# thesis STEP X Y: points of a step of tests/bench/thesis: its columns X and Y.
thesis() {
  OUT=$scratch QUICK=$(size 1 0) "$here/thesis" "$1" >"$scratch/log" 2>&1 || {
    cat "$scratch/log" >&2
    return 1
  }
  awk -v x="$2" -v y="$3" '!/^#/ { print $1, $x, $y }' \
    "$scratch/thesis_$(echo "$1" | tr - _).dat"
}

# shellcheck disable=SC2034 # of the CGM programs' figures
cgm_why='Our programs hold little more than they touch, and heaps give back what is freed, so that explicit I/O moves
whole contexts in large requests where mmap faults page by page: the order is the other one. For programs
that hold much, as those of CGMLib did, see thesis-cgm-held: there it is that of the thesis. P processes share two
cores and one disk here, so that time does not fall with P; at the small scale two processes have room for all.'

# faster_of_cgm A B: of the greatest of several n, A takes at most as long as B.
faster_of_cgm() {
  awk -v a="$1" -v b="$2" '!/^#/ { last[$1] = $3; many[$1]++ }
    END { exit !(many[a] > 1 && many[b] > 1 && last[a] > 0 && last[a] <= last[b]) }' "$dat"
}

# queue_workloads BYTES N...: the priority queue with items of so many bytes, and
# the sorter beside it.
queue_workloads() {
  item=$1
  shift
  memory=$(($(size 16 1024) << 20))
  for n in "$@"; do
    for workload in push-rand-pop push-asc-pop bulk-rewrite asc-rbulk-rewrite; do
      bench tests/bench/pqueue "$scratch" $workload "$n" $memory "size=$item" \
        "bulk=$(size 65536 640000)" || return 1
      point $workload "$n" mib_per_second
    done
    bench tests/bench/pqueue "$scratch" push-rand-pop "$n" $memory "size=$item" \
      queue=sorter || return 1
    point sorter "$n" mib_per_second
  done
}

# scheduled PROGRAM GRAPH SCHEDULER[:DELTA] [OPTION...]: a graph program.
scheduled() {
  delta=0
  case $3 in *:*) delta=${3#*:} ;; esac
  graph_program=$1 graph=$2 sched=${3%:*}
  shift 3
  bench pems-graph "$graph_program" --generate "$graph" --sched "$sched" \
    --delta "$delta" "$@"
}

# cycles X [PANEL/ [TIMES]]: where those of a program run with --measure went.
cycles() {
  for use in good_work useless_work enqueue dequeue failed_dequeue other; do
    point "${2:-}$(echo ${use%_work} | tr _ -)" "$1" "${use}_percent * ${3:-1}"
  done
}

# The cases of the 2019 paper: PROGRAM-GRAPH. road and west (a quarter of it) stand
# for the USA's and its west's, rmat for Twitter's, web and social for the web-Google
# and the LiveJournal graphs; prd is pagerank with priorities 1000 times finer.
graph_cases='sssp-rmat sssp-road bfs-rmat bfs-road pr-web prd-web pr-social
  prd-social mst-west mst-road astar-west astar-road'

# A new thread waits up to 3 ms for an idle core (Linux 6.18 on a virtual machine): runs
# of a few ms would be those of fewer threads.
case_graph() {
  case $1 in
    road) echo "road:nodes=$(size 250000 8000000)" ;;
    west) echo "road:nodes=$(size 60000 2000000)" ;;
    rmat) echo "rmat:scale=$(size 15 21)" ;;
    web) echo "rmat:scale=$(size 13 14)" ;;
    social) echo "rmat:scale=$(size 14 16)" ;;
  esac
}

# case_schemes CASE: those that make a difference there: obim-D shifts priorities by
# 8, as Galois does, obim-O by the best number.
case_schemes() {
  case $1 in
    sssp-road | astar-*) echo pmod obim-D obim-O multiqueue reld spraylist ;;
    *) echo pmod obim multiqueue reld spraylist ;;
  esac
}

# run_case CASE SCHEME [OPTION...]: of obim-O the best run is left in $scratch/log.
run_case() {
  case_program=${1%%-*} graph=$(case_graph "${1#*-}") case_scheme=$2
  shift 2
  case $case_program in
    pr) case_program=pagerank ;;
    prd) case_program=pagerank && set -- --detailed "$@" ;;
    astar) set -- --queries 4 "$@" ;;
  esac
  case $case_scheme in
    obim-O) run_best "$@" ;;
    obim-D) scheduled "$case_program" "$graph" obim:8 "$@" ;;
    *) scheduled "$case_program" "$graph" "$case_scheme" "$@" ;;
  esac
}

run_best() {
  best=
  for shift in $(size '10 14' '8 10 12 14 16'); do
    scheduled "$case_program" "$graph" "obim:$shift" "$@" || return 1
    took=$(best_seconds)
    if [ -z "$best" ] || awk "BEGIN { exit !($took < $best) }"; then
      best=$took
      cp "$scratch/log" "$scratch/best"
    fi
  done
  cp "$scratch/best" "$scratch/log"
}

# case_times THREADS...: lines "CASE SCHEME THREADS SECONDS" of all cases.
case_times() {
  for case in $graph_cases; do
    for scheme in $(case_schemes "$case"); do
      for threads; do
        run_case "$case" "$scheme" --threads "$threads" \
          --repeat "$(size 1 3)" || return 1
        echo "$case $scheme $threads $(best_seconds)"
      done
    done
  done
}

# deltas GRAPH PROGRAM...: speedup of obim over its first run, by Delta and threads:
# a panel for each program.
deltas() {
  deltas_of=$1
  shift
  for program in "$@"; do
    for delta in $(size '0 4 8 12 16' '0 2 4 6 8 10 12 14 16 18'); do
      for threads in $(thread_counts); do
        case $deltas_of in
          *.csr) set -- "$deltas_of" ;;
          *) set -- --generate "$deltas_of" ;;
        esac
        bench pems-graph "$program" "$@" --sched obim --delta "$delta" \
          --threads "$threads" --repeat 3 || return 1
        echo "$program $threads $delta $(best_seconds)"
      done
    done
  done >"$scratch/times"
  awk '!($1 in base) { base[$1] = $4 }
    { printf "%s/%s-threads %s %.3g\n", $1, $2, $3, base[$1] / $4 }' "$scratch/times"
}

# best_delta SERIES FACTOR: is the best Delta so much faster than 0?
best_delta() {
  awk -v s="$1" -v f="$2" '$1 == s { n++; if ($2 == 0) zero = $3; if ($3 > best) best = $3 }
    END { exit !(n > 2 && zero > 0 && best >= f * zero) }' "$dat"
}

# 1, 2, 4 ... threads, and as many as there are cores.
thread_counts() {
  awk -v cores="$cores" 'BEGIN {
    for (n = 1; n < cores; n *= 2) printf "%d ", n
    print cores }'
}

# prefetched FIELD READ FRACTIONS: a figure of tests/bench/prefetch.sh: FIELD against
# read buffers READ, naive and by the share in FRACTIONS (tenths) that prefetches.
prefetched() {
  DISK=${TMPDIR:-/var/tmp} COUNT=$(size 4194304 67108864) MEMORY=$(size 8 48) \
    BLOCK=$(size 131072 524288) READ=$2 FRACTION=$3 \
    "$here/prefetch.sh" >"$scratch/log" || return 1
  awk -v field="$1" '/^RESULT/ {
      for (i = 1; i <= NF; i++) { split($i, a, "="); v[a[1]] = a[2] }
      least = v["r"] < 8 ? v["r"] : 8
      share = v["r"] > least ? int((v["w"] - least) * 10 / (v["r"] - least) + 0.5) * 10 : 100
      print (v["fetch"] == "naive" ? "naive" : share "%"), v["r"], v[field]
    }' "$scratch/log"
}

# note TEXT: what could not be measured; it stays with the data, and is told.
note() {
  echo "# note: $*"
  echo "$name: $*" >&2
}

# build_stxxl PARALLEL: $scratch/stxxl, which sorts as tests/bench/sort does; 1 after a
# note where STXXL is not installed (Debian: libstxxl-dev).
build_stxxl() {
  [ ! -x "$scratch/stxxl" ] || return 0
  STXXLLOGFILE=/dev/null STXXLERRLOGFILE=/dev/null
  export STXXLLOGFILE STXXLERRLOGFILE
  ${CXX:-g++} -std=c++17 -O2 -march=native -Wno-deprecated-declarations -fopenmp \
    -D_GLIBCXX_PARALLEL "$here/sort_stxxl.cpp" -lstxxl -pthread -o "$scratch/stxxl" \
    >"$scratch/log" 2>&1 || {
    note "STXXL: it is not installed (libstxxl-dev), or does not compile"
    return 1
  }
}

# sort_stxxl TYPE COUNT MEMORY: its RESULT line is in $scratch/log; 1 after a note where
# there is none. Its threads sleep while they wait: spinning, they take the cores from
# each other where these are busy.
sort_stxxl() {
  stxxl_limit=600
  OMP_WAIT_POLICY=passive timeout $stxxl_limit "$scratch/stxxl" sort "$1" "$2" "$3" \
    "$scratch" >"$scratch/log" 2>"$scratch/error" || {
    note "STXXL, $1 in $(($3 >> 20)) MiB: left out: exit status $? (124: no end in" \
      "$stxxl_limit s)"
    return 1
  }
}

# program PATH: of the build folder; what is missing is told.
program() {
  path=$(dirname "$(command -v pemsrun)")/$1
  [ -x "$path" ] || die "$path: not there: make $1"
  echo "$path"
}

# mean_of SERIES: mean of its y.
mean_of() {
  awk -v s="$1" '$1 == s { n++; sum += $3 } END { print n ? sum / n : 0 }' "$dat"
}

# at_most A FACTOR B: A <= FACTOR * B, both greater than 0.
at_most() {
  awk -v a="$1" -v f="$2" -v b="$3" \
    'BEGIN { exit !(a > 0 && b > 0 && a <= f * b) }'
}

