# shellcheck shell=sh disable=SC2034
paper='2015, Fig. 4, Tables 1 and 3'
what='The priority queue: four workloads, 8-byte items, against n, beside the sorter'
saw='Bulk operations reach several times the throughput of single ones; ascending pushes are
faster than random ones; the queue has 0.83 to 0.87 of the sorter at random items.'
shape='rewriting in bulks is at least half as fast as pushing and popping, which is at least
half as fast as the sorter'
why='The disk is slower beside the cores than four SSDs beside 16 cores; queues of STXXL: ppq-stxxl.'
axes='items;MiB per second;logx'
measure() {
  # shellcheck disable=SC2046 # a list
  queue_workloads 8 $(size '262144 1048576' '33554432 134217728 536870912')
}
check_shape() {
  at_most "$(mean_of push-rand-pop)" 2 "$(mean_of bulk-rewrite)" &&
    at_most "$(mean_of sorter)" 2 "$(mean_of push-rand-pop)"
}
