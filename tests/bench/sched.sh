#!/bin/bash
# Figures 5, 6 and 13 and Tables 5 and 6 of Yesil et al. 2019 on this machine: all
# schedulers, on the graph programs, on road-like, power-law and uniform graphs.
# Each run's results are those of every other: sums and counts are compared.
#
#   APPS       where pems-graph was built (pemsrun's folder)
#   CASES      PROGRAM-GRAPH... (sssp-road sssp-rmat sssp-uniform bfs-road bfs-rmat
#              pr-rmat prd-rmat mst-road astar-road); prd is pr with priorities
#              1000 times finer
#   SCHEMES    (pmod obim-D obim-O multiqueue reld spraylist); obim-D shifts by 8
#              in sssp and astar, as Galois does, obim-O by the best of DELTAS
#   DELTAS     (0 4 8 10 12 14 16)
#   THREADS    (1 2)
#   NODES      of the road graph (4000000); SCALE of R-MAT (20), 16 edges a node;
#              UNIFORM nodes (1000000), 8 edges a node; PR_SCALE of R-MAT for pr
#              (18)
#   REPEAT     runs of each, the best counts (2)
#   RANK_NODES, RANK_SCALE  of the graphs for rank errors (250000, 16)
#   STEPS      (time cycles rank)
#   OUT        directory for sched.log (all RESULT lines; those there already
#              count, too), sched.txt (tables), sched.dat, sched.gp, sched.svg (.)
#   SECONDS_MOST  of one run (120)
set -u
# shellcheck source=tests/bench/lib.sh
. "$(dirname "$0")/lib.sh"

apps=${APPS:-$(dirname "$(command -v "$pemsrun")")}
[ -x "$apps/pems-graph" ] || skip "$apps/pems-graph was not found: build it"
cases=${CASES:-sssp-road sssp-rmat sssp-uniform bfs-road bfs-rmat pr-rmat
  prd-rmat mst-road astar-road}
schemes=${SCHEMES:-pmod obim-D obim-O multiqueue reld spraylist}
deltas=${DELTAS:-0 4 8 10 12 14 16}
threads=${THREADS:-1 2}
steps=${STEPS:-time cycles rank}
out=${OUT:-.}
mkdir -p "$out" || exit 1
log=$out/sched.log

# --- graphs ---

# Made once: name, then what `pems-graph generate` is told.
make_graph() {
  local name=$1
  shift
  [ -f "$work/$name.csr" ] ||
    "$apps/pems-graph" generate "$@" --seed 1 -o "$work/$name.csr" >"$work/made" ||
    exit 1
}

# graph_of PROGRAM GRAPH small|large: makes it, and says its name.
graph_of() {
  local nodes=${NODES:-4000000} scale=${SCALE:-20} uniform=${UNIFORM:-1000000}
  case $1 in
    pr*) scale=${PR_SCALE:-18} ;;
  esac
  if [ "$3" = small ]; then
    nodes=${RANK_NODES:-250000} scale=${RANK_SCALE:-16} uniform=100000
  fi
  case $2 in
    road) make_graph "road$nodes" road --nodes "$nodes" && echo "road$nodes" ;;
    rmat)
      make_graph "rmat$scale" rmat --scale "$scale" --factor 16 --permute \
        --undirected && echo "rmat$scale"
      ;;
    uniform)
      make_graph "uniform$uniform" uniform --nodes "$uniform" \
        --edges $((8 * uniform)) --weights 1:100000 &&
        echo "uniform$uniform"
      ;;
  esac
}

# --- runs ---

# run STEP CASE GRAPH THREADS SCHEME SCHEDULER DELTA [OPTION...]
run() {
  local step=$1 case=$2 graph=$3 p=$4 scheme=$5 sched=$6 delta=$7 program option
  shift 7
  grep -q "step=$step case=$case graph=$graph threads=$p scheme=$scheme\
 delta=$delta " "$log" 2>/dev/null && return
  program=${case%-*}
  option=()
  case $program in
    pr) program=pagerank ;;
    prd) program=pagerank option=(--detailed) ;;
    astar) option=(--queries 4) ;;
  esac
  timeout "${SECONDS_MOST:-120}" "$apps/pems-graph" "$program" "$work/$graph.csr" \
    --sched "$sched" --threads "$p" --delta "$delta" "${option[@]}" "$@" \
    >"$work/run" 2>"$work/error"
  local status=$?
  if [ $status -ne 0 ]; then
    echo "RESULT step=$step case=$case graph=$graph threads=$p scheme=$scheme" \
      "delta=$delta status=$status" | tee -a "$log"
    [ $status -eq 124 ] || cat "$work/error" >&2
    return
  fi
  sed -n "s/^RESULT /RESULT step=$step case=$case graph=$graph threads=$p\
 scheme=$scheme delta=$delta /p" "$work/run" | tee -a "$log"
}

# run_scheme STEP CASE GRAPH THREADS SCHEME [OPTION...]
run_scheme() {
  local step=$1 case=$2 graph=$3 p=$4 scheme=$5 delta=0
  shift 5
  case $scheme in
    obim-D)
      case $case in
        sssp* | astar*) delta=8 ;;
      esac
      run "$step" "$case" "$graph" "$p" obim-D obim $delta "$@"
      ;;
    obim-O)
      case $case in
        sssp* | astar*) ;;
        *) return ;;
      esac
      for delta in $deltas; do
        run "$step" "$case" "$graph" "$p" obim-O obim "$delta" "$@"
      done
      ;;
    *) run "$step" "$case" "$graph" "$p" "$scheme" "$scheme" 0 "$@" ;;
  esac
}

for case in $cases; do
  for step in $steps; do
    case $step in
      time) size=large option=(--repeat "${REPEAT:-2}") ;;
      cycles) size=large option=(--measure) ;;
      *) size=small option=(--rank) ;;
    esac
    graph=$(graph_of "${case%-*}" "${case#*-}" $size) || exit 1
    for p in $threads; do
      for scheme in $schemes; do
        [ "$step-$scheme" = cycles-obim-O ] && continue
        run_scheme "$step" "$case" "$graph" "$p" "$scheme" "${option[@]}"
      done
    done
  done
done

# --- tables ---

awk -f "$here/sched.awk" -v data="$out/sched.dat" "$log" | tee "$out/sched.txt"

cat >"$out/sched.gp" <<END
set terminal svg size 1000,420 font 'sans,11'
set output 'sched.svg'
set style data histograms
set style histogram clustered gap 1
set style fill solid 0.8
set ylabel 'times as fast as obim-O (or obim), 1 thread'
set xtics rotate by -30
set grid y
set key outside
plot for [i=2:*] 'sched.dat' using i:xtic(1) title columnheader(i)
END
if command -v gnuplot >/dev/null; then
  (cd "$out" && gnuplot sched.gp)
fi
