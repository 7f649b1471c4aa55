# Draws thesis-alltoallv.dat; in this folder: gnuplot thesis-alltoallv.gp
set terminal svg size 760, 480 font 'sans,13' background 'white'
set output 'thesis-alltoallv.svg'; set grid; set key outside right top
set xlabel "n"
set ylabel "seconds"
set logscale x 2
set format x '2^{%L}'
set yrange [0:*]
set title "One MPI_Alltoallv against n, by driver and k\nPEMS2 thesis, 7.2; scale small, load 1.20 to 1.01 on 2 cores" noenhanced
series = system("awk '!/^#/ && !seen[$1]++ { print $1 }' thesis-alltoallv.dat")
plot for [s in series] sprintf("< awk '$1 == \"%s\"' thesis-alltoallv.dat", s) \
  using 2:3 with linespoints linewidth 2 pointtype 7 pointsize 0.6 title s[strstrt(s, "/") + 1:] noenhanced
