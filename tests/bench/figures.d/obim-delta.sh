# shellcheck shell=sh disable=SC2034
paper='2019, Fig. 8 and 10'
what='obim: shortest paths on a road-like graph against Delta, weights as they are and / 64'
saw='One Delta is best, 14 there, and time grows to both sides; with weights 64 times smaller it
is 8.'
shape='the best Delta is at least 1.2 times as fast as Delta = 0'
why='Our road graphs have weights up to 10^4 or so; the best Delta is where theirs leaves enough
tasks for a priority.'
axes='Delta;seconds'
measure() {
  graph=road:nodes=$(size 200000 8000000)
  for delta in $(size '0 4 8 12 16' '0 2 4 6 8 10 12 14 16 18'); do
    for each in sssp astar; do
      scheduled $each "$graph" "obim:$delta" --threads "$cores" || return 1
      point $each "$delta" seconds
    done
  done
}
check_shape() {
  awk '$1 == "sssp" { if ($2 == 0) zero = $3; if (!n++ || $3 < best) best = $3 }
    END { exit !(n > 2 && zero >= 1.2 * best) }' "$dat"
}
