#!/bin/sh
# pemsinfo --predict and --measure: numbers by hand, what is measured, and what
# is refused. (tests/unit/config/test_cost.c has the formulas, tests/bench/predict.sh
# compares them with what jobs take.)
# shellcheck disable=SC2086 # $given is a list
# shellcheck source=tests/wrappers/lib.sh
. "$(dirname "$0")/lib.sh"
mkdir disk cache
PEMS_DISK=$work/disk
XDG_CACHE_HOME=$work/cache # what is measured is kept there
export PEMS_DISK XDG_CACHE_HOME

# 4 shares of 4 MiB, messages of 1 MiB, all times but one 0.
given='pemsinfo --predict --n=4M -n 4 --pems-k=1 --pems-memory=1G --g=0 --l=0
  --G=0 --S=0 --L=0 --c=0'

# row TITLE PATTERN ARGUMENT...: a line of the table.
row() {
  title=$1
  pattern=$2
  shift 2
  expect "$title" 0 "^$(echo "$pattern" | sed 's/ / +/g')\$" -- $given "$@"
}

row "psrs by the thesis" 'psrs thesis 0.00 0.00 0.00 0.00 90 84 0'
row "alltoallv by the thesis" 'alltoallv thesis 0.00 0.00 0.00 0.00 40 34 0'
row "in memory" 'psrs pems 0.00 0.00 0.00 0.00 0 0 0'
row "computing" 'psrs pems 41.94 41.94 0.00 0.00 0 0 0' --c=10u
row "on two cores" 'psrs pems 20.97 20.97 0.00 0.00 0 0 0' --c=10u --cores=2 \
  --pems-k=2
row "more disks" 'alltoallv thesis 33.55 0.00 33.55 0.00 40 34 0' --S=1u --D=2
row "a superstep for each of 4 ranks" 'psrs pems 48.00 0.00 0.00 0.00 0 0 0' \
  --L=3
row "contexts, seconds per byte" \
  'alltoallv thesis 67.11 0.00 67.11 0.00 40 34 0' --S=1u
row "contexts, bytes per second" \
  'alltoallv thesis 64.00 0.00 64.00 0.00 40 34 0' --S=1M/s
row "messages" 'alltoallv thesis 6.42 0.00 6.42 0.00 40 34 0' --G=1u
row "two processes" 'alltoallv pems 4.19 0.00 0.00 4.19 0 0 8' \
  --pems-procs=2 --g=1u
row "latency" 'alltoallv pems 2.00 0.00 0.00 2.00 0 0 8' --pems-procs=2 --l=2
expect "hosts" 0 '^4194304 elements .* 2 processes, 1 on a host$' -- \
  $given --pems-procs=2
expect "other hosts" 0 '^a host: 8 cores, 3 disks, 16.0 MiB for contexts$' -- \
  $given --pems-procs=2 --cores=8 --D=3
expect "one host" 0 '^4194304 elements .* 2 processes, 2 on a host$' -- \
  $given --pems-procs=2 --hosts=1
lacks "one algorithm" '^alltoallv' pemsinfo --predict=psrs --n=1M -n 4 --g=0 \
  --l=0 --G=0 --S=0 --L=0 --c=0
lacks "what is given is not measured" 'measured' $given

number='[0-9.]+(e[-+][0-9]+)?'
try pemsinfo --measure
[ $status -eq 0 ] || fail "--measure: exit status $status"
for line in "g +$number [nu]s per byte, measured" "l +$number [num]s, measured" \
  "[GS] +$number [nu]s per byte, measured" "L +$number [num]s, measured" \
  "c psrs +$number ns, measured" "c alltoallv +$number ns, measured"; do
  grep -Eq "^$line" out || fail "--measure prints no $line"
done
try pemsinfo --predict --n=1M -n 4 --L=0 --g=0 --l=0 --pems-procs=2
[ $status -eq 0 ] || fail "--predict: exit status $status"
[ "$(grep -Ec '^[GS] .*measured|^c .*measured' out)" -eq 4 ] ||
  fail "--predict does not measure the disks and the cores"
[ -z "$(ls disk)" ] || fail "measuring leaves files: $(ls disk)"

OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM \
  OMPI_MCA_rmaps_base_oversubscribe
expect "the network, by mpirun" 0 "^g $number\$" -- "${MPIRUN:-mpirun}" \
  --bind-to none -n 2 pemsinfo --measure=network
refused "the network needs two" '--measure=network: 1 process: start it with' \
  pemsinfo --measure=network

refused "no elements" '--predict: give --n=N' pemsinfo --predict
refused "0 elements" '--n=0: give a number' pemsinfo --predict --n=0
refused "what is that" '--predict=sort: give one of psrs' \
  pemsinfo --predict=sort --n=5
refused "measure what" '--measure=disk: give network' pemsinfo --measure=disk
refused "disks" '--D=0: give a number' pemsinfo --predict --n=5 --D=0
refused "hosts" '--hosts=0: give a number' pemsinfo --predict --n=5 --hosts=0
refused "more hosts than processes" '--hosts: 3 with 2 processes' \
  pemsinfo --predict --n=5 -n 8 --pems-procs=2 --hosts=3
refused "no seconds" '--L=x: give seconds' pemsinfo --measure --L=x
refused "negative" '--G=-1: give seconds per byte' pemsinfo --measure --G=-1
refused "a rate is no time" '--L=2G/s: give seconds' pemsinfo --measure --L=2G/s
refused "a rate of 0" '--S=0/s: give seconds per byte' pemsinfo --measure --S=0/s
refused "alone" '--g=1: give --predict or --measure' pemsinfo --g=1
refused "contexts too large" '--n: 1073741824 elements: a rank needs 2.0 GiB' \
  pemsinfo --predict --n=1G -n 4 --pems-memory=1G
refused "who moves?" '--pems-io: mmap: the kernel decides' \
  pemsinfo --predict --n=1M --pems-io=mmap
refused "an error of the disk" 'measuring the scratch disks: Input/output' \
  pemsinfo --measure --g=0 --l=0 --pems-io=fault:unix,write=9:EIO
refused "no scratch directory" '/no/such' pemsinfo --predict --n=1M \
  --pems-disk=/no/such
conclude
