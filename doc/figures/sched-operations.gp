# Draws sched-operations.dat; in this folder: gnuplot sched-operations.gp
set terminal svg size 840, 360 font 'sans,13' background 'white'
set output 'sched-operations.svg'; set grid; set key outside right top
set xlabel "case"
set ylabel "cycles / cycles of obim"
set logscale y
set style histogram clustered gap 1
set style data histograms; set style fill solid 0.8; set boxwidth 0.9
set xtics rotate by -40 noenhanced
set key outside right top font ',9'
set multiplot layout 1, 2 title "Cycles for an enqueue and a dequeue, all cores, beside obim (tuned)\n2019, Fig. 7; scale small, load 2.21 to 1.95 on 2 cores" noenhanced
panels = system("awk -F/ '!/^#/ && !seen[$1]++ { print $1 }' sched-operations.dat")
do for [p in panels] {
  set title p noenhanced
  series = system("awk '!/^#/ && index($1, \"".p."/\") == 1 && !seen[$1]++ { print $1 }' sched-operations.dat")
  plot for [s in series] sprintf("< awk '$1 == \"%s\"' sched-operations.dat", s) \
    using 3:xtic(2) title s[strstrt(s, "/") + 1:] noenhanced
}
unset multiplot
