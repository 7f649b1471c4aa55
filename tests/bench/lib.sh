# shellcheck shell=sh
# What the benchmarks share: sizes, which the environment may override, places,
# and the reading of RESULT lines.
#
#   N      keys to sort (2^30)            V      ranks (32)
#   LIMIT  memory of the cgroup (1G)      K      ranks running at once (2)
#   DISK   directory for scratch files    SWAP   size of the swap file (16G)
#   PEMSCC, PEMSRUN, MPICC, MPIRUN        commands, else from the PATH

set -u

here=$(cd "$(dirname "$0")" && pwd)
top=${top_srcdir:-$(cd "$here/../.." && pwd)}
pemscc=${PEMSCC:-pemscc}
pemsrun=${PEMSRUN:-pemsrun}
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

OMPI_ALLOW_RUN_AS_ROOT=1
OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
OMPI_MCA_mpi_yield_when_idle=1
OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM \
  OMPI_MCA_mpi_yield_when_idle OMPI_MCA_rmaps_base_oversubscribe

work=$(mktemp -d "$DISK/pems-bench.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
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

# Sorts with pems in the cgroup. What it prints is in $work/log.
psrs_with_pems() {
  if [ ! -x "$work/psrs" ]; then
    "$pemscc" -O2 -o "$work/psrs" "$top/apps/psrs.c" || exit 1
  fi
  : >"$work/log"
  seconds_of "$here/cgroup.sh" "$LIMIT" "$pemsrun" -n "$V" "--pems-k=$K" \
    --pems-io="${IO:-unix}" "--pems-disk=$DISK" --pems-stats "$work/psrs" "$N"
  if [ $status -eq 77 ]; then
    skip "$(grep '^cgroup.sh' "$work/log")"
  elif [ $status -ne 0 ]; then
    give_up "pems: exit status $status"
  fi
}
