#!/bin/sh
# Sorting on pems and on BDMPI, with two programs: apps/psrs.c and BDMPI's own
# samplesort. The same source, the same keys, as many ranks, as many of them
# running at once, the same cgroup, the same disk. Times are those of the whole
# command, for samplesort prints whole seconds only.
#
#   psrs_bdmpi.sh PREFIX SOURCE
#
# PREFIX is where BDMPI is installed (bin/bdmprun, bin/bdmpicc, include/bdmpi,
# lib/bdmpi), SOURCE its apps/mpi/samplesort.c; both from its repository,
# jiverson002/bdmpi. Sorting within a rank is done by its library GKlib: both
# programs link the same one. Where pems has no MPI_Send yet, both run
# samplesort with another check of the result (see `replace_check`): cut=1.
#
#   N         keys in all (2^26)
#   PROGRAMS  (psrs samplesort)
#   ROUNDS    how often everything runs, in turn; the fastest count (1)
#   SBMAS     BDMPI's ways to swap, for its option -sbma (evict,aggrd,ghost and
#             evict,lzyrd: whole blocks, safe against races, or pages come in)
#   NRS       ranks that BDMPI runs at once (K and 1: with more than one it
#             sometimes loses data and fails)
#   EIGHTHS   of LIMIT for BDMPI's blocks, to try until it is not killed
#             (6 5 4 3)
#   TIMES     BDMPI has that many times as long as pems (8)
#   IO        driver of pems (unix)      PEMS_WITH  more of its options
#
# BDMPI keeps -rm pages of blocks in memory, besides the page cache through
# which it does its I/O: see EIGHTHS. It leaves message queues, shared memory and
# files behind when it fails: it gets namespaces of its own, so it needs root.
# Other sizes: see lib.sh.
V=${V:-32}
LIMIT=${LIMIT:-192M}
N=${N:-67108864}
. "$(dirname "$0")/lib.sh"

prefix=${1:?usage: psrs_bdmpi.sh PREFIX SOURCE}
source=${2:?usage: psrs_bdmpi.sh PREFIX SOURCE}

need_pems
for file in "$source" "$prefix/bin/bdmprun" "$prefix/lib/bdmpi/libGKlib.a"; do
  [ -e "$file" ] || skip "$file: not found: install BDMPI first"
done
unshare -m -i -p --fork true 2>/dev/null ||
  skip "BDMPI needs namespaces of its own: run this as root"

