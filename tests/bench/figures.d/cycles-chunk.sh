# shellcheck shell=sh disable=SC2034
paper='2019, Fig. 12'
what='Where cycles go, by tasks in a chunk of obim: a road-like graph, all cores'
saw='Without chunks 80 to 90 % of the cycles are enqueuing and dequeuing; with larger ones that share goes
down, but they are filled late, so that others find no work or worse work.'
shape='with chunks of 64 enqueuing and dequeuing have a smaller share than with chunks of 1, in each panel'
why='2 cores instead of 40: what is shared is contended less, so that queues take less without chunks. With
Delta 10 chunks of 64 do not fill: then one of the two threads finds no task at all.'
axes='tasks in a chunk;% of cycles;panels stacked'
measure() {
  for each in sssp:10 sssp:14 bfs:0; do
    for chunk in $(size '1 16 64 256' '1 4 16 32 64 128 256'); do
      scheduled ${each%:*} "$(case_graph road)" "obim:${each#*:}" --chunk "$chunk" \
        --threads "$cores" --measure || return 1
      cycles "$chunk" "$(echo "$each" | sed 's/:0//; s/:/-Delta-/')/"
    done
  done
}
check_shape() {
  awk '$1 ~ /\/(en|de)queue$/ { split($1, a, "/"); q[a[1], $2] += $3; seen[a[1]] = 1 }
    END { for (p in seen) { n++; if (q[p, 64] >= q[p, 1]) bad = 1 } exit !(n == 3 && !bad) }' "$dat"
}
