# Draws sort-passes.dat; in this folder: gnuplot sort-passes.gp
set terminal svg size 760, 480 font 'sans,13' background 'white'
set output 'sort-passes.svg'; set grid; set key outside right top
set xlabel "bytes of a block"
set ylabel "ns per byte"
set logscale x 2
set format x '%.0b %BB'
set yrange [0:*]
set title "Sorting with one merging pass of small blocks, or two of larger ones\n2003, section 5; scale small, load 1.64 to 1.51 on 2 cores" noenhanced
series = system("awk '!/^#/ && !seen[$1]++ { print $1 }' sort-passes.dat")
plot for [s in series] sprintf("< awk '$1 == \"%s\"' sort-passes.dat", s) \
  using 2:3 with linespoints linewidth 2 pointtype 7 pointsize 0.6 title s[strstrt(s, "/") + 1:] noenhanced
