# Draws ppq-heap.dat; in this folder: gnuplot ppq-heap.gp
set terminal svg size 760, 480 font 'sans,13' background 'white'
set output 'ppq-heap.svg'; set grid; set key outside right top
set xlabel "bytes of a heap"
set ylabel "MiB per second"
set logscale x 2
set format x '%.0b %BB'
set yrange [0:*]
set title "The priority queue: pushing one by one against the size of insertion heaps\n2015, section 5; scale small, load 2.27 to 2.27 on 2 cores" noenhanced
series = system("awk '!/^#/ && !seen[$1]++ { print $1 }' ppq-heap.dat")
plot for [s in series] sprintf("< awk '$1 == \"%s\"' ppq-heap.dat", s) \
  using 2:3 with linespoints linewidth 2 pointtype 7 pointsize 0.6 title s[strstrt(s, "/") + 1:] noenhanced
