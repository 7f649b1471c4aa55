# shellcheck shell=sh disable=SC2034
paper='PEMS2 thesis, 8.24'
what='CGM Euler tour, by driver'
saw='Shown with mmap only: it uses sorting and list ranking, and is far more complex than the two others.'
shape='unix takes at most as long as mmap with one process and the greatest n'
why='Our programs hold little more than they touch, and heaps give back what is freed, so that explicit I/O moves
whole contexts in large requests where mmap faults page by page: the order is the other one. For programs
that hold much, as those of CGMLib did, see thesis-cgm-held: there it is that of the thesis. P processes share two
cores and one disk here, so that time does not fall with P; at the small scale two processes have room for all.'
axes='n;seconds;logx'
measure() {
  thesis cgm-euler 2 6
}
check_shape() {
  faster_of_cgm unix-P1 mmap-P1
}
