#!/bin/sh
# The manual pages: no mistakes in the markup, every option described.
# shellcheck source=tests/wrappers/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/launcher.sh
. "$here/tests/launcher.sh"

manuals=$here/doc/man
options=$(sed -n 's/^  X(\([a-z]*\), .*/\1/p' "$here/src/config/options.c")
[ "$(echo "$options" | wc -l)" -ge 20 ] || fail "too few options in options.c"
for option in $options; do
  variable=PEMS_$(echo "$option" | tr '[:lower:]' '[:upper:]')
  try grep -E "^\.It Fl -pems-$option( |\$)" "$manuals/pems.7"
  [ $status -eq 0 ] || fail "pems.7 does not describe --pems-$option"
  try grep -qw "$variable" "$manuals/pems.7"
  [ $status -eq 0 ] || fail "pems.7 does not name $variable"
done
# The list above must not be empty by accident.
try grep -c 'Fl -pems-' "$manuals/pems.7"
[ "$(cat out)" -ge 12 ] || fail "too few options in pems.7"
for option in $(pems-sort --help | sed -n 's/^  --\([a-z]*\).*/\1/p'); do
  try grep -Eq "^\.It .*Fl -$option( |\$)" "$manuals/pems-sort.1"
  [ $status -eq 0 ] || fail "pems-sort.1 does not describe --$option"
done
[ "$(pems-sort --help | grep -c '^  --')" -ge 20 ] ||
  fail "too few options in pems-sort --help"
for command in convert generate info sssp bfs pagerank mst astar; do
  for option in $(pems-graph $command --help | sed -n 's/^  --\([a-z-]*\).*/\1/p'); do
    try grep -Eq "^\.It .*Fl -$option( |\$)" "$manuals/pems-graph.1"
    [ $status -eq 0 ] || fail "pems-graph.1 does not describe --$option"
  done
done
[ "$(pems-graph sssp --help | grep -c '^  --')" -ge 20 ] ||
  fail "too few options in pems-graph sssp --help"
for command in pems-graph pems-sort pemscc pemsrun pemsinfo pemstop; do
  [ -f "$manuals/$command.1" ] || fail "$command has no manual page"
done

# The examples of the library's pages are programs.
PKG_CONFIG_PATH=${top_builddir:-.}/wrappers
export PKG_CONFIG_PATH
for page in "$manuals"/*.3; do
  base=$(basename "$page" .3)
  sed -n '/^\.Sh EXAMPLES/,/^\.Sh/p' "$page" |
    sed -n '/^\.Bd/,/^\.Ed/{/^\.[BE]d/d; s/\\e/\\/g; p;}' >"$base.c"
  compiler=${REAL_CC:-cc} package=pems-em-uninstalled
  [ "$base" != pems_cgm ] || compiler=${MPICC:-mpicc} package=pems-cgm-uninstalled
  # shellcheck disable=SC2046,SC2086 # lists
  try $compiler -std=c11 -Wall -Werror "$base.c" -o "$base" \
    $(pkg-config --cflags --libs $package)
  [ $status -eq 0 ] || fail "$base.3: its example does not compile"
done
printf '3\n-1\n2.5\n' >numbers
./pems_sort <numbers >out 2>err
[ "$(tr '\n' ' ' <out)" = '-1 2.5 3 ' ] || fail "pems_sort.3: what it prints"
expect "pems_stream.3" 0 "^49$" -- ./pems_stream
expect "pems_pqueue.3" 0 '^2 3 5 7 11 13 17 19 23 29 31 37 41 43 47 $' -- \
  ./pems_pqueue
expect "pems_em.3" 0 '^[0-9]*\.[0-9]*\.[0-9]*$' -- ./pems_em
expect "pems_disk.3" 0 '^on disk$' -- ./pems_disk
expect "pems_sched.3" 0 '^126$' -- ./pems_sched
expect "pems_tfp.3" 0 "^48639$" -- ./pems_tfp
sums='0:0 1:1 81:82 4:86 64:150 25:175 16:191 36:227 9:236 49:285 $'
expect "pems_cgm.3" 0 "^$sums" -- "${MPIRUN:-mpirun}" -n 3 \
  ./pems_cgm
try pemscc -std=c11 -Wall -Werror pems_cgm.c -o pems_cgm
expect "pems_cgm.3 on pems" 0 "^$sums" -- pemsrun -n 3 ./pems_cgm

# Each function of the public headers has a page or a link to one, which names it.
try sh "$manuals/links.sh" list "$here"
cp out links
[ "$(wc -l <links)" -ge 140 ] || fail "too few functions in the public headers"
# Other ways to find them: what the library exports; what the headers declare.
if command -v nm >/dev/null; then
  nm -D --defined-only "${top_builddir:-.}"/.libs/libpems-em.so |
    sed -n 's/.* T \(pems_[a-z0-9_]*\).*/\1/p' | grep -vx pems_em_attach >exported
  [ -s exported ] || fail "libpems-em exports nothing"
