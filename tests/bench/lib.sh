# shellcheck shell=sh
# What the benchmarks share: sizes, which the environment may override, places,
# and the reading of RESULT lines.
#
#   N      keys to sort (2^30)            V      ranks (32)
#   LIMIT  memory of the cgroup (1G)      K      ranks running at once (2)
#   DISK   directory for scratch files    SWAP   size of the swap file (16G)
#   DRIVERS  I/O drivers to try (unix aio uring mmap)
#   PEMSCC, PEMSRUN, PEMSINFO, MPICC, MPIRUN  commands, else from the PATH
#
# A benchmark with other defaults sets them before it reads this.

set -u

here=$(cd "$(dirname "$0")" && pwd)
top=${top_srcdir:-$(cd "$here/../.." && pwd)}
pemscc=${PEMSCC:-pemscc}
pemsrun=${PEMSRUN:-pemsrun}
pemsinfo=${PEMSINFO:-pemsinfo}
# shellcheck disable=SC2034 # these are for the benchmarks
{
  mpicc=${MPICC:-mpicc}
  mpirun=${MPIRUN:-mpirun}
  N=${N:-1073741824}
  V=${V:-32}
  K=${K:-2}
  LIMIT=${LIMIT:-1G}
  SWAP=${SWAP:-16G}
}
DISK=${DISK:-${TMPDIR:-/var/tmp}}

# shellcheck source=tests/launcher.sh
. "$top/tests/launcher.sh"

work=$(mktemp -d "$DISK/pems-bench.XXXXXX") || exit 1
swap_file=
# shellcheck disable=SC2317 # called by the trap
remove_all() {
  if [ -n "$swap_file" ]; then
    swapoff "$swap_file" 2>/dev/null
  fi
  rm -rf "$work"
}
trap remove_all EXIT
trap 'exit 1' HUP INT TERM

skip() {
  echo "SKIP $(basename "$0"): $*"
  exit 77
}

# 512M -> 536870912
bytes() {
  case $1 in
    *K) echo $((${1%K} << 10)) ;;
    *M) echo $((${1%M} << 20)) ;;
    *G) echo $((${1%G} << 30)) ;;
    *) echo "$1" ;;
  esac
}

need_pems() {
  command -v "$pemscc" >/dev/null || skip "$pemscc was not found: build pems"
  command -v "$pemsrun" >/dev/null || skip "$pemsrun was not found: build pems"
}

# value KEY FILE: what follows "KEY=" in the last RESULT line that has it.
value() {
  sed -n "s/^RESULT .*\<$1=\([^ ]*\).*/\1/p" "$2" | tail -n 1
}

# calculate EXPRESSION: floating point, four decimals.
calculate() {
  awk "BEGIN { printf \"%.4f\", $1 }"
}

# seconds_of COMMAND...: runs it, its output appended to $work/log; $seconds is
# the time that it took from start to end, $status its exit status.
seconds_of() {
  began=$(date +%s.%N)
  "$@" >>"$work/log" 2>&1
  # shellcheck disable=SC2034 # for the benchmarks
  status=$?
  # shellcheck disable=SC2034
  seconds=$(calculate "$(date +%s.%N) - $began")
}

give_up() {
  echo "FAIL $(basename "$0"): $*" >&2
  tail -n 40 "$work/log" >&2
  exit 1
}

# What is written reaches the disk, and is read from there again, for root.
drop_caches() {
  sync
  [ ! -w /proc/sys/vm/drop_caches ] || echo 3 >/proc/sys/vm/drop_caches
}

# text_of DIRECTORY BYTES: prints its text files, the same again until there is
# enough.
text_of() {
  find "$1" -xdev -type f -size -4M \( -name '*.h' -o -name '*.py' \
    -o -name '*.txt' -o -name '*.html' -o -name '*.pm' -o -name '*.hpp' -o \
    -name copyright -o -name '*.xml' -o -name '*.rst' -o -name '*.js' -o \
    -name '*.md' -o -name '*.log' \) >"$work/files"
  [ -s "$work/files" ] || skip "no text files in $1"
  while :; do
    tr '\n' '\0' <"$work/files" | xargs -0 cat 2>/dev/null || break
  done | tr -d '\0' | head -c "$2"
}

