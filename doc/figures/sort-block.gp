# Draws sort-block.dat; in this folder: gnuplot sort-block.gp
set terminal svg size 760, 480 font 'sans,13' background 'white'
set output 'sort-block.svg'; set grid; set key outside right top
set xlabel "bytes of a block"
set ylabel "ns per byte"
set logscale x 2
set format x '%.0b %BB'
set yrange [0:*]
set title "Sorting on 4 slow disks against the size of blocks\n2003, Fig. 13; scale small, load 2.10 to 1.93 on 2 cores" noenhanced
series = system("awk '!/^#/ && !seen[$1]++ { print $1 }' sort-block.dat")
plot for [s in series] sprintf("< awk '$1 == \"%s\"' sort-block.dat", s) \
  using 2:3 with linespoints linewidth 2 pointtype 7 pointsize 0.6 title s[strstrt(s, "/") + 1:] noenhanced
