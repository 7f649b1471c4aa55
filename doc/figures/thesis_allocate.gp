name = "thesis_allocate"
# The lines of one series in the data, by n; the names of all.
rows(s) = sprintf("< awk '$1 == \"%s\"' %s.dat | sort -n -k 2,2", s, name)
all = system("awk '!/^#/ && !seen[$1]++ { print $1 }' ".name.".dat")
set key left top noenhanced
set grid
set yrange [0:*]
set title "Writing contexts piece by piece, then reading them (as Figure C.1)"
set xlabel "bytes of a context (MiB); data in it stay the same"
do for [type in "svg png"] {
  if (type eq "svg") {
    set terminal svg size 800,500 dynamic background "white"
  } else {
    set terminal pngcairo size 800,500
  }
  set output name.".".type
  set ylabel "seconds"
  plot for [s in all] rows(s) using ($2 / 2**20):4 with linespoints \
         title s." (writing)", \
       for [s in all] rows(s) using ($2 / 2**20):5 with linespoints dt 2 \
         title s." (reading)"
}
set output
