#!/bin/sh
# pems-sort as sort(1): a table of cases with what they give, random options and
# inputs against GNU sort in several locales, pipes and many files, and what goes
# wrong: one clear line, status 2, an old output as it was, nothing left behind.
# shellcheck source=tests/em/lib.sh
. "$(dirname "$0")/lib.sh"

QUIET=1
ln -s "$(command -v pems-sort)" gsort
gsort=$work/gsort sort_as=$work/gsort
TMPDIR=$disk
export TMPDIR
: >stdout.txt
: >stderr.txt

# --- what options mean ---

gives '' ''
gives 'b\na' 'a\nb\n'
gives '\n\na\n' '\n\na\n'
gives 'b\na\nB\nA\n' 'A\nB\na\nb\n'
gives 'b\na\nB\nA\n' 'A\na\nB\nb\n' -f
gives 'b\na\nb\n' 'b\nb\na\n' -r
gives 'b\na\nb\n' 'a\nb\n' -u
gives 'b\nB\na\n' 'a\nb\n' -fu
gives '2\n10\n1\n' '1\n10\n2\n'
gives '2\n10\n1\n' '1\n2\n10\n' -n
gives '10\n-5\n-10\nx\n .5\n0\n' '-10\n-5\n0\nx\n .5\n10\n' -n
gives '1.10\n1.9\n1.09\n' '1.09\n1.10\n1.9\n' -n
gives '-0\n0\n00\n' '-0\n0\n00\n' -ns
gives '-0\n0\n00\n' '-0\n' -nu
gives '123456789012345678901\n123456789012345678900\n' \
  '123456789012345678900\n123456789012345678901\n' -n
gives '1e3\n2e2\n-1e9\ninf\n-inf\nx\n' 'x\n-inf\n-1e9\n2e2\n1e3\ninf\n' -g
gives 'nan\n1\nx\n' 'x\nnan\n1\n' -g
gives '1M\n2K\n3\n-1G\n1023\n' '-1G\n3\n1023\n2K\n1M\n' -h
gives 'MAR\njan\nx\n Feb 3\n' 'x\njan\n Feb 3\nMAR\n' -M
gives 'f10.txt\nf9.txt\nf1.tar.gz\n' 'f1.tar.gz\nf9.txt\nf10.txt\n' -V
gives '1.0\n1.0~rc1\n1.0a\n' '1.0~rc1\n1.0\n1.0a\n' -V
gives 'a-c\nab\n' 'ab\na-c\n' -d
gives 'a\0001c\nab\n' 'ab\na\0001c\n' -i
gives '  b\n a\nc\n' ' a\n  b\nc\n' -b
gives '  b\n a\nc\n' '  b\n a\nc\n' -k1
gives 'b\0a\0' 'a\0b\0' -z
gives 'b\na\0a\nb\0' 'a\nb\0b\na\0' -z

# --- fields ---

gives 'a 2\nb 1\n' 'b 1\na 2\n' -k2
gives 'a:2:x\nb:1:y\na:1:z\n' 'b:1:y\na:1:z\na:2:x\n' -t: -k2,2 -k3
gives 'a:2:x\nb:1:y\na:1:z\n' 'a:1:z\na:2:x\nb:1:y\n' -t: -k1,1 -k2n
gives 'a:10\nb:9\n' 'b:9\na:10\n' -t: -k2n
gives 'a:10\nb:9\n' 'a:10\nb:9\n' -t: -k2nr
gives 'x1b\nx2a\n' 'x2a\nx1b\n' -k1.3
gives 'x1b\nx2a\n' 'x1b\nx2a\n' -k1.2,1.2
gives 'a  2\nb 1\n' 'a  2\nb 1\n' -k2
gives 'a  2\nb 1\n' 'b 1\na  2\n' -b -k2
gives 'a  2\nb 1\n' 'b 1\na  2\n' -k2b
gives 'b x\na x\n' 'b x\na x\n' -s -k2
gives 'b x\na x\n' 'a x\nb x\n' -k2
gives 'b x\na x\n' 'b x\n' -u -k2
gives 'b x\na x\n' 'b x\na x\n' -r -k2
gives 'a\0b\na\0a\n' 'a\0a\na\0b\n' -t '\0' -k2
gives 'a,b\nc\n' 'c\na,b\n' -t, -k2
gives 'x 3 b\ny 3 a\nz 1 c\n' 'z 1 c\ny 3 a\nx 3 b\n' --key=2,2n --key=3
gives '5\n40\n300\n' '5\n40\n300\n' --sort=numeric
gives '2K\n1M\n' '2K\n1M\n' --sort=human

# --- files ---

printf 'b\nd\n' >one
printf 'a\nc' >two
# several TITLE WANTED [arguments]: with the standard input "x".
several() {
  title=$1 wanted=$2
  shift 2
  printf 'x\n' | limited "$gsort" "$@" >stdout.txt 2>stderr.txt
  if [ "$(tr '\n\0' '.!' <stdout.txt)" != "$wanted" ] || [ -s stderr.txt ]; then
    fault "$title: not $wanted"
  else
    pass "$title"
  fi
}
several 'two files' a.b.c.d. one two
several 'standard input' x.
several 'standard input, by name' b.d.x. one -
several 'merging' a.b.c.d. -m one two
several 'merging with standard input' a.b.c.d.x. -m one - two
several 'merging two at a time' a.a.b.b.c.c.d.d.x. -m --batch-size=2 one two \
  one two -
