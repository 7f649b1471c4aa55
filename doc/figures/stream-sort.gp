# Draws stream-sort.dat; in this folder: gnuplot stream-sort.gp
set terminal svg size 760, 480 font 'sans,13' background 'white'
set output 'stream-sort.svg'; set grid; set key outside right top
set xlabel "threads"
set ylabel "seconds"
set yrange [0:*]
set title "Sorting pairs against threads: by itself, and within a graph of nodes\n2009, Fig. 10; scale small, load 2.24 to 2.24 on 2 cores" noenhanced
series = system("awk '!/^#/ && !seen[$1]++ { print $1 }' stream-sort.dat")
plot for [s in series] sprintf("< awk '$1 == \"%s\"' stream-sort.dat", s) \
  using 2:3 with linespoints linewidth 2 pointtype 7 pointsize 0.6 title s[strstrt(s, "/") + 1:] noenhanced
