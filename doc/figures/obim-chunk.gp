# Draws obim-chunk.dat; in this folder: gnuplot obim-chunk.gp
set terminal svg size 840, 660 font 'sans,13' background 'white'
set output 'obim-chunk.svg'; set grid; set key outside right top
set xlabel "tasks in a chunk"
set ylabel "speedup"
set logscale x 2
set yrange [0:*]
set key inside left top font ',10'
set multiplot layout 2, 2 title "obim: speedup over one thread without chunks, against tasks in a chunk\n2019, Fig. 11; scale small, load 2.62 to 2.57 on 2 cores" noenhanced
panels = system("awk -F/ '!/^#/ && !seen[$1]++ { print $1 }' obim-chunk.dat")
do for [p in panels] {
  set title p noenhanced
  series = system("awk '!/^#/ && index($1, \"".p."/\") == 1 && !seen[$1]++ { print $1 }' obim-chunk.dat")
  plot for [s in series] sprintf("< awk '$1 == \"%s\"' obim-chunk.dat", s) \
    using 2:3 with linespoints linewidth 2 pointtype 7 pointsize 0.6 title s[strstrt(s, "/") + 1:] noenhanced
}
unset multiplot
