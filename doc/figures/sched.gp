set terminal svg size 1000,420 font 'sans,11'
set output 'sched.svg'
set style data histograms
set style histogram clustered gap 1
set style fill solid 0.8
set ylabel 'times as fast as obim-O (or obim), 1 thread'
set xtics rotate by -30
set grid y
set key outside
plot for [i=2:*] 'sched.dat' using i:xtic(1) title columnheader(i)
