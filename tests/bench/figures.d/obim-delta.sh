# shellcheck shell=sh disable=SC2034
paper='2019, Fig. 8'
what='obim: speedup over one thread against Delta, on a road-like graph'
saw='One Delta is best, 14 there, and speedups fall to both sides: 5 and 8 instead of 20 with 10.'
shape='the best Delta is at least 1.2 times as fast as Delta = 0'
why='Our road graphs have weights up to 10^4 or so; the best Delta is where theirs leaves enough
tasks for a priority, and with 2 cores few are enough.'
axes='Delta;speedup;panels'
measure() {
  deltas "$(case_graph road)" sssp astar
}
check_shape() {
  best_delta "sssp/$cores-threads" 1.2
}
