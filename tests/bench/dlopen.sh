#!/bin/sh
# What it takes that each of V ranks opens the same library, whose writable data
# are DATA bytes, a third of them addresses, with room for all ranks in memory:
# processor time of dlopen (mean, most), and memory per rank beyond the data.
#
#   V     numbers of ranks, each in a run of its own (32 512)
#   DATA  bytes of data (196608)
# Other sizes: see lib.sh.
V=${V:-32 512}
# shellcheck source=tests/bench/lib.sh
. "$(dirname "$0")/lib.sh"
need_pems
data=${DATA:-196608}

cat >"$work/large.c" <<C
static char first;
char *addresses[$data / 24] = {[0 ... $data / 24 - 1] = &first};
char numbers[$data / 3 * 2] = {1};
C
${CC:-cc} -O1 -fPIC -shared -o "$work/large.so" "$work/large.c" || exit 1
"$pemscc" -O2 -o "$work/dlopen" "$here/dlopen.c" || exit 1
for ranks in $V; do
  "$pemsrun" -n "$ranks" --pems-procs=1 --pems-stats "--pems-disk=$DISK" \
    "$work/dlopen" "$work/large.so" >"$work/log" 2>&1 ||
    give_up "$ranks ranks"
  printf 'RESULT bench=dlopen ranks=%s data=%s mean_ms=%s most_ms=%s ' \
    "$ranks" "$data" "$(app_value mean_ms)" "$(app_value most_ms)"
  printf 'grown_per_rank=%s beside_per_rank=%.0f load=%s\n' \
    "$(app_value grown_per_rank)" \
    "$(calculate "$(value beside "$work/log") / $ranks")" \
    "$(cut -d' ' -f1 /proc/loadavg)"
done
