# shellcheck shell=sh disable=SC2034
paper='2009, Table 2'
what='Suffix arrays by pipelined algorithms'
saw='DC3 is fastest on all inputs; asynchronous sorters and threads speed it up by half.'
shape='DC3 takes at most 0.8 of the time of doubling'
axes='MiB of text;ns per byte'
measure() {
  program apps/suffix_array >/dev/null
  mkdir -p "$out/scratch"
  mib=$(size 4 256)
  find /usr/include /usr/share -type f -size -512k 2>/dev/null | sort | head -n 20000 |
    xargs cat 2>/dev/null | head -c "${mib}M" >"$out/scratch/text"
  for algorithm in dc3 quadrupling doubling; do
    began=$(date +%s%N)
    "$(program apps/suffix_array)" --algorithm $algorithm --memory "$(size 16M 256M)" \
      --disk "$out/scratch" "$out/scratch/text" "$out/scratch/array" >/dev/null || return 1
    awk -v a="$algorithm" -v m="$mib" -v ns="$(($(date +%s%N) - began))" \
      'BEGIN { printf "%s %d %.1f\n", a, m, ns / m / 1048576 }'
  done
  rm -rf "$out/scratch"
}
check_shape() {
  at_most "$(mean_of dc3)" 0.8 "$(mean_of doubling)"
}
