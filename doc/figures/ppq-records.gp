# Draws ppq-records.dat; in this folder: gnuplot ppq-records.gp
set terminal svg size 760, 480 font 'sans,13' background 'white'
set output 'ppq-records.svg'; set grid; set key outside right top
set xlabel "items"
set ylabel "MiB per second"
set logscale x 2
set format x '2^{%L}'
set yrange [0:*]
set title "The priority queue: four workloads, 24-byte items, against n, beside the sorter\n2015, Fig. 6, Tables 4 and 5; scale small, load 1.92 to 1.77 on 2 cores" noenhanced
series = system("awk '!/^#/ && !seen[$1]++ { print $1 }' ppq-records.dat")
plot for [s in series] sprintf("< awk '$1 == \"%s\"' ppq-records.dat", s) \
  using 2:3 with linespoints linewidth 2 pointtype 7 pointsize 0.6 title s[strstrt(s, "/") + 1:] noenhanced
