# shellcheck shell=sh disable=SC2034
paper='2009, Table 1'
what='The priority queue against threads'
saw='8-byte items: 1.36 times as fast with 2 threads, 1.61 with 4, 1.75 with 8.'
shape='all cores take at most 1.1 times as long as one'
why='2 cores: no more than two threads are of use; the pops are those of one array each.'
axes='threads;seconds'
measure() {
  threads=1
  while [ $threads -le "$cores" ]; do
    bench tests/bench/pqueue "$scratch" push-rand-pop "$(size 1048576 268435456)" \
      $(($(size 16 256) << 20)) "threads=$threads" || return 1
    point filling $threads push_seconds
    point emptying $threads pop_seconds
    point total $threads seconds
    threads=$((threads * 2))
  done
}
check_shape() {
  awk '$1 == "total" { if (!n++) first = $3; last = $3 } END { exit !(last <= 1.1 * first) }' "$dat"
}
