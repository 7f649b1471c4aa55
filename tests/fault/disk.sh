#!/bin/sh
# Disks that fail: missing, unwritable, full, and broken while the job runs.
. "$(dirname "$0")/lib.sh"

build tests/fault/misbehave.c

# swap [options]: a job that must swap.
swap() {
  # shellcheck disable=SC2086 # $budget is two options
  run -n 8 --pems-k=2 $budget "$@" "$program" none 0 $array
}

# expect_refusal PATTERN: refused before any rank started.
expect_refusal() {
  expect_status 2
  expect_line "$1"
  expect_not_started
  expect_clean
}

begin "the directory does not exist"
swap --pems-disk="$work/missing"
expect_refusal "$work/missing"
end

begin "large memory: contexts for all ranks are in files that can be had"
run -n 40 --pems-k=2 --pems-memory=1T "$program" none
expect_status 0
expect_clean
end

begin "files as large as ulimit -f says"
launch sh -c 'ulimit -f 100000; exec "$@"' sh "$pemsrun" -n 8 --pems-k=2 \
  --pems-memory=256M --pems-disk="$disk" "$program" none
finish
expect_status 0
expect_clean
launch sh -c 'ulimit -f 100000; exec "$@"' sh "$pemsrun" -n 8 --pems-k=2 \
  --pems-memory=256M --pems-context=64M --pems-disk="$disk" "$program" none
finish
expect_refusal 'in one file, more than ulimit -f allows: raise that or name'
end

begin "the directory is a file"
echo >"$work/file"
swap --pems-disk="$work/file"
expect_refusal "$work/file"
end

begin "one of two directories does not exist"
swap --pems-disk="$disk,$work/missing"
expect_refusal "$work/missing"
end

begin "the directory is not writable"
if [ "$(id -u)" -eq 0 ]; then
  unwritable=/proc/sys # not even root can create a file here
else
  unwritable=$work/unwritable
  mkdir "$unwritable"
  chmod 555 "$unwritable"
fi
swap --pems-disk="$unwritable"
expect_refusal "$unwritable"
end

begin "the disk is too small"
mkdir "$work/small"
if mount_small "$work/small" 128; then
  swap --pems-disk="$work/small" --pems-reserve=all
  expect_refusal "$work/small"
  if [ -n "$(find "$work/small" -mindepth 1 ! -name lost+found)" ]; then
    fault "left on the small disk: $(ls "$work/small")"
  fi
  unmount_small
  end
else
  echo "SKIP $title: only root can mount a small file system"
fi

for n in 1 7 20; do
  begin "the disk fills up: write $n fails"
  swap --pems-io="fault:unix,write=$n:ENOSPC"
  expect_status 1
  expect_line 'no space|ENOSPC'
  expect_clean
  end
done

for n in 1 5 20; do
  begin "read $n fails"
  swap --pems-io="fault:unix,read=$n:EIO"
  expect_status 1
  expect_line 'input/output error|EIO'
  expect_clean
  end

  begin "write $n fails"
  swap --pems-io="fault:unix,write=$n:EIO"
  expect_status 1
  expect_line 'input/output error|EIO'
  expect_clean
  end
done

begin "read 5 fails in both of two processes"
# shellcheck disable=SC2086 # $budget is two options
run -n 16 --pems-procs=2 --pems-k=1 $budget --pems-io=fault:unix,read=5:EIO \
  "$program" none 0 $array
expect_status 1
if [ "$(pems_lines)" -lt 1 ] || [ "$(pems_lines)" -gt 2 ]; then
  fault "$(pems_lines) lines of pems, expected one per process at most"
fi
expect_clean
end

# MPI files: who is told of success has its words in the file.
begin "MPI files on a full disk"
mkdir "$work/files"
if mount_small "$work/files" 10; then
  build tests/fault/filefull.c
  for options in '-n 4 --pems-k=2' '-n 4 --pems-procs=2'; do
    # shellcheck disable=SC2086 # options are words
    run $options "$program" "$work/files"
    expect_status 0
  done
  unmount_small
  end
  build tests/fault/misbehave.c
else
  echo "SKIP $title: only root can mount a small file system"
fi

# The scratch files lose their contents: what is mapped raises SIGBUS.
for options in --pems-swapin=lazy --pems-swapin=auto --pems-swapin=eager \
  --pems-io=mmap '--pems-swapin=lazy --pems-track=fault' \
  '--pems-io=uring --pems-swapin=lazy'; do
  begin "pages that cannot be read: $options"
  # shellcheck disable=SC2086 # options are words
  run -n 8 --pems-k=2 $budget $options "$program" cut 0 $array
  expect_status 1
  case $options in
    --pems-io=mmap) what='reading a mapped page' ;;
    *) what='(reading a mapped page|swapping in)' ;;
  esac
  expect_line "$what: context of rank [0-9]+ in $disk: input/output error"
  expect_clean
  end
done

conclude
