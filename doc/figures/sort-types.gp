# Draws sort-types.dat; in this folder: gnuplot sort-types.gp
set terminal svg size 760, 480 font 'sans,13' background 'white'
set output 'sort-types.svg'; set grid; set key outside right top
set xlabel "bytes of an element"
set ylabel "ns per byte"
set logscale x 2
set format x '%.0b %BB'
set yrange [0:*]
set title "Sorting by size of element: all, computing, and waiting for the disk\n2003, Fig. 8; scale paper, load 2.26 to 2.59 on 2 cores" noenhanced
series = system("awk '!/^#/ && !seen[$1]++ { print $1 }' sort-types.dat")
plot for [s in series] sprintf("< awk '$1 == \"%s\"' sort-types.dat", s) \
  using 2:3 with linespoints linewidth 2 pointtype 7 pointsize 0.6 title s[strstrt(s, "/") + 1:] noenhanced
