# shellcheck shell=sh disable=SC2034
paper='2015, section 5 (insertion heaps)'
what='The priority queue: pushing one by one against the size of insertion heaps'
saw='Heaps as large as a share of the second-level cache were chosen; larger ones might pay with other
heaps.'
shape='the best size is at least as fast as the smallest'
why='A heap larger than the cache costs misses for each item; one too small costs merging sorted arrays.'
axes='bytes of a heap;MiB per second;logx'
measure() {
  for bytes in 8 24; do
    for kib in $(size '8 64 512' '4 16 64 256 1024 4096'); do
      bench tests/bench/pqueue "$scratch" push-rand-pop "$(size 1048576 67108864)" \
        $(($(size 32 512) << 20)) "size=$bytes" batch=1 push=plain "heap=$((kib << 10))" ||
        return 1
      point "$bytes-bytes" $((kib << 10)) mib_per_second
    done
  done
}
check_shape() {
  awk '$1 == "8-bytes" { if (!n++) first = $3; if ($3 > best) best = $3 }
    END { exit !(n > 2 && best >= first) }' "$dat"
}
