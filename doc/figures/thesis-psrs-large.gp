# Draws thesis-psrs-large.dat; in this folder: gnuplot thesis-psrs-large.gp
set terminal svg size 760, 480 font 'sans,13' background 'white'
set output 'thesis-psrs-large.svg'; set grid; set key outside right top
set xlabel "n"
set ylabel "seconds"
set logscale x 2
set format x '2^{%L}'
set yrange [0:*]
set title "PSRS against n, contexts of one large size\nPEMS2 thesis, 8.8 to 8.11; scale small, load 1.99 to 1.83 on 2 cores" noenhanced
series = system("awk '!/^#/ && !seen[$1]++ { print $1 }' thesis-psrs-large.dat")
plot for [s in series] sprintf("< awk '$1 == \"%s\"' thesis-psrs-large.dat", s) \
  using 2:3 with linespoints linewidth 2 pointtype 7 pointsize 0.6 title s[strstrt(s, "/") + 1:] noenhanced
