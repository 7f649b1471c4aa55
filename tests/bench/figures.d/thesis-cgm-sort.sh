# shellcheck shell=sh disable=SC2034
paper='PEMS2 thesis, 8.15 to 8.17'
what='CGM sort, by driver and way to swap in'
saw='CGMLib allocates much more than it touches, and calls several MPI functions for each exchange, so that
explicit I/O swaps much: with mmap it is dramatically faster.'
shape='unix takes at most as long as mmap with one process and the greatest n'
why='Our programs hold little more than they touch, and heaps give back what is freed, so that explicit I/O moves
whole contexts in large requests where mmap faults page by page: the order is the other one. For programs
that hold much, as those of CGMLib did, see thesis-cgm-held: there it is that of the thesis. P processes share two
cores and one disk here, so that time does not fall with P; at the small scale two processes have room for all.'
axes='n;seconds;logx'
measure() {
  thesis cgm-sort 2 6
}
check_shape() {
  faster_of_cgm unix-P1 mmap-P1
}
