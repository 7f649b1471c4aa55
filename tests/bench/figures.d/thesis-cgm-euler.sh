# shellcheck shell=sh disable=SC2034
paper='PEMS2 thesis, 8.24'
what='CGM Euler tour, by driver'
saw='Shown with mmap only: it uses sorting and list ranking, and is far more complex than they.'
shape='no series is faster with the greatest n than with the smallest'
why='P processes share two cores and one disk here, so that time does not fall with P.'
axes='n;seconds;logx'
measure() {
  thesis cgm-euler 2 6
}
check_shape() {
  awk '!/^#/ { if (!($1 in first)) first[$1] = $3; last[$1] = $3; many[$1]++ }
    END { for (s in first) { n++; if (many[s] > 1 && last[s] < 0.9 * first[s]) bad = 1 } exit !(n && !bad) }' "$dat"
}
