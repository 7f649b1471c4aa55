# shellcheck shell=sh disable=SC2034
paper='PEMS2 thesis, 8.12 to 8.14'
what='When each rank of PSRS ends each superstep, by driver'
saw='unix and stxxl-file: time grows in jumps at each superstep, with what it moves; mmap: nearly flat until
the last Alltoallv, since the first supersteps touch little: they take almost no time.'
shape='between the local sort and the exchange of all keys, mmap spends at most a twentieth of its time, and a
smaller share than unix and than uring, which move contexts there'
why='uring is our asynchronous driver. Small messages wait in memory, so that fewer contexts are moved for
them than PEMS2 moved, and the jumps of unix and uring are low before the exchange.'
axes='superstep;seconds;panels nokey'
measure() {
  pemscc -O2 -o "$scratch/psrs" "$top/apps/psrs.c" || return 1
  for io in unix uring mmap; do
    pemsrun -n 16 --pems-k=2 --pems-memory="$(size 96M 320M)" --pems-disk="$scratch" \
      --pems-io=$io --pems-report="$scratch/$io" "$scratch/psrs" \
      "$(size 16777216 134217728)" >"$scratch/log" 2>&1 || {
      cat "$scratch/log" >&2
      return 1
    }
    awk -v io=$io '!/^#/ && NF > 4 { printf "%s/rank-%d %d %s\n", io, $1, $2 + $3 - 1, $5 }' \
      "$scratch/$io"/supersteps.*.dat
  done
}
# PSRS sorts in superstep 0; 1 to 3 find the pivots and count; 4 begins with the
# exchange of all keys.
check_shape() {
  awk '!/^#/ { split($1, a, "/"); if ($3 > end[a[1], $2]) end[a[1], $2] = $3
      if ($3 > all[a[1]]) all[a[1]] = $3 }
    END { for (io in all) { n++; share[io] = (end[io, 3] - end[io, 0]) / all[io] }
      exit !(n == 3 && share["mmap"] <= 0.05 && share["mmap"] < share["unix"] &&
        share["mmap"] < share["uring"]) }' "$dat"
}
see() {
  awk '!/^#/ { split($1, a, "/"); if ($3 > end[a[1], $2]) end[a[1], $2] = $3
      if ($3 > all[a[1]]) all[a[1]] = $3 }
    END { for (io in all) printf "%s %.1f %%; ", io, 100 * (end[io, 3] - end[io, 0]) / all[io]
      print "of the time between the local sort and the exchange" }' "$dat"
}
