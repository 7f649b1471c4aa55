# Draws thesis-cgm-euler.dat; in this folder: gnuplot thesis-cgm-euler.gp
set terminal svg size 760, 480 font 'sans,13' background 'white'
set output 'thesis-cgm-euler.svg'; set grid; set key outside right top
set xlabel "n"
set ylabel "seconds"
set logscale x 2
set format x '2^{%L}'
set yrange [0:*]
set title "CGM Euler tour, by driver\nPEMS2 thesis, 8.24; scale small, load 2.94 to 2.56 on 2 cores" noenhanced
series = system("awk '!/^#/ && !seen[$1]++ { print $1 }' thesis-cgm-euler.dat")
plot for [s in series] sprintf("< awk '$1 == \"%s\"' thesis-cgm-euler.dat", s) \
  using 2:3 with linespoints linewidth 2 pointtype 7 pointsize 0.6 title s[strstrt(s, "/") + 1:] noenhanced
