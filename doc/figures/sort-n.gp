# Draws sort-n.dat; in this folder: gnuplot sort-n.gp
set terminal svg size 760, 480 font 'sans,13' background 'white'
set output 'sort-n.svg'; set grid; set key outside right top
set xlabel "bytes"
set ylabel "ns per byte"
set logscale x 2
set format x '%.0b %BB'
set yrange [0:*]
set title "Sorting 8-byte keys against n, beside STXXL\n2003, Fig. 14; scale small, load 3.14 to 2.10 on 2 cores" noenhanced
series = system("awk '!/^#/ && !seen[$1]++ { print $1 }' sort-n.dat")
plot for [s in series] sprintf("< awk '$1 == \"%s\"' sort-n.dat", s) \
  using 2:3 with linespoints linewidth 2 pointtype 7 pointsize 0.6 title s[strstrt(s, "/") + 1:] noenhanced