# GKlib's headers without those of BDMPI, one of which is called mpi.h.
mkdir "$work/include"
cp "$prefix"/include/bdmpi/*.h "$work/include"
rm -f "$work/include/mpi.h" "$work/include/bdmpi.h"

# compile SOURCE NAME: $work/NAME for pems and $work/NAME.bdmpi.
compile() {
  "$pemscc" -O3 -w -I"$work/include" -I"$top/apps" -o "$work/$2" "$1" \
    "$prefix/lib/bdmpi/libGKlib.a" -lm || exit 1
  # bdmpicc says nothing and succeeds even if the compiler does not.
  "$prefix/bin/bdmpicc" -O3 -w -I"$top/apps" -o "$work/$2.bdmpi" "$1"
  [ -x "$work/$2.bdmpi" ] || give_up "bdmpicc did not compile $1"
}

# samplesort sends all keys to rank 0, one rank after the other, to see that
# they are sorted. Instead every rank looks at its own, and rank 0 at where they
# meet; and the communicator is not duplicated.
replace_check() {
  cat >"$work/check.c" <<'END'
  {
    int ends[2] = {INT_MAX, INT_MIN};
    int *const all = gk_imalloc(2 * npes, "all");
    for (i = 1; i < nlocal; i++) {
      if (elmnts[i - 1] > elmnts[i]) printf("Inversion on rank %d\n", mype);
    }
    if (nlocal > 0) {
      ends[0] = elmnts[0];
      ends[1] = elmnts[nlocal - 1];
    }
    MPI_Gather(ends, 2, MPI_INT, all, 2, MPI_INT, 0, MPI_COMM_WORLD);
    for (k = 0; mype == 0 && k < npes; k++) {
      if (all[2 * k] <= all[2 * k + 1]) {
        if (lastelmnt > all[2 * k]) printf("Inversion at rank %d\n", k);
        lastelmnt = all[2 * k + 1];
      }
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
END
  awk -v check="$work/check.c" '
    /MPI_Comm_free/ { next }
    /the root will get all the data/ { skipping = 1 }
    skipping && /^  MPI_Finalize\(\);$/ {
      while ((getline line < check) > 0) print line
      skipping = 0
    }
    skipping { next }
    { sub(/MPI_Comm_dup\(icomm, &comm\)/, "comm = icomm"); print }
  ' "$source" >"$work/cut.c"
}

compile "$top/apps/psrs.c" psrs
compile "$source" samplesort
uncut=1
: >"$work/log"
"$pemsrun" -n 2 "$work/samplesort" 1000 >"$work/log" 2>&1
if grep -q 'not supported' "$work/log"; then
  uncut=0
  echo "samplesort: $(grep 'not supported' "$work/log"): both run a cut version"
  replace_check
  compile "$work/cut.c" samplesort
fi

# What each prints when it ends well: samplesort also says what is out of order.
ended_well() {
  if [ "$program" = psrs ]; then
    grep -q '^RESULT app=psrs .*sorted=1 count_ok=1 checksum_ok=1' "$work/log"
  else
    grep -q 'Done done!' "$work/log" && ! grep -q Inversion "$work/log"
  fi
}

minimum() {
  awk -v a="$1" -v b="$2" 'BEGIN { print (a == "" || b + 0 < a + 0) ? b : a }'
}

# BDMPI's process with a machine of its own. Queues of 512 messages are more
# than Linux allows unless told, and that is told to its own namespace only.
cat >"$work/alone" <<'END'
#!/bin/sh
mount -t tmpfs none /dev/shm || exit 1
sysctl -q -w fs.mqueue.msg_max=512 fs.mqueue.queues_max=4096 || :
prlimit --pid $$ --msgqueue=unlimited 2>/dev/null || :
exec "$@"
END
chmod +x "$work/alone"

# run_bdmpi SBMA NR EIGHTHS: within $allowed seconds; sets $outcome.
run_bdmpi() {
  pages=$(($(bytes "$LIMIT") * $3 / 8 / $(getconf PAGESIZE)))
  mkdir "$work/bdmpi"
  measure timeout -k 5 "$allowed" unshare -m -i -p --fork --mount-proc \
    --kill-child "$work/alone" env OMPI_MCA_ess_singleton_isolated=1 \
    "$prefix/bin/bdmprun" "-ns=$V" "-nr=$2" "-wd=$work/bdmpi" "-rm=$pages" \
    "-sbma=$1" "$work/$program.bdmpi" "$size"
  rm -rf "$work/bdmpi"
  outcome=$(outcome_of)
  # Its status is 0 even after a rank was killed.
  if [ "$outcome" = finished ] && ! ended_well; then
    outcome=failed
  fi
}

sort_with_pems() {
  # shellcheck disable=SC2086 # words
  run_pems "${IO:-unix}" ${PEMS_WITH:-} "$program" "$size"
  ended_well || give_up "pems: $program did not end well"
  best_pems=$(minimum "$best_pems" "$seconds")
  printf 'RESULT bench=psrs_bdmpi program=%s with=pems io=%s elements=%s ' \
    "$program" "${IO:-unix}" "$elements"
  printf 'ranks=%s k=%s wall_seconds=%s bytes_read=%s bytes_written=%s ' \
    "$V" "$K" "$seconds" "$(value bytes_read "$work/log")" \
    "$(value bytes_written "$work/log")"
  printf 'limit=%s peak_anon=%s\n' "$(value limit "$work/log")" \
    "$(value peak_anon "$work/log")"
}

# sort_with_bdmpi SBMA NR
sort_with_bdmpi() {
  for eighths in ${EIGHTHS:-6 5 4 3}; do
    run_bdmpi "$1" "$2" "$eighths"
    case $outcome in
      finished | killed_at_limit) break ;;
    esac
  done
  if [ "$outcome" = finished ]; then
    best_bdmpi=$(minimum "$best_bdmpi" "$seconds")
  elif [ "$outcome" = failed ]; then
    grep -iE 'assert|kill|fail' "$work/log" | head -n 3 >&2
  fi
  printf 'RESULT bench=psrs_bdmpi program=%s with=bdmpi sbma=%s elements=%s ' \
    "$program" "$1" "$elements"
  printf 'ranks=%s k=%s outcome=%s wall_seconds=%s allowed_seconds=%s ' \
    "$V" "$2" "$outcome" "$seconds" "$allowed"
  printf 'device_read=%.0f device_written=%.0f budget=%s limit=%s ' \
    "$device_read" "$device_written" "$((pages * $(getconf PAGESIZE)))" \
    "$(value limit "$work/log")"
  printf 'peak_anon=%s\n' "$(value peak_anon "$work/log")"
}

for program in ${PROGRAMS:-psrs samplesort}; do
  elements=$((N / V * V))
  size=$elements
  if [ "$program" = samplesort ]; then
    size=$((N / V)) # it wants the keys of a rank
  fi
  best_pems=
  best_bdmpi=
  round=0
  while [ $round -lt "${ROUNDS:-1}" ]; do
    round=$((round + 1))
    sort_with_pems
    allowed=$(awk "BEGIN { printf \"%.1f\", ${TIMES:-8} * $seconds }")
    for sbma in ${SBMAS:-evict,aggrd,ghost evict,lzyrd}; do
      for nr in ${NRS:-$K 1}; do
        sort_with_bdmpi "$sbma" "$nr"
      done
    done
  done
  cut=$((1 - uncut))
  [ "$program" = samplesort ] || cut=0
  bound=exact
  faster=unknown
  if [ -n "$best_bdmpi" ]; then
    faster=$(calculate "$best_bdmpi / $best_pems")
  elif [ "$outcome" = killed_at_limit ]; then
    faster=${TIMES:-8}
    bound=at_least
  else
    bound=$outcome
  fi
  printf 'RESULT bench=psrs_bdmpi program=%s cut=%s elements=%s limit=%s ' \
    "$program" "$cut" "$elements" "$(bytes "$LIMIT")"
  printf 'pems_seconds=%s bdmpi_seconds=%s pems_times_faster=%s bound=%s\n' \
    "$best_pems" "${best_bdmpi:-unknown}" "$faster" "$bound"
done
