# shellcheck shell=sh disable=SC2034
paper='2019, section 6 (rank errors)'
what='How far from the best task those are that threads get'
saw='Relaxed orders lead to useless work: schedulers with few ordered queues stay near the order.'
shape='obim has a smaller mean rank error than spraylist or reld has'
why='The paper tells of it in words; it has no numbers of it.'
axes='scheduler (pmod, obim, multiqueue, reld, spraylist);mean rank error;logy'
measure() {
  i=0
  for sched in pmod obim multiqueue reld spraylist; do
    i=$((i + 1))
    bench pems-graph sssp --generate "road:nodes=$(size 50000 250000)" --sched $sched \
      --threads "$cores" --rank || return 1
    point mean $i 'rank_mean + 1'
  done
}
check_shape() {
  awk '!/^#/ { y[$2] = $3 } END { most = y[4] > y[5] ? y[4] : y[5]; exit !(y[2] > 0 && y[2] <= most) }' "$dat"
}
