# Draws stream-diamond.dat; in this folder: gnuplot stream-diamond.gp
set terminal svg size 760, 480 font 'sans,13' background 'white'
set output 'stream-diamond.svg'; set grid; set key outside right top
set xlabel "threads of a sorter"
set ylabel "seconds"
set yrange [0:*]
set title "The Diamond flow graph: asynchronous nodes and threads of sorters\n2009, Table 3; scale small, load 1.96 to 1.99 on 2 cores" noenhanced
series = system("awk '!/^#/ && !seen[$1]++ { print $1 }' stream-diamond.dat")
plot for [s in series] sprintf("< awk '$1 == \"%s\"' stream-diamond.dat", s) \
  using 2:3 with linespoints linewidth 2 pointtype 7 pointsize 0.6 title s[strstrt(s, "/") + 1:] noenhanced