# build NAME: $work/NAME from apps/NAME.c, with pemscc.
build() {
  if [ ! -x "$work/$1" ]; then
    "$pemscc" -O2 -o "$work/$1" "$top/apps/$1.c" || exit 1
  fi
}

# build_plain NAME: $work/NAME.plain from apps/NAME.c, with mpicc.
build_plain() {
  if [ ! -x "$work/$1.plain" ]; then
    "$mpicc" -O2 -o "$work/$1.plain" "$top/apps/$1.c" || exit 1
  fi
}

# $drivers becomes those of $DRIVERS that this pems has; says which it has not.
choose_drivers() {
  drivers=
  for driver in ${DRIVERS:-unix aio uring mmap}; do
    if "$pemsinfo" 2>/dev/null | sed -n '/^drivers/,/^$/p' |
      grep -q "^ *$driver "; then
      drivers="$drivers $driver"
    else
      echo "SKIP driver $driver: $pemsinfo does not list it"
    fi
  done
  [ -n "$drivers" ] || skip "none of the drivers is there"
}

# Where the file system of directory $DISK has its device in /proc/diskstats:
# "major minor".
device=$(findmnt -no MAJ:MIN -T "$DISK" 2>/dev/null | tr -d ' ' |
  tr ':' ' ')

# device_bytes COLUMN: bytes that the device has read (6) or written (10) since the
# system started; all programs' together.
device_bytes() {
  awk -v d="$device" -v column="$1" '
    $1 " " $2 == d { bytes = $column * 512 }
    END { printf "%.0f", bytes }' /proc/diskstats
}

# seconds_of for a command in the cgroup of LIMIT. $device_read and
# $device_written are what the disk did meanwhile, for programs that cannot
# tell: 0 if the device is not known.
measure() {
  : >"$work/log"
  read_before=$(device_bytes 6)
  written_before=$(device_bytes 10)
  seconds_of "$here/cgroup.sh" "$LIMIT" "$@"
  if [ "$status" -eq 77 ]; then
    skip "$(grep '^cgroup.sh' "$work/log")"
  fi
  # shellcheck disable=SC2034 # for the benchmarks
  device_read=$(calculate "$(device_bytes 6) - $read_before")
  # shellcheck disable=SC2034
  device_written=$(calculate "$(device_bytes 10) - $written_before")
}

# run_pems IO [--pems-OPTION...] PROGRAM [ARGUMENT...]: V ranks, K at once, in
# the cgroup. PROGRAM is one that `build` made. What it prints is in $work/log.
run_pems() {
  io=$1
  shift
  options=
  while [ "${1#--pems-}" != "$1" ]; do
    options="$options $1"
    shift
  done
  program=$1
  shift
  # shellcheck disable=SC2086 # options are words
  measure "$pemsrun" -n "$V" "--pems-k=$K" "--pems-io=$io" \
    "--pems-disk=$DISK" --pems-stats $options "$work/$program" "$@"
  [ "$status" -eq 0 ] || give_up "pems, $io,$options: exit status $status"
}

# app_value KEY: as `value`, of the program's own line.
app_value() {
  sed -n "s/^RESULT app=.*\<$1=\([^ ]*\).*/\1/p" "$work/log" | tail -n 1
}

# The counters of the run in $work/log in one line: seconds of the program,
# bytes read and written, nanoseconds of waiting, CPU seconds, requests.
counters() {
  moved="$(value bytes_read "$work/log") $(value bytes_written "$work/log")"
  if [ "$io" = mmap ]; then # the kernel moves the bytes; only the disk knows
    moved="$device_read $device_written"
  fi
  echo "$(app_value seconds) $moved $(value io_wait "$work/log")" \
    "$(value cpu_seconds "$work/log")" \
    "$(($(value reads "$work/log") + $(value writes "$work/log")))"
}

