#!/bin/sh
# Space on the scratch disks is taken as ranks allocate memory. On a full disk
# malloc fails, and one line says why; what was granted is there in every
# superstep, whoever fills the disk; jobs that fit side by side run side by side.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/budget.sh"

build tests/fault/pending.c
pending=$program
build tests/fault/room.c
PEMS_TEST_EVICT_ALWAYS=1
export PEMS_TEST_EVICT_ALWAYS
ranks=6
sizes="-n $ranks --pems-k=2 --pems-context=64M --pems-memory=512M"

mkdir "$work/small" "$work/second"
mount_small "$work/small" 64 ||
  skip "only root can mount a small file system"
unmount_small

# other_disk MIB: a second one at $work/second, in memory.
other_disk() {
  mount -t tmpfs -o "size=${1}m" tmpfs "$work/second" && second=yes
}

remove_other_disk() {
  umount "$work/second" || fault "$work/second is still in use"
  second=
}

second=
tidy_both() {
  if [ -n "$second" ]; then
    umount "$work/second"
  fi
  tidy
}
trap tidy_both EXIT

# nothing_left: the small disks are as they were.
nothing_left() {
  rm -f "$work/small/other"
  for left in "$work/small" "$work/second"; do
    if [ -n "$(find "$left" -mindepth 1 ! -name lost+found)" ]; then
      fault "left in $left: $(ls "$left")"
    fi
  done
}

blocks() {
  sed -n 's/^RESULT blocks=\([0-9]*\) .*/\1/p' "$out"
}

# room OPTIONS... -- ARGUMENTS: the job, with $sizes.
room() {
  options=
  while [ "$1" != -- ]; do
    options="$options $1"
    shift
  done
  shift
  # shellcheck disable=SC2086 # these are words
  run $sizes $options "$program" "$@"
}

for driver in $(moving_drivers) mmap; do
  [ "$driver" != mem ] || continue

  # Mapped pages find the last blocks of a full disk in every order.
  tries=1
  [ "$driver" != mmap ] || tries=5
  while [ $tries -gt 0 ]; do
    tries=$((tries - 1))
    begin "$driver: malloc fails when the disk is full, and the job goes on"
    mount_small "$work/small" 64
    room --pems-io="$driver" --pems-disk="$work/small" -- 40
    expect_status 0
    expect_line "memory of rank [0-5]: 1.0 MiB more: malloc fails: no room in \
$work/small \\(.* free\\): free some or name another directory with --pems-disk"
    expect_output " refused=$ranks wrong=0"
    if [ "$(blocks)" -lt 30 ] || [ "$(blocks)" -gt 63 ]; then
      fault "$(blocks) blocks, of 1 MiB, on a disk of 64 MiB"
    fi
    expect_clean
    nothing_left
    unmount_small
    end
  done

  begin "$driver: others fill the disk, and what was granted is written there"
  mount_small "$work/small" 64
  room --pems-io="$driver" --pems-disk="$work/small" -- 5 "$work/small/other"
  expect_status 0
  expect_silence
  expect_output "RESULT blocks=30 refused=0 wrong=0"
  nothing_left
  unmount_small
  end
done

begin "two processes, one of two disks full"
mount_small "$work/small" 64
other_disk 64
room --pems-procs=2 --pems-disk="$work/small,$work/second" -- 5 \
  "$work/small/other"
expect_status 0
expect_silence
expect_output "RESULT blocks=30 refused=0 wrong=0"
expect_clean
nothing_left
end

begin "stripes over two disks, one of them full"
room --pems-stripe=64K --pems-disk="$work/small,$work/second" -- 8 \
  "$work/small/other"
expect_status 0
expect_silence
expect_output "RESULT blocks=48 refused=0 wrong=0"
nothing_left
end

begin "stripes over two disks: malloc fails when one is full"
room --pems-stripe=64K --pems-disk="$work/small,$work/second" -- 40
expect_status 0
expect_line "malloc fails: no room in $work/(small|second)"
expect_output " refused=$ranks wrong=0"
if [ "$(blocks)" -lt 70 ]; then
  fault "$(blocks) blocks, of 1 MiB, on disks of 128 MiB"
fi
nothing_left
remove_other_disk
unmount_small
end

