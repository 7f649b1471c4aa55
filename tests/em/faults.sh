#!/bin/sh
# pems-sort and what goes wrong: wrong options and files, too little memory, full
# and failing disks, signals. Each time one clear line, a status that is not 0,
# no hang, an old output as it was, and nothing left behind.
# shellcheck source=tests/em/lib.sh
. "$(dirname "$0")/lib.sh"

QUIET=1
"$reference" records 20 60000 numbered 1 >input
echo 'the old output' >old
cp old out/result

# untouched TITLE: the old output is as it was, and nothing else is there.
untouched() {
  if ! cmp -s old out/result; then
    fault "$1: the old output has changed"
    cp old out/result
  elif clean "$1"; then
    pass "$1"
  fi
}

# one_line TITLE PATTERN: what a command that was tried says.
one_line() {
  if [ "$(wc -l <stderr.txt)" -ne 1 ] || ! grep -Eq "^pems: .*$2" stderr.txt
  then
    fault "$1: not one line with '$2'"
  elif [ -s stdout.txt ]; then
    fault "$1: something on stdout"
  else
    untouched "$1"
  fi
}

# refused STATUS PATTERN ARGUMENTS...
refused() {
  wanted=$1 pattern=$2
  shift 2
  try pems-sort "$@"
  if [ $status -ne "$wanted" ]; then
    fault "$*: status $status, wanted $wanted"
  else
    one_line "$*" "$pattern"
  fi
}

# --- what is given ---

bad() {
  wrong=$1
  shift
  refused 2 "$wrong" "$@" input out/result
}
bad 'record: not given: '
bad 'record: not given: ' --memory 64M
for value in 0 -1 4097 x 1.5 '' 10k 99999999999999999999; do
  bad "record: $value: give a number from 1 to 4096" --record "$value"
done
for value in u7 u63 f16 '' : 0: :u64 0:x 0:-1 -1:u8 x:u8 0:10: 10 u64:0 0:1.5 \
  99999999999:u8; do
  bad "key: $value: give .OFFSET" --record 20 --key "$value"
done
bad 'key' --record 20 --key 0:0
bad 'key' --record 20 --key 0:21
bad 'key' --record 20 --key 13:u64
bad 'key' --record 7 --key u64
bad 'record|size' --key 0:4097
for value in 0 x -1 1X 1.5 '' ; do
  bad "memory: $value: give a size" --key 0:20 --memory "$value"
  bad "block: $value: give a size" --key 0:20 --block "$value"
done
bad 'block size: 1000 bytes' --key 0:20 --block 1000
for value in 0 x -1 1025 '' 2K; do
  bad "threads: $value: give a number" --key 0:20 --threads "$value"
  bad "depth: $value: give a number" --key 0:20 --depth "$value"
done
bad 'runs: middle: give half.long' --key 0:20 --runs middle
bad 'fetch: : give optimal.naive' --key 0:20 --fetch ''
bad 'deal: cycl: give cyclic' --key 0:20 --deal cycl
bad 'kernel: bogo: ' --key 0:20 --kernel bogo
bad 'I/O driver: floppy' --key 0:20 --io floppy
bad 'I/O driver' --key 0:20 --io unix:fast
bad 'I/O driver' --key 0:20 --io fault:unix,never
bad 'option: --unknown: ' --key 0:20 --unknown
bad 'option: --stable=yes: ' --key 0:20 --stable=yes
# Nothing that is given twice is silently lost.
bad 'key: 0:1:up: give .OFFSET:.TYPE' --record 2 --key 0:2 --key 0:1:up
bad 'key: 0:8:u32: give .OFFSET:.TYPE' --key 0:8:u32
bad 'record: 4: given before as 2: give one' --record 2 --record 4
bad 'memory: 2M: given before as 1M: give one' --key 0:20 --memory 1M \
  --memory 2M
bad 'runs: long: given before as half: give one' --key 0:20 --runs half \
  --runs long
for option in --io=unix,aio --depth=1,2 --threads=1,2 --block=4K,8K \
  --fetch=optimal,naive --deal=cyclic,stripe --kernel=tree,pointer; do
  from=${option%,*}
  bad "${option%%=*}: ${option#*,}: given before as ${from#*=}: give one" \
    --key 0:20 "$from" "${option%%=*}=${option#*,}"
