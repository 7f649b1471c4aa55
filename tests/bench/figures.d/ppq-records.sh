# shellcheck shell=sh disable=SC2034
paper='2015, Fig. 6, Tables 4 and 5'
what='The priority queue: four workloads, 24-byte items, against n, beside the sorter'
saw='Bulk operations reach several times the throughput of single ones; ascending pushes are
faster than random ones; the queue has 0.89 to 0.90 of the sorter at random items.'
shape='rewriting in bulks is at least half as fast as pushing and popping, which is at least
half as fast as the sorter'
axes='items;MiB per second;logx'
measure() {
  for n in $(size '262144 1048576' '16777216 67108864 268435456'); do
    for workload in push-rand-pop push-asc-pop bulk-rewrite asc-rbulk-rewrite; do
      bench tests/bench/pqueue "$scratch" $workload "$n" $(($(size 16 1024) << 20)) \
        size=24 "bulk=$(size 65536 640000)" || return 1
      point $workload "$n" mib_per_second
    done
    bench tests/bench/pqueue "$scratch" push-rand-pop "$n" $(($(size 16 1024) << 20)) \
      size=24 queue=sorter || return 1
    point sorter "$n" mib_per_second
  done
}
check_shape() {
  at_most "$(mean_of push-rand-pop)" 2 "$(mean_of bulk-rewrite)" &&
    at_most "$(mean_of sorter)" 2 "$(mean_of push-rand-pop)"
}
