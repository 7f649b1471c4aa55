# shellcheck shell=sh disable=SC2034
paper='PEMS2 thesis, 8.18 to 8.20'
what='CGM prefix sum of programs that hold much more than they touch'
saw='CGMLib holds much more than it touches: mmap is dramatically faster.'
shape='mmap takes at most as long as unix with the greatest n'
why='P processes share two cores and one disk here, so that time does not fall with P.'
axes='n;seconds;logx'
measure() {
  thesis cgm-held 2 6
}
check_shape() {
  awk '!/^#/ { y[$1] = $3 } END { exit !(y["mmap-P1"] > 0 && y["mmap-P1"] <= y["unix-P1"]) }' "$dat"
}
