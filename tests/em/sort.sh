#!/bin/sh
# pems-sort against sort(1) and an independent reference: keys of every type,
# ascending, descending and stable, records of any size, lines, every driver,
# several disks, one to three threads, one and more passes, long runs; output is
# the input, standard input and output; and more data than a cgroup grants.
# shellcheck source=tests/em/lib.sh
. "$(dirname "$0")/lib.sh"

QUIET=1
runs='half long'

# sorted SIZE KEY ORDER INPUT [options]: by pems-sort, and right.
sorted() {
  its_size=$1 its_key=$2 its_order=$3 its_input=$4
  shift 4
  case $its_order in *d*) set -- --reverse "$@" ;; esac
  case $its_order in *s*) set -- --stable "$@" ;; esac
  title="$its_size bytes, key $its_key, order $its_order, $its_input: $*"
  try pems-sort --record "$its_size" --key "$its_key" --disk "$disk" "$@" \
    "$its_input" out/result
  if [ $status -ne 0 ] || [ -s stderr.txt ] || [ -s stdout.txt ]; then
    fault "$title: status $status"
  else
    try "$reference" check "$its_size" "$its_key" "$its_order" "$its_input" \
      out/result
    if [ $status -ne 0 ]; then
      fault "$title: the result is wrong"
    elif clean "$title"; then
      pass "$title"
    fi
  fi
  rm -f out/result
}

records() {
  "$reference" records "$@"
}

# --- keys of every type, in and out of memory ---

records 24 40000 random 1 >random
records 24 40000 numbered 2 >numbered
for key in u8 u16 u32 u64 u128 i8 i16 i32 i64 f32 f64 3 11; do
  for order in a d as ds; do
    sorted 24 "0:$key" $order numbered --memory 700K
  done
  sorted 24 "5:$key" as numbered --memory 64M
  sorted 24 "8:$key" d random --memory 700K --threads 1
done
sorted 24 0:24 a random --memory 700K
sorted 24 23:1 s random --memory 700K

# Keys that are the whole record.
for key in u8 u16 u32 u64 u128 i8 i16 i32 i64 f32 f64; do
  bytes=$(($(echo $key | tr -d uif) / 8))
  for kind in random few; do
    records $bytes $((3000000 / bytes)) $kind 3 >whole
    sorted $bytes 0:$key a whole --memory 2M
    sorted $bytes 0:$key ds whole --memory 1700K --threads 1
  done
done

# --- sizes ---

for size in 1 2 3 5 7 8 9 12 13 16 17 31 33 63 64 65 100 127 255 1000 1023 \
  2049 4095 4096; do
  records $size $((1500000 / size)) random $size >sizes
  bytes=$((size < 10 ? size : 10))
  sorted $size "0:$bytes" as sizes --memory 2M
  sorted $size "$((size - bytes)):$bytes" d sizes --memory 64M
  sorted $size "0:$size" a sizes --memory 3M --threads 3 --block 64K
done
for size in 1 8 100 4096; do
  for count in 0 1 2 3 511 512 513 4097; do
    records $size $count random 4 >counts
    sorted $size "0:$((size < 8 ? size : 8))" as counts --memory 4M
  done
  # The numbers of records that just fit in a buffer, and do not.
  # (4096-byte records need more.)
  for n in 0 1 2 3 4 5 6 7; do
    records $size $(((600000 + n * 40000) / size + n)) few 5 >counts
    sorted $size "0:$((size < 8 ? size : 8))" s counts --memory 1400K
  done
done

# --- how ---

records 20 120000 numbered 6 >how
for io in unix aio uring mmap mem; do
  sorted 20 4:u64 s how --memory 700K --io $io
  sorted 20 4:u64 ds how --memory 64M --io $io
  sorted 20 0:16 as how --memory 1M --io $io --disk "$disk" --disk "$disk"
done
for threads in 1 2 3 7; do
  for disks in 1 2 3 5; do
    set --
    for _ in $(seq 2 $disks); do set -- "$@" --disk "$disk"; done
    for fetch in optimal naive; do
      sorted 20 4:u64 s how --memory 1600K --threads $threads --fetch $fetch \
        "$@"
    done
  done
