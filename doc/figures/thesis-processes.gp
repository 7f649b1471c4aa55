# Draws thesis-processes.dat; in this folder: gnuplot thesis-processes.gp
set terminal svg size 840, 360 font 'sans,13' background 'white'
set output 'thesis-processes.svg'; set grid; set key outside right top
set xlabel "processes"
set ylabel "share of one process, speedup"
set yrange [0:*]
set key inside left top font ',10'
set multiplot layout 1, 2 title "PSRS: speedup by the number of processes, and what each of them reads and writes\nPEMS2 thesis, 8.6; scale small, load 1.00 to 1.00 on 2 cores" noenhanced
panels = system("awk -F/ '!/^#/ && !seen[$1]++ { print $1 }' thesis-processes.dat")
do for [p in panels] {
  set title p noenhanced
  series = system("awk '!/^#/ && index($1, \"".p."/\") == 1 && !seen[$1]++ { print $1 }' thesis-processes.dat")
  plot for [s in series] sprintf("< awk '$1 == \"%s\"' thesis-processes.dat", s) \
    using 2:3 with linespoints linewidth 2 pointtype 7 pointsize 0.6 title s[strstrt(s, "/") + 1:] noenhanced
}
unset multiplot
