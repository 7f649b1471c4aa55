# Draws pems-ranks.dat; in this folder: gnuplot pems-ranks.gp
set terminal svg size 760, 480 font 'sans,13' background 'white'
set output 'pems-ranks.svg'; set grid; set key outside right top
set xlabel "ranks"
set ylabel "MiB read"
set logscale x 2
set yrange [0:*]
set title "PSRS of one n: bytes against the number of ranks\nPEMS2 thesis, 8.7; scale small, load 1.63 to 1.50 on 2 cores" noenhanced
series = system("awk '!/^#/ && !seen[$1]++ { print $1 }' pems-ranks.dat")
plot for [s in series] sprintf("< awk '$1 == \"%s\"' pems-ranks.dat", s) \
  using 2:3 with linespoints linewidth 2 pointtype 7 pointsize 0.6 title s[strstrt(s, "/") + 1:] noenhanced
