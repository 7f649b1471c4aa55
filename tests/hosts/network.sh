# shellcheck shell=sh
# Several hosts on one machine: network namespaces that a bridge joins, each
# with a host name, a scratch directory, a /dev/shm and a $TMPDIR of its own.
# For scripts that set $hosts_here to this folder and source this file; hosts.sh
# has the same as a command. Needs root.
#
#   hosts_up N [DIR]       makes nodeA, nodeB, ... (2 to 26); what they have
#                          lies in a new directory $HOSTS_DIR in DIR, else in
#                          $TMPDIR, else in /var/tmp. Exports HOSTS_DIR and what
#                          the MPI must know. Returns 77 with a reason on stderr
#                          where that cannot be
#   hosts_names            nodeA,nodeB,... as --host wants them
#   hosts_on NODE CMD...   runs a command on a host, with this environment
#   hosts_run ARGS...      pemsrun on nodeA: on all hosts unless ARGS name some,
#                          with --pems-disk=$HOSTS_DIR/scratch unless they name
#                          directories: to each host this is another directory
#   hosts_scratch NODE     where that directory is for who is not on the host
#   hosts_pids NODE        the processes on a host
#   hosts_unplug NODE      sets the host's link down; hosts_plug: up again
#   hosts_cut NODE         takes it from the bridge: all that it sends and is
#                          sent is lost, though its link is up; hosts_mend
#   hosts_slow NODE RATE   lets a host send RATE ("20mbit") at most; hosts_fast
#   hosts_down             ends all processes on the hosts, removes everything
#
# Nothing of it is in this machine's own network, and names and addresses of
# several such networks do not meet.

hosts_cannot() {
  echo "cannot make hosts of network namespaces: $*" >&2
  return 77
}

hosts_nodes() {
  if [ -n "${HOSTS_DIR:-}" ]; then
    cat "$HOSTS_DIR/nodes" 2>/dev/null
  fi
}

hosts_names() {
  hosts_nodes | paste -sd, -
}

# The namespace of a host; "switch" is that of the bridge.
hosts_netns() {
  echo "${HOSTS_DIR##*/}-$1"
}

hosts_in_switch() {
  ip -n "$(hosts_netns switch)" "$@"
}

hosts_add() {
  netns=$(hosts_netns "$1")
  ip netns add "$netns" || return 1
  echo "$1" >>"$HOSTS_DIR/nodes"
  echo "$2 $1" >>"$HOSTS_DIR/etc_hosts"
  mkdir -p "$(hosts_scratch "$1")" "$HOSTS_DIR/$1/tmp" "$HOSTS_DIR/shm/$1" &&
    ip -n "$netns" link set lo up &&
    ip link add eth0 netns "$netns" type veth \
      peer name "$1" netns "$(hosts_netns switch)" &&
    ip -n "$netns" addr add "$2/24" dev eth0 &&
    ip -n "$netns" link set eth0 up &&
    hosts_in_switch link set "$1" master bridge up
}