done
for deal in cyclic stripe random; do
  sorted 20 4:f32 s how --memory 900K --deal $deal --disk "$disk" \
    --disk "$disk" --disk "$disk"
done
for block in 4K 8K 12K 64K 100K 256K; do
  sorted 20 4:u32 s how --memory 3M --block $block
done
for kernel in tree pointer; do
  sorted 20 4:u64 s how \
    --memory 900K --kernel $kernel
done
for run in $runs; do
  for order in a d s ds; do
    sorted 20 4:u64 $order how --memory 700K --runs "$run"
    sorted 20 4:7 $order how --memory 1M --runs "$run" --threads 1
  done
  sorted 24 0:u128 s numbered --memory 700K --runs "$run"
done

# What is in order already, or the other way round, or all equal.
pems-sort --record 20 --key 0:20 how ascending
pems-sort --record 20 --key 0:20 --reverse how descending
records 20 100000 equal 8 >equal
for run in $runs; do
  for input in ascending descending equal; do
    sorted 20 0:20 s $input --memory 700K --runs "$run"
    sorted 20 0:u64 ds $input --memory 700K --runs "$run"
  done
done

# passes WANTED: of the last sort with --stats.
passes() {
  sed -n 's/^RESULT pems-sort .* passes=\([0-9]*\) .*/\1/p' stderr.txt
}
limited pems-sort --record 20 --key 4:u64 --stable --disk "$disk" \
  --memory 400K --block 32K --threads 1 --stats how out/result 2>stderr.txt
if ! [ "$(passes)" -ge 2 ]; then
  fault "several passes: there were '$(passes)'"
elif ! "$reference" check 20 4:u64 s how out/result; then
  fault "several passes: the result is wrong"
elif clean "several passes"; then
  pass "several passes"
fi
rm -f out/result

# --- the same file, standard input and output ---

cp how same
try pems-sort --record 20 --key 4:u64 --stable --disk "$disk" --memory 900K \
  same same
"$reference" check 20 4:u64 s how same || fault "output is the input"
chmod 640 same
ln -s "$work/same" link
try pems-sort --record 20 --key 0:20 --reverse --disk "$disk" same -o link
"$reference" check 20 0:20 d how same || fault "output is a link to the input"
[ "$(stat -c %a same)" = 640 ] || fault "the mode of the output changed"
[ -L link ] || fault "the link was replaced"

for memory in 900K 64M; do
  limited pems-sort --record 20 --key 4:u64 --stable --disk "$disk" \
    --memory $memory --verify - - <how >piped 2>stderr.txt || fault "piped"
  "$reference" check 20 4:u64 s how piped || fault "piped: wrong"
  limited cat how |
    limited pems-sort --record 20 --key 4:u64 --stable --disk "$disk" \
      --memory $memory - out/result 2>stderr.txt || fault "from a pipe"
  cmp -s piped out/result || fault "from a pipe: wrong"
  limited pems-sort --record 20 --key 4:u64 --stable --disk "$disk" \
    --memory $memory how -o - 2>stderr.txt | cmp -s - piped ||
    fault "to a pipe: wrong"
  clean "pipes" && pass "pipes"
done
for bytes in 0 20; do
  head -c $bytes how >short
  limited pems-sort --record 20 --verify - - <short | cmp -s - short ||
    fault "piped: $bytes bytes"
done

# --- lines ---

# lines_sorted INPUT [options]: as sort(1) does. (More is in lines.sh.)
lines_sorted() {
  its_input=$1
  shift
  reverse=
  case " $* " in *" --reverse "*) reverse=-r ;; esac
  sort $reverse "$its_input" >wanted
  title="lines of $its_input: $*"
  try pems-sort --lines --disk "$disk" "$@" "$its_input" -o out/result
  if [ $status -ne 0 ] || [ -s stderr.txt ] || ! cmp -s wanted out/result; then
    fault "$title: status $status"
  elif clean "$title"; then
    pass "$title"
  fi
  rm -f out/result
  limited pems-sort --lines --disk "$disk" "$@" <"$its_input" 2>stderr.txt |
    cmp -s - wanted || fault "lines piped: $*"
}

