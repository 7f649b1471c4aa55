#!/bin/sh
# The commands of pems-graph about files: generate, convert, info; what they print, what
# it refuses before it begins, mistakes in files with their lines, full disks.
# shellcheck source=tests/em/apps_lib.sh
. "$(dirname "$0")/../em/apps_lib.sh"

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
  limited pems-graph "$@" >out 2>err
  got=$?
  [ $got -eq "$wanted" ] || fail "$*: status $got, not $wanted"
  notes "$*" "$line"
  [ ! -s out ] || fail "$*: something on stdout"
}

# --- there and back ----------------------------------------------------------

try "road" pems-graph generate road --nodes 20000 --seed 3 -o road.csr
says "road" '^RESULT program=generate nodes=(19|20)[0-9]* edges=4[78][0-9]* '
silent "road"
try "info" pems-graph info road.csr
says "info" ' components=1 largest=(19|20)[0-9]* places=yes bytes=[0-9]*$'
says "info" '^degree from 2: [0-9]* nodes$'
for format in gr csr; do
  try "to .$format" pems-graph convert road.csr "there.$format"
  try "from .$format" pems-graph convert "there.$format" back.csr
  cmp -s road.csr back.csr || fail ".$format: not the same after it"
done
[ -f there.co ] || fail "no coordinates beside a .gr"
try "rmat" pems-graph generate rmat --scale 10 --factor 6 --permute \
  --weights 0:7 --output=rmat.csr
try "rmat's info" pems-graph info rmat.csr
says "rmat" ' nodes=1024 edges=6144 .* weight_least=0 weight_most=7 .*places=no'
try "uniform" pems-graph generate uniform --nodes 500 --edges 3000 \
  --undirected -o u.csr
says "uniform" ' nodes=500 edges=6000 '
for format in mtx txt el; do
  try "to .$format" pems-graph convert rmat.csr "there.$format"
  try "from .$format" pems-graph convert "there.$format" back.csr
  cmp -s rmat.csr back.csr || fail ".$format: not the same after it"
done
try "by name" pems-graph convert there.el same --to csr
try "by name" pems-graph info same --from csr
for format in e galois; do
  try "to .$format" pems-graph convert rmat.csr "there.$format"
  try "from .$format" pems-graph convert "there.$format" back.csr
  cmp -s rmat.csr back.csr || fail ".$format: not the same after it"
done
cp there.galois galois.gr
try "Galois' .gr" pems-graph convert galois.gr back.csr
cmp -s rmat.csr back.csr || fail "Galois' .gr: not the same after it"
# Those of GAP have rows in order, and one without weights has none.
try "to .wsg" pems-graph convert rmat.csr there.wsg
try "from .wsg" pems-graph convert there.wsg order.csr
try "to .wsg again" pems-graph convert order.csr again.wsg
cmp -s there.wsg again.wsg || fail ".wsg: not the same after it"
try "to .sg" pems-graph convert there.wsg there.sg
try "from .sg" pems-graph convert there.sg ones.csr
try "to .sg again" pems-graph convert ones.csr again.sg
cmp -s there.sg again.sg || fail ".sg: not the same after it"
try "ones" pems-graph info there.sg
says "ones" ' nodes=1024 edges=6144 .* weight_least=1 weight_most=1 '
try "to .graph" pems-graph convert u.csr there.graph
try "from .graph" pems-graph convert there.graph back.csr
cmp -s u.csr back.csr || fail ".graph: not the same after it"

# --- edge lists --------------------------------------------------------------

printf '# FROM TO\r\n1\t30\r\n7000\t1' >few.txt
try "renumbered" pems-graph convert few.txt few.el --undirected --weights 5:5
notes "renumbered" 'few.txt: nodes were numbered again, .*: 3 of them, .* 7000$'
printf '# Nodes: 3 Edges: 4\n0\t1\t5\n0\t2\t5\n1\t0\t5\n2\t0\t5\n' >wanted
cmp -s few.el wanted || fail "renumbered: not as it should be: $(cat few.el)"
printf '%%%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 0.125\n' \
  >real.mtx
