#!/bin/sh
# Jobs in an allocation of Slurm: a cluster of hosts of namespaces, with daemons
# of its own. Skipped where Slurm (Debian's slurmctld, slurmd, slurm-client,
# munge) is not installed or does not start.
. "$(dirname "$0")/lib.sh"
only_long
for tool in slurmctld slurmd srun salloc sbatch munged; do
  command -v $tool >/dev/null ||
    skip "$tool is not installed (slurmctld slurmd slurm-client munge)"
done

cat >"$work/given.c" <<'END'
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv) {
  char host[64];
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  gethostname(host, sizeof host);
  printf("rank %d of %d on %s\n", rank, size, host);
  if (rank == 0)
    printf("running\n");
  fflush(stdout);
  MPI_Barrier(MPI_COMM_WORLD);
  if (argc > 1)
    sleep((unsigned)atoi(argv[1]));
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
END
"$pemscc" -o "$work/given" "$work/given.c" || exit 1
program=$work/given

on_hosts 3
unset OMPI_MCA_plm_rsh_agent # mpirun is to use srun
slurm=$work/slurm
mkdir "$slurm" "$slurm/state"
chmod 755 "$slurm"
dd if=/dev/urandom of="$slurm/key" bs=1024 count=1 2>/dev/null
chmod 600 "$slurm/key"
SLURM_CONF=$slurm/slurm.conf
export SLURM_CONF
cat >"$SLURM_CONF" <<END
ClusterName=pems
SlurmctldHost=nodeA
AuthType=auth/munge
AuthInfo=socket=$slurm/munge
SlurmUser=root
SlurmdUser=root
StateSaveLocation=$slurm/state
SlurmdSpoolDir=$slurm/spool.%n
SlurmctldPidFile=$slurm/slurmctld.pid
SlurmdPidFile=$slurm/slurmd.%n.pid
SlurmctldLogFile=$slurm/slurmctld.log
SlurmdLogFile=$slurm/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SchedulerType=sched/builtin
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
SwitchType=switch/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
KillWait=20
ReturnToService=2
NodeName=$(hosts_names) CPUs=$(nproc) RealMemory=2000 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
END

tidy_slurm() {
  hosts_kill
  if [ -s "$slurm/munged.pid" ]; then
    kill "$(cat "$slurm/munged.pid")"
  fi
  tidy_hosts
}
trap tidy_slurm EXIT

all_idle() {
  [ "$(hosts_on nodeA sinfo -h -o '%D %t' 2>/dev/null)" = '3 idle' ]
}

munged --force --socket="$slurm/munge" --key-file="$slurm/key" \
  --pid-file="$slurm/munged.pid" --log-file="$slurm/munged.log" \
  --seed-file="$slurm/seed" || skip "munged does not start"
hosts_on nodeA slurmctld -D >/dev/null 2>&1 </dev/null &
for node in $(hosts_nodes); do
  hosts_on "$node" slurmd -D >/dev/null 2>&1 </dev/null &
done
until_seconds 60 all_idle || {
  tail -n 5 "$slurm"/*.log
  skip "slurmctld and slurmd do not start here"
}

# allocated SALLOC'S-OPTIONS -- PEMSRUN'S...: runs it in an allocation.
allocated() {
  options=
  while [ "$1" != -- ]; do
    options="$options $1"
    shift
  done
  shift
  # shellcheck disable=SC2086 # a list
  launch "$hosts_here/enter.sh" nodeA salloc -Q $options \
    "$pemsrun" --pems-disk="$HOSTS_DIR/scratch" "$@"
  finish
}

# expect_on "NODE:RANKS ..."
expect_on() {
  places=$(sed -n 's/^rank [0-9]* of [0-9]* on //p' "$out" | sort | uniq -c |
    awk '{ printf "%s%s:%d", (NR > 1 ? " " : ""), $2, $1 }')
  [ "$places" = "$1" ] || fault "ranks are on '$places', expected '$1'"
}

# expect_given NAME VALUE: what --pems-stats says.
expect_given() {
  grep -q "^RESULT pems.* $1=$2 " "$err" ||
    fault "$1 is not $2: $(grep '^RESULT' "$err" | cut -c1-120)"
}

# expect_memory MIB: that less a tenth.
expect_memory() {
  expect_given memory $((($1 << 20) - ($1 << 20) / 10))
}

begin "one process on each host"
allocated -N3 --mem=400 -- -n 6 --pems-stats "$program"
expect_status 0
expect_silence
expect_on "nodeA:2 nodeB:2 nodeC:2"
expect_given P 3
expect_given k 1
expect_memory 400
end

begin "as many as there are tasks"
allocated -n 5 -N3 --mem-per-cpu=300 -- -n 10 --pems-stats "$program"
expect_status 0
expect_silence
expect_given P 5
grep -c "^rank" "$out" | grep -qx 10 || fault "not 10 ranks"
end

begin "the processors of a task"
if [ "$(nproc)" -ge 2 ]; then
  allocated -N2 --ntasks-per-node=1 --cpus-per-task=2 --mem=500 -- \
    -n 8 --pems-stats "$program"
  expect_status 0
  expect_given P 2
  expect_given k 2
  expect_memory 500
fi
end

begin "the user's choice comes first"
allocated -N3 --mem=400 -- -n 6 --pems-stats --pems-memory=200M \
  --host nodeA,nodeC --procs=4 "$program"
expect_status 0
expect_given P 4
expect_given memory $((200 << 20))
expect_on "nodeA:4 nodeC:2"
end

begin "one task on this host"
allocated -N1 -w nodeA --mem=400 -- -n 4 --pems-stats "$program"
expect_status 0
expect_given P 1
expect_memory 400
end

batch_ended() {
  [ -z "$(hosts_on nodeA squeue -h)" ]
}

# batch ARGS: pemsrun as a batch job; its output is in $out and $err.
batch() {
  hosts_on nodeA sbatch -Q -N3 --mem=400 -o "$out" -e "$err" --wrap \
    "$pemsrun --pems-disk=$HOSTS_DIR/scratch $*" >/dev/null
}

begin "a batch job"
: >"$out"
batch -n 6 "$program"
until_seconds "$limit" batch_ended || fault "it does not end"
expect_silence
expect_on "nodeA:2 nodeB:2 nodeC:2"
end

begin "scancel ends all of it"
: >"$out"
batch -n 6 "$program" 100
until_seconds "$limit" says running || fault "it does not start"
hosts_on nodeA scancel -u root
until_seconds "$limit" batch_ended || fault "it does not end"
none_runs() {
  for node in $(hosts_nodes); do
    [ -z "$(hosts_running "$node" given)" ] || return 1
  done
}
until_seconds $promised none_runs || fault "processes are left"
until_seconds $promised batch_ended || fault "pemsrun does not end"
expect_line 'interrupted: SIGTERM'
end

# srun starts the processes itself, MPICH's by PMI2. Open MPI's by PMIx are not
# tried: some of its jobs crash in MPI_Init over TCP (doc/howto/slurm.md).
by_srun() {
  launch "$hosts_here/enter.sh" nodeA srun -Q -K --mpi=pmi2 -N3 -n 3 --mem=400 \
    "$program" "$@" --pems-v=6 --pems-context=16M --pems-stats \
    "--pems-disk=$HOSTS_DIR/scratch"
}

no_file_is_left() {
  for node in $(hosts_nodes); do
    [ -z "$(hosts_left "$node")" ] || return 1
  done
}

expect_no_file() {
  until_seconds $promised no_file_is_left ||
    fault "left: $(for node in $(hosts_nodes); do hosts_left "$node"; done)"
}

case $launcher in
  hydra)
    begin "srun starts the processes, by PMI2"
    by_srun
    finish
    expect_status 0
    expect_silence
    expect_on "nodeA:2 nodeB:2 nodeC:2"
    expect_given P 3
    expect_no_file
    end

    begin "a process is killed that srun has started"
    by_srun 100
    until_seconds "$limit" says running || fault "it does not start"
    kill -KILL "$(hosts_running nodeB given | head -n 1)"
    finish
    [ "$status" -ne 0 ] || fault "srun does not say so"
    until_seconds $promised none_runs || fault "processes are left"
    expect_no_file
    end
    ;;
esac

begin "a host that is lost"
batch -n 6 "$program" 100
: >"$out"
until_seconds "$limit" says running || fault "it does not start"
hosts_cut nodeB
until_seconds $promised none_runs || fault "processes are left"
expect_line 'host nodeB: lost'
end

conclude
