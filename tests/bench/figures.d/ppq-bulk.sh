# shellcheck shell=sh disable=SC2034
paper='2015, Fig. 4 and 6, bulk-rewrite'
what='The priority queue: throughput against the size of bulks'
saw='Throughput grows with the bulk size until bulks are some 10^5 items.'
shape='the largest bulks are faster than the smallest'
why='2 cores instead of 8 and 16, and less memory: what is gained by working in bulks is less.'
axes='items in a bulk;MiB per second;logx'
measure() {
  for bytes in 8 24; do
    for bulk in $(size '1000 10000 100000' \
      '5000 10000 20000 40000 80000 160000 320000 640000 1280000 2560000'); do
      bench tests/bench/pqueue "$scratch" bulk-rewrite "$(size 1048576 134217728)" \
        $(($(size 64 1024) << 20)) "bulk=$bulk" "size=$bytes" || return 1
      point "$bytes-bytes" "$bulk" mib_per_second
    done
  done
}
check_shape() {
  awk '$1 == "8-bytes" { if (!n++) first = $3; last = $3 } END { exit !(n > 1 && last > first) }' "$dat"
}
