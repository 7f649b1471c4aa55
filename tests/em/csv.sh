#!/bin/sh
# pems-sort with tables: CSV and TSV by their columns, headers, random tables
# beside Python's csv module, and what is refused: one line, status 2, an old
# output as it was.
# shellcheck source=tests/em/lib.sh
. "$(dirname "$0")/lib.sh"

QUIET=1
TMPDIR=$disk
export TMPDIR
: >stdout.txt
: >stderr.txt

# --- columns ---

gives '' '' --csv
gives '' '' --csv --header
gives 'b,1\na,2\n' 'a,2\nb,1\n' --csv
gives 'a,b\na\n' 'a\na,b\n' --csv
gives 'a,10\nb,9' 'b,9\na,10\n' --csv -k2n
gives 'a,10\nb,9\n' 'b,9\na,10\n' --csv -k 2:n
gives 'a,10\nb,9\n' 'a,10\nb,9\n' --csv -k2
gives 'a,1e1\nb,9\n' 'b,9\na,1e1\n' --csv --key=2:g
gives 'x,b\ny,b\na,a\n' 'x,b\ny,b\na,a\n' --csv -k2r
gives 'x,2,1\ny,1,2\nz,1,1\n' 'z,1,1\ny,1,2\nx,2,1\n' --csv -k2,3
gives 'x,B\ny,a\nz,b\n' 'y,a\nx,B\nz,b\n' --csv -k2:f
gives 'x;2\ny;1\n' 'y;1\nx;2\n' --csv '-t;' -k2
gives '"b\nc",1\na,2\n' 'a,2\n"b\nc",1\n' --csv
gives '"b,x",1\na,2\n' 'a,2\n"b,x",1\n' --csv -k1
gives 'a,"x""b"\nb,"x""a"\n' 'b,"x""a"\na,"x""b"\n' --csv -k2
gives 'a,5" disk\nb,4" disk\n' 'b,4" disk\na,5" disk\n' --csv -k2
gives '"b"\na\n"a"\n' 'a\n"b"\n' --csv -u
gives 'b\r\na\r\n' 'a\r\nb\r\n' --csv
gives 'b\t1\na\t2\n' 'b\t1\na\t2\n' --tsv -k2
gives '"b\t1\n"a\t2\n' '"a\t2\n"b\t1\n' --tsv
gives '1,2\n3\n\n' '3\n\n1,2\n' --csv -k2

# --- headers ---

gives 'z,a\nb,1\na,2\n' 'z,a\na,2\nb,1\n' --csv --header
gives 'z,a' 'z,a\n' --csv --header
gives 'name,size\nb,10\na,9\n' 'name,size\na,9\nb,10\n' --csv --header -k size:n
gives 'name,size\nb,10\na,9\n' 'name,size\nb,10\na,9\n' --csv --header -k size:nr
gives '"a:n",b\n2,1\n1,2\n' '"a:n",b\n1,2\n2,1\n' --csv --header -k '"a:n":n'
gives '"a\nb",c\nx,2\ny,1\n' '"a\nb",c\ny,1\nx,2\n' --csv --header -k c
gives '\0357\0273\0277"a",b\nx,2\ny,1\n' '\0357\0273\0277"a",b\nx,2\ny,1\n' \
  --csv --header -k a
gives 'a\tb\nx\t2\ny\t1\n' 'a\tb\ny\t1\nx\t2\n' --tsv --header -k b
gives 'head\nb\na\n' 'head\na\nb\n' --lines --header
gives 'head\0b\0a\0' 'head\0a\0b\0' --lines --header -z
printf 'h\nc\na\n' >one
printf 'h\r\nb\r\n' >two
printf 'g\nb\n' >three
gives 'h\nd\n' 'h\na\nb\r\nc\nd\n' --csv --header one two
gives 'h\nd\n' 'h\nc\na\nd\n' --csv --header -m one
printf 'h\nd\n' | limited pems-sort --csv --header one - >stdout.txt
[ "$(tr '\n' . <stdout.txt)" = h.a.c.d. ] || fault 'a header from a pipe'
pems-sort --csv --header one -o one
[ "$(tr '\n' . <one)" = h.a.c. ] || fault 'the output is the input'

# --- byte order marks ---

