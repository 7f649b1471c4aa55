#!/bin/sh
# A disk that becomes full, or breaks, in the middle of a job: one clear line, a
# status that is not 0, nothing left behind, and never a wrong result. Space that
# was reserved at the start cannot be taken by others.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/budget.sh"

build apps/psrs.c
right='sorted=1 count_ok=1 checksum_ok=1'
PEMS_TEST_EVICT_ALWAYS=1
export PEMS_TEST_EVICT_ALWAYS

# The ranks' contexts hold 2 MiB each, of which all goes to disk.
ranks=8
job() {
  start_job "$@"
  finish
}

start_job() {
  start -n $ranks --pems-k=2 --pems-context=4M --pems-sigma=64K \
    --pems-memory="${memory}M" --pems-stats "$@" "$program" 1600000
}

least_memory -n $ranks --pems-k=2 --pems-context=4M --pems-sigma=64K \
  "$program" 1000
memory=$((least + 1))

expect_no_wrong_result() {
  if says 'RESULT app=' && ! says "$right"; then
    fault "a wrong result was printed"
  fi
}

# expect_full PATTERN
expect_full() {
  expect_status 1
  expect_line "$1"
  expect_no_wrong_result
  expect_clean
}

expect_right() {
  expect_status 0
  expect_silence
  expect_output "$right"
  expect_clean
}

begin "the job without faults"
job
expect_right
written=$(counted bytes_written)
writes=$(counted writes)
if [ "$written" -lt 4000000 ]; then
  fault "only $written bytes were written"
fi
end

after=
if has_fault after=1000000000:ENOSPC; then
  after=yes
else
  echo "SKIP after=BYTES:ENOSPC: this pems cannot; the middle write fails instead"
fi
for driver in $(moving_drivers); do
  for tenths in 0 3 5 7; do
    begin "$driver: full after $tenths tenths of all that is written"
    if [ -n "$after" ]; then
      job --pems-io="fault:$driver,after=$((written / 10 * tenths + 1)):ENOSPC"
    else
      job --pems-io="fault:$driver,write=$((writes / 10 * tenths + 1)):ENOSPC"
    fi
    expect_full 'swapping|writing|delivering|sending'
    expect_line "$disk.*no space left|no space left.*$disk"
    end
  done
done

# sparse_disk DIR KIB: a file system on a device that can hold KIB more than it
# does now, though it looks much larger: the device itself runs full.
sparse_disk() {
  mkdir -p "$work/backing"
  mount -t tmpfs -o size=300m tmpfs "$work/backing" 2>/dev/null || return 1
  backing=$work/backing
  if truncate -s 200M "$backing/image" &&
    mkfs.ext4 -q -F -O '^has_journal' -E lazy_itable_init=0 "$backing/image" \
      >/dev/null 2>&1 && mount -o loop "$backing/image" "$1" 2>/dev/null; then
    mounted=$1
    sync -f "$1"
    used=$(du -k "$backing/image" | cut -f 1)
    mount -o "remount,size=$((used + $2))k" "$backing" 2>/dev/null && return 0
    umount "$mounted"
    mounted=
  fi
  umount "$backing"
  backing=
  return 1
}

remove_sparse_disk() {
  until_seconds 60 umount "$mounted" 2>/dev/null ||
    fault "$mounted is still in use"
  mounted=
  until_seconds 60 umount "$backing" 2>/dev/null ||
    fault "$backing is still in use"
  backing=
}

backing=
tidy_all() {
  if [ -n "$mounted" ]; then
    umount "$mounted" && mounted=
  fi
  if [ -n "$backing" ]; then
    until_seconds 60 umount "$backing" 2>/dev/null
  fi
  tidy
}
trap tidy_all EXIT

mkdir "$work/sparse" "$work/small"
failed='swapping|writing|delivering|sending'
for driver in $(moving_drivers); do
  [ "$driver" != mem ] || continue
  begin "$driver: the device runs full while the job runs"
  if ! sparse_disk "$work/sparse" 6000; then
    echo "SKIP $title: only root can mount such a device, and not everywhere"
    continue
  fi
  job --pems-io="$driver" --pems-disk="$work/sparse"
  expect_full "($failed).*$work/sparse.*(no space left|input/output error)"
  remove_sparse_disk
  end

  begin "$driver: one of two devices runs full"
  if sparse_disk "$work/sparse" 1000; then
    job --pems-io="$driver" --pems-disk="$disk,$work/sparse"
    expect_full "($failed).*$work/sparse.*(no space left|input/output error)"
    remove_sparse_disk
    end
  fi
done

# What the kernel could not write stays in memory, if it can.
begin "mmap: the device runs full while the job runs"
if sparse_disk "$work/sparse" 6000; then
  job --pems-io=mmap --pems-disk="$work/sparse"
  expect_no_wrong_result
  if [ "$status" -eq 0 ]; then
    expect_right
  else
    expect_few_lines
    expect_clean
  fi
  remove_sparse_disk
  end
else
  echo "SKIP $title: only root can mount such a device, and not everywhere"
fi

# used MIB: so much of the small disk is.
used() {
  [ "$(df -m --output=used "$work/small" | tail -n 1)" -ge "$1" ]
}

begin "others fill the disk while the job runs"
if mount_small "$work/small" 64; then
  start_job --pems-disk="$work/small" --pems-io=fault:unix,delay=8000 \
    --pems-reserve=all
  until_seconds "$limit" used $((ranks * 4)) || fault "it reserves nothing"
  # Until there is no space left.
  dd if=/dev/zero of="$work/small/other" bs=64k >/dev/null 2>&1
  finish
  expect_right
  rm -f "$work/small/other"
  if [ -n "$(find "$work/small" -mindepth 1 ! -name lost+found)" ]; then
    fault "left on the small disk: $(ls "$work/small")"
  fi
  unmount_small
  end
else
  echo "SKIP $title: only root can mount a small file system"
fi

conclude
