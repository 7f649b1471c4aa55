# shellcheck shell=sh disable=SC2034
paper='2009, Fig. 10'
what='Sorting pairs against threads: by itself, and within a graph of nodes'
saw='2423 s with one thread, 1092 s with 4, near the 880 s of the disks; in a graph a few percent
more with asynchronous nodes, 2953 s without.'
shape='within a graph with asynchronous nodes it takes at most 1.25 times as long as by itself, and
with all cores no longer than 1.1 times that with one thread'
why='An SSD is much faster than eight disks of 2009, so that computing takes the greater part here. The
sort by itself reads and writes a file; the graph makes and drops its pairs.'
axes='threads;seconds'
measure() {
  n=$(size 4194304 134217728) memory=$(size 32 512)
  for threads in $(thread_counts); do
    bench tests/bench/sort "$scratch" pair "$n" $((memory << 20)) limit=0 files=0 \
      threads="$threads" || return 1
    point sort "$threads" seconds
    for async in none all; do
      bench tests/bench/stream_sort --n "$n" --memory "${memory}M" --threads "$threads" \
        --async $async --disk "$scratch" || return 1
      point "graph-async-$async" "$threads" seconds
    done
  done
}
check_shape() {
  at_most "$(mean_of graph-async-all)" 1.25 "$(mean_of sort)" &&
    awk '$1 == "sort" { if (!n++) first = $3; last = $3 } END { exit !(last <= 1.1 * first) }' "$dat"
}