# That of the first file stays where it is, others go: none is a part of a key.
mark='\0357\0273\0277'
printf '%b' "${mark}c,1\nb,2\n" >marked
printf '%b' "${mark}a,3\nz,4\n" >sorted
printf 'b,9\n' >plain
printf '%b' "$mark" >only
: >nothing
# joins WANTED FILES AND OPTIONS...: what comes of them.
joins() {
  printf '%b' "$1" >want
  shift
  try pems-sort "$@"
  if [ $status -ne 0 ] || [ -s stderr.txt ] || ! cmp -s want stdout.txt; then
    fault "$*: status $status, wanted $(od -c want)"
  else
    pass "$*"
  fi
}
gives "${mark}b,1\na,2\n" "${mark}a,2\nb,1\n" --csv
gives "${mark}b,1\na,2" "${mark}a,2\nb,1\n" --csv -k1
gives "${mark}b\t1\na\t2\n" "${mark}a\t2\nb\t1\n" --tsv -k1
gives "${mark}9,x\n10,y\n" "${mark}9,x\n10,y\n" --csv -k1n
gives "${mark}\"b\nc\",1\n\"a\",2\n" "${mark}\"a\",2\n\"b\nc\",1\n" --csv
gives "${mark}a\nb\na\n" "${mark}a\nb\n" --csv -u
gives "b\n${mark}a\n" "b\n${mark}a\n" --csv # within a file: a character
gives "$mark" "$mark" --csv
gives "$mark" "$mark" --csv --header
gives "$mark\n" "$mark\n" --csv
gives "${mark}id,n\nb,1\na,2\n" "${mark}id,n\na,2\nb,1\n" --csv --header -k id
gives "${mark}\"id\",n\nb,1\na,2\n" "${mark}\"id\",n\na,2\nb,1\n" \
  --csv --header -k '"id"'
gives "${mark}b\na\n" "a\n${mark}b\n" --lines # as sort(1)
gives "${mark}h\nb\na\n" "${mark}h\na\nb\n" --lines --header
joins "${mark}b,9\nb,2\nc,1\n" --csv -k1 -k2nr marked plain
joins 'b,2\nb,9\nc,1\n' --csv plain marked
joins "${mark}a,3\nb,9\nz,4\n" --csv -m sorted plain
joins 'a,3\nb,9\nz,4\n' --csv -m plain sorted
joins "${mark}a,3\nb,9\nz,4\n" --csv -m nothing sorted plain
joins "${mark}b,9\n" --csv nothing only plain
joins "${mark}b,9\n" --csv -m only plain
joins 'b,9\n' --csv plain only
joins "${mark}a,3\nz,4\n" --csv -u sorted sorted
printf '%b' "${mark}id,n\nb,1\n" >one
printf 'id,n\na,2\n' >two
joins "${mark}id,n\na,2\nb,1\n" --csv --header -k id one two
joins 'id,n\na,2\nb,1\n' --csv --header -k id two one
joins "${mark}id,n\na,2\nb,1\n" --csv --header -k id -m one two
# As little at a time as a pipe may give, and more than is read at first.
for byte in '\0357' '\0273' '\0277' b ',1' '\na,' '2\n'; do
  printf '%b' "$byte"
  sleep 0.05
done | limited pems-sort --csv >stdout.txt
printf '%b' "${mark}a,2\nb,1\n" | cmp -s - stdout.txt || fault 'a slow pipe'
{
  printf '%b' "$mark"
  seq 900000 -1 100000
} >long
limited pems-sort --csv -S4M long -o long
{
  printf '%b' "$mark"
  seq 100000 900000
} | cmp -s - long || fault 'a long file with a mark'
try pems-sort --csv -c sorted
[ $status -eq 0 ] || fault '-c: the mark counts'
try pems-sort --csv -c marked
[ $status -eq 1 ] && grep -q '^pems: marked:2: disorder: b,2$' stderr.txt ||
  fault '-c with a mark'
: >stdout.txt
: >stderr.txt

# --- checking ---

printf 'z\na\n"b\nc"\nb\n' >in
try pems-sort --csv --header -c in
[ $status -eq 1 ] && grep -q '^pems: in:4: disorder: b$' stderr.txt ||
  fault '-c: the fourth row, with the header'
try pems-sort --csv -C in
[ $status -eq 1 ] || fault '-C: the header is a row'
printf 'z\na\nb\n' >in
try pems-sort --csv --header -c in
[ $status -eq 0 ] || fault '-c: sorted'
: >stdout.txt
: >stderr.txt