several 'long names of options' d.b. --reverse --parallel=1 --buffer-size=1M \
  --temporary-directory="$disk" --batch-si=9 one
printf 'one\0two' >names
several 'names in a file' a.b.c.d. --files0-from=names
several 'options behind files' d.b. one -r
printf 'b\nb\na\n' >out/result
limited "$gsort" -u out/result -o out/result
[ "$(tr '\n' . <out/result)" = a.b. ] || fault 'the output is the input'
limited pems-sort --lines one -o /dev/null || fault 'the output is a device'
limited "$gsort" one -o /dev/stdout | cmp -s - one || fault '/dev/stdout'
for pass in 1 2 3; do
  for file in 1 2 3 4 5 6 7 8 9; do
    seq $file 20 4000 | sort >"m$file$pass"
  done
done
sort -m m?? >want
for batch in 2 3 7 100; do
  limited "$gsort" -m -S1M --batch-size=$batch m?? | cmp -s - want ||
    fault "27 files are merged, $batch at a time"
done

# --- checking ---

# checks STATUS PATTERN INPUT [options]
checks() {
  wanted=$1 pattern=$2
  printf '%b' "$3" >in
  shift 3
  try "$gsort" "$@" in
  if [ $status -ne "$wanted" ] || [ -s stdout.txt ] ||
    ! grep -q "$pattern" stderr.txt; then
    [ $status -eq "$wanted" ] && [ -z "$pattern" ] && [ ! -s stderr.txt ] ||
      fault "$*: status $status, wanted $wanted and '$pattern'"
  fi
}
checks 0 '' 'a\na\nb\n' -c
checks 1 '^pems: in:3: disorder: a$' 'a\nb\na\n' -c
checks 1 '' 'a\nb\na\n' -C
checks 1 '' 'a\nb\na\n' --check=quiet
checks 1 'in:2: disorder: a' 'a\na\n' -cu
checks 0 '' '2\n10\n' -cn
checks 1 'in:2: disorder: 10' '2\n10\n' -c
checks 0 '' '' -c

# --- against GNU sort ---

if sort --version 2>stderr.txt | grep -q 'GNU coreutils'; then
  mkdir locales
  set -- C C.UTF-8
  PEMS_COLLATE=$work/collate.so
  ${REAL_CC:-cc} -O1 -shared -fPIC -o "$PEMS_COLLATE" \
    "$top/tests/em/collate.c" || exit 1
  rules='en_US de_DE'
  LD_PRELOAD=$PEMS_COLLATE "$gsort" one >stdout.txt 2>stderr.txt || {
    echo "locales with rules: not tested: $(head -n 1 stderr.txt)"
    PEMS_COLLATE='' rules=''
  }
  for locale in $rules; do
    localedef -i $locale -f UTF-8 "locales/$locale.UTF-8" 2>stderr.txt &&
      set -- "$@" "$locale.UTF-8"
  done
  [ $# -gt 2 ] || [ -z "$rules" ] ||
    echo "no locale with rules: $(cat stderr.txt): install locales"
  LOCPATH=$work/locales
  PEMS_CODECS=
  for codec in lz4 zstd; do
    "$gsort" --compress-program=$codec one >stdout.txt 2>stderr.txt &&
      PEMS_CODECS="$PEMS_CODECS $codec"
  done
  export LOCPATH PEMS_CODECS PEMS_COLLATE
  count=${PEMS_TEST_LONG:+10000}
  ${PERL:-perl} "$top/tests/em/lines_fuzz.pl" "${count:-200}" \
    "${PEMS_SEED:-1}" "$gsort" "$@" >stdout.txt 2>stderr.txt ||
    fault 'random options against GNU sort'
  cat stdout.txt
else
  echo "not compared with GNU sort: it is not there"
fi
: >stdout.txt
: >stderr.txt
clean 'all sorts'

# Equal keys stay together, and no line is lost.
seq 1 3000 | sed 's/.*/& &/; p' >in
limited "$gsort" -R -S1M in >shuffled
[ "$(uniq shuffled | wc -l)" -eq 3000 ] && sort shuffled >x && sort in | cmp -s - x ||
  fault '-R: equal lines apart, or others'
cmp -s in shuffled && fault '-R: not shuffled'
head -c 64 "$gsort" >seed
limited "$gsort" -R --random-source=seed in >x
limited "$gsort" -R --random-source=seed in | cmp -s - x ||
  fault '--random-source: another order'

# --- long lines ---

head -c 150000 /dev/zero | tr '\0' x >long
{
  echo b
  cat long
  echo
  echo a
  cat long
  echo y
  seq 1 90000
} >in
sort in >want
for option in '' -n '-k1,1 -k2'; do
  # shellcheck disable=SC2086
  sort $option in >want
  # shellcheck disable=SC2086
  limited "$gsort" $option -S4M --parallel=1 in | cmp -s - want ||
    fault "long lines: $option"
done

# --- runs that several threads merge, in one pass and in several ---

awk 'BEGIN {
  srand(7)
  for (i = 0; i < 120000; i++) {
    printf "%d word%d %.3f:%d\n", rand() * 9999, rand() * 500, rand() * 9, i % 97
  }
}' >in
for option in '' -r -u -n '-k2,2 -u' '-s -k2,2 -k1,1nr' '-t: -k2,2n'; do
  # shellcheck disable=SC2086
  sort $option in >want
  for threads in 2 5; do
    # shellcheck disable=SC2086
    limited "$gsort" $option -S1M --batch-size=9 --parallel=$threads in |
      cmp -s - want || fault "merged by $threads threads: $option"
  done
