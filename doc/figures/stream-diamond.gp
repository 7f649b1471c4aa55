# Draws stream-diamond.dat; in this folder: gnuplot stream-diamond.gp
set terminal svg size 840, 360 font 'sans,13' background 'white'
set output 'stream-diamond.svg'; set grid; set key outside right top
set xlabel "threads of a sorter"
set ylabel ""
set yrange [0:*]
set key inside left top font ',10'
set multiplot layout 1, 2 title "The Diamond flow graph: asynchronous nodes and threads of sorters; seconds, and cores that are busy\n2009, Table 3; scale small, load 3.31 to 3.69 on 2 cores" noenhanced
panels = system("awk -F/ '!/^#/ && !seen[$1]++ { print $1 }' stream-diamond.dat")
do for [p in panels] {
  set title p noenhanced
  series = system("awk '!/^#/ && index($1, \"".p."/\") == 1 && !seen[$1]++ { print $1 }' stream-diamond.dat")
  plot for [s in series] sprintf("< awk '$1 == \"%s\"' stream-diamond.dat", s) \
    using 2:3 with linespoints linewidth 2 pointtype 7 pointsize 0.6 title s[strstrt(s, "/") + 1:] noenhanced
}
unset multiplot
