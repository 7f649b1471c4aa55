#!/bin/sh
# Runs a command in a memory cgroup (v1 or v2) of its own.
#
#   cgroup.sh SIZE [--swap SIZE] command [arguments]
#
# SIZE is in bytes or with K, M or G. The command may swap only as much as
# --swap says, by default nothing. At its end one line goes to stderr:
#
#   RESULT cgroup limit= max_usage= peak_anon= swap= oom_kills=
#
# max_usage is the kernel's and counts page cache; peak_anon is the largest
# sample, five a second, of what cannot be dropped: anonymous and shared memory.
# Exit status: the command's, or 77 with a reason if there can be no cgroup.
set -u

cannot() {
  echo "cgroup.sh: cannot limit memory: $*" >&2
  exit 77
}

# 512M -> 536870912
bytes() {
  case $1 in
    *K) echo $((${1%K} << 10)) ;;
    *M) echo $((${1%M} << 20)) ;;
    *G) echo $((${1%G} << 30)) ;;
    *) echo "$1" ;;
  esac
}

[ $# -ge 2 ] || { sed -n '2,5s/^# \{0,1\}//p' "$0" >&2; exit 2; }
limit=$(bytes "$1")
swap=0
shift
if [ "$1" = --swap ]; then
  swap=$(bytes "$2")
  shift 2
fi

# Directories in which a group may be made: this process's own, then its
# ancestors, one per line. $1 is where the hierarchy is mounted, $2 the path.
candidates() {
  path=$2
  while [ -n "$path" ] && [ "$path" != / ]; do
    echo "$1$path"
    path=${path%/*}
  done
  echo "$1"
}

make_v1() {
  mount=$(awk '$3 == "cgroup" && $4 ~ /(^|,)memory(,|$)/ { print $2; exit }' \
    /proc/mounts)
  [ -n "$mount" ] || return 1
  path=$(sed -n 's/^[0-9]*:[^:]*memory[^:]*://p' /proc/self/cgroup)
  for parent in $(candidates "$mount" "$path"); do
    group=$parent/pems-bench.$$
    mkdir "$group" 2>/dev/null || continue
    if echo "$limit" >"$group/memory.limit_in_bytes"; then
      if [ -e "$group/memory.memsw.limit_in_bytes" ]; then
        echo $((limit + swap)) >"$group/memory.memsw.limit_in_bytes"
      fi
      version=1
      return 0
    fi 2>/dev/null
    rmdir "$group"
  done
  return 1
}

make_v2() {
  mount=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
  [ -n "$mount" ] || return 1
  path=$(sed -n 's/^0:://p' /proc/self/cgroup)
  for parent in $(candidates "$mount" "$path"); do
    group=$parent/pems-bench.$$
    echo +memory 2>/dev/null >"$parent/cgroup.subtree_control"
    mkdir "$group" 2>/dev/null || continue
    if [ -e "$group/memory.max" ] && echo "$limit" >"$group/memory.max"; then
      if [ -e "$group/memory.swap.max" ]; then
        echo "$swap" >"$group/memory.swap.max"
      fi
      version=2
      return 0
    fi 2>/dev/null
    rmdir "$group"
  done
  return 1
}

# field FILE NAME: the number after NAME in a file of "name number" lines.
field() {
  awk -v name="$2" '$1 == name { print $2 }' "$group/$1" 2>/dev/null
}

read_anon() {
  if [ "$version" = 1 ]; then
    echo $(($(field memory.stat total_rss) + $(field memory.stat total_shmem)))
  else
    echo $(($(field memory.stat anon) + $(field memory.stat shmem)))
  fi
}

read_max_usage() {
  if [ "$version" = 1 ]; then
    cat "$group/memory.max_usage_in_bytes"
  else
    cat "$group/memory.peak" 2>/dev/null || echo unknown
  fi
}

read_oom_kills() {
  if [ "$version" = 1 ]; then
    field memory.oom_control oom_kill
  else
    field memory.events oom_kill
  fi
}

# shellcheck disable=SC2317 # called by the trap
remove() {
  tries=50
  while [ "$tries" -gt 0 ] && ! rmdir "$group" 2>/dev/null; do
    while read -r pid; do
      kill -KILL "$pid" 2>/dev/null
    done <"$group/cgroup.procs"
    tries=$((tries - 1))
    sleep 0.1
  done
}

[ "$(id -u)" -eq 0 ] || cannot "only root may make a cgroup"
make_v1 || make_v2 || cannot "no memory controller was found"
trap remove EXIT
trap 'exit 1' HUP INT TERM

# shellcheck disable=SC2016 # expanded by the inner shell
sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$group" "$@" &
command=$!
peak=0
while kill -0 "$command" 2>/dev/null; do
  now=$(read_anon)
  [ "$now" -gt "$peak" ] && peak=$now
  sleep 0.2
done
wait "$command"
status=$?

printf 'RESULT cgroup limit=%s max_usage=%s peak_anon=%s swap=%s ' \
  "$limit" "$(read_max_usage)" "$peak" "$swap" >&2
printf 'oom_kills=%s\n' "$(read_oom_kills)" >&2
exit "$status"
