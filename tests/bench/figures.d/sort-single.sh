# shellcheck shell=sh disable=SC2034
paper='2003, Fig. 6'
what='Sorting on one disk by size of element, beside STXXL'
saw='STXXL and TPIE are flat, bound by the disk even for small elements, STXXL at 95 % of its
speed; LEDA-SM computes too long for small keys.'
shape='pems is flat, too: a byte takes at most 1.4 times as long in the slowest size as in the fastest;
and at most 1.1 times as long as STXXL takes, where both were measured'
why='One SSD reads and writes at 2 GB/s, 40 times as fast as the disk of 2003: STXXL is bound by the
processor there, and by that the more the smaller elements are. TPIE and LEDA-SM are not at hand.'
axes='bytes of an element;ns per byte;logx'
measure() {
  bytes=$(size 268435456 2147483648)
  for type in u32:4 u64:8 pair:16 record:100; do
    n=$((bytes / ${type#*:})) memory=$((bytes / 4))
    bench tests/bench/sort "$scratch" ${type%:*} $n $memory limit=0 || return 1
    point pems "${type#*:}" "seconds / $bytes * 1e9"
    build_stxxl || continue
    sort_stxxl ${type%:*} $n $memory || continue
    point stxxl "${type#*:}" "seconds / $bytes * 1e9"
  done
}
check_shape() {
  awk '$1 == "pems" { if (!n++ || $3 < least) least = $3
      if ($3 > most) most = $3
      y[$2] = $3 }
    $1 == "stxxl" { theirs += $3; ours += y[$2] }
    END { exit !(n == 4 && most <= 1.4 * least && (!theirs || ours <= 1.1 * theirs)) }' "$dat"
}
