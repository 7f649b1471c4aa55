# shellcheck shell=sh disable=SC2034
paper='PEMS2 thesis, 7.2'
what='One MPI_Alltoallv against n, by driver and k'
saw='Explicit I/O is faster with k = 4 than with 1 though nothing is computed; mapped I/O is
slower than both, and slower still with k = 4.'
shape='time is at most 2.5 times as long for twice the n, in each series'
why='One disk of 2 GB/s and 2 cores, and direct delivery to contexts in memory: k matters less.'
axes='n;seconds;logx'
measure() {
  OUT=$scratch NS="$(size '1048576 2097152' '16777216 33554432 67108864')" \
    "$here/fig7_2.sh" >"$scratch/log" 2>&1 || {
    cat "$scratch/log" >&2
    return 1
  }
  awk '!/^#/ && $1 == "n" { for (i = 2; i <= NF; i++) name[i] = $i; next }
    !/^#/ { for (i = 2; i <= NF; i++) print name[i], $1, $i }' "$scratch/fig7_2.dat"
}
check_shape() {
  awk '!/^#/ { if ($1 in n) if ($3 / y[$1] > 1.25 * $2 / n[$1]) bad = 1; n[$1] = $2; y[$1] = $3 }
    END { exit !(length(n) && !bad) }' "$dat"
}