"$reference" lines 9000 300 1 >text
lines_sorted text
lines_sorted text --memory 2M
lines_sorted text --memory 2M --reverse
lines_sorted text --memory 2M --threads 1 --stable
for io in aio uring mmap mem; do
  lines_sorted text --memory 2M --io $io
done
"$reference" lines 500 4094 2 >text
lines_sorted text --memory 2M
printf 'b\na\n\n\0\n\nb' >text # no newline at the end
lines_sorted text
printf 'a\nb' >text
lines_sorted text --reverse
printf 'b\na\n' >text
lines_sorted text
printf '\n\n\n' >text
lines_sorted text
printf '' >text
lines_sorted text
find "$top/src" "$top/tests" -type f -name '*.[ch]' -exec cat {} + |
  cut -c 1-60 | sed -n 1,130000p >text
lines_sorted text --memory 1M
lines_sorted text --memory 1M --reverse

# --- checking ---

# checked STATUS PATTERN [options]: what --check says.
checked() {
  wanted=$1 pattern=$2
  shift 2
  try pems-sort --check "$@"
  if [ $status -ne "$wanted" ] || ! cat stdout.txt stderr.txt |
    grep -Eq -e "$pattern"; then
    fault "--check $*: status $status, wanted $wanted and '$pattern'"
  else
    pass "--check $*"
  fi
}
pems-sort --record 20 --key 4:u64 how ordered
sum=$(pems-sort --record 20 --key 4:u64 --check ordered | sed 's/.*checksum //')
checked 0 '^120000 records, checksum [0-9a-f]{32}$' --record 20 --key 4:u64 \
  ordered
checked 1 "^120000 records, checksum $sum$" --record 20 --key 4:u64 how
checked 1 '^pems: order: ordered: record [0-9]+ is before the one ahead' \
  --record 20 --key 4:u64 --reverse ordered
records 8 100000 random 9 | pems-sort --key u64 - ordered
for at in 1 2 3 65536 99999; do
  cp ordered spoilt
  printf '\377\377\377\377\377\377\377\377' |
    dd of=spoilt bs=8 seek=$((at - 1)) conv=notrunc 2>dd.txt
  checked 1 "record $((at + 1)) is before" --key u64 spoilt
  if limited pems-sort --key u64 --check - <spoilt >stdout.txt 2>stderr.txt ||
    ! grep -q "record $((at + 1)) is before" stderr.txt; then
    fault "--check of standard input: record $at is too large"
  fi
done

# --- statistics, progress ---

limited pems-sort --record 20 --key 4:u64 --memory 900K --disk "$disk" --stats \
  --verify how out/result 2>stderr.txt
for pattern in 'RESULT pems-sort records=120000 record=20 bytes=2400000 ' \
  ' runs=[1-9][0-9]* passes=1 block=[0-9]* disks=1 ' ' kernel=[a-z]* memory=' \
  'RESULT pems-sort-phase name=form .* bytes_read=24[0-9]{5} bytes_written=' \
  'RESULT pems-sort-phase name=merge .* bytes_written=240' \
  'RESULT pems-sort-scan name=verify .* bytes_read=4800000'; do
  grep -Eq "$pattern" stderr.txt || fault "--stats: no '$pattern'"
done
memory=$(sed -n 's/.* memory=\([0-9]*\) .*/\1/p' stderr.txt)
[ "$memory" -le $((900 << 10)) ] || fault "$memory bytes of memory were used"
clean stats
rm -f out/result

# --- out of core ---

