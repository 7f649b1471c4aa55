# Draws sched-speedups.dat; in this folder: gnuplot sched-speedups.gp
set terminal svg size 1260, 1260 font 'sans,13' background 'white'
set output 'sched-speedups.svg'; set grid; set key outside right top
set xlabel "threads"
set ylabel "speedup"
set yrange [0:*]
set key inside left top font ',10'
set multiplot layout 4, 3 title "Graph programs: speedup over obim with one thread (tuned, where Delta matters)\n2019, Fig. 5 and 13; scale small, load 3.79 to 3.25 on 2 cores" noenhanced
panels = system("awk -F/ '!/^#/ && !seen[$1]++ { print $1 }' sched-speedups.dat")
do for [p in panels] {
  set title p noenhanced
  series = system("awk '!/^#/ && index($1, \"".p."/\") == 1 && !seen[$1]++ { print $1 }' sched-speedups.dat")
  plot for [s in series] sprintf("< awk '$1 == \"%s\"' sched-speedups.dat", s) \
    using 2:3 with linespoints linewidth 2 pointtype 7 pointsize 0.6 title s[strstrt(s, "/") + 1:] noenhanced
}
unset multiplot
