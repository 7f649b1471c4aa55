# Draws pmod-lmf.dat; in this folder: gnuplot pmod-lmf.gp
set terminal svg size 760, 480 font 'sans,13' background 'white'
set output 'pmod-lmf.svg'; set grid; set key outside right top
set xlabel "case"
set ylabel "lmf, changes"
set yrange [0:*]
set style histogram clustered gap 1
set style data histograms; set style fill solid 0.8; set boxwidth 0.9
set xtics rotate by -40 noenhanced
set title "How pmod merges priorities: the last lmf, and how often it changed\n2019, Table 6; scale small, load 1.79 to 1.73 on 2 cores" noenhanced
series = system("awk '!/^#/ && !seen[$1]++ { print $1 }' pmod-lmf.dat")
plot for [s in series] sprintf("< awk '$1 == \"%s\"' pmod-lmf.dat", s) \
  using 3:xtic(2) title s[strstrt(s, "/") + 1:] noenhanced
