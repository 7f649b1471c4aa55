# shellcheck shell=sh disable=SC2034
paper='PEMS2 thesis, 8.6'
what='PSRS: speedup by the number of processes, and what each of them reads and writes'
saw='PEMS2 gains far more from real processors than PEMS1 does: about 5 with 8.'
shape='of P processes each reads and writes at most 1.25 / P of what one does'
why='P processes share two cores and one disk here, so that time does not fall with P; bytes do.'
axes='processes;share of one process, speedup;panels'
measure() {
  # So many that contexts are moved.
  OUT=$scratch QUICK=$(size 1 0) KEYS=1048576 "$here/thesis" psrs-small >"$scratch/log" 2>&1 || {
    cat "$scratch/log" >&2
    return 1
  }
  awk '/^#/ || /^stxxl/ { next }
    { io = $1; sub(/-P.*/, "", io); if ($4 > 1 && $2 > most[io]) most[io] = $2
      s[io, $2, $4] = $6; bytes[io, $2, $4] = $11 + $12; p[$4] = 1 }
    END { for (io in most) for (each in p) if ((n = s[io, most[io], each]) > 0) {
        printf "speedup/%s %d %.3g\n", io, each, s[io, most[io], 1] / n
        if (bytes[io, most[io], 1] > 0) printf "bytes/%s %d %.3g\n", io, each, bytes[io, most[io], each] / bytes[io, most[io], 1] } }' \
    "$scratch/thesis_psrs_small.dat" | sort -k1,1 -k2,2n
}
check_shape() {
  awk '$1 ~ /^bytes/ { n++; if ($3 * $2 > 1.25) bad = 1 } END { exit !(n > 1 && !bad) }' "$dat"
}