hosts_up() {
  [ "$1" -ge 2 ] && [ "$1" -le 26 ] || {
    hosts_cannot "$1 hosts: give 2 to 26"
    return
  }
  [ "$(id -u)" -eq 0 ] || {
    hosts_cannot "only root may"
    return
  }
  for tool in ip nsenter unshare; do
    command -v $tool >/dev/null || {
      hosts_cannot "no command $tool (packages iproute2 and util-linux)"
      return
    }
  done
  HOSTS_DIR=$(mktemp -d "${2:-${TMPDIR:-/var/tmp}}/pems-hosts.XXXXXX") ||
    return 1
  export HOSTS_DIR
  echo "127.0.0.1 localhost" >"$HOSTS_DIR/etc_hosts"
  mkdir "$HOSTS_DIR/scratch" "$HOSTS_DIR/shm"
  if ! why=$(
    exec 2>&1
    mount -t tmpfs tmpfs "$HOSTS_DIR/shm" || exit
    ip netns add "$(hosts_netns switch)" &&
      hosts_in_switch link add bridge type bridge &&
      hosts_in_switch link set bridge up || exit
    number=0
    for letter in A B C D E F G H I J K L M N O P Q R S T U V W X Y Z; do
      number=$((number + 1))
      [ $number -le "$1" ] || exit 0
      hosts_add node$letter 10.77.0.$number || exit
    done
  ); then
    hosts_down
    hosts_cannot "$why"
    return
  fi
  # The agent takes the place of ssh: of Open MPI 4, of 5, of MPICH. eth0 is the
  # only interface.
  printf '#!/bin/sh\nexec "%s" --as-ssh "$@"\n' "$hosts_here/enter.sh" \
    >"$HOSTS_DIR/ssh"
  chmod +x "$HOSTS_DIR/ssh"
  OMPI_MCA_plm_rsh_agent=$HOSTS_DIR/ssh
  PRTE_MCA_plm_ssh_agent=$HOSTS_DIR/ssh
  HYDRA_LAUNCHER=ssh
  HYDRA_LAUNCHER_EXEC=$HOSTS_DIR/ssh
  OMPI_MCA_pml=ob1
  OMPI_MCA_btl=self,vader,tcp
  OMPI_ALLOW_RUN_AS_ROOT=1
  OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  export HYDRA_LAUNCHER HYDRA_LAUNCHER_EXEC PRTE_MCA_plm_ssh_agent
  export OMPI_MCA_plm_rsh_agent OMPI_MCA_pml OMPI_MCA_btl \
    OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM
}

hosts_on() {
  "$hosts_here/enter.sh" "$@"
}

# Prints what hosts_run adds to these arguments, a word in each line.
hosts_defaults() {
  case " $* " in
    *" --host"* | *" -H "* | *" -f "* | *" --machinefile "*) ;;
    *) printf '%s\n' --host "$(hosts_names)" ;;
  esac
  case " $* " in
    *" --pems-disk"* | *" --disk"*) ;;
    *) echo "--pems-disk=$HOSTS_DIR/scratch" ;;
  esac
}

hosts_run() {
  # shellcheck disable=SC2046 # none of these words has blanks
  hosts_on nodeA "${PEMSRUN:-pemsrun}" $(hosts_defaults "$@") "$@"
}

hosts_scratch() {
  echo "$HOSTS_DIR/$1/scratch"
}

hosts_pids() {
  ip netns pids "$(hosts_netns "$1")" 2>/dev/null
}

hosts_unplug() {
  ip -n "$(hosts_netns "$1")" link set eth0 down
}

hosts_plug() {
  ip -n "$(hosts_netns "$1")" link set eth0 up
}

hosts_cut() {
  hosts_in_switch link set "$1" nomaster
}

hosts_mend() {
  hosts_in_switch link set "$1" master bridge
}

hosts_slow() {
  tc -n "$(hosts_netns "$1")" qdisc replace dev eth0 root \
    tbf rate "$2" burst 64k latency 1s
}

hosts_fast() {
  tc -n "$(hosts_netns "$1")" qdisc del dev eth0 root
}

hosts_kill() {
  tries=50
  while [ $tries -gt 0 ]; do
    left=$(for node in $(hosts_nodes); do hosts_pids "$node"; done)
    [ -n "$left" ] || return 0
    # shellcheck disable=SC2086 # a list
    kill -KILL $left 2>/dev/null
    tries=$((tries - 1))
    sleep 0.1
  done
}

hosts_down() {
  [ -n "${HOSTS_DIR:-}" ] || return 0
  hosts_kill
  for node in $(hosts_nodes) switch; do
    ip netns del "$(hosts_netns "$node")" 2>/dev/null
  done
  umount "$HOSTS_DIR/shm" 2>/dev/null
  rm -rf "$HOSTS_DIR"
  unset HOSTS_DIR
}
