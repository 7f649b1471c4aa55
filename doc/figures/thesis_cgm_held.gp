name = "thesis_cgm_held"
# The lines of one series in the data, by n; the names of all.
rows(s) = sprintf("< awk '$1 == \"%s\"' %s.dat | sort -n -k 2,2", s, name)
all = system("awk '!/^#/ && !seen[$1]++ { print $1 }' ".name.".dat")
set key left top noenhanced
set grid
set yrange [0:*]
set title "8 CGM prefix sums, 128 times as much memory held (as Figures 8.18 to 8.20)" noenhanced
set xlabel "elements (millions)"
do for [type in "svg png"] {
  if (type eq "svg") {
    set terminal svg size 800,500 dynamic background "white"
  } else {
    set terminal pngcairo size 800,500
  }
  set output name.".".type
  set ylabel "seconds"
  plot for [s in all] rows(s) using ($2 / 1e6):6 with linespoints title s
}
set output
