# Draws cycles-delta.dat; in this folder: gnuplot cycles-delta.gp
set terminal svg size 840, 360 font 'sans,13' background 'white'
set output 'cycles-delta.svg'; set grid; set key outside right top
set xlabel "Delta"
set ylabel "% of cycles"
set yrange [0:*]
set style histogram rowstacked
set style data histograms; set style fill solid 0.8; set boxwidth 0.9
set xtics rotate by -40 noenhanced
set key outside right top font ',9'
set multiplot layout 1, 2 title "Where cycles go, by Delta of obim: a road-like graph, all cores\n2019, Fig. 9; scale small, load 1.49 to 1.49 on 2 cores" noenhanced
panels = system("awk -F/ '!/^#/ && !seen[$1]++ { print $1 }' cycles-delta.dat")
do for [p in panels] {
  set title p noenhanced
  series = system("awk '!/^#/ && index($1, \"".p."/\") == 1 && !seen[$1]++ { print $1 }' cycles-delta.dat")
  plot for [s in series] sprintf("< awk '$1 == \"%s\"' cycles-delta.dat", s) \
    using 3:xtic(2) title s[strstrt(s, "/") + 1:] noenhanced
}
unset multiplot
