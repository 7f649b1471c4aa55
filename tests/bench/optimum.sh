#!/bin/sh
# The fewest bytes that a program's pages would move with too little memory, and
# how near policies and predictors come to that.
#
#   optimum.sh PROGRAM [ARGUMENT...]
#
# PROGRAM is built with the MPI's own compiler (mpicc), not with pemscc. It runs
# once under mpirun, in memory, with optimum_trace.c loaded before it, which
# records the units of 64 KiB that each rank touches between blocking calls;
# optimum_sim.c simulates all policies on that. Comments in both say how. Needs
# Open MPI and Linux 6.7, and no privileges.
#
#   V          ranks (16)
#   FRACTIONS  memory, as parts of what the program has touched at a time
#              (0.25 0.35 0.5 0.65 0.8 0.95)
#   WAITS      of each rank that are recorded (all)
#   TRACE      prefix of files to keep the trace in; if there is one of V ranks
#              already, it is simulated, and PROGRAM is but a name
#   DUMP       not empty: print the turns instead
#
# RESULT lines: one of the program, and one for each k (1, 2), fraction and
# policy; MiB are those of a superstep:
#   read_mib written_mib  moved      ratio  all that was moved / MIN's
#   precision             of the units predicted for a turn, the part touched
#   recall                of the units touched again, the part predicted
# At last a table in Markdown of what was moved, and the ratios, with k = 1.
V=${V:-16}
. "$(dirname "$0")/lib.sh"

[ $# -ge 1 ] || { sed -n '2,5s/^# \{0,1\}//p' "$0" >&2; exit 2; }
name=$(basename "$1")
trace=${TRACE:-$work/$name}
${CC:-cc} -std=gnu17 -O2 -o "$work/sim" "$here/optimum_sim.c" || exit 1

record() {
  [ "$launcher" = orte ] || [ "$launcher" = prrte ] || skip 'Open MPI only'
  command -v "$1" >/dev/null || skip "$1 was not found: build it with mpicc"
  "$mpicc" -std=gnu17 -O2 -shared -fPIC -o "$work/optimum_trace.so" \
    "$here/optimum_trace.c" -ldl || skip "$mpicc cannot build the tracer"
  # CMA reads and writes memory beside the page tables that are watched.
  "$mpirun" --mca btl_vader_single_copy_mechanism none -np "$V" \
    -x LD_PRELOAD="$work/optimum_trace.so" -x OPTIMUM_TRACE="$trace" \
    -x OPTIMUM_WAITS="${WAITS:--1}" "$@" >"$work/log" 2>&1
  status=$?
  cat "$work/log" >&2
  ! grep -q '^optimum_trace: userfaultfd' "$work/log" || skip 'Linux 6.7 only'
  [ $status -eq 0 ] || exit 1
}

[ -s "$trace.$((V - 1))" ] || record "$@"
if [ -n "${DUMP:-}" ]; then
  "$work/sim" --dump "$trace" "$V"
  exit
fi
# shellcheck disable=SC2086 # words
"$work/sim" "$trace" "$V" ${FRACTIONS:-0.25 0.35 0.5 0.65 0.8 0.95} \
  >"$work/out" || exit 1
cat "$work/out"

# The table: a row for each policy, a column for each fraction.
awk '
  { delete v; for (i = 1; i <= NF; i++) { split($i, a, "="); v[a[1]] = a[2] } }
  v["policy"] == "" || v["k"] != 1 { next }
  !(v["fraction"] in seen) { seen[v["fraction"]]; f[++n] = v["fraction"] }
  !(v["policy"] in row) { p[++m] = v["policy"] }
  {
    row[v["policy"]] = row[v["policy"]] sprintf(" %.1f + %.1f, %s |",
      v["read_mib"], v["written_mib"], v["ratio"])
    right[v["policy"]] = v["precision"] == "" ? "" : \
      sprintf(" %.2f, %.2f ", v["precision"], v["recall"])
  }
  END {
    printf "\n| policy |"
    for (i = 1; i <= n; i++) printf " %s |", f[i]
    printf " precision, recall |\n|---|"
    for (i = 1; i <= n; i++) printf "--:|"
    print "--:|"
    for (i = 1; i <= m; i++) print "| " p[i] " |" row[p[i]] right[p[i]] "|"
  }' "$work/out"
