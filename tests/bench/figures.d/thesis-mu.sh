# shellcheck shell=sh disable=SC2034
paper='PEMS2 thesis, 8.7'
what='PSRS: n grows with the contexts, v stays'
saw='As contexts grow PEMS2 scales much better than PEMS1, whose disk seeks farther.'
shape='time for a key with the greatest n is at most 1.6 times that with the smallest, in each series'
why='P processes share two cores and one disk here, so that time does not fall with P.'
axes='n;seconds;logx'
measure() {
  thesis mu 2 6
}
check_shape() {
  awk '!/^#/ { t = $3 / $2; if (!($1 in first)) first[$1] = t; last[$1] = t }
    END { for (s in first) { n++; if (last[s] > 1.6 * first[s]) bad = 1 } exit !(n && !bad) }' "$dat"
}
