# Draws obim-scaled.dat; in this folder: gnuplot obim-scaled.gp
set terminal svg size 840, 360 font 'sans,13' background 'white'
set output 'obim-scaled.svg'; set grid; set key outside right top
set xlabel "Delta"
set ylabel "speedup"
set yrange [0:*]
set key inside left top font ',10'
set multiplot layout 1, 2 title "obim: speedup over one thread against Delta, weights divided by 64\n2019, Fig. 10; scale small, load 1.67 to 1.54 on 2 cores" noenhanced
panels = system("awk -F/ '!/^#/ && !seen[$1]++ { print $1 }' obim-scaled.dat")
do for [p in panels] {
  set title p noenhanced
  series = system("awk '!/^#/ && index($1, \"".p."/\") == 1 && !seen[$1]++ { print $1 }' obim-scaled.dat")
  plot for [s in series] sprintf("< awk '$1 == \"%s\"' obim-scaled.dat", s) \
    using 2:3 with linespoints linewidth 2 pointtype 7 pointsize 0.6 title s[strstrt(s, "/") + 1:] noenhanced
}
unset multiplot
