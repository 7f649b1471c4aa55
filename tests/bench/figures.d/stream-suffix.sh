# shellcheck shell=sh disable=SC2034
paper='2009, Table 2'
what='Suffix arrays by pipelined algorithms, with and without asynchronous nodes'
saw='DC3 is fastest on all inputs; asynchronous sorters and threads speed it up by half.'
shape='DC3 takes at most 0.8 of the time of doubling'
why='Texts are files of this machine; 2 cores instead of 8, which the asynchronous nodes have to share.'
axes='MiB of text;ns per byte'
measure() {
  for mib in $(size 4 '64 128 256'); do
    find /usr/include /usr/share -type f -size -512k 2>/dev/null | sort | head -n 20000 |
      xargs cat 2>/dev/null | head -c "${mib}M" >"$scratch/text"
    for algorithm in dc3 quadrupling doubling; do
      for async in none all; do
        began=$(date +%s%N)
        "$(program apps/suffix_array)" --algorithm $algorithm --async $async \
          --memory "$(size 16M 64M)" --disk "$scratch" "$scratch/text" "$scratch/array" \
          >"$scratch/log" || return 1
        awk -v a="$algorithm-$async" -v m="$mib" -v ns="$(($(date +%s%N) - began))" \
          'BEGIN { printf "%s %d %.1f\n", a, m, ns / m / 1048576 }'
      done
    done
  done
}
check_shape() {
  at_most "$(mean_of dc3-none)" 0.8 "$(mean_of doubling-none)"
}
