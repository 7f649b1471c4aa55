# Draws sort-single.dat; in this folder: gnuplot sort-single.gp
set terminal svg size 760, 480 font 'sans,13' background 'white'
set output 'sort-single.svg'; set grid; set key outside right top
set xlabel "bytes of an element"
set ylabel "ns per byte"
set logscale x 2
set format x '%.0b %BB'
set yrange [0:*]
set title "Sorting on one disk by size of element, beside STXXL\n2003, Fig. 6; scale small, load 1.49 to 1.30 on 2 cores" noenhanced
series = system("awk '!/^#/ && !seen[$1]++ { print $1 }' sort-single.dat")
plot for [s in series] sprintf("< awk '$1 == \"%s\"' sort-single.dat", s) \
  using 2:3 with linespoints linewidth 2 pointtype 7 pointsize 0.6 title s[strstrt(s, "/") + 1:] noenhanced
