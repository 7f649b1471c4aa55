# Draws sort-input.dat; in this folder: gnuplot sort-input.gp
set terminal svg size 760, 480 font 'sans,13' background 'white'
set output 'sort-input.svg'; set grid; set key outside right top
set xlabel "read buffers"
set ylabel "seconds of waiting for input"
set yrange [0:*]
set title "Merging from 4 slow disks: waiting for input by the share of prefetch buffers\n2003, Fig. 9; scale small, load 1.78 to 1.64 on 2 cores" noenhanced
series = system("awk '!/^#/ && !seen[$1]++ { print $1 }' sort-input.dat")
plot for [s in series] sprintf("< awk '$1 == \"%s\"' sort-input.dat", s) \
  using 2:3 with linespoints linewidth 2 pointtype 7 pointsize 0.6 title s[strstrt(s, "/") + 1:] noenhanced
