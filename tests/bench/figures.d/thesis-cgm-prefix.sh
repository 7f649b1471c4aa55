# shellcheck shell=sh disable=SC2034
paper='PEMS2 thesis, 8.18 to 8.20'
what='CGM prefix sum, by driver'
saw='As CGM sort, for communication is as little: mmap is dramatically faster.'
shape='unix takes at most as long as mmap with one process and the greatest n'
why=$cgm_why
axes='n;seconds;logx'
measure() {
  thesis cgm-prefix 2 6
}
check_shape() {
  faster_of_cgm unix-P1 mmap-P1
}
