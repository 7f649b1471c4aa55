name = "thesis_processes"
# The lines of one series in the data, by n; the names of all.
rows(s) = sprintf("< awk '$1 == \"%s\"' %s.dat | sort -n -k 2,2", s, name)
all = system("awk '!/^#/ && !seen[$1]++ { print $1 }' ".name.".dat")
set key left top noenhanced
set grid
set yrange [0:*]
drivers = "unix uring"
most = 100663296
data = "thesis_psrs_small.dat"
by_p(d) = sprintf("< awk '$2 == %d && $1 ~ /^%s-P/' %s | sort -n -k 4,4", \
  most, d, data)
alone(d) = real(system(by_p(d)[2:]." | awk '$4 == 1 { print $6 }'"))
set xtics 1
set xlabel "processes P"
set key right top
do for [type in "svg png"] {
  if (type eq "svg") {
    set terminal svg size 800,800 dynamic background "white"
  } else {
    set terminal pngcairo size 800,800
  }
  set output name.".".type
  set multiplot layout 3,2 title sprintf("PSRS of %.0f million keys, ". \
    "small contexts: what each process does", most / 1e6)
  set title "read and written, MB"
  plot for [d in drivers] by_p(d) using 4:(($11 + $12) / 1e6) \
    with linespoints title d
  set title "sent to other processes, MB"
  plot for [d in drivers] by_p(d) using 4:($13 / 1e6) with linespoints title d
  set title "network rounds: buffers to each other process"
  plot for [d in drivers] by_p(d) using 4:($4 > 1 ? $14 / ($4 - 1) : 0) \
    with linespoints title d
  set title "messages to each other process"
  plot for [d in drivers] by_p(d) using 4:($4 > 1 ? $15 / ($4 - 1) : 0) \
    with linespoints title d
  set title "CPU seconds"
  plot for [d in drivers] by_p(d) using 4:($9 / $4) with linespoints title d
  set title "speedup (as Figure 8.6)"
  plot for [d in drivers] by_p(d) using 4:(alone(d) / $6) \
    with linespoints title d
  unset multiplot
}
set output
