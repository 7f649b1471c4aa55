# Draws ppq-threads.dat; in this folder: gnuplot ppq-threads.gp
set terminal svg size 760, 480 font 'sans,13' background 'white'
set output 'ppq-threads.svg'; set grid; set key outside right top
set xlabel "threads"
set ylabel "seconds"
set yrange [0:*]
set title "The priority queue against threads\n2009, Table 1; scale small, load 2.09 to 1.92 on 2 cores" noenhanced
series = system("awk '!/^#/ && !seen[$1]++ { print $1 }' ppq-threads.dat")
plot for [s in series] sprintf("< awk '$1 == \"%s\"' ppq-threads.dat", s) \
  using 2:3 with linespoints linewidth 2 pointtype 7 pointsize 0.6 title s[strstrt(s, "/") + 1:] noenhanced
