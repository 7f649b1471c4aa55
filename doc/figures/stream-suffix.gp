# Draws stream-suffix.dat; in this folder: gnuplot stream-suffix.gp
set terminal svg size 760, 480 font 'sans,13' background 'white'
set output 'stream-suffix.svg'; set grid; set key outside right top
set xlabel "MiB of text"
set ylabel "ns per byte"
set yrange [0:*]
set title "Suffix arrays by pipelined algorithms, with and without asynchronous nodes\n2009, Table 2; scale small, load 1.37 to 2.08 on 2 cores" noenhanced
series = system("awk '!/^#/ && !seen[$1]++ { print $1 }' stream-suffix.dat")
plot for [s in series] sprintf("< awk '$1 == \"%s\"' stream-suffix.dat", s) \
  using 2:3 with linespoints linewidth 2 pointtype 7 pointsize 0.6 title s[strstrt(s, "/") + 1:] noenhanced