done
refused 2 'output: other: given before as out/result: give one' --key 0:20 \
  input -o out/result --output other
for option in verify stats progress; do
  refused 2 "check with --$option: nothing is sorted" --key 0:20 --check \
    --$option input
done
# What is said twice alike, and several disks, are no mistake.
try pems-sort --record 20 --record 20 --key 0:20 --key 0:20 --reverse \
  --reverse --memory 1M --memory 1M --disk "$disk" --disk "$disk" input \
  -o out/result --output=out/result
[ $status -eq 0 ] || fault "the same options twice: status $status"
cp old out/result
refused 2 'option: --key: needs a value' input out/result --key
refused 2 'INPUT: not given' --key 0:20
refused 2 'OUTPUT: not given' --key 0:20 input
refused 2 'argument: third: one too many' --key 0:20 input out/result third
refused 2 'argument: out/result: one too many' --check --key 0:20 input out/result
refused 2 'check with --output' --check --key 0:20 input -o out/result
refused 1 'directory: No such|/nowhere' --key 0:20 --disk /nowhere input out/result

# --- files ---

head -c 1000007 input >odd
mkdir directory
mkfifo pipe
refused 2 'odd: 1000007 bytes: no multiple of the record of 20' --key 0:20 odd \
  out/result
refused 2 'odd: 1000007 bytes: no multiple' --check --key 0:20 odd
limited pems-sort --key 0:20 --disk "$disk" - out/result <odd >stdout.txt \
  2>stderr.txt
one_line 'standard input that is cut off' \
  'standard input: 1000007 bytes: no multiple of the record of 20'
for kind in '--key 0:20' '--key 0:20 --threads 1'; do
  # shellcheck disable=SC2086
  for way in '' --check --verify; do
    to=out/result
    [ "$way" = --check ] && to=
    refused 1 'input file: missing: No such file' $kind $way missing $to
    refused 1 'input file: directory: Is a dir' $kind $way directory $to
    refused 2 'input file: pipe: is not a regular file' $kind $way pipe $to
    refused 1 'input file: input/x: Not a dir' $kind $way input/x $to
  done
  from=input
  # shellcheck disable=SC2086
  refused 1 'output file: directory: Is a directory' $kind $from directory
  # shellcheck disable=SC2086
  refused 1 '/dev/full: writing: No space' $kind $from /dev/full
  # shellcheck disable=SC2086
  refused 1 'output file: nowhere/x: No such' $kind $from nowhere/x
  # shellcheck disable=SC2086
  refused 1 'output file: : No such' $kind $from ''
done
if ! limited pems-sort --key 0:20 input - >/dev/full 2>stderr.txt; then
  : >stdout.txt
  one_line "standard output is full" 'standard output: writing: No space'
else
  fault "standard output is full: status 0"
fi
try sh -c 'exec pems-sort --key 0:20 input - >&-'
one_line "standard output is closed" 'standard output: writing: Bad file'
try sh -c 'exec pems-sort --key 0:20 - out/result <&-'
one_line "standard input is closed" 'standard input: reading: Bad file'

# --- permissions, for users that have to obey them ---

if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
  user() {
    limited setpriv --reuid=65534 --regid=65534 --clear-groups "$@" \
      >stdout.txt 2>stderr.txt </dev/null
    status=$?
  }
  chmod 755 "$work"
  chmod 777 disk
  sorter=$(command -v pems-sort)
  if user "$sorter" --version && [ $status -eq 0 ]; then
    user "$sorter" --key 0:20 --disk "$disk" input out/result
    one_line "a directory that may not be written" \
      'output file: out/result: Permission denied'
    chmod 777 out
    user "$sorter" --key 0:20 --disk "$disk" input out/result
    one_line "an output that may not be written" \
      'output file: out/result: Permission denied'
    chmod 700 disk
    user "$sorter" --key 0:20 --disk "$disk" input out/new
    one_line "scratch space that may not be written" "$disk: Permission denied"
    chmod 600 input
    user "$sorter" --key 0:20 --disk /tmp input out/new
    one_line "an input that may not be read" \
      'input file: input: Permission denied'
    chmod 644 input
    chmod 755 out disk
  else
    echo "permissions: not tested: pems-sort cannot be run by another user"
  fi
else
  echo "permissions: not tested: only root can become somebody who has fewer"
fi

