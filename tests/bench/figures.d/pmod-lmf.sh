# shellcheck shell=sh disable=SC2034
paper='2019, Table 6'
what='How pmod merges priorities: changes of lmf in a run, and the last one'
saw='lmf settles after 1 to 5 changes: between 0 and 3 on power-law graphs, 13 to 14 on roads.'
shape='on roads the last lmf is greater than on the power-law graph, after at most 10 changes'
axes='graph (1: road, 2: R-MAT);lmf, changes'
measure() {
  i=0
  for graph in "road:nodes=$(size 200000 24000000)" "rmat:scale=$(size 14 22)"; do
    i=$((i + 1))
    bench pems-graph sssp --generate "$graph" --sched pmod --threads "$cores" --measure ||
      return 1
    point last $i lmf
    point changes $i lmf_changes
  done
}
check_shape() {
  awk '!/^#/ { y[$1 $2] = $3 }
    END { exit !(y["last1"] > y["last2"] && y["changes1"] <= 10 && y["changes2"] <= 10) }' "$dat"
}
