# shellcheck shell=sh disable=SC2034
paper='PEMS2 thesis, 8.8 to 8.11'
what='PSRS against n, contexts of one large size'
saw='With contexts of 1 GiB PEMS2 is very close to STXXL with 2 processors and faster with 4.'
shape='time for a key with the greatest n is at most 1.6 times that with the smallest, in each series'
why='P processes share two cores and one disk here, so that time does not fall with P.'
axes='n;seconds;logx'
measure() {
  thesis psrs-large 2 6
}
check_shape() {
  awk '!/^#/ { t = $3 / $2; if (!($1 in first)) first[$1] = t; last[$1] = t }
    END { for (s in first) { n++; if (last[s] > 1.6 * first[s]) bad = 1 } exit !(n && !bad) }' "$dat"
}
