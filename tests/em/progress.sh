#!/bin/sh
# pems-sort --progress: phases, bytes, rate and time left, in lines of their own
# or in one of a terminal; nothing without the option.
# shellcheck source=tests/em/lib.sh
. "$(dirname "$0")/lib.sh"

TMPDIR=$disk
export TMPDIR
: >stdout.txt
: >stderr.txt
size='[0-9.]+ (B|[KMG]iB)'
running="$size of $size, [0-9]+ %, $size/s(, ([0-9]+:)?[0-9]+:[0-5][0-9] left)?"
ended="pems-sort: sorted $size in [0-9]+:[0-5][0-9], $size/s"
head -c 3000000 /dev/urandom >data
seq 1 400000 | sed '1i number' >table
head -n 200000 table | sort >sorted

# Pipes that are slow, so that there is something to tell.
feed() {
  head -c 2000000 "$1"
  sleep 1.3
  tail -c +2000001 "$1"
}
drain() {
  head -c 1 >/dev/null # by then merging has begun
  sleep 1.6
  cat >/dev/null
}

# tells TITLE PATTERN...: stderr.txt has lines of each pattern; there may be more
# of them on a busy machine, but no others.
tells() {
  title=$1
  shift
  for pattern; do
    grep -Eqx "$pattern" stderr.txt || fault "$title: no '$pattern'"
  done
  grep -Evx "pems-sort: (forming runs|merging): ($running|$size, $size/s)" \
    stderr.txt | grep -Evx "$ended" >rest
  [ ! -s rest ] || fault "$title: more lines: $(cat rest)"
  [ "$(tail -n 1 stderr.txt | grep -Ecx "$ended")" -eq 1 ] ||
    fault "$title: the last line is another one"
  pass "$title"
}

record='--record 8 --key u64 --memory 1M'
merging="pems-sort: merging: $running"
forming="pems-sort: forming runs: $size, $size/s"
# shellcheck disable=SC2086
limited pems-sort $record --progress data - 2>stderr.txt | drain
tells 'records of a file' "$merging" "$ended"
grep -q ' left$' stderr.txt || fault 'records: no time left'
# shellcheck disable=SC2086
feed data | limited pems-sort $record --progress - out/result 2>stderr.txt
tells 'records of a pipe' "$forming" "$ended"
feed table | limited pems-sort --lines -S1M --progress 2>stderr.txt |
  drain
tells 'lines of a pipe' "$forming" "$merging" "$ended"
grep -q ' left$' stderr.txt || fault 'lines: no time left'
limited pems-sort --csv --header -k number:nr -S1M --progress table 2>stderr.txt |
  drain
tells 'a table' "$merging" "$ended"
limited pems-sort --lines -m --progress sorted sorted 2>stderr.txt | drain
tells 'merging' "$merging" "$ended"
printf 'b\na\n' | limited pems-sort --lines --progress >stdout.txt 2>stderr.txt
tells 'a short one' "$ended"

# shellcheck disable=SC2086
limited pems-sort $record data - 2>stderr.txt | drain
[ ! -s stderr.txt ] || fault 'records: not silent'
limited pems-sort --lines table 2>stderr.txt | drain
[ ! -s stderr.txt ] || fault 'lines: not silent'

# Only the one line of an error is behind it.
try pems-sort --lines --progress table -o out/no/result
[ $status -eq 2 ] && [ "$(wc -l <stderr.txt)" -eq 1 ] &&
  grep -q '^pems: output file' stderr.txt || fault 'an error with --progress'

# On a terminal: one line, which is cleared.
if command -v script >/dev/null; then
  slow='{ head -c 1 >/dev/null; sleep 1; cat >/dev/null; }'
  limited script -qec "pems-sort $record --progress data - | $slow" /dev/null \
    >terminal.txt </dev/null
  tr '\r' '\n' <terminal.txt | sed 's/.\[K//' | grep -v '^$' >stderr.txt
  tells 'a terminal' "$merging" "$ended"
  [ "$(wc -l <terminal.txt)" -eq 1 ] || fault 'a terminal: more than one line'
  limited script -qec "pems-sort $record data - | $slow" /dev/null \
    >terminal.txt </dev/null
  [ ! -s terminal.txt ] || fault 'a terminal: not silent'
else
  echo "no terminal tried: there is no script(1): install bsdutils"
fi
: >stdout.txt
: >stderr.txt
clean 'all sorts'
conclude