fi
sed -n 's/^[a-z][a-z_0-9 *]*[ *]\(pems_[a-z0-9_]*\)(.*/\1/p' \
  "$here"/include/pems/*.h >declared
[ -s declared ] || fail "the headers declare nothing"
sort -u exported declared | while read -r function; do
  case $function in
  *_fn | pems_cgm_op) continue ;;
  esac
  grep -q "^$function [37] " links || echo "$function"
done >missing
[ ! -s missing ] || fail "no manual page, see doc/man/links.sh: $(tr '\n' ' ' <missing)"
while read -r function section page; do
  [ -f "$manuals/$page.$section" ] || fail "no page $page.$section for $function"
  grep -q "^\.\(It \)*Fn $function\>\|^int $function(" "$manuals/$page.$section" ||
    fail "$page.$section does not describe $function: add it to its SYNOPSIS"
done <links

# As they are installed.
mkdir -p man/man1 man/man3 man/man7
for page in "$manuals"/*.[1-9]; do
  cp "$page" "man/man${page##*.}/"
done
expect "links.sh install" 0 -- sh "$manuals/links.sh" install "$here" man
[ "$(cat man/man3/pems_sorter_push.3)" = '.so man3/pems_sort.3' ] ||
  fail "man3/pems_sorter_push.3 is not a link to pems_sort.3"
if command -v man >/dev/null &&
  env MANPAGER=cat man -M "$work/man" pems_sort >out 2>&1 &&
  grep -q SYNOPSIS out; then
  for function in pems_sorter_push pems_node_zip pems_version_number; do
    env MANPAGER=cat man -M "$work/man" "$function" >out 2>&1
    grep -q "$function" out && grep -q SYNOPSIS out || fail "man $function"
  done
else
  echo "man is not there, or shows no page: links were not looked up"
fi
expect "links.sh uninstall" 0 -- sh "$manuals/links.sh" uninstall "$here" man
[ "$(find man/man3 -name '*.3' | wc -l)" -eq "$(find "$manuals" -name '*.3' | wc -l)" ] ||
  fail "links.sh uninstall leaves links"

# headings PAGE COMMAND...: all are there as they were written. A word that is
# the name of a macro, such as "In", would be taken for it.
headings() {
  page=$1
  shift
  try "$@" "$page"
  printf '%b' 's/.\b//g' >script
  sed -f script out >rendered
  sed -n 's/^\.S\([hs]\) /\1/p' "$page" |
    sed 's/\\&//g; s/^h//; s/^s/   /' >wanted
  while IFS= read -r heading; do
    grep -Fqx -e "$heading" rendered ||
      fail "$(basename "$page"), by $1: no heading '$heading'"
  done <wanted
  [ -s wanted ] || fail "$(basename "$page"): no headings"
}

if command -v mandoc >/dev/null; then
  for page in "$manuals"/*.[1-9]; do
    expect "$(basename "$page")" 0 -- mandoc -T lint -W warning "$page"
    headings "$page" mandoc -T ascii
  done
else
  echo "mandoc is not there: the markup was not checked"
fi
if command -v groff >/dev/null; then
  for page in "$manuals"/*.[1-9]; do
    headings "$page" groff -mdoc -T ascii -P -c
  done
fi
conclude
