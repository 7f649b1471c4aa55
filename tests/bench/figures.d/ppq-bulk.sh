# shellcheck shell=sh disable=SC2034
paper='2015, section 4'
what='The priority queue: throughput against the size of bulks'
saw='Throughput grows with the bulk size until bulks are some 10^5 items.'
shape='the largest bulks are faster than the smallest'
axes='items in a bulk;10^6 items per second;logx'
measure() {
  queue=$(program tests/bench/pqueue)
  mkdir -p "$out/scratch"
  n=$(size 1048576 134217728)
  for bytes in 8 24; do
    for bulk in $(size '1000 10000 100000' '1000 10000 100000 640000 1000000'); do
      "$queue" "$out/scratch" bulk-rewrite "$n" $(($(size 64 1024) << 20)) "bulk=$bulk" \
        "size=$bytes" >"$out/scratch/log" || return 1
      awk -v b="$bulk" -v y="$bytes" -v n="$n" -v s="$(value seconds <"$out/scratch/log")" \
        'BEGIN { printf "%d-bytes %d %.4f\n", y, b, n / s / 1e6 }'
    done
  done
  rm -rf "$out/scratch"
}
check_shape() {
  awk '$1 == "8-bytes" { if (!n++) first = $3; last = $3 } END { exit !(n > 1 && last > first) }' "$dat"
}
