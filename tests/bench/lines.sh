#!/bin/sh
# pems-sort beside GNU sort, with text, numbers and a table, and beside DuckDB and
# Polars with the table: same input, memory, scratch disk and threads, C locale,
# results compared. DuckDB and Polars order by one column of numbers.
#
#   SIZE     of the text and the numbers (4G)   TABLE   of the CSV (1G)
#   MEMORY   (256M)                             THREADS (2)
#   KINDS    (text numbers table)               ROUNDS  (1)
#   PEERS    besides pems, with the table (gnu duckdb polars)
#   TEXT     a directory whose text files are the text (/usr)
#   INPUTS   a directory with files `text`, `numbers`, `table` made before (none)
#   PEERS_PYTHON  an interpreter that has duckdb and polars (python3)
#
# DuckDB and Polars run in a cgroup of four times MEMORY: less kills them, as
# what DuckDB is told is not all that it takes, and Polars takes no limit. Prints
# one RESULT line for each run; cached files are dropped before.
# shellcheck source=tests/bench/lib.sh
. "$(dirname "$0")/lib.sh"

LC_ALL=C
export LC_ALL
size=$(bytes "${SIZE:-4G}")
table=$(bytes "${TABLE:-1G}")
memory=${MEMORY:-256M}
threads=${THREADS:-2}
python=${PEERS_PYTHON:-python3}
command -v pems-sort >/dev/null || skip "pems-sort was not found: build pems"
[ -x /usr/bin/time ] || skip "/usr/bin/time is not there"
mkdir "$work/scratch"

# --- inputs ---

make_text() {
  text_of "${TEXT:-/usr}" "$size"
}

make_numbers() {
  od -An -v -tu8 -w8 /dev/urandom | tr -d ' ' | head -c "$size"
}

make_table() {
  echo 'a,b,c'
  od -An -v -tu4 -w12 /dev/urandom | sed 's/^ *//; s/  */,/g' |
    head -c "$table" | head -n -1
}

# --- one run ---

# What peer $1 does, by $kind; the result is $work/out.
command_of() {
  case $1-$kind in
    gnu-text) set -- sort ;;
    gnu-numbers) set -- sort -n ;;
    gnu-table) set -- sort -s -t, -k2,2n ;; # the header comes first: 0
    pems-text) set -- pems-sort --lines ;;
    pems-numbers) set -- pems-sort --lines -n ;;
    pems-table) set -- pems-sort --csv --header -k b:n ;;
    *)
      set -- sh "$here/cgroup.sh" $((4 * $(bytes "$memory"))) "$python" \
        "$here/lines_peers.py" "$1" "$in" "$work/out" "$memory" \
        "$threads" "$work/scratch"
      echo "$@"
      return
      ;;
  esac
  echo "$@" -S "$memory" --parallel="$threads" -T "$work/scratch" \
    -o "$work/out" "$in"
}

# The output has the same rows in the same order, but for equal keys.
sum_of() {
  if [ "$kind" = table ]; then
    cut -d, -f2 "$work/out" | md5sum
  else
    md5sum <"$work/out"
  fi
}

run_peer() {
  : >"$work/log"
  rm -f "$work/out"
  drop_caches
  # shellcheck disable=SC2046 # words
  /usr/bin/time -f '%e %U %S %M' -o "$work/time" timeout 3600 \
    $(command_of "$1") >"$work/log" 2>&1
  status=$?
  # shellcheck disable=SC2046 # words
  set -- "$1" $(tail -n 1 "$work/time")
  outcome=right
  if [ $status -ne 0 ]; then
    outcome=failed
    tail -n 2 "$work/log"
  elif [ -z "$sum" ]; then
    sum=$(sum_of)
  elif [ "$(sum_of)" != "$sum" ]; then
    outcome=wrong
  fi
  echo "RESULT bench=lines kind=$kind peer=$1 bytes=$(stat -c %s "$in")" \
    "memory=$memory threads=$threads seconds=$2" \
    "cpu_seconds=$(calculate "$3 + $4") peak_rss_mib=$(($5 >> 10))" \
    "outcome=$outcome load=$(cut -d' ' -f1 /proc/loadavg)"
}

for kind in ${KINDS:-text numbers table}; do
  in=${INPUTS:-}/$kind
  if [ ! -f "$in" ]; then
    in=$work/in
    make_$kind >"$in"
  fi
  sum=
  round=0
  while [ $round -lt "${ROUNDS:-1}" ]; do
    round=$((round + 1))
    for peer in pems ${PEERS:-gnu duckdb polars}; do
      case $peer-$kind in
        gnu-* | pems-* | *-table) run_peer "$peer" ;;
      esac
    done
  done
done
