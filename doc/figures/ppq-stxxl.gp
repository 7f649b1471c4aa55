# Draws ppq-stxxl.dat; in this folder: gnuplot ppq-stxxl.gp
set terminal svg size 840, 360 font 'sans,13' background 'white'
set output 'ppq-stxxl.svg'; set grid; set key outside right top
set xlabel "workload"
set ylabel "times as fast"
set yrange [0:*]
set style histogram clustered gap 1
set style data histograms; set style fill solid 0.8; set boxwidth 0.9
set xtics rotate by -40 noenhanced
set key outside right top font ',9'
set multiplot layout 1, 2 title "The priority queue beside those of STXXL: how many times as fast (ppq: its bulk-parallel one)\n2015, Tables 1 and 5; scale small, load 5.24 to 2.26 on 2 cores" noenhanced
panels = system("awk -F/ '!/^#/ && !seen[$1]++ { print $1 }' ppq-stxxl.dat")
do for [p in panels] {
  set title p noenhanced
  series = system("awk '!/^#/ && index($1, \"".p."/\") == 1 && !seen[$1]++ { print $1 }' ppq-stxxl.dat")
  plot for [s in series] sprintf("< awk '$1 == \"%s\"' ppq-stxxl.dat", s) \
    using 3:xtic(2) title s[strstrt(s, "/") + 1:] noenhanced
}
unset multiplot
