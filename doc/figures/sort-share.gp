# Draws sort-share.dat; in this folder: gnuplot sort-share.gp
set terminal svg size 760, 480 font 'sans,13' background 'white'
set output 'sort-share.svg'; set grid; set key outside right top
set xlabel "read buffers"
set ylabel "seconds of merging"
set yrange [0:*]
set title "Merging from 4 slow disks: all its time by the share of prefetch buffers\n2003, Fig. 10; scale small, load 1.35 to 1.49 on 2 cores" noenhanced
series = system("awk '!/^#/ && !seen[$1]++ { print $1 }' sort-share.dat")
plot for [s in series] sprintf("< awk '$1 == \"%s\"' sort-share.dat", s) \
  using 2:3 with linespoints linewidth 2 pointtype 7 pointsize 0.6 title s[strstrt(s, "/") + 1:] noenhanced
