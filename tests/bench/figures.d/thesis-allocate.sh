# shellcheck shell=sh disable=SC2034
paper='PEMS2 thesis, C.1'
what='Contexts in files that were reserved first, or grew'
saw='What contexts occupy grows, n stays: with extents (ext4) time is even, without (ext3)
it grows severely.'
shape='a file reserved first is read at most 1.5 times as slowly as one that grew'
why='Files are made one after the other on a disk without seeks: growing costs less than it did.'
axes='bytes of a context;seconds of reading;logx'
measure() {
  thesis allocate 2 5
}
check_shape() {
  awk '$1 ~ /^reserve/ { r += $3 } $1 ~ /^grow/ { g += $3 } END { exit !(r > 0 && r <= 1.5 * g) }' "$dat"
}
