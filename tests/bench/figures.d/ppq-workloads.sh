# shellcheck shell=sh disable=SC2034
paper='2015, Fig. 4'
what='The priority queue: four workloads, 8-byte items, against n'
saw='Bulk operations reach several times the throughput of single ones; ascending pushes are
faster than random ones.'
shape='rewriting in bulks is at least as fast as half of pushing and popping one by one'
axes='items;10^6 items per second;logx'
measure() {
  queue=$(program tests/bench/pqueue)
  mkdir -p "$out/scratch"
  for n in $(size '262144 1048576' '33554432 134217728 536870912'); do
    for workload in push-rand-pop push-asc-pop bulk-rewrite asc-rbulk-rewrite; do
      "$queue" "$out/scratch" $workload "$n" $(($(size 16 1024) << 20)) \
        bulk="$(size 65536 640000)" >"$out/scratch/log" || return 1
      awk -v w=$workload -v n="$n" -v s="$(value seconds <"$out/scratch/log")" \
        'BEGIN { printf "%s %d %.4f\n", w, n, n / s / 1e6 }'
    done
  done
  rm -rf "$out/scratch"
}
check_shape() {
  at_most "$(mean_of push-rand-pop)" 2 "$(mean_of bulk-rewrite)"
}
