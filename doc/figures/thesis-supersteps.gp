# Draws thesis-supersteps.dat; in this folder: gnuplot thesis-supersteps.gp
set terminal svg size 840, 660 font 'sans,13' background 'white'
set output 'thesis-supersteps.svg'; set grid; set key outside right top
set xlabel "superstep"
set ylabel "seconds"
set yrange [0:*]
unset key
set key inside left top font ',10'
unset key
set multiplot layout 2, 2 title "When each rank of PSRS ends each superstep, by driver\nPEMS2 thesis, 8.12 to 8.14; scale small, load 1.09 to 1.00 on 2 cores" noenhanced
panels = system("awk -F/ '!/^#/ && !seen[$1]++ { print $1 }' thesis-supersteps.dat")
do for [p in panels] {
  set title p noenhanced
  series = system("awk '!/^#/ && index($1, \"".p."/\") == 1 && !seen[$1]++ { print $1 }' thesis-supersteps.dat")
  plot for [s in series] sprintf("< awk '$1 == \"%s\"' thesis-supersteps.dat", s) \
    using 2:3 with linespoints linewidth 2 pointtype 7 pointsize 0.6 title s[strstrt(s, "/") + 1:] noenhanced
}
unset multiplot
