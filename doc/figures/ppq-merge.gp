# Draws ppq-merge.dat; in this folder: gnuplot ppq-merge.gp
set terminal svg size 760, 480 font 'sans,13' background 'white'
set output 'ppq-merge.svg'; set grid; set key outside right top
set xlabel "sequences"
set ylabel "MB per second and core"
set logscale x 2
set yrange [0:*]
set title "Merging in memory against the number of sequences\n2015, Fig. 5; scale small, load 2.27 to 2.09 on 2 cores" noenhanced
series = system("awk '!/^#/ && !seen[$1]++ { print $1 }' ppq-merge.dat")
plot for [s in series] sprintf("< awk '$1 == \"%s\"' ppq-merge.dat", s) \
  using 2:3 with linespoints linewidth 2 pointtype 7 pointsize 0.6 title s[strstrt(s, "/") + 1:] noenhanced