# --- too little memory: what the message says is enough ---

# enough ARGUMENTS...: refused, and then not.
enough() {
  title="memory: $*"
  try pems-sort --memory 1 --disk "$disk" "$@"
  if [ $status -ne 2 ]; then
    fault "$title: status $status"
    return
  fi
  one_line "$title" 'memory for sorting: .*: give [0-9]+K or more'
  needed=$(sed -n 's/.*: give \([0-9]*\)K or more.*/\1/p' stderr.txt)
  try pems-sort --memory "${needed}K" --disk "$disk" --stats --verify "$@"
  used=$(sed -n 's/.* memory=\([0-9]*\) .*/\1/p' stderr.txt)
  cp old out/result
  if [ $status -ne 0 ]; then
    fault "$title: $needed KiB: status $status"
  elif [ "$used" -gt $((needed << 10)) ]; then
    fault "$title: $needed KiB: $used bytes were used"
  else
    untouched "$title: $needed KiB"
  fi
}
for threads in 1 2 3; do
  for disks in 1 2 4; do
    set -- --threads $threads
    for _ in $(seq 2 $disks); do set -- "$@" --disk "$disk"; done
    enough "$@" --key u32 input out/result
    enough "$@" --record 20 --key 3:u64 --stable input out/result
    enough "$@" --record 1000 --key 0:10 input out/result
    enough "$@" --record 4000 --key 0:4000 input out/result
    enough "$@" --record 1 input out/result
    enough "$@" --key u64 --runs long input out/result
    enough "$@" --key u64 --block 16K input out/result
  done
done

# --- full disks ---

# small PATH: a file system of 1 MiB.
mounted=
small() {
  mkdir -p "$1"
  mount -t tmpfs -o size=1m none "$1" 2>mount.txt || return 1
  mounted="$mounted $1"
}
# shellcheck disable=SC2317 # called by the trap
unmount() {
  cd /
  for path in $mounted; do umount "$work/$path" 2>/dev/null; done
  rm -rf "$work"
}
trap unmount EXIT
if small tiny && small tiny_out; then
  cp old tiny_out/result
  for options in '--memory 700K' '--memory 1M --runs long' \
    '--memory 800K --io uring' '--memory 900K --disk tiny'; do
    # shellcheck disable=SC2086
    refused 1 'scratch|tiny|No space' --key 0:20 $options --disk tiny input \
      out/result
    # shellcheck disable=SC2086
    refused 1 'output file: tiny_out/result: needs 1.1 MiB' --key 0:20 \
      $options input tiny_out/result
  done
  # shellcheck disable=SC2043
  for from in input; do
    limited pems-sort --key 0:20 --memory 700K --disk "$disk" - \
      tiny_out/result <$from >stdout.txt 2>stderr.txt
    one_line "a full disk for what was pushed" 'No space left'
  done
  # Lines and tables: what they are sorted on is full, and where they go to.
  head -c 3000000 /dev/urandom | od -An -tx1 -w30 | tr -d ' ' >text
  for kind in --lines '--csv -k1' '--lines -s -k1.2 --compress-program=lz4'; do
    # shellcheck disable=SC2086
    refused 2 'tiny|No space' $kind -S1M --parallel=2 -T tiny text \
      -o out/result
    # shellcheck disable=SC2086
    refused 2 'tiny_out/result: .*(No space|needs)' $kind -S1M --parallel=2 \
      -T "$disk" text -o tiny_out/result
  done
  rm text
  cmp -s old tiny_out/result || fault "a full disk: the old output has changed"
  [ "$(ls -A tiny_out)" = result ] || fault "a full disk: $(ls -A tiny_out)"
  [ -z "$(ls -A tiny)" ] || fault "full scratch space: $(ls -A tiny)"
  # Full, but another has room.
  try pems-sort --key 0:20 --memory 700K --disk "$disk" --disk "$disk" input \
    out/result
  cp old out/result
else
  echo "full disks: not tested: $(cat mount.txt)"
fi
# A limit on the size of files: of scratch space, or of the output.
try sh -c "ulimit -f 600; exec pems-sort --key 0:20 --disk $disk input out/result"
one_line "ulimit -f" 'output file: out/result: File too large'
try sh -c "ulimit -f 600; exec pems-sort --key 0:20 --memory 700K --disk $disk \
  input -"
