#!/bin/sh
# Real graphs, with contexts on disk whenever their ranks wait: the directory
# tree of /usr and the dependencies of Debian's packages. Components, Euler
# tours, depths and sizes against what the programs check, what find counts and
# what Perl joins. FOLDER is another folder than /usr.
set -u
top=${top_srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
pemscc=${PEMSCC:-pemscc}
pemsrun=${PEMSRUN:-pemsrun}
perl=${PERL:-perl}
# shellcheck source=tests/limit.sh
. "$top/tests/limit.sh"
folder=${FOLDER:-/usr}
work=$(mktemp -d "${TESTDIR:-${TMPDIR:-/var/tmp}}/pems-real.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
mkdir "$work/disk"
for app in cgm_components cgm_euler; do
  "$pemscc" -O2 -o "$work/$app" "$top/apps/$app.c" || exit 1
done
status=0

# value NAME: of NAME=value in a RESULT line of standard input
value() {
  sed -n "s/^RESULT.* $1=\([^ ]*\).*/\1/p"
}

# run TITLE "NAME=VALUE..." program arguments: these values must be printed
run() {
  title=$1
  wanted=$2
  program=$3
  shift 3
  limited env PEMS_TEST_EVICT_ALWAYS=1 "$pemsrun" -n 24 --pems-k=1 \
    --pems-context=64M --pems-stats \
    --pems-disk="$work/disk" "$work/$program" "$@" >"$work/out" 2>"$work/err"
  rc=$?
  failed=
  [ $rc -eq 0 ] || failed="status $rc"
  for want in $wanted; do
    [ "$(value "${want%=*}" <"$work/out")" = "${want#*=}" ] ||
      failed="$failed not $want"
  done
  written=$(value bytes_written <"$work/err")
  [ "${written:-0}" -gt 10000000 ] || failed="$failed not out of core"
  if [ -n "$failed" ]; then
    echo "FAIL $program, $title:$failed"
    cat "$work/out" "$work/err"
    status=1
  else
    echo "PASS $program, $title: $(cat "$work/out")"
  fi
}

# Nodes, components and the largest one's nodes, of edges "u v" on standard
# input and so many nodes.
join() {
  # shellcheck disable=SC2016 # Perl's variables
  "$perl" -e '
    my $n = shift;
    my @root = (0 .. $n - 1);
    sub root {
      my $i = shift;
      $i = $root[$i] = $root[$root[$i]] while $root[$i] != $i;
      return $i;
    }
    while (<STDIN>) {
      my ($x, $y) = map { root($_) } split;
      $root[$x] = $y;
    }
    my (%size, $most);
    $size{ root($_) }++ for 0 .. $n - 1;
    for (values %size) { $most = $_ if $_ > ($most // 0) }
    print "nodes=$n components=", scalar(keys %size), " largest=$most";
  ' "$1"
}

"$top/apps/directory_tree" "$folder" >"$work/edges" 2>"$work/said" || {
  cat "$work/said"
  exit 1
}
nodes=$(value nodes <"$work/said")
depth=$(value depth <"$work/said")
# A tree of one node has no edge that would tell of it: N says how many.
run "$folder" "$(join "$nodes" <"$work/edges") bipartite=1 right=1" \
  cgm_components "$nodes" --file "$work/edges" --bipartite --check
run "$folder" "trees=1 depth=$depth nodes=$nodes largest=$nodes right=1" \
  cgm_euler "$nodes" --file "$work/edges" --lca 100000 --check

if "$top/apps/deb_graph" >"$work/edges" 2>"$work/said"; then
  nodes=$(value nodes <"$work/said")
  wanted=$(join "$nodes" <"$work/edges")
  run "Debian's packages" "$wanted right=1" \
    cgm_components "$nodes" --file "$work/edges" --check
  wanted=$(echo "$wanted" | sed 's/components/trees/')
  run "Debian's packages" "$wanted right=1" \
    cgm_euler "$nodes" --file "$work/edges" --span --lca 100000 --check
else
  echo "Debian's packages: skipped: $(cat "$work/said")"
fi
left=$(find "$work/disk" -mindepth 1 | head -n 1)
[ -z "$left" ] || {
  echo "FAIL files left behind: $left"
  status=1
}
exit $status
