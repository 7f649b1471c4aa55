# shellcheck shell=sh disable=SC2034
paper='2009, Table 3'
what='The Diamond flow graph: asynchronous nodes and threads of sorters'
saw='Asynchronous nodes make it 2.4 times as fast with one thread for each sorter, 3.6 times
with three.'
shape='all nodes asynchronous, with all cores, take at most 1.1 times as long as none with one'
why='2 cores instead of 8. Our sorters sort and write their runs with threads of their own in any case, so that
without asynchronous nodes 1.15 cores are busy; the threads of all of them only take the cores from each other.'
axes='threads of a sorter;seconds'
measure() {
  for async in none some all; do
    threads=1
    while [ $threads -le "$cores" ]; do
      bench apps/diamond --n "$(size 8388608 268435456)" --memory "$(size 32M 512M)" \
        --async $async --threads $threads --disk "$scratch" --out "$scratch/couples" || return 1
      point $async $threads seconds
      rm -f "$scratch/couples"
      threads=$((threads * 2))
    done
  done
}
check_shape() {
  awk '$1 == "none" && $2 == 1 { before = $3 } $1 == "all" { after = $3 }
    END { exit !(after > 0 && after <= 1.1 * before) }' "$dat"
}
