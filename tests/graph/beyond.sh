#!/bin/sh
# Graphs are made and converted whose edges do not fit in memory: in a cgroup that
# edges have several times the size of, and with --memory, the .csr is the same,
# byte by byte, as with all in memory; what cannot be done is refused; a full
# scratch disk leaves nothing.
# shellcheck source=tests/em/apps_lib.sh
. "$(dirname "$0")/../em/apps_lib.sh"
memory=32M
cd "$work" || exit 1

# refused LINE COMMAND...: status 2, that line, and no x.csr.
refused() {
  line=$1
  shift
  limited pems-graph "$@" >out 2>err
  got=$?
  [ $got -eq 2 ] || fail "$*: status $got, not 2"
  if [ "$(wc -l <err)" -ne 1 ] || ! grep -Eq -- "^$line" err; then
    fail "$*: not one line with '$line'"
  fi
  [ ! -e x.csr ] || fail "$*: there is an output"
  [ -z "$(ls -A disk)" ] || fail "$*: left $(ls -A disk)"
}

# beyond WHAT COMMAND...: makes beyond.csr, in the cgroup, the same as inside.csr.
beyond() {
  title="$1 in $memory"
  shift
  rm -f beyond.csr
  limited sh "$top/tests/bench/cgroup.sh" $memory pems-graph "$@" \
    --disk "$work/disk" >out 2>err
  got=$?
  if [ $got -eq 77 ]; then
    echo "SKIP beyond: $(tail -n 1 err)"
    exit 77
  fi
  [ $got -eq 0 ] || fail "$title: status $got"
  grep -q ' oom_kills=0' err || fail "$title: was killed"
  cmp -s inside.csr beyond.csr || fail "$title: not the same"
  [ -z "$(ls -A disk)" ] || fail "$title: left $(ls -A disk)"
}

graph="uniform --nodes 100000 --edges 6000000 --weights 0:1000 --undirected"
# shellcheck disable=SC2086 # words
try "inside" pems-graph generate $graph -o inside.csr --memory 4G
[ "$(wc -c <inside.csr)" -ge $((2 * 32 * 1024 * 1024)) ] ||
  fail "the graph has not several times the memory"
# shellcheck disable=SC2086
beyond "uniform" generate $graph -o beyond.csr
for format in txt wsg galois; do
  try "to .$format" pems-graph convert inside.csr "there.$format"
done
# Those that GAP has are in order.
try "in order" pems-graph convert there.wsg inside.csr --memory 4G
beyond "GAP" convert there.wsg beyond.csr
try "Galois" pems-graph convert there.galois inside.csr --memory 4G
beyond "Galois" convert there.galois beyond.csr
# An edge list is read twice.
beyond "edge list" convert there.txt beyond.csr
refused 'pems: -: .* edges do not fit in memory, and it cannot be read twice: ' \
  convert - x.csr --from snap --memory 32M --disk disk <there.txt
rm -f there.*

# Smaller ones, with little --memory: all formats.
try "road" pems-graph generate road --nodes 100000 -o road.csr
try "rmat" pems-graph generate rmat --scale 14 --factor 50 --weights 1:99 \
  -o rmat.csr
try "rmat, both" pems-graph generate rmat --scale 14 --factor 50 \
  --weights 1:99 --undirected -o both.csr
try "uniform, both" pems-graph generate uniform --nodes 20000 --edges 400000 \
  --weights 1:99 --undirected -o uniform.csr
try "to .graph" pems-graph convert uniform.csr there.graph
for format in gr mtx txt e; do
  try "to .$format" pems-graph convert rmat.csr "there.$format"
done
for format in sg wsg galois; do
  try "to .$format" pems-graph convert rmat.csr "there.$format"
done

# small INPUT OPTION...: the same with and without enough memory.
small() {
  input=$1
  shift
  try "$input in memory" pems-graph convert "$input" inside.csr "$@"
  try "$input beyond" pems-graph convert "$input" beyond.csr --memory 10M \
    --disk "$work/disk" "$@"
  cmp -s inside.csr beyond.csr || fail "$input $*: not the same"
}
for format in gr mtx txt e graph sg wsg galois; do
  small "there.$format"
  small "there.$format" --undirected --weights 1:9
done
try "sparse" awk '$1 !~ /#/ {
  printf "%.0f %.0f %d\n", $1 * 1000003, $2 * 1000003, $3 }' there.txt
mv out sparse.txt
small sparse.txt
try "rmat beyond" pems-graph generate rmat --scale 14 --factor 50 \
  --weights 1:99 -o beyond.csr --memory 10M --disk "$work/disk"
cmp -s rmat.csr beyond.csr || fail "rmat: not the same"
try "rmat beyond" pems-graph generate rmat --scale 14 --factor 50 \
  --weights 1:99 --undirected -o beyond.csr --memory 10M --disk "$work/disk"
cmp -s both.csr beyond.csr || fail "rmat, both: not the same"
try "places" pems-graph convert road.csr road.gr
small road.gr

# What fits nowhere.
refused 'pems: there.gr: up to [0-9]* edges of 16384 nodes need [0-9]*M of memory: ' \
  convert there.gr x.mtx --memory 10M --disk disk
refused 'pems: there.gr: up to [0-9]* edges of 16384 nodes need [0-9]*M of memory: ' \
  sssp there.gr --memory 10M
refused 'pems: there.gr: 16384 nodes need [0-9]*M of memory: give --memory more' \
  convert there.gr x.csr --memory 1M --disk disk
refused 'pems: .*nowhere: No such file' \
  convert there.gr x.csr --memory 10M --disk nowhere

# --- full disks ---

# shellcheck disable=SC2317 # called by the trap
unmount() {
  cd /
  umount "$work/disk" 2>/dev/null
  rm -rf "$work"
}
trap unmount EXIT
if mount -t tmpfs -o size=2m none disk 2>mount.txt; then
  refused 'pems: .*disk: no room for a block of ' \
    convert there.gr x.csr --memory 10M --disk disk
  refused 'pems: cannot write: disk/x.csr: No space left on device: ' \
    convert there.gr disk/x.csr --memory 10M --disk .
else
  echo "full disks: not tested: $(cat mount.txt)"
fi
[ $status -ne 0 ] || echo "PASS beyond"
exit $status
