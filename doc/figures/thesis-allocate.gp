# Draws thesis-allocate.dat; in this folder: gnuplot thesis-allocate.gp
set terminal svg size 760, 480 font 'sans,13' background 'white'
set output 'thesis-allocate.svg'; set grid; set key outside right top
set xlabel "bytes of a context"
set ylabel "seconds of reading"
set logscale x 2
set format x '%.0b %BB'
set yrange [0:*]
set title "Contexts in files that were reserved first, or grew\nPEMS2 thesis, C.1; scale small, load 1.29 to 1.18 on 2 cores" noenhanced
series = system("awk '!/^#/ && !seen[$1]++ { print $1 }' thesis-allocate.dat")
plot for [s in series] sprintf("< awk '$1 == \"%s\"' thesis-allocate.dat", s) \
  using 2:3 with linespoints linewidth 2 pointtype 7 pointsize 0.6 title s[strstrt(s, "/") + 1:] noenhanced
