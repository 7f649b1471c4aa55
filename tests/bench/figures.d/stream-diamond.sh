# shellcheck shell=sh disable=SC2034
paper='2009, Table 3'
what='The Diamond flow graph: asynchronous nodes and threads of sorters; seconds, and cores that are busy'
saw='Asynchronous nodes make it 2.4 times as fast with one thread for each sorter, 3.6 times
with three: 3057 s, where the disks alone need about 2500 s. Without them one node works at a time.'
shape='all nodes asynchronous, with all cores, take at most 1.1 times as long as none with one; and without
them, with one thread, more than one core is busy'
why='Our sorters form, write and merge runs with threads of their own, so that the disk works while records are
pushed and pulled without any asynchronous node: what these bring to the library of 2009 is there already. With 2 cores
instead of 8 there are no others for them.'
axes='threads of a sorter;;panels'
measure() {
  for round in $(size '1 2 3' 1); do
    for async in none some all; do
      for threads in $(thread_counts); do
        bench apps/diamond --n "$(size 33554432 268435456)" --memory "$(size 128M 512M)" \
          --async $async --threads "$threads" --disk "$scratch" --out "$scratch/couples" ||
          return 1
        point seconds/$async "$threads" seconds
        point cores-busy/$async "$threads" 'cpu_seconds / seconds'
        rm -f "$scratch/couples"
      done
    done
  done >"$scratch/rounds" && medians <"$scratch/rounds"
}
check_shape() {
  awk -v cores="$(record cores)" '!/^#/ { y[$1, $2] = $3 }
    END {
      after = y["seconds/all", cores]
      exit !(after > 0 && after <= 1.1 * y["seconds/none", 1] && y["cores-busy/none", 1] > 1)
    }' "$dat"
}
