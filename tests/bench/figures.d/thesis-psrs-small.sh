# shellcheck shell=sh disable=SC2034
paper='PEMS2 thesis, 8.3 to 8.5'
what='PSRS against n, contexts of one small size'
saw='PEMS2 is faster than PEMS1, with a slope nearly that of STXXL; near STXXL with 4
processors, faster with 8.'
shape='time for a key with the greatest n is at most 1.6 times that with the smallest, in each series'
why='P processes share two cores and one disk here, so that time does not fall with P.'
axes='n;seconds;logx'
measure() {
  thesis psrs-small 2 6
}
check_shape() {
  awk '!/^#/ { t = $3 / $2; if (!($1 in first)) first[$1] = t; last[$1] = t }
    END { for (s in first) { n++; if (last[s] > 1.6 * first[s]) bad = 1 } exit !(n && !bad) }' "$dat"
}
