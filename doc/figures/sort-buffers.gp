# Draws sort-buffers.dat; in this folder: gnuplot sort-buffers.gp
set terminal svg size 760, 480 font 'sans,13' background 'white'
set output 'sort-buffers.svg'; set grid; set key outside right top
set xlabel "write buffers"
set ylabel "seconds of merging"
set yrange [0:*]
set title "Merging from 4 slow disks: write buffers beside read buffers, their sum fixed\n2003, Fig. 12; scale small, load 1.93 to 1.63 on 2 cores" noenhanced
series = system("awk '!/^#/ && !seen[$1]++ { print $1 }' sort-buffers.dat")
plot for [s in series] sprintf("< awk '$1 == \"%s\"' sort-buffers.dat", s) \
  using 2:3 with linespoints linewidth 2 pointtype 7 pointsize 0.6 title s[strstrt(s, "/") + 1:] noenhanced