try "rounded" pems-graph convert real.mtx real.el
notes "rounded" 'real.mtx: weights were rounded: scale them to keep more$'
try "scaled" pems-graph convert real.mtx real.el --scale 1000
silent "scaled"
grep -q '^0.1.125$' real.el || fail "scaled: $(cat real.el)"

# Weights of a file without any, by either form, in all commands.
for weights in 1:255 255 7:9 9; do
  try "weights $weights" pems-graph convert there.sg w.csr --seed 4 \
    --weights $weights
  try "weights $weights" pems-graph mst there.sg --seed 4 \
    --weights $weights
  weight=$(value weight)
  try "weights $weights" pems-graph mst w.csr
  [ "$(value weight)" = "$weight" ] || fail "$title: a forest of $weight"
  try "weights $weights" pems-graph info w.csr
  says "weights $weights" " weight_most=${weights#*:} "
done
# Edges that lead one way only are taken both ways by trees, and that may be said.
try "a tree" pems-graph mst rmat.csr
weight=$(value weight)
for more in '' --semi-external; do
  try "undirected $more" pems-graph mst --undirected rmat.csr $more
  [ "$(value weight)" = "$weight" ] || fail "$title: not of $weight"
done
refused 2 'pems: a .csr is read as it is: rmat.csr: ' sssp --undirected rmat.csr

# --- compressed files --------------------------------------------------------

# packed COMMAND END: what it has compressed is read as it was; damaged, cut
# short and with something behind it is refused.
packed() {
  if ! command -v "$1" >/dev/null || ! "$1" -c rmat.el >rmat.el."$2"; then
    echo "$1: not tested: it is not there"
    return
  fi
  try "$1" pems-graph convert rmat.el."$2" back.csr
  cmp -s rmat.csr back.csr || fail "$1: not the same"
  pems-graph convert - back.csr --from snap <rmat.el."$2" >out ||
    fail "$1: not from a pipe"
  cmp -s rmat.csr back.csr || fail "$1: not the same from a pipe"
  cat rmat.el."$2" rmat.el."$2" >twice.el."$2"
  try "$1, twice" pems-graph convert twice.el."$2" twice.csr
  says "$1, twice" ' edges=12288 '
  size=$(wc -c <rmat.el."$2")
  head -c $((size / 2)) rmat.el."$2" >cut.el."$2"
  refused 2 "pems: cut.el.$2: byte [0-9]*: the file ends within its compressed" \
    info cut.el."$2"
  { head -c $((size / 2)) rmat.el."$2" && printf '\377\377\377\377\377\377' &&
    tail -c +$((size / 2 + 7)) rmat.el."$2"; } >bad.el."$2"
  refused 2 "pems: bad.el.$2:.* (damaged|.* is not right|.* is missing)" info bad.el."$2"
  { cat rmat.el."$2" && echo more; } >bad.el."$2"
  refused 2 "pems: bad.el.$2: byte [0-9]*: damaged $1 data: " info bad.el."$2"
  refused 2 "pems: compressed graphs are only read: x.el.$2: " \
    convert rmat.el x.el."$2"
  for other in e graph galois sg wsg; do
    try "$other" pems-graph convert "there.$other" plain.csr
    "$1" -c "there.$other" >"there.$other.$2"
    try "$1, $other" pems-graph convert "there.$other.$2" back.csr
    cmp -s plain.csr back.csr || fail "$1: .$other is not the same"
  done
  "$1" -c there.gr >packed.gr."$2"
  cp there.co packed.co
  try "$1, places" pems-graph convert packed.gr."$2" back.csr
  cmp -s road.csr back.csr || fail "$1: not the same with places"
}
pems-graph convert road.csr there.gr >out || fail "there.gr"
pems-graph convert rmat.csr rmat.el >out || fail "rmat.el"
packed gzip gz
packed zstd zst

# --- what is refused ---------------------------------------------------------

