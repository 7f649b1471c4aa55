# shellcheck shell=sh disable=SC2034
paper='2003, section 5 (Fig. 13)'
what='Sorting with one merging pass of small blocks, or two of larger ones'
saw='Two merging passes are no good idea even if blocks can be larger then.'
shape='the best with one pass takes at most 1.05 times as long as the best with more'
why='An SSD needs no large blocks: one pass wins by more than on disks that seek.'
axes='bytes of a block;ns per byte;logx'
measure() {
  n=$(size 8388608 536870912)
  for block in $(size '8192 32768 65536' '16384 32768 65536 131072 262144 524288'); do
    bench tests/bench/sort "$scratch" u64 "$n" $(($(size 2 16) << 20)) limit=0 \
      threads=1 "block=$block" || return 1
    point "$(value passes <"$scratch/log")-passes" "$block" "seconds / 8 / $n * 1e9"
  done
}
check_shape() {
  awk '!/^#/ { one = $1 == "1-passes"; if (!(one in y) || $3 < y[one]) y[one] = $3 }
    END { exit !(y[1] > 0 && y[0] > 0 && y[1] <= 1.05 * y[0]) }' "$dat"
}
