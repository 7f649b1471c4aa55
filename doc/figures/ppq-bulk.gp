# Draws ppq-bulk.dat; in this folder: gnuplot ppq-bulk.gp
set terminal svg size 760, 480 font 'sans,13' background 'white'
set output 'ppq-bulk.svg'; set grid; set key outside right top
set xlabel "items in a bulk"
set ylabel "MiB per second"
set logscale x 2
set format x '2^{%L}'
set yrange [0:*]
set title "The priority queue: throughput against the size of bulks\n2015, Fig. 4 and 6, bulk-rewrite; scale small, load 2.30 to 2.30 on 2 cores" noenhanced
series = system("awk '!/^#/ && !seen[$1]++ { print $1 }' ppq-bulk.dat")
plot for [s in series] sprintf("< awk '$1 == \"%s\"' ppq-bulk.dat", s) \
  using 2:3 with linespoints linewidth 2 pointtype 7 pointsize 0.6 title s[strstrt(s, "/") + 1:] noenhanced
