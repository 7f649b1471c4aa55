#!/bin/sh
# The disk layer beside fio with the same mix, request size and depth, in turns
# in one run, ROUNDS times (2). Prints the RESULT lines of tests/bench/disk.c,
# those of fio alike, and for each driver
#
#   RESULT disk_fio driver= mix= ratio=
#
# where the ratio is that of the medians. BYTES per measurement (4G), DEPTH (4),
# MIXES and DRIVERS as named in the script; DISK as for the other benchmarks;
# BUILD is the tree where pems was built.
. "$(dirname "$0")/lib.sh"

BYTES=${BYTES:-4G}
DEPTH=${DEPTH:-4}
ROUNDS=${ROUNDS:-2}
MIXES=${MIXES:-read write alternate}
DRIVERS=${DRIVERS:-unix aio uring}
BUILD=${BUILD:-$top/build}

command -v fio >/dev/null || skip "fio was not found: install it"
core=$BUILD/.libs/libpemscore.a
[ -r "$core" ] || skip "$core was not found: build pems, name its tree in BUILD"
mpi=$("$mpicc" -showme:link)
libs=$(sed -n 's/^\(AIO\|URING\|HWLOC\)_LIBS = //p' "$BUILD/Makefile")
# shellcheck disable=SC2086 # lists of options
${CC:-cc} -std=gnu17 -O2 -pthread -I"$top/src" -I"$top" \
  "$here/disk.c" "$core" $libs $mpi -o "$work/disk" ||
  give_up "disk.c: does not compile"

# fio's file is written once, as that of disk.c is.
fio_once() {
  case $1 in
    alternate) rw=rw ;;
    *) rw=$1 ;;
  esac
  fio --name=pems --filename="$work/fio" --size=1g --io_size="$BYTES" \
    --rw="$rw" --bs=2m --iodepth="$DEPTH" --ioengine=io_uring --direct=1 \
    --overwrite=1 --registerfiles=1 --scramble_buffers=0 --output-format=terse --terse-version=3 |
    awk -F';' -v mix="$1" -v depth="$DEPTH" '
      NF > 50 { kib = $6 + $47; ms = $9 > $50 ? $9 : $50
        printf "RESULT disk driver=fio mix=%s bytes=%.0f depth=%s ", mix,
          kib * 1024, depth
        printf "seconds=%.3f gbs=%.3f cpu=%.3f\n", ms / 1000,
          kib * 1.024e-3 / ms, ($88 + $89) * ms / 1e5 }'
}

for mix in $MIXES; do
  round=0
  while [ "$round" -lt "$ROUNDS" ]; do
    fio_once "$mix"
    for driver in $DRIVERS; do
      "$work/disk" "$driver" "$mix" "$BYTES" "$work" "$DEPTH"
    done
    round=$((round + 1))
  done
done | tee "$work/results"

awk '
  function median(list, n, x, i, j, t) {
    n = split(list, x, " ")
    for (i = 2; i <= n; i++)
      for (j = i; j > 1 && x[j] + 0 < x[j - 1] + 0; j--) {
        t = x[j]; x[j] = x[j - 1]; x[j - 1] = t
      }
    return (x[int((n + 1) / 2)] + x[int(n / 2) + 1]) / 2
  }
  {
    for (i = 2; i <= NF; i++) { split($i, kv, "="); v[kv[1]] = kv[2] }
    key = v["driver"] " " v["mix"]
    all[key] = all[key] " " v["gbs"]
  }
  END {
    for (key in all) {
      split(key, k, " ")
      if (k[1] != "fio")
        printf "RESULT disk_fio driver=%s mix=%s ratio=%.2f\n", k[1], k[2],
          median(all[key]) / median(all["fio " k[2]])
    }
  }' "$work/results"
