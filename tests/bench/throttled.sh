#!/bin/sh
# What compressing runs is worth where the scratch disk is slow: pems-sort --lines
# with text in a cgroup (v1 or v2, blkio) that lets the disk read and write RATE
# bytes a second each. Input and output are in memory: on the same disk both would
# take all of its rate by themselves. Results are compared.
#
#   FILES   a directory for both that is not on that disk (/dev/shm)
#   SIZE    of the text (2G)      RATE    (200000000)
#   MEMORY  (256M)                ROUNDS  (1)
#   CODECS  (none lz4 zstd auto; auto: as pems-sort chooses)
#   TEXT    a directory whose text files are the text (/usr)
#   INPUTS  a directory with a file `text` made before, at least as long (none)
#
# Prints one RESULT line for each run.
# shellcheck source=tests/bench/lib.sh
. "$(dirname "$0")/lib.sh"

LC_ALL=C
export LC_ALL
rate=${RATE:-200000000}
size=$(bytes "${SIZE:-2G}")
memory=${MEMORY:-256M}
command -v pems-sort >/dev/null || skip "pems-sort was not found: build pems"
[ -x /usr/bin/time ] || skip "/usr/bin/time is not there"
number=$(findmnt -no MAJ:MIN -T "$DISK" | tr -d ' ')

group=
files=
for root in /sys/fs/cgroup/blkio /sys/fs/cgroup; do
  mkdir "$root/pems-throttled.$$" 2>/dev/null || continue
  group=$root/pems-throttled.$$
  if [ -e "$group/blkio.throttle.write_bps_device" ]; then
    echo "$number $rate" >"$group/blkio.throttle.read_bps_device" &&
      echo "$number $rate" >"$group/blkio.throttle.write_bps_device" && break
  else
    echo +io >"$root/cgroup.subtree_control"
    echo "$number rbps=$rate wbps=$rate" >"$group/io.max" && break
  fi 2>/dev/null
  rmdir "$group"
  group=
done
[ -n "$group" ] || skip "no cgroup limits the disk $number"
# shellcheck disable=SC2317 # called by the trap
remove_group() {
  rmdir "$group"
  [ -z "$files" ] || rm -rf "$files"
  remove_all
}
trap remove_group EXIT

files=$(mktemp -d "${FILES:-/dev/shm}/pems-bench.XXXXXX") || exit 1
if [ -f "${INPUTS:-}/text" ]; then
  head -c "$size" "$INPUTS/text" >"$files/in"
else
  text_of "${TEXT:-/usr}" "$size" >"$files/in"
fi
mkdir "$work/scratch"
sync

round=0
while [ $round -lt "${ROUNDS:-1}" ]; do
  round=$((round + 1))
  for codec in ${CODECS:-none lz4 zstd auto}; do
    set -- --compress-program="$codec"
    [ "$codec" != auto ] || set --
    : >"$work/log"
    # shellcheck disable=SC2016 # expanded by the inner shell
    /usr/bin/time -f '%e %U %S' -o "$work/time" sh -c \
      'echo $$ >"$0/cgroup.procs" && exec "$@"' "$group" pems-sort --lines \
      -S "$memory" -T "$work/scratch" "$@" -o "$files/out" "$files/in" \
      >"$work/log" 2>&1 || give_up "$codec: pems-sort failed"
    # shellcheck disable=SC2046 # words
    set -- $(tail -n 1 "$work/time")
    sum=$(md5sum <"$files/out")
    [ "$sum" = "${first:=$sum}" ] || give_up "$codec: another result"
    rm "$files/out"
    sync
    echo "RESULT bench=throttled codec=$codec bytes=$size rate=$rate" \
      "memory=$memory seconds=$1 cpu_seconds=$(calculate "$2 + $3")" \
      "load=$(cut -d' ' -f1 /proc/loadavg)"
  done
done