# A cgroup of the budget and 16 MiB, for the page cache is no part of it.
cgroup="${SHELL:-sh} $top/tests/bench/cgroup.sh"
# beyond TITLE OPTIONS...: 128 MB with a budget of 32 MiB, 256 MB with PEMS_TEST_LONG.
beyond() {
  title="in a cgroup: $*"
  # shellcheck disable=SC2086
  limited $cgroup 48M "$(command -v pems-sort)" --memory 32M \
    --disk "$disk" --verify --stats "$@" >stdout.txt 2>stderr.txt
  status=$?
  if [ $status -ne 0 ] || ! grep -q 'RESULT cgroup .* oom_kills=0' stderr.txt
  then
    fault "$title: status $status"
  elif clean "$title"; then
    pass "$title"
  fi
}
# shellcheck disable=SC2086
$cgroup 48M true 2>stderr.txt
if [ $? -eq 77 ]; then
  echo "out of core: not tested: $(cat stderr.txt)"
else
  # Random enough, and soon made.
  records 8 4000000 random 10 >part
  parts='1 2 3 4'
  [ -z "${PEMS_TEST_LONG:-}" ] || parts='1 2 3 4 5 6 7 8'
  for _ in $parts; do cat part; done >large
  rm part
  for options in '' '--io aio' '--io uring' '--threads 1' '--runs long'; do
    # shellcheck disable=SC2086
    beyond --key u64 $options large out/result
  done
  beyond --record 100 --key 0:10 --stable large out/result
  beyond --record 4000 --key 8:u32 large out/result
  beyond --key u32 large large
  base64 -w 70 large >large.txt
  rm large
  title='in a cgroup: lines'
  # shellcheck disable=SC2086
  limited $cgroup 48M "$(command -v pems-sort)" --lines --memory 32M \
    --disk "$disk" large.txt -o out/result >stdout.txt 2>stderr.txt
  status=$?
  if [ $status -ne 0 ] || ! grep -q 'RESULT cgroup .* oom_kills=0' stderr.txt ||
    ! sort -c out/result || [ "$(wc <out/result)" != "$(wc <large.txt)" ]; then
    fault "$title: status $status"
  elif clean "$title"; then
    pass "$title"
  fi
fi

# --- outputs that are there ---

# in_place WHAT OPTIONS...: `x`, whose lines are no longer in order, is sorted
# into itself by another name of it, which stays one.
in_place() {
  what=$1
  shift
  printf 'b,bbbbb\na,aaaaa\n' >x
  printf 'a,aaaaa\nb,bbbbb\n' >want
  ln -f x y
  try pems-sort "$@" x -o y
  { cmp -s want x && [ "$(stat -c %h x)" -eq 2 ] && [ ! -s stderr.txt ]; } ||
    fault "$what: hard links"
  # A directory that may not be written; root may anyway.
  chmod 755 . && rm -rf held && mkdir held && printf 'b,bbbbb\na,aaaaa\n' >held/x
  chmod 666 held/x && chmod 555 held
  other='setpriv --reuid 65534 --clear-groups env TMPDIR=/tmp'
  [ "$(id -u)" -eq 0 ] || other=
  # shellcheck disable=SC2086 # words
  if $other pems-sort --version >stdout.txt 2>stderr.txt; then
    try $other pems-sort "$@" held/x -o held/x
  else
    echo "$what: a directory that may not be written: not tested"
    cp want held/x
  fi
  cmp -s want held/x || fault "$what: a directory that may not be written"
  chmod 755 held
  # Standard output by name goes on where it is, a pipe and a device stay.
  {
    echo before
    pems-sort "$@" x -o /dev/stdout
    echo behind
  } >both 2>stderr.txt
  { echo before && cat want && echo behind; } | cmp -s - both ||
    fault "$what: /dev/stdout"
  rm -f pipe && mkfifo pipe
  limited cat pipe >piped &
  try pems-sort "$@" x -o pipe
  wait
  { cmp -s want piped && [ -p pipe ]; } || fault "$what: a pipe"
  try pems-sort "$@" x -o /dev/null
  { [ $status -eq 0 ] && [ -c /dev/null ]; } || fault "$what: a device"
  pass "$what: outputs that are there"
}
in_place lines --lines
in_place tables --csv -k2
in_place records --key 0:8

conclude
