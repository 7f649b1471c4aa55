#!/bin/sh
# Runs a command on one of the hosts of network.sh, those of $HOSTS_DIR:
#
#   enter.sh NODE command [arguments]
#   enter.sh --as-ssh [-q] [-x] NODE words...
#
# The second is for mpirun: as ssh does, it gives the words to a shell, whose
# environment has nothing of this one but what a login would have. Hydra has ssh
# leave X11 out, and Intel's be quiet.
set -u
as_ssh=
if [ "$1" = --as-ssh ]; then
  as_ssh=yes
  shift
  while [ "$1" = -x ] || [ "$1" = -q ]; do
    shift
  done
fi
node=$1
shift
if ! grep -qsx -e "$node" "$HOSTS_DIR/nodes"; then
  echo "ssh: Could not resolve hostname $node: Name or service not known" >&2
  exit 255
fi
if [ -n "$as_ssh" ]; then
  set -- env -i HOME="$HOME" PATH=/usr/local/bin:/usr/bin:/bin \
    HOSTS_DIR="$HOSTS_DIR" TMPDIR="$HOSTS_DIR/$node/tmp" sh -c "$*"
fi
export TMPDIR="$HOSTS_DIR/$node/tmp"
# `ip netns exec` would hide the cgroups. All are execs: it stays one process.
# shellcheck disable=SC2016 # expanded by the inner shell
exec nsenter --net="/run/netns/${HOSTS_DIR##*/}-$node" unshare --uts --mount sh -c '
  dir=$1 node=$2
  shift 2
  hostname "$node" &&
    mount --bind "$dir/etc_hosts" /etc/hosts &&
    mount --bind "$dir/$node/scratch" "$dir/scratch" &&
    mount --bind "$dir/shm/$node" /dev/shm || exit 255
  exec "$@"' enter "$HOSTS_DIR" "$node" "$@"
