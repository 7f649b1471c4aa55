columns = 9
set terminal svg size 800,500 dynamic background "white"
set output "fig7_2.svg"
set title "One MPI\\_Alltoallv (as Figure 7.2 of the PEMS2 thesis)"
set xlabel "32-bit integers in all (millions)"
set ylabel "run time (seconds)"
set key left top
set grid
set yrange [0:*]
plot for [i = 2:columns] "fig7_2.dat" using ($1 / 1e6):i \
  with linespoints title columnheader(i)
