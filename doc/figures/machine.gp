# Draws machine.dat; in this folder: gnuplot machine.gp
set terminal svg size 760, 480 font 'sans,13' background 'white'
set output 'machine.svg'; set grid; set key outside right top
set xlabel "bytes of a request"
set ylabel "MiB per second"
set logscale x 2
set format x '%.0b %BB'
set yrange [0:*]
set title "This machine: its disk by size of request\n2015, Table 2; scale small, load 3.25 to 3.25 on 2 cores" noenhanced
series = system("awk '!/^#/ && !seen[$1]++ { print $1 }' machine.dat")
plot for [s in series] sprintf("< awk '$1 == \"%s\"' machine.dat", s) \
  using 2:3 with linespoints linewidth 2 pointtype 7 pointsize 0.6 title s[strstrt(s, "/") + 1:] noenhanced
