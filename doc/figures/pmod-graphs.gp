# Draws pmod-graphs.dat; in this folder: gnuplot pmod-graphs.gp
set terminal svg size 760, 480 font 'sans,13' background 'white'
set output 'pmod-graphs.svg'; set grid; set key outside right top
set xlabel "scheduler"
set ylabel "geometric mean"
set yrange [0:*]
set style histogram clustered gap 1
set style data histograms; set style fill solid 0.8; set boxwidth 0.9
set xtics rotate by -40 noenhanced
set title "Geometric means over the graph programs, all cores: beside the best scheduler of each, and speedups\n2019, Table 5; scale small, load 2.57 to 2.21 on 2 cores" noenhanced
series = system("awk '!/^#/ && !seen[$1]++ { print $1 }' pmod-graphs.dat")
plot for [s in series] sprintf("< awk '$1 == \"%s\"' pmod-graphs.dat", s) \
  using 3:xtic(2) title s[strstrt(s, "/") + 1:] noenhanced
