# Draws thesis-mu.dat; in this folder: gnuplot thesis-mu.gp
set terminal svg size 760, 480 font 'sans,13' background 'white'
set output 'thesis-mu.svg'; set grid; set key outside right top
set xlabel "n"
set ylabel "seconds"
set logscale x 2
set format x '2^{%L}'
set yrange [0:*]
set title "PSRS: n grows with the contexts, v stays\nPEMS2 thesis, 8.7; scale small, load 1.71 to 1.74 on 2 cores" noenhanced
series = system("awk '!/^#/ && !seen[$1]++ { print $1 }' thesis-mu.dat")
plot for [s in series] sprintf("< awk '$1 == \"%s\"' thesis-mu.dat", s) \
  using 2:3 with linespoints linewidth 2 pointtype 7 pointsize 0.6 title s[strstrt(s, "/") + 1:] noenhanced
