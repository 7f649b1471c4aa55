# Draws thesis-cgm-sort.dat; in this folder: gnuplot thesis-cgm-sort.gp
set terminal svg size 760, 480 font 'sans,13' background 'white'
set output 'thesis-cgm-sort.svg'; set grid; set key outside right top
set xlabel "n"
set ylabel "seconds"
set logscale x 2
set format x '2^{%L}'
set yrange [0:*]
set title "CGM sort, by driver and way to swap in\nPEMS2 thesis, 8.15 to 8.17; scale small, load 3.38 to 2.94 on 2 cores" noenhanced
series = system("awk '!/^#/ && !seen[$1]++ { print $1 }' thesis-cgm-sort.dat")
plot for [s in series] sprintf("< awk '$1 == \"%s\"' thesis-cgm-sort.dat", s) \
  using 2:3 with linespoints linewidth 2 pointtype 7 pointsize 0.6 title s[strstrt(s, "/") + 1:] noenhanced