done

# --- what goes wrong ---

head -c 2000000 /dev/zero | tr '\0' x >long

echo 'the old output' >old
cp old out/result
refuses 'input file: missing: No such file' one missing -o out/result
refuses 'input file: missing: No such file' -m one missing
# Which cannot be read, but opened, among others.
for file in out /proc/self/mem; do
  refuses "$file: .*(Is a directory|Input/output error)" one $file two \
    -o out/result
  refuses "$file: .*(Is a directory|Input/output error)" -m one $file two \
    -o out/result
  refuses "$file: .*(Is a directory|Input/output error)" -c $file
done
refuses 'Is a directory' one out
refuses 'output file: out/no/x: No such' one -o out/no/x
refuses 'output: b: given before as a' -o a -o b one
refuses 'key: 0: no field 0' -k0 one
refuses 'key: 1.0: no byte 0' -k1.0 one
refuses 'key: x: no number' -kx one
refuses 'key: 1,: no number' -k1, one
refuses 'key: 1q: what is behind' -k1q one
refuses 'options: -nM: cannot be combined' -nM one
refuses 'options: -nd: cannot be combined' -nd one
refuses 'options: -cC: cannot' -cC one
refuses 'options: -co: cannot' -c -o out/result one
refuses 'argument: two: one too many' -c one two
refuses 'key: [+]1: obsolete' +1 one
refuses 'option: -1: obsolete' -1 one
refuses 't: ab: more than one byte' -tab one
refuses 't: empty' -t '' one
refuses 't: ,: another one was given' -t: -t, one
refuses 'S: 1X: give a size' -S1X one
refuses 'parallel: 0: give' --parallel=0 one
refuses 'batch-size: 1: give' --batch-size=1 one
refuses 'compress-program: gzip: give' --compress-program=gzip one
refuses 'sort: up: unknown' --sort=up one
refuses 'option: --unknown' --unknown one
refuses 'option: --lines=7' --lines=7 one
refuses 'option: -k: needs a value' one -k
refuses 'files0-from: nowhere: No such' --files0-from=nowhere
refuses 'files0-from: /dev/null: names no file' --files0-from=/dev/null
refuses 'argument: one: beside --files0-from' --files0-from=names one
refuses 'line of more than [0-9]+ bytes' -S1M --parallel=1 long -o out/result
refuses 'nowhere|No such' -S1M -T /nowhere in -o out/result
if [ -w /dev/full ]; then
  limited "$gsort" one >/dev/full 2>stderr.txt
  [ $? -eq 2 ] && grep -q 'standard output: writing: No space' stderr.txt ||
    fault 'standard output is full'
  limited "$gsort" one -o /dev/full 2>stderr.txt
  [ $? -eq 2 ] || fault 'the output is full'
fi
: >stdout.txt
: >stderr.txt

# Disks that fail: each request in turn.
seq 1 60000 >in
for kind in write read; do
  for n in 1 2 3 5 8 13 21 34; do
    try "$gsort" -S1M --parallel=2 --io="fault:unix,$kind=$n:5" in -o out/result
    if [ $status -eq 0 ]; then
      sort in | cmp -s - out/result || fault "$kind $n: a wrong result"
    elif [ $status -ne 2 ] || [ "$(wc -l <stderr.txt)" -ne 1 ] ||
      ! grep -q 'Input/output error' stderr.txt; then
      fault "$kind $n fails: status $status"
    elif ! cmp -s old out/result; then
      fault "$kind $n fails: the old output has changed"
    fi
    cp old out/result
  done
done
clean 'disks that fail'

# Signals, while writes are late.
cp old out/result
for signal in INT TERM HUP KILL; do
  for delay in 0.1 0.4; do
    timeout -s $signal $delay "$gsort" -S1M --io=fault:unix,seek=30000 in \
      -o out/result >stdout.txt 2>stderr.txt
    cmp -s old out/result || fault "SIG$signal: the old output has changed"
    clean "SIG$signal"
    cp old out/result
  done
done

# A reader that leaves.
seq 1 300000 >in
{
  "$gsort" in 2>stderr.txt
  echo $? >status
} | head -n 1 >stdout.txt
case $(cat status) in
2 | 141) ;;
*) fault "a reader that leaves: status $(cat status)" ;;
esac
conclude
