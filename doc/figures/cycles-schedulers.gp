# Draws cycles-schedulers.dat; in this folder: gnuplot cycles-schedulers.gp
set terminal svg size 1260, 1260 font 'sans,13' background 'white'
set output 'cycles-schedulers.svg'; set grid; set key outside right top
set xlabel "scheduler"
set ylabel "% of the cycles of obim"
set yrange [0:*]
set style histogram rowstacked
set style data histograms; set style fill solid 0.8; set boxwidth 0.9
set xtics rotate by -40 noenhanced
set key outside right top font ',9'
set multiplot layout 4, 3 title "Where cycles go, all cores, as a share of those of obim (tuned)\n2019, Fig. 6 and 14; scale small, load 3.31 to 3.10 on 2 cores" noenhanced
panels = system("awk -F/ '!/^#/ && !seen[$1]++ { print $1 }' cycles-schedulers.dat")
do for [p in panels] {
  set title p noenhanced
  series = system("awk '!/^#/ && index($1, \"".p."/\") == 1 && !seen[$1]++ { print $1 }' cycles-schedulers.dat")
  plot for [s in series] sprintf("< awk '$1 == \"%s\"' cycles-schedulers.dat", s) \
    using 3:xtic(2) title s[strstrt(s, "/") + 1:] noenhanced
}
unset multiplot