begin "two jobs side by side, each of which may have more than the disk"
mount_small "$work/small" 64
# shellcheck disable=SC2086
"$pemsrun" $sizes --pems-disk="$work/small" --pems-io=fault:unix,delay=10000 \
  "$program" 3 >"$work/first" 2>&1 &
first=$!
room --pems-disk="$work/small" --pems-io=fault:unix,delay=10000 -- 3
expect_status 0
expect_silence
expect_output "RESULT blocks=18 refused=0 wrong=0"
wait $first || fault "the first job: status $?"
grep -q "RESULT blocks=18 refused=0 wrong=0" "$work/first" ||
  fault "the first job: $(cat "$work/first")"
nothing_left
end

begin "all that ranks may have is reserved at the start, if that is wanted"
# 64 MiB for each of 6, and what of its stack may leave memory.
room --pems-disk="$work/small" --pems-reserve=all -- 3
expect_status 2
expect_line "scratch space: $work/small: needs 384.8 MiB, .* free: free some or"
room --pems-disk="$work/small" --pems-reserve=all --pems-context=8M -- 7 \
  "$work/small/other"
expect_status 0
expect_silence
expect_output "RESULT blocks=42 refused=0 wrong=0"
nothing_left
unmount_small
end

begin "contexts are small because the disk is, and all of it is reserved"
other_disk 30
build tests/fault/room.c -DMORE=8000000
run -n $ranks --pems-k=2 --pems-memory=512M --pems-reserve=all \
  --pems-disk="$work/second" "$program" 1
expect_status 2
expect_line 'context size: .*: give scratch directories with more room, or --pems-reserve=used'
remove_other_disk
build tests/fault/room.c
end

begin "the program's data have no room"
other_disk 1
build tests/fault/room.c -DMORE=2000000
room --pems-disk="$work/second" -- 1
expect_status 2
expect_line "scratch space: the data of rank [0-5], .* MiB: no room in \
$work/second"
if says RESULT; then
  fault "a rank has started"
fi
remove_other_disk
build tests/fault/room.c
end

begin "what fits in memory takes no space"
unset PEMS_TEST_EVICT_ALWAYS
run -n 16 --pems-stats "$program" 1
expect_status 0
expect_output "RESULT blocks=16 refused=0 wrong=0"
if [ "$(counted granted)" -ne 0 ]; then
  fault "$(counted granted) bytes were reserved"
fi
end
PEMS_TEST_EVICT_ALWAYS=1
export PEMS_TEST_EVICT_ALWAYS

# A file system that knows no fallocate.
begin "space that cannot be reserved is filled with zeros"
if truncate -s 64M "$work/old" && mkfs.ext3 -q -F "$work/old" \
  >/dev/null 2>&1 && mount -o loop "$work/old" "$work/small" 2>/dev/null; then
  # shellcheck disable=SC2034 # lib.sh unmounts it
  mounted=$work/small
  for driver in unix mmap; do
    room --pems-io="$driver" --pems-disk="$work/small" -- 5 "$work/small/other"
    expect_status 0
    expect_line "scratch space: $work/small: the file system cannot reserve it \
\\(fallocate\\): it is filled with zeros instead"
    expect_output "RESULT blocks=30 refused=0 wrong=0"
    nothing_left
  done
  room --pems-disk="$work/small" --pems-strict -- 5
  expect_status 2
  expect_line "scratch space: $work/small: the file system cannot reserve it"
  nothing_left
  unmount_small
  end
else
  echo "SKIP $title: no such file system can be mounted"
fi

# With room for half a page there are blocks for one, but not enough.
unset PEMS_TEST_EVICT_ALWAYS
for room in 0 2048; do
  begin "a disk with $room bytes free takes no stack from a job in memory"
  mount_small "$work/small" 64
  head -c $room /dev/zero >"$work/small/little"
  dd if=/dev/zero of="$work/small/other" bs=64k >"$out" 2>&1
  rm "$work/small/little"
  run -n 4 --pems-disk="$work/small" --pems-context=8M "$pending" stacks 7000000
  expect_status 0
  expect_output "ok stacks"
  expect_clean
  rm "$work/small/other"
  unmount_small
  end
done
conclude