refused 2 'pems: command: paint: ' paint
refused 2 'pems: kind of graph: star: give road, rmat or uniform' \
  generate star -o x.csr
refused 2 'pems: output: not given: ' generate road
refused 2 'pems: option: -o: it needs a value: ' generate road -o
refused 2 'pems: option: --colour: unknown' info road.csr --colour
refused 2 'pems: info: a word is missing: give GRAPH' info
refused 2 'pems: info: x: one word too many: ' info road.csr x
for weights in 5:4 -1:4 1:4294967296 1:4x 0 0:0 -5 5000000000 5x x 1: :5 '' '1 :4'; do
  refused 2 "pems: --weights: $weights: give the least" \
    generate rmat -o x.csr --weights "$weights"
done
refused 2 "pems: --weights: 5:4: give the least" info rmat.csr --weights 5:4
refused 2 "pems: --weights: 5:4: give the least" sssp rmat.csr --weights 5:4
refused 2 'pems: --degree: many: ' generate road -o x.csr --degree many
refused 2 'pems: --quarters: .5: ' generate rmat -o x.csr --quarters .5
refused 2 'pems: --scale: 0: ' convert road.csr x.csr --scale 0
refused 2 'pems: --to: cvs: there is no such format: ' convert road.csr x --to cvs
refused 2 'pems: --from: cvs: there is no such format: ' \
  sssp road.csr --from cvs
refused 2 'pems: there is no such road: a mean degree of 5: ' \
  generate road -o x.csr --degree 5
refused 2 'pems: there is no such graph: scale 40: ' \
  generate rmat -o x.csr --scale 40
refused 2 'pems: the format cannot be told: x: ' generate road -o x
refused 2 'pems: the format cannot be told: x: ' convert none x
refused 2 'pems: rmat.el: not a serialized graph of GAP: ' \
  info rmat.el --from wsg
refused 2 'pems: there.wsg: has [0-9]* bytes, but should have ' \
  info there.wsg --from sg
refused 2 'pems: x.graph: METIS has undirected graphs only: ' \
  convert rmat.csr x.graph
refused 2 'pems: a .csr is read as it is: road.csr: ' \
  convert road.csr x.csr --undirected
refused 2 'pems: output: road.csr: is the input: ' convert road.csr road.csr
ln road.csr again.csr
refused 2 'pems: output: again.csr: is the input: ' convert road.csr again.csr
refused 2 'pems: output: again.csr: is the input: ' sssp road.csr -o again.csr
refused 2 'pems: --parents: .*: give --output' sssp road.csr --parents
refused 2 'pems: --semi-external: not with' sssp road.csr --semi-external --verify
refused 2 'pems: format: xml: give text, csv or binary' \
  sssp road.csr -o x --format xml
refused 2 'pems: cannot read: none.gr: No such file ' info none.gr
refused 2 'pems: cannot write: no/x.csr: No such file ' convert road.csr no/x.csr
[ ! -e x.csr ] || fail "there is a file that was refused"
for word in --help -h; do
  try "help" pems-graph $word
  says "help" '^usage: pems-graph COMMAND '
  try "help" pems-graph convert $word
  says "help" '^usage: pems-graph convert IN OUT '
done
limited pems-graph >out 2>err
[ $? -eq 2 ] || fail "no command: not status 2"
grep -q '^usage: ' err || fail "no command: no usage"

# mistake NAME LINE TEXT: where the file is wrong.
mistake() {
  refused 2 "pems: $1:$2: .*: " convert "$1" x.csr
}
printf 'c\np sp 2 1\na 1 3 1\n' >bad.gr
mistake bad.gr 3
printf 'p sp 2 2\n\na 1 2 1\n' >bad.gr
mistake bad.gr 3
printf '%%%%MatrixMarket matrix coordinate pattern hermitian\n' >bad.mtx
mistake bad.mtx 1
printf '1 2\n2 1\n\n3 x\n' >bad.txt
mistake bad.txt 4
printf '3 2\n2 3\n1\n\n' >bad.graph
mistake bad.graph 4
printf '1\n2\n' >bad.v
printf '1 2\n2 3\n' >bad.e
mistake bad.e 2
head -c 100000 road.csr >bad.csr
refused 2 'pems: bad.csr: has 100000 bytes of [0-9]*: get all of it' \
  info bad.csr

