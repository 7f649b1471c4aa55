# Draws rank-errors.dat; in this folder: gnuplot rank-errors.gp
set terminal svg size 760, 480 font 'sans,13' background 'white'
set output 'rank-errors.svg'; set grid; set key outside right top
set xlabel "scheduler (pmod, obim, multiqueue, reld, spraylist)"
set ylabel "mean rank error"
set logscale y
set title "How far from the best task those are that threads get\n2019, section 6; scale small, load 1.95 to 1.79 on 2 cores" noenhanced
series = system("awk '!/^#/ && !seen[$1]++ { print $1 }' rank-errors.dat")
plot for [s in series] sprintf("< awk '$1 == \"%s\"' rank-errors.dat", s) \
  using 2:3 with linespoints linewidth 2 pointtype 7 pointsize 0.6 title s[strstrt(s, "/") + 1:] noenhanced
