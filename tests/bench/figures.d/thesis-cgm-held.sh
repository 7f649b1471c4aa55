# shellcheck shell=sh disable=SC2034
paper='PEMS2 thesis, 8.18 to 8.20'
what='CGM prefix sum of programs that hold much more than they touch'
saw='CGMLib holds much more than it touches: mmap is dramatically faster.'
shape='mmap takes at most as long as unix with one process and the greatest n'
why='Eight prefix sums, by programs that hold 128 times what they touch, stand for those of CGMLib. Swapping lazily moves
as little as mmap does. P processes share two cores and one disk here, so that time does not fall with P.'
axes='n;seconds;logx'
measure() {
  thesis cgm-held 2 6
}
check_shape() {
  faster_of_cgm mmap-P1 unix-P1
}
