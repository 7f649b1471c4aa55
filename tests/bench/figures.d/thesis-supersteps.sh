# shellcheck shell=sh disable=SC2034
paper='PEMS2 thesis, 8.12 to 8.14'
what='When each rank of PSRS ends each superstep, by driver'
saw='unix and stxxl-file: time grows in jumps with what each superstep moves; mmap: nearly flat until the last
Alltoallv, since the first supersteps touch little.'
shape='the last rank ends its last superstep after its first, with each driver; with mmap what comes before
the exchange of all keys has no greater share of the time than with unix, by a tenth'
why='uring is our asynchronous driver. More memory than here was free for mapped files then.'
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
check_shape() {
  awk '!/^#/ { split($1, a, "/"); if ($3 > y[a[1], $2]) y[a[1], $2] = $3
      if ($2 > last[a[1]]) last[a[1]] = $2; if (!(a[1] in low) || $2 < low[a[1]]) low[a[1]] = $2 }
    END { for (io in last) { n++; if (y[io, last[io]] <= y[io, low[io]]) bad = 1
        early[io] = y[io, last[io] - 3] / y[io, last[io]] }
      exit !(n == 3 && !bad && early["mmap"] <= early["unix"] + 0.1) }' "$dat"
}