# --- random tables ---

python=$(command -v "${PYTHON:-python3}" || :)
if [ "$python" ]; then
  count=${PEMS_TEST_LONG:+5000}
  "$python" "$top/tests/em/csv_fuzz.py" "${count:-200}" "${PEMS_SEED:-1}" \
    "$(command -v pems-sort)" . >stdout.txt 2>stderr.txt ||
    fault 'random tables beside Python'
  cat stdout.txt
else
  echo "not compared with Python: there is none: install python3"
fi
: >stdout.txt
: >stderr.txt
clean 'all sorts'

# --- what goes wrong ---

printf 'n,s\na,1\nb,2\n' >table
printf 'n,s\na,1\n"b,2\nc\n' >open
printf 'n,s\na,1\nb\0,2\n' >zero
printf 'n,n\na,1\n' >twice
seq 1 300000 | sed '1s/^/"/' >long
echo 'the old output' >old
cp old out/result
quote='open: a quoted field that begins in line 3: has no end: close it'
refuses "$quote" --csv open -o out/result
refuses "$quote" --csv --header -k s open -o out/result
refuses "$quote" --csv table open -o out/result
refuses "$quote" --csv -m open -o out/result
refuses "$quote" --csv --header -c open
refuses 'long: a quoted field that begins in line 1: has no end within' \
  --csv -S1M long -o out/result
refuses 'zero: a zero byte in line 3: not CSV' --csv zero -o out/result
refuses 'key: t: no such column: table has n,s' --csv --header -k t table \
  -o out/result
refuses 'key: 3: no such column: table has 2' --csv --header -k3 table
refuses 'key: n: several columns of twice have this name' --csv --header -k n \
  twice
refuses 'key: s: names are those of a header' --csv -k s table
refuses 'key: 0: no field 0' --csv -k0 table
refuses 'key: 2[.]1: columns are whole' --csv -k2.1 table
refuses 'key: 2,1: no such columns' --csv -k2,1 table
refuses 'key: 1,99999: no such columns' --csv -k1,99999 table
refuses 'key: "s: no closing quote' --csv --header -k '"s' table
refuses 'key: "s"x: unknown options' --csv --header -k '"s"x' table
refuses 'key: :n: no name' --csv --header -k :n table
refuses 'options: -nM: cannot be combined' --csv --header -k s:nM table
refuses 'options: --csv --tsv' --csv --tsv table
refuses 'option: -z: lines of tables' --csv -z table
refuses 't: ,: TSV has tabs' --tsv -t, table
refuses 't: quote or end of line' --csv -t '"' table
refuses 't: .*tables have no zero' --csv -t '\0' table
refuses 'two: header: not that of table' --csv --header table two -o out/result
refuses 'two: header: not that of table' --csv --header -m table two
head -c 1200000 /dev/zero | tr '\0' h >wide
refuses 'wide: header: more than' --csv --header -S64M wide -o out/result
for text in 'a\0,\0b\0\n\0' '\0a\0,\0b\0\n' '\0377\0376a\0' '\0376\0377\0a' \
  '\0377\0376' '\0377\0376\0000N'; do
  printf '%b' "$text" >wide
  refuses 'wide: text of UTF-16.E: convert it with iconv -f UTF-16.E' \
    --csv wide -o out/result
  refuses 'wide: text of UTF-16' --tsv -m table wide -o out/result
  refuses 'wide: text of UTF-16' --tsv --header -c wide
done
printf 'a\0b\0' >want
try pems-sort --lines -z want
cmp -s want stdout.txt || fault '--lines: bytes are bytes'

# Disks that fail: nothing, or all with its header.
{
  echo head,number
  seq 60000 -1 1 | sed 's/.*/"row\n&",&/'
} >in
for kind in write read; do
  for n in 1 2 5 13 34; do
    try pems-sort --csv --header -k number:n -S1M --io="fault:unix,$kind=$n:5" \
      in -o out/result
    if [ $status -eq 0 ]; then
      [ "$(sed -n '1p;3p;$p' out/result | tr '\n' .)" = \
        'head,number.1",1.60000",60000.' ] || fault "$kind $n: a wrong result"
    elif [ $status -ne 2 ] || [ "$(wc -l <stderr.txt)" -ne 1 ] ||
      ! cmp -s old out/result; then
      fault "$kind $n fails: status $status"
    fi
    cp old out/result
  done
done
conclude
