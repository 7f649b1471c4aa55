# shellcheck shell=sh disable=SC2034
paper='PEMS2 thesis, 8.24'
what='CGM Euler tour, by driver'
saw='Shown with mmap only: it uses sorting and list ranking, and is far more complex than the two others.'
shape='unix takes at most as long as mmap with one process and the greatest n'
why=$cgm_why
axes='n;seconds;logx'
measure() {
  thesis cgm-euler 2 6
}
check_shape() {
  faster_of_cgm unix-P1 mmap-P1
}
