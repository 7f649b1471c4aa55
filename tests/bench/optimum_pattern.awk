# Checks the turns of optimum_pattern.c that `optimum.sh` dumps, after the lines
# that the program prints: what a rank touches in a turn is what one or more of
# its steps touch, in their order, and nothing is missing at the end.

# Adds to want[] the units of step `step`: of -1, which writes all.
function add_step(step, first,  i) {
  if (step < 0) {
    for (i = 0; i < 61; i++) want[first + i] = "*"
    return
  }
  want[first] = "*"
  for (i = 0; i < 20; i++) {
    if (!((first + 1 + step % 3 * 20 + i) in want)) {
      want[first + 1 + step % 3 * 20 + i] = ""
    }
  }
}

function same(  u) {
  for (u in want) if (!(u in got) || got[u] != want[u]) return 0
  for (u in got) if (!(u in want)) return 0
  return 1
}

# Is got[] what rank r touches in its steps from `step` on, up to any?
function is_next(r, step,  u) {
  delete want
  for (u in got) break
  if (u == "") return 1
  while (step < 12) {
    add_step(step++, first[r])
    if (same()) {
      steps[r] = step
      return 1
    }
  }
  return 0
}

/^pattern/ {
  split($2, rank, "=")
  split($3, unit, "=")
  first[rank[2]] = unit[2]
  steps[rank[2]] = -1
}

$1 == "turn" {
  r = $4
  delete got
  for (i = 7; i <= NF; i++) {
    u = $i
    written = sub(/\*$/, "", u) ? "*" : ""
    if (u + 0 >= first[r] && u + 0 < first[r] + 61) got[u + 0] = written
  }
  if (!is_next(r, steps[r])) {
    # The first step adds nothing to a first turn in which it was, too.
    if (steps[r] != 0 || !is_next(r, 1)) {
      print "turn " $2 " of rank " r ": not what its steps touch"
      exit wrong = 1
    }
  }
}

END {
  for (r in steps) {
    ranks++
    if (steps[r] != 12) wrong = 1
  }
  if (wrong || ranks != 3) exit 1
  print "PASS"
}
