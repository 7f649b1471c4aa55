#!/bin/sh
# Several hosts on this machine, of network namespaces (network.sh says what
# they have), for benchmarks and for trying things:
#
#   hosts.sh with N command [arguments]
#       makes N hosts, runs the command beside them, removes them. The command
#       finds $HOSTS_DIR, so that it can call `hosts.sh run`, and so on
#   eval "$(hosts.sh up N)"
#       makes N hosts, nodeA, nodeB, ..., and sets what the others need;
#       they stay until
#   hosts.sh down
#
#   hosts.sh run [pemsrun's arguments]   pemsrun on nodeA over all hosts
#   hosts.sh on NODE command...          a command on one of them
#   hosts.sh do FUNCTION arguments...    any other of network.sh, as in
#                                        hosts.sh do slow nodeB 20mbit
#
# Scratch directories lie in $TMPDIR, else in /var/tmp. Each host sees all the
# machine's memory and cores: give --pems-memory. Exit status: the command's,
# 77 with a reason where there can be no hosts.
set -u
hosts_here=$(cd "$(dirname "$0")" && pwd)
. "$hosts_here/network.sh"

usage() {
  sed -n '2,/^set/s/^#\( \|$\)//p' "$0"
}

need_hosts() {
  if [ -z "$(hosts_nodes)" ]; then
    echo "hosts.sh: there are no hosts: HOSTS_DIR: ${HOSTS_DIR:-not set}:" \
      "use hosts.sh with or hosts.sh up" >&2
    exit 2
  fi
}

what=${1:-help}
[ $# -eq 0 ] || shift
case $what in
with)
  n=$1
  shift
  trap hosts_down EXIT
  trap 'exit 1' HUP INT TERM
  hosts_up "$n" || exit
  "$@"
  ;;
up)
  hosts_up "${1:-4}" || exit
  for name in HOSTS_DIR OMPI_MCA_plm_rsh_agent OMPI_MCA_pml OMPI_MCA_btl \
    PRTE_MCA_plm_ssh_agent HYDRA_LAUNCHER HYDRA_LAUNCHER_EXEC; do
    eval "printf \"export %s='%s'\\n\" $name \"\$$name\""
  done
  ;;
down | run)
  need_hosts
  "hosts_$what" "$@"
  ;;
on)
  need_hosts
  hosts_on "$@"
  ;;
do)
  need_hosts
  function=hosts_$1
  shift
  "$function" "$@"
  ;;
help | -h | --help)
  usage
  ;;
*)
  usage >&2
  exit 2
  ;;
esac
