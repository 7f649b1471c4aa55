# shellcheck shell=sh disable=SC2034
paper='PEMS2 thesis, 8.15 to 8.17'
what='CGM sort, by driver and way to swap in'
saw='CGMLib allocates much more than it touches, and calls several MPI functions for each exchange, so that
explicit I/O swaps much: with mmap it is dramatically faster.'
shape='unix takes at most as long as mmap with one process and the greatest n'
why=$cgm_why
axes='n;seconds;logx'
measure() {
  thesis cgm-sort 2 6
}
check_shape() {
  faster_of_cgm unix-P1 mmap-P1
}
