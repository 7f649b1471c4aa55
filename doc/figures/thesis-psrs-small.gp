# Draws thesis-psrs-small.dat; in this folder: gnuplot thesis-psrs-small.gp
set terminal svg size 760, 480 font 'sans,13' background 'white'
set output 'thesis-psrs-small.svg'; set grid; set key outside right top
set xlabel "n"
set ylabel "seconds"
set logscale x 2
set format x '2^{%L}'
set yrange [0:*]
set title "PSRS against n, contexts of one small size\nPEMS2 thesis, 8.3 to 8.5; scale small, load 1.25 to 1.71 on 2 cores" noenhanced
series = system("awk '!/^#/ && !seen[$1]++ { print $1 }' thesis-psrs-small.dat")
plot for [s in series] sprintf("< awk '$1 == \"%s\"' thesis-psrs-small.dat", s) \
  using 2:3 with linespoints linewidth 2 pointtype 7 pointsize 0.6 title s[strstrt(s, "/") + 1:] noenhanced
