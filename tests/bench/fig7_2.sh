#!/bin/sh
# Figure 7.2 of D. E. Robillard's thesis on PEMS2: time of a program that does
# nothing but one MPI_Alltoallv of n 32-bit integers (apps/alltoallv.c), over n,
# for each driver and for K ranks running at once. The time of the program
# itself, without the start; the best of ROUNDS.
#
#   NS      numbers of integers (2^24 to 2^27)
#   KS      ranks running at once (1 2; the thesis has 1 and 4)
#   ROUNDS  (1)
#   OUT     directory for fig7_2.dat (a table), fig7_2.gp and fig7_2.svg (.)
#
# Other sizes: see lib.sh.
V=${V:-32}
LIMIT=${LIMIT:-320M}
. "$(dirname "$0")/lib.sh"

ns=${NS:-16777216 33554432 67108864 134217728}
ks=${KS:-1 2}
out=${OUT:-.}

need_pems
choose_drivers
build alltoallv
mkdir -p "$out" || exit 1

# One run; $best becomes the least time.
run() {
  run_pems "$io" alltoallv "$n"
  [ "$(app_value wrong)" = 0 ] || give_up "$io: wrong integers"
  took=$(app_value seconds)
  best=$(awk -v a="$best" -v b="$took" \
    'BEGIN { print (a == "" || b + 0 < a + 0) ? b : a }')
}

{
  printf '# seconds of one MPI_Alltoallv of n 32-bit integers between %s ' "$V"
  printf 'ranks, in %s of memory\nn' "$LIMIT"
  for io in $drivers; do
    for K in $ks; do
      printf ' %s-k%s' "$io" "$K"
    done
  done
  echo
} >"$out/fig7_2.dat"

for n in $ns; do
  printf '%s' "$n" >>"$out/fig7_2.dat"
  for io in $drivers; do
    for K in $ks; do
      best=
      round=0
      while [ $round -lt "${ROUNDS:-1}" ]; do
        round=$((round + 1))
        run
      done
      printf ' %s' "$best" >>"$out/fig7_2.dat"
      printf 'RESULT bench=fig7_2 io=%s k=%s ranks=%s elements=%s ' \
        "$io" "$K" "$V" "$n"
      # shellcheck disable=SC2046 # words
      set -- $(counters)
      printf 'seconds=%s bytes_read=%.0f bytes_written=%.0f limit=%s ' \
        "$best" "$2" "$3" "$(value limit "$work/log")"
      printf 'peak_rss=%s peak_anon=%s\n' "$(value peak_rss "$work/log")" \
        "$(value peak_anon "$work/log")"
    done
  done
  echo >>"$out/fig7_2.dat"
done

# Paths in it are relative: run it where the table is.
{
  printf 'columns = %d\n' "$(awk '/^n / { print NF }' "$out/fig7_2.dat")"
  cat <<'END'
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
END
} >"$out/fig7_2.gp"
if command -v gnuplot >/dev/null; then
  (cd "$out" && gnuplot fig7_2.gp) || give_up "gnuplot could not draw it"
  echo "drawn: $out/fig7_2.svg"
else
  echo "SKIP drawing: gnuplot was not found; later: gnuplot fig7_2.gp in $out"
fi
