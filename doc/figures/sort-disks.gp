# Draws sort-disks.dat; in this folder: gnuplot sort-disks.gp
set terminal svg size 760, 480 font 'sans,13' background 'white'
set output 'sort-disks.svg'; set grid; set key outside right top
set xlabel "disks"
set ylabel "MB per second read and written"
set logscale x 2
set yrange [0:*]
set title "Sorting on D slow disks\n2003, section 5; scale small, load 1.63 to 1.78 on 2 cores" noenhanced
series = system("awk '!/^#/ && !seen[$1]++ { print $1 }' sort-disks.dat")
plot for [s in series] sprintf("< awk '$1 == \"%s\"' sort-disks.dat", s) \
  using 2:3 with linespoints linewidth 2 pointtype 7 pointsize 0.6 title s[strstrt(s, "/") + 1:] noenhanced
