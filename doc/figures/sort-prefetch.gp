# Draws sort-prefetch.dat; in this folder: gnuplot sort-prefetch.gp
set terminal svg size 760, 480 font 'sans,13' background 'white'
set output 'sort-prefetch.svg'; set grid; set key outside right top
set xlabel "read buffers"
set ylabel "seconds of merging"
set yrange [0:*]
set title "Merging: prefetching by the heuristic beside the naive order, 4 slow disks\n2003, Fig. 11; scale small, load 1.51 to 1.39 on 2 cores" noenhanced
series = system("awk '!/^#/ && !seen[$1]++ { print $1 }' sort-prefetch.dat")
plot for [s in series] sprintf("< awk '$1 == \"%s\"' sort-prefetch.dat", s) \
  using 2:3 with linespoints linewidth 2 pointtype 7 pointsize 0.6 title s[strstrt(s, "/") + 1:] noenhanced
