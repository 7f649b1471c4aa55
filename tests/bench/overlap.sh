#!/bin/sh
# Do network and disk work at the same time? One Alltoallv between two hosts
# (namespaces) that share a link of RATE: with all contexts in memory (the
# network alone), out of core over a fast link (the disk alone), and out of core
# over the slow link (both). hidden = the part of the shorter one that does not
# add to the longer one: 1 if they overlap altogether, 0 if one follows the
# other. The best of ROUNDS runs each.
N=${N:-67108864}
V=${V:-16}
RATE=${RATE:-1gbit}
MEMORY=${MEMORY:-160M}
ROUNDS=${ROUNDS:-3}
. "$(dirname "$0")/lib.sh"

need_pems
if [ -z "${HOSTS_DIR:-}" ]; then
  sh "$top/tests/hosts/hosts.sh" with 2 sh "$0"
  exit
fi
hosts() {
  sh "$top/tests/hosts/hosts.sh" "$@"
}

"$pemscc" -O2 -o "$work/alltoallv" "$top/apps/alltoallv.c" || exit 1

# run NAME OPTIONS: the time of the call, the least of all rounds so far, in
# $work/NAME.
run() {
  name=$1
  shift
  hosts run -n "$V" --pems-k=1 "$@" "$work/alltoallv" "$N" >"$work/out" 2>&1 ||
    {
      cat "$work/out" >&2
      exit 1
    }
  value seconds "$work/out" >>"$work/$name"
  sort -n -o "$work/$name" "$work/$name"
}


round=0
while [ $round -lt "$ROUNDS" ]; do
  for node in nodeA nodeB; do
    hosts "do" fast $node 2>/dev/null
  done
  run disk "--pems-memory=$MEMORY"
  for node in nodeA nodeB; do
    hosts "do" slow $node tbf rate "$RATE" burst 256kb latency 50ms ||
      skip "tc: tbf: this machine has no such queue"
  done
  run network --pems-memory=1G --pems-context=64M
  run both "--pems-memory=$MEMORY"
  round=$((round + 1))
done
for name in disk network both; do
  eval "$name=\$(head -n 1 '$work/$name')"
done
# shellcheck disable=SC2154 # set by eval
echo "RESULT bench=overlap n=$N v=$V P=2 rate=$RATE memory=$MEMORY" \
  "network=$network disk=$disk both=$both hidden=$(calculate \
    "($network + $disk - $both) / ($network < $disk ? $network : $disk)")"
