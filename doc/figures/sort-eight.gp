# Draws sort-eight.dat; in this folder: gnuplot sort-eight.gp
set terminal svg size 760, 480 font 'sans,13' background 'white'
set output 'sort-eight.svg'; set grid; set key outside right top
set xlabel "bytes of an element"
set ylabel "MB per second read and written"
set logscale x 2
set format x '%.0b %BB'
set yrange [0:*]
set title "Sorting on eight slow disks by size of element: independent disks beside stripes\n2003, Fig. 7; scale small, load 1.79 to 1.73 on 2 cores" noenhanced
series = system("awk '!/^#/ && !seen[$1]++ { print $1 }' sort-eight.dat")
plot for [s in series] sprintf("< awk '$1 == \"%s\"' sort-eight.dat", s) \
  using 2:3 with linespoints linewidth 2 pointtype 7 pointsize 0.6 title s[strstrt(s, "/") + 1:] noenhanced