# --- results -----------------------------------------------------------------

# 0 -2-> 1 -3-> 2, 0 -9-> 2; 3 is alone; 1 -0-> 4 -0-> 1.
printf 'p sp 5 5\na 1 2 2\na 2 3 3\na 1 3 9\na 2 5 0\na 5 2 0\n' >small.gr
printf 'p aux sp co 5\nv 1 0 0\nv 2 1 0\nv 3 2 0\nv 4 3 0\nv 5 1 0\n' >small.co
pems-graph convert small.gr small.csr >out || fail "small.csr"

# gives WANTED COMMAND...: the text that it writes, in memory and with edges in
# the file.
gives() {
  printf '%b' "$1" >wanted
  shift
  try "$*" pems-graph "$@" small.csr -o result
  cmp -s wanted result || fail "$*: $(cat result)"
  try "$* outside" pems-graph "$@" small.csr --semi-external -o result
  says "$* outside" ' mode=semi-external '
  cmp -s wanted result || fail "$* outside: $(cat result)"
  try "$* to stdout" pems-graph "$@" small.csr -o -
  cmp -s wanted out || fail "$* to stdout: $(cat out)"
  notes "$* to stdout" 'RESULT program='
}
gives '0 0\n1 2\n2 5\n3 inf\n4 2\n' sssp
gives '0 0 -\n1 2 0\n2 5 1\n3 inf -\n4 2 1\n' sssp --parents
gives 'node,distance,parent\n0,0,\n1,2,0\n2,5,1\n3,,\n4,2,1\n' \
  sssp --parents --format csv
gives '0 inf\n1 0\n2 3\n3 inf\n4 0\n' sssp --source 1
gives '0 0 -\n1 1 0\n2 1 0\n3 inf -\n4 2 1\n' bfs --parents
gives '0 0 0\n0 1 2\n0 2 5\n' astar --source 0 --target 2
gives '' astar --source 0 --target 3
try "tree" pems-graph mst small.csr -o tree
tr ' ' '\n' <tree | sort -n | tr '\n' ' ' >flat
[ "$(cat flat)" = "0 0 1 1 1 2 2 3 4 " ] || fail "tree: $(cat tree)"
try "binary" pems-graph sssp small.csr -o result.bin --parents
[ "$(od -An -v -tu8 -N8 -j12 result.bin | tr -d ' ')" = 2 ] ||
  fail "binary: not a distance of 2"
[ "$(wc -c <result.bin)" = 60 ] || fail "binary: not 12 bytes a node"
# Larger graphs: the same, wherever the edges are.
for command in 'sssp --parents' 'bfs --parents' 'astar --queries 4'; do
  # shellcheck disable=SC2086 # words
  for graph in road.csr rmat.csr; do
    [ "$command $graph" != 'astar --queries 4 rmat.csr' ] || continue
    try "$command" pems-graph $command $graph -o inside.csv
    try "$command" pems-graph $command $graph -o outside.csv --semi-external
    cmp -s inside.csv outside.csv || fail "$command $graph: not the same outside"
  done
done
try "ranks" pems-graph pagerank rmat.csr --error 1e-11 -o inside.csv
try "ranks" pems-graph pagerank rmat.csr --error 1e-11 --semi-external \
  -o outside.csv
says "ranks" ' mode=semi-external .* error=1e-11 bound=[0-9.]*e-1[2-9] .* sum=1 '
# Each sweep reads each edge once: nothing else does.
sweeps=$(value rounds)
[ "$(value reads)" = "$sweeps" ] || fail "ranks: not one read of 48K for a sweep"
at_least bytes_read $((sweeps * 6144 * 8))
[ "$(value bytes_read)" -lt $((sweeps * (6144 * 8 + 8192))) ] ||
  fail "ranks: too much was read"