# measure_steps IO [--pems-OPTION...] PROGRAM [ARGUMENT...]: what $steps
# supersteps cost: the difference between runs with 1 + $steps and with one, so
# that neither the first, in which nothing is read and files grow, nor the end
# counts. The argument @ is the number of supersteps. An even $steps is best,
# for the first rank's clock then starts and ends in the same direction of an
# alternating order. Runs each ROUNDS times and takes the fastest. Sets, for
# all $steps together, $took, $wait, $cpu (seconds), $read and $written (bytes),
# and $block, the size of a request. $work/log is that of the last long run.
measure_steps() {
  : >"$work/steps"
  for count in 1 $((1 + steps)); do
    round=0
    while [ $round -lt "${ROUNDS:-1}" ]; do
      round=$((round + 1))
      run_steps "$count" "$@"
      [ "$(app_value wrong)" = 0 ] || give_up "$*: wrong data"
      echo "$count $(counters)" >>"$work/steps"
    done
  done
  # shellcheck disable=SC2046 # words
  set -- $(awk '
    !($1 in seconds) || $2 < seconds[$1] { seconds[$1] = $2; line[$1] = $0 }
    END {
      for (count in line) {
        sign = count == 1 ? -1 : 1
        n = split(line[count], counter)
        for (i = 2; i <= n; i++) sum[i] += sign * counter[i]
      }
      block = sum[7] > 0 ? (sum[3] + sum[4]) / sum[7] : 1048576
      block = int(block / 65536 + 0.5) * 65536 # as fio wants it
      printf "%.6f %.0f %.0f %.6f %.6f %d", sum[2], sum[3], sum[4],
        sum[5] / 1e9, sum[6], block < 65536 ? 65536 : block
    }' "$work/steps")
  # shellcheck disable=SC2034 # for the benchmarks
  took=$1 read=$2 written=$3 wait=$4 cpu=$5 block=$6
}

# run_steps COUNT ARGUMENT...: run_pems, with COUNT in the place of @.
run_steps() {
  count=$1
  shift
  for argument; do
    shift
    if [ "$argument" = @ ]; then
      argument=$count
    fi
    set -- "$@" "$argument"
  done
  run_pems "$@"
}

# Bytes that pems, in the run in $work/log, had for contexts: M. It is the
# process's memory less what pems keeps for itself (MPI, stacks, buffers) and
# less sigma. The line of counters tells the memory exactly; the rest pemsinfo
# computes for a job of that size, to a tenth of a MiB.
context_memory() {
  exact=$(value resident "$work/log")
  if [ -n "$exact" ]; then
    echo "$exact"
    return
  fi
  memory=$(value memory "$work/log")
  "$pemsinfo" -n "$V" "--pems-k=$K" "--pems-memory=$memory" |
    awk -v memory="$memory" '
      function bytes(n, unit) {
        if (unit == "KiB") return n * 1024
        if (unit == "MiB") return n * 1024 ^ 2
        return unit == "GiB" ? n * 1024 ^ 3 : n
      }
      $1 == "overhead" || $1 == "sigma" { memory -= bytes($2, $3) }
      END { printf "%.0f", memory }'
}

# A swap file of SWAP bytes, removed at the end.
add_swap() {
  fallocate -l "$SWAP" "$work/swap" || skip "no room for $SWAP in $DISK"
  chmod 600 "$work/swap"
  mkswap "$work/swap" >/dev/null || skip "mkswap failed on $DISK"
  swapon "$work/swap" || skip "swapon failed on $DISK"
  swap_file=$work/swap
}

# What became of a program that was run under `timeout`, by $status and the log.
outcome_of() {
  kills=$(value oom_kills "$work/log")
  if [ "$status" -eq 0 ]; then
    echo finished
  elif [ "${kills:-0}" -gt 0 ]; then
    echo killed_by_kernel # thrashing, it found no page to give up
  elif [ "$status" -eq 124 ] || [ "$status" -eq 137 ]; then
    echo killed_at_limit
  else
    echo failed
  fi
}

# Sorts with pems in the cgroup. What it prints is in $work/log.
psrs_with_pems() {
  build psrs
  : >"$work/log"
  seconds_of "$here/cgroup.sh" "$LIMIT" "$pemsrun" -n "$V" "--pems-k=$K" \
    --pems-io="${IO:-unix}" "--pems-disk=$DISK" --pems-stats "$work/psrs" "$N"
  if [ $status -eq 77 ]; then
    skip "$(grep '^cgroup.sh' "$work/log")"
  elif [ $status -ne 0 ]; then
    give_up "pems: exit status $status"
  fi
}
