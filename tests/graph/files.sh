#!/bin/sh
# The program graph: makes, converts and describes graphs; what it prints, what
# it refuses before it begins, mistakes in files with their lines, full disks.
# shellcheck source=tests/em/apps_lib.sh
. "$(dirname "$0")/../em/apps_lib.sh"

graph=$apps/graph/graph
cd "$work" || exit 1

# says WHAT PATTERN: what the last command printed has a line like this.
says() {
  grep -Eq -- "$2" out || fail "$1: does not say '$2'"
}

# notes WHAT PATTERN: that is all that the last command said on stderr.
notes() {
  if [ "$(wc -l <err)" -ne 1 ] || ! grep -Eq -- "^$2" err; then
    fail "$1: not one line with '$2'"
  fi
}

# silent WHAT: it said nothing there.
silent() {
  [ ! -s err ] || fail "$1: something on stderr"
}

# refused STATUS LINE COMMAND...: one line, and this status.
refused() {
  wanted=$1
  line=$2
  shift 2
  limited "$graph" "$@" >out 2>err
  got=$?
  [ $got -eq "$wanted" ] || fail "$*: status $got, not $wanted"
  notes "$*" "$line"
  [ ! -s out ] || fail "$*: something on stdout"
}

# --- there and back ----------------------------------------------------------

try "road" "$graph" generate road --nodes 20000 --seed 3 -o road.csr
says "road" '^RESULT app=graph nodes=(19|20)[0-9]* edges=4[78][0-9]* '
silent "road"
try "info" "$graph" info road.csr
says "info" ' components=1 largest=(19|20)[0-9]* places=yes bytes=[0-9]*$'
says "info" '^degree from 2: [0-9]* nodes$'
for format in gr csr; do
  try "to .$format" "$graph" convert road.csr "there.$format"
  try "from .$format" "$graph" convert "there.$format" back.csr
  cmp -s road.csr back.csr || fail ".$format: not the same after it"
done
[ -f there.co ] || fail "no coordinates beside a .gr"
try "rmat" "$graph" generate rmat --scale 10 --factor 6 --permute \
  --weights 0:7 --output=rmat.csr
try "rmat's info" "$graph" info rmat.csr
says "rmat" ' nodes=1024 edges=6144 .* weight_least=0 weight_most=7 .*places=no'
try "uniform" "$graph" generate uniform --nodes 500 --edges 3000 \
  --undirected -o u.csr
says "uniform" ' nodes=500 edges=6000 '
for format in mtx txt el; do
  try "to .$format" "$graph" convert rmat.csr "there.$format"
  try "from .$format" "$graph" convert "there.$format" back.csr
  cmp -s rmat.csr back.csr || fail ".$format: not the same after it"
done
try "by name" "$graph" convert there.el same --to csr
try "by name" "$graph" info same --from csr
for format in wsg galois; do
  try "to .$format" "$graph" convert rmat.csr "there.$format"
  [ -s "there.$format" ] || fail "to .$format: empty"
done

# --- edge lists --------------------------------------------------------------

printf '# FROM TO\r\n1\t30\r\n7000\t1' >few.txt
try "renumbered" "$graph" convert few.txt few.el --undirected --weights 5:5
notes "renumbered" 'few.txt: nodes were numbered again, .*: 3 of them, .* 7000$'
printf '# Nodes: 3 Edges: 4\n0\t1\t5\n0\t2\t5\n1\t0\t5\n2\t0\t5\n' >wanted
cmp -s few.el wanted || fail "renumbered: not as it should be: $(cat few.el)"
printf '%%%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 0.125\n' \
  >real.mtx
try "rounded" "$graph" convert real.mtx real.el
notes "rounded" 'real.mtx: weights were rounded: scale them to keep more$'
try "scaled" "$graph" convert real.mtx real.el --scale 1000
silent "scaled"
grep -q '^0.1.125$' real.el || fail "scaled: $(cat real.el)"

# --- what is refused ---------------------------------------------------------

refused 2 'graph: a command is missing: '
refused 2 'graph: there is no such command: paint: ' paint
refused 2 'graph: .*star.*' generate star -o x.csr
refused 2 'graph: an option is missing: --output FILE: ' generate road
refused 2 'graph: option: output: it needs a value' generate road -o
refused 2 'graph: unknown option: --colour' info road.csr --colour
refused 2 'graph: weights: 5: ' generate rmat -o x.csr --weights 5
refused 2 'graph: weights: 5:4: ' generate rmat -o x.csr --weights 5:4
refused 2 'graph: weights: -1:4: ' generate rmat -o x.csr --weights -1:4
refused 2 'graph: weights: 1:4294967296: ' \
  generate rmat -o x.csr --weights 1:4294967296
refused 2 'graph: weights: 1:4x: ' generate rmat -o x.csr --weights 1:4x
refused 2 'graph: degree: many: ' generate road -o x.csr --degree many
refused 2 'graph: quarters: .5: ' generate rmat -o x.csr --quarters .5
refused 2 'graph: scale: 0: ' convert road.csr x.csr --scale 0
refused 2 'graph: there is no such format: cvs: ' convert road.csr x --to cvs
refused 1 'graph: there is no such road: a mean degree of 5: ' \
  generate road -o x.csr --degree 5
refused 1 'graph: there is no such graph: scale 40: ' \
  generate rmat -o x.csr --scale 40
refused 1 'graph: the format cannot be told: x: ' generate road -o x
refused 1 'graph: the format cannot be told: x: ' convert none x
refused 1 'graph: the format cannot be told: there.wsg: ' info there.wsg
refused 1 'graph: a .csr is read as it is: road.csr: ' \
  convert road.csr x.csr --undirected
refused 1 'graph: cannot read: none.gr: No such file ' info none.gr
refused 1 'graph: cannot write: no/x.csr: No such file ' convert road.csr no/x.csr
[ ! -e x.csr ] || fail "there is a file that was refused"
try "help" "$graph" --help
says "help" '^usage: graph generate '
try "help" "$graph" convert --help
says "help" '^usage: graph convert IN OUT '

# mistake NAME LINE TEXT: where the file is wrong.
mistake() {
  refused 1 "graph: $1:$2: .*: " convert "$1" x.csr
}
printf 'c\np sp 2 1\na 1 3 1\n' >bad.gr
mistake bad.gr 3
printf 'p sp 2 2\n\na 1 2 1\n' >bad.gr
mistake bad.gr 3
printf '%%%%MatrixMarket matrix coordinate pattern hermitian\n' >bad.mtx
mistake bad.mtx 1
printf '1 2\n2 1\n\n3 x\n' >bad.txt
mistake bad.txt 4
head -c 100000 road.csr >bad.csr
refused 1 'graph: bad.csr: has 100000 bytes of [0-9]*: get all of it' \
  info bad.csr

# --- full disks --------------------------------------------------------------

# shellcheck disable=SC2317 # called by the trap
unmount() {
  cd /
  umount "$work/tiny" 2>/dev/null
  rm -rf "$work"
}
trap unmount EXIT
mkdir tiny
if mount -t tmpfs -o size=64k none tiny 2>mount.txt; then
  for format in csr gr mtx txt galois wsg; do
    refused 1 "graph: cannot write: tiny/x.$format: No space left on device: " \
      convert road.csr "tiny/x.$format"
    [ -z "$(ls -A tiny)" ] || fail "a full disk: left $(ls -A tiny)"
  done
else
  echo "full disks: not tested: $(cat mount.txt)"
fi

[ $status -ne 0 ] || echo "PASS graph"
exit $status