paste -d, inside.csv outside.csv | awk -F, 'NR > 1 && ($2 - $4 > 1e-6 * $2 ||
  $4 - $2 > 1e-6 * $2) { bad = 1 } END { exit bad || NR != 1025 }' ||
  fail "ranks: not the same outside"
# Numbers of networkx: pagerank(MultiDiGraph(...), tol=1e-15).
printf '0 1\n0 2\n0 2\n1 2\n4 3\n3 4\n3 3\n' >dangling.txt
try "normalized" pems-graph convert dangling.txt dangling.csr
printf '%s\n' 0.0547220575 0.0702266405 0.1454238679 0.4736178080 \
  0.2560096260 >wanted
for more in --error '--semi-external --error' \
  '--sched pmod --normalize --epsilon'; do
  # shellcheck disable=SC2086 # words
  try "normalized $more" pems-graph pagerank $more 1e-12 dangling.csr -o ranks
  says "normalized $more" ' normalized=1 sum=1 largest=0.473617'
  paste -d' ' ranks wanted | awk '$2 - $3 > 1e-9 || $3 - $2 > 1e-9 { bad = 1 }
    END { exit bad || NR != 5 }' || fail "normalized $more: $(cat ranks)"
done
python=$(command -v "${PYTHON:-python3}" || :)
if [ -n "$python" ]; then
  "$python" "$top/tests/graph/ranks.py" >out 2>err || fail "beside networkx' ranks"
else
  echo "ranks: not compared with Python: there is none: install python3"
fi
try "forest" pems-graph mst rmat.csr
inside=$(value weight)
try "forest" pems-graph mst rmat.csr --semi-external -o outside.csv
[ "$(value weight)" = "$inside" ] || fail "forest: another weight outside"
awk -F, 'NR > 1 { sum += $3 } END { print sum }' outside.csv >sum
[ "$(cat sum)" = "$inside" ] || fail "forest: its edges weigh $(cat sum)"
try "forest" pems-graph mst rmat.csr -o inside.csv
awk -F, 'NR > 1 { sum += $3 } END { print sum }' inside.csv >sum
[ "$(cat sum)" = "$inside" ] || fail "forest: edges weigh $(cat sum) in memory"
# An edge to nowhere, which is found when it is read.
try "to" pems-graph generate uniform --nodes 50 --edges 100 -o bad.csr
printf '\377\377\377\377' | dd of=bad.csr bs=1 seek=520 conv=notrunc 2>err
refused 2 'pems: bad.csr: .*damaged' sssp bad.csr
refused 2 'pems: bad.csr: an edge to a node that is not there, behind byte ' \
  pagerank bad.csr --semi-external
# Degrees that overflow: node 3's edges would begin behind the last one, and node
# 3 had more of them than there are bytes.
try "degrees" pems-graph generate uniform --nodes 50 --edges 100 -o bad.csr
printf '\377\377\377\377\377\377\377\377' |
  dd of=bad.csr bs=1 seek=88 conv=notrunc 2>err
for more in --load --semi-external; do
  refused 2 'pems: bad.csr: its offsets or edges are damaged: ' \
    pagerank bad.csr $more
done

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
  for format in csr gr mtx txt e galois sg wsg; do
    refused 2 "pems: cannot write: tiny/x.$format: No space left on device: " \
      convert road.csr "tiny/x.$format"
    [ -z "$(ls -A tiny)" ] || fail "a full disk: left $(ls -A tiny)"
  done
  limited pems-graph sssp road.csr -o tiny/x.txt >out 2>err
  [ $? -eq 2 ] || fail "results on a full disk: not status 2"
  notes "results on a full disk" \
    'pems: cannot write: tiny/x.txt: No space left on device: '
  [ -z "$(ls -A tiny)" ] || fail "a full disk: left $(ls -A tiny)"
else
  echo "full disks: not tested: $(cat mount.txt)"
fi

[ $status -ne 0 ] || echo "PASS graph"
exit $status