[ $status -ne 0 ] && : >stdout.txt && one_line "ulimit -f of scratch space" \
  'File too large|No space|no room for a block'

# --- the n-th request fails, for every n ---

# counts ARGUMENTS...: $reads and $writes of a sort without faults.
requests() {
  grep 'name=form\|name=merge' stderr.txt |
    sed "s/.* $1=\([0-9]*\).*/\1/" | awk '{ n += $1 } END { print n }'
}

# every TITLE PATTERN ARGUMENTS...
every() {
  title=$1 pattern=$2
  shift 2
  try pems-sort --stats --io fault:unix --disk "$disk" "$@"
  reads=$(requests reads)
  writes=$(requests writes)
  if [ $status -ne 0 ] || [ "$reads" -lt 1 ] || [ "$writes" -lt 1 ]; then
    fault "$title: status $status, $reads reads, $writes writes"
    return
  fi
  cp old out/result
  for what in read:EIO write:EIO write:ENOSPC torn: short:; do
    kind=${what%:*}
    error=${what#*:}
    last=$writes
    [ $kind = read ] && last=$reads
    n=0
    while [ $n -lt "$last" ]; do
      n=$((n + 1))
      try pems-sort --io "fault:unix,$kind=$n${error:+:$error}" \
        --disk "$disk" "$@"
      if [ $kind = short ]; then
        if [ $status -ne 0 ] || ! cmp -s right out/result; then
          fault "$title: request $n is short: status $status"
        fi
        cp old out/result
      elif [ $status -eq 0 ]; then
        # Requests are merged as they come: there may be fewer this time.
        cmp -s right out/result ||
          fault "$title: $kind $n: status 0 and a wrong result"
        cp old out/result
        missed=$((missed + 1))
      elif [ $status -ne 1 ]; then
        fault "$title: $kind $n fails: status $status"
      else
        one_line "$title: $kind $n" "$pattern"
      fi
    done
    tried=$((tried + last))
  done
}
missed=0
tried=0
broken='(reading|writing|output file).*(Input/output error|No space left)'
head -c 400000 input >small
pems-sort --record 20 --key 0:20 small right
every 'a file' "$broken" --record 20 --key 0:20 --memory 400K --threads 1 \
  --block 32K small out/result
every 'in memory' "$broken" --record 20 --key 0:20 --memory 64M --threads 1 \
  small out/result
if [ $((missed * 3)) -gt $tried ]; then
  fault "only $((tried - missed)) of $tried requests failed"
fi

# --- an input that becomes shorter ---

# is_open FILE: has some process opened it?
is_open() {
  [ -n "$(find /proc/[0-9]*/fd -lname "*/$1" 2>/dev/null)" ]
}

# Reads are late, so that there is time.
for kind in '--record 20 --key 0:20' '--key 0:20 --threads 1'; do
  cp input shrinking
  # shellcheck disable=SC2086
  limited pems-sort $kind --memory 700K --depth 1 --disk "$disk" \
    --io fault:unix,seek=150000 shrinking out/result >stdout.txt 2>stderr.txt &
  until_seconds 60 is_open shrinking || fault "an input that becomes shorter: not opened"
  sleep 0.2 # it has looked how long it is
  truncate -s 100000 shrinking
  wait $!
  status=$?
  if [ $status -ne 1 ]; then
    fault "an input that becomes shorter: $kind: status $status"
  else
    one_line "an input that becomes shorter: $kind" 'shrinking: reading'
  fi
done

# --- signals ---

# Writes are late, so that there is something to interrupt.
for signal in INT TERM HUP; do
  for delay in 0.05 0.15 0.3 0.6; do
    for kind in '--record 20 --key 0:20' '--key 0:20 --threads 1'; do
      from=input
      # In the background sh ignores SIGINT, which a process would inherit.
      # shellcheck disable=SC2086
      timeout -s $signal $delay pems-sort $kind --memory 700K --disk "$disk" \
        --io fault:unix,seek=30000 $from out/result >stdout.txt 2>stderr.txt
      status=$?
      if [ $status -ne 124 ]; then
        fault "SIG$signal after $delay s: status $status"
      elif [ -s stderr.txt ]; then
        fault "SIG$signal after $delay s: a message"
      else
        untouched "SIG$signal after $delay s"
      fi
    done
  done
done
conclude
