#!/bin/sh
# pemsrun and pemsinfo: which command they make of the options, and what they
# refuse. (tests/fault/bad_input.sh has the bad input of the runtime.)
# shellcheck source=tests/wrappers/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/launcher.sh
. "$here/tests/launcher.sh"
unset PEMS_V PEMS_PROCS PEMS_SPLIT PEMS_K PEMS_MEMORY PEMS_CONTEXT PEMS_SIGMA PEMS_ALPHA \
  PEMS_DISK PEMS_IO PEMS_DEPTH PEMS_STRIPE PEMS_ORDER PEMS_SWAPIN PEMS_TRACK \
  PEMS_BIND PEMS_REPORT PEMS_STRICT PEMS_STATS PEMS_TAG PEMS_PROGRESS PEMS_DEBUG

OMP_NUM_THREADS=3
export OMP_NUM_THREADS
pemscc -o hello hello.c || exit 1

# shows TITLE PATTERN [options]: the command that pemsrun would run matches.
shows() {
  title=$1
  pattern=$2
  shift 2
  expect "$title" 0 "$pattern" -- pemsrun --pems-show "$@"
}

# What the MPI's own command is given; Hydra gives processes all variables, and takes
# hosts in their order. A process on its own needs something with Open MPI 4 only.
case $launcher in
hydra) forward='' hosts='-hosts' alone='PEMS_V=4' ;;
prrte) forward='-x PEMS_V .*' hosts='--map-by seq --host' alone='PEMS_V=4.*' ;;
*)
  forward='-x PEMS_V .*' hosts='--map-by seq --host'
  alone='PEMS_V=4 .*singleton_isolated=1.*'
  ;;
esac

expect "help" 0 '^usage: pemsrun' -- pemsrun --help
expect "version" 0 '^pemsrun \(pems\) [0-9]' -- pemsrun --version
try pemsrun --help
cp "$work/out" "$work/help"
options=$(sed -n 's/^  X(\([a-z]*\), .*/\1/p' "$here/src/config/options.c")
[ "$(echo "$options" | wc -l)" -ge 20 ] || fail "too few options in options.c"
for option in $options; do
  grep -q -e "--pems-$option" "$work/help" || fail "--pems-$option is not in --help"
done

shows "one process: the program itself" "$alone \./hello a\$" -n 4 ./hello a
shows "the program's arguments are its own" ' ./hello -n 3 --memory=x$' \
  -n 4 ./hello -n 3 --memory=x
shows "two processes: mpirun" "mpirun.* -n 2 .*$forward\./hello\$" \
  -n 4 --pems-procs=2 ./hello
shows "-np" 'PEMS_V=5 ' -np 5 ./hello
shows "PEMS_V" 'PEMS_V=6 ' --pems-v 6 ./hello
shows "a value in the next argument" 'PEMS_MEMORY=300M ' \
  -n 4 --pems-memory 300M ./hello
shows "names without pems-" 'PEMS_MEMORY=300M .*-n 2 ' \
  -n 4 --memory=300M --procs 2 ./hello
shows "a switch" 'PEMS_STATS=yes ' -n 4 --pems-stats ./hello
shows "the last one wins" 'PEMS_K=2 ' -n 4 --pems-k=1 --pems-k=2 ./hello
if [ "$launcher" = hydra ]; then
  shows "operands of mpirun's options" \
    'PEMS_TAG=yes .*mpirun.* -genv A b -info \./hello c$' \
    -n 4 -genv A b -prepend-pattern %r -info ./hello c
  shows "binding is the user's choice" 'bind-to core' \
    -n 4 --procs=2 -bind-to core ./hello
  lacks "binding is chosen once" 'bind-to none' \
    pemsrun --pems-show -n 4 --procs=2 -bind-to core ./hello
else
  shows "mpirun's --debug is mpirun's" 'mpirun.* --debug \./hello$' \
    -n 4 --debug ./hello
  shows "operands of mpirun's options" \
    'mpirun.* --mca btl self -x A=b --timestamp-output \./hello c$' \
    -n 4 --mca btl self -x A=b --timestamp-output ./hello c
  shows "binding is the user's choice" 'bind-to core' \
    -n 4 --procs=2 --bind-to core ./hello
  lacks "the user's own -x" '-x OMP_NUM_THREADS ' \
    pemsrun --pems-show -n 4 --host a,b -x OMP_NUM_THREADS=2 ./hello
  lacks "binding is chosen once" 'bind-to none' \
    pemsrun --pems-show -n 4 --procs=2 --bind-to core ./hello
fi
shows "one process per host" " -n 3 .*$hosts a,b,c " \
  -n 4 --host a,b,c ./hello
shows "as many as the user says" " -n 6 .*$hosts a,a,a,a,a,b " \
  -n 8 --host a:4,b,a ./hello
shows "a host with all its cores is one process" " -n 2 .*$hosts a,b " \
  -n 4 --host 'a:*,b' ./hello
printf '# hosts\na slots=2\n\n b \na slots = 1 max_slots=9 # again\nc\n' >hosts
shows "slots of a file" " -n 5 .*$hosts a,a,a,b,c " \
  -n 8 --hostfile hosts ./hello
shows "--host chooses from the file" " -n 4 .*$hosts b,a,a,a " \
  -n 4 --hostfile hosts --host b,a ./hello
shows "and may say how many" " -n 3 .*$hosts b,b,a " \
  -n 4 --hostfile hosts --host b:2,a:1 ./hello
shows "another number is dealt" " -n 4 .*$hosts a,a,b,c " \
  -n 8 --procs=4 --hostfile hosts ./hello
shows "fewer than hosts" " -n 2 .*$hosts a,b " \
  -n 8 --procs=2 --hostfile hosts ./hello
shows "more than slots" " -n 11 .*$hosts a,a,a,a,a,a,a,b,b,c,c " \
  -n 12 --procs=11 --hostfile hosts ./hello
shows "where processes go is the user's choice" \
  ' -n 5 .*--hostfile hosts --map-by node ' \
  -n 8 --map-by node --hostfile hosts ./hello
[ "$launcher" = hydra ] || shows "variables for all hosts" '-x OMP_NUM_THREADS ' \
  -n 4 --host a,b ./hello
shows "-- ends the options" ' \./hello -- --pems-k=9$' -n 4 -- ./hello -- --pems-k=9
PATH="$work:$PATH"
shows "a program in the PATH" ' hello$' -n 4 hello

refused "no arguments" '-n' pemsrun
refused "-n without a value" '-n: no value' pemsrun -n
refused "-n 0" '-n: 0: ' pemsrun -n 0 ./hello
refused "-n x" '-n: x: ' pemsrun -n x ./hello
refused "more ranks than there may be" \
  '-n: 100000: give the number of ranks, 1 to 65536$' pemsrun -n 100000 ./hello
refused "more, of pemsinfo" \
  '-n: 100000: give the number of ranks, 1 to 65536$' pemsinfo -n 100000
refused "no -n" '-n is missing' pemsrun ./hello
refused "-n after the program" \
  '-n 2 comes after \./hello, .* pemsrun -n 2 \./hello$' pemsrun ./hello x -n 2
refused "an -n of the program that is no number" '-n is missing' \
  pemsrun ./hello -n x
shows "where the number of ranks is known, -n is the program's" \
  'PEMS_V=5 .*\./hello -n 2$' --pems-v=5 ./hello -n 2
refused "no program" 'no program' pemsrun -n 4
refused "v < P" '\<4\>' pemsrun -n 4 --procs=8 ./hello
refused "v < P, from the program's arguments" '\<4\>' \
  pemsrun -n 9 --procs=8 ./hello --pems-v=4
refused "k > v/P" 'k=3' pemsrun -n 4 --procs=2 --k=3 ./hello
refused "k > v/P, on other hosts" 'k=3' \
  pemsrun -n 4 --host a,b --k=3 ./hello
refused "memory for fewer than k contexts" 'memory' \
  pemsrun -n 8 --k=4 --memory=256M --context=128M ./hello
refused "unknown option" '--pems-memroy: did you mean --pems-memory' \
  pemsrun -n 4 --pems-memroy=1G ./hello
refused "unknown short option" '--memroy=1G: did you mean --pems-memory' \
  pemsrun -n 4 --memroy=1G ./hello
refused "unknown option of mpirun" '--hostfil: did you mean --hostfile' \
  pemsrun -n 4 --hostfil hosts ./hello
refused "unknown option among the program's arguments" '--pems-memroy' \
  pemsrun -n 4 ./hello --pems-memroy=1G
refused "misspelt variable" 'PEMS_MEMROY.*PEMS_MEMORY' \
  env PEMS_MEMROY=1G pemsrun -n 4 ./hello
refused "bad value in a variable" 'PEMS_MEMORY: lots' \
  env PEMS_MEMORY=lots pemsrun -n 4 ./hello
many='-npernode 2' operands='--mca btl'
[ "$launcher" != hydra ] || many='-configfile x' operands='-genv A'
# shellcheck disable=SC2086 # two words
refused "another number of processes" "${many% *}.*--pems-procs" \
  pemsrun -n 4 $many ./hello
refused "no value for an option" '--pems-memory' pemsrun -n 4 --pems-memory
refused "an option in the place of a value" '--pems-report: no value: give ' \
  pemsrun -n 4 --pems-report --progress=4096 ./hello
refused "an option in the place of a value of pemsrun's own" '--wrapper: no value: give ' \
  pemsrun -n 4 --wrapper --pems-stats ./hello
refused "an option in the place of a value, among the program's arguments" \
  '--pems-report: no value: give ' pemsrun -n 4 ./hello --pems-report --progress=4096
[ ! -e ./--progress=4096 ] || fail "a directory of an option's name"
# shellcheck disable=SC2086 # two words
refused "no value for mpirun's option" "${operands% *}: no value" \
  pemsrun -n 4 $operands
refused "slots that are no number" 'a:x: give the names' \
  pemsrun -n 4 --host a:x ./hello
refused "no slots" 'a:0: give the names' pemsrun -n 4 --host a:0 ./hello
echo 'a slots=x' >bad_hosts
refused "slots of a file that are no number" 'bad_hosts: line 1: ' \
  pemsrun -n 4 --hostfile bad_hosts ./hello
refused "missing hostfile" 'nothing: No such file' \
  pemsrun -n 4 --hostfile nothing ./hello
refused "empty hostfile" '/dev/null: no host' \
  pemsrun -n 4 --hostfile /dev/null ./hello
refused "empty host" 'a,,b' pemsrun -n 4 --host a,,b ./hello
refused "unknown driver" 'floppy: give one of .*unix' \
  pemsrun -n 4 --io=floppy ./hello
refused "a driver that takes nothing" 'unix:x: give just --pems-io=unix' \
  pemsrun -n 4 --io=unix:x ./hello
refused "a word that is none of an option's" 'swapin: some: .*auto|eager|lazy' \
  pemsrun -n 4 --swapin=some ./hello
refused "what does not compress" 'compress: gzip: give none, auto, lz4, zstd or ' \
  pemsrun -n 4 --compress=gzip ./hello
refused "a level that is none" 'compress: zstd:20: give .* of 1 to 19' \
  pemsrun -n 4 --compress=zstd:20 ./hello
refused "stripes that are no whole blocks" '--pems-stripe: 5000 bytes' \
  pemsrun -n 4 --stripe=5000 ./hello
refused "track=fault with several processes" '--pems-track=fault: with 2' \
  pemsrun -n 4 --procs=2 --track=fault ./hello
refused "a driver that takes nothing" 'unix:x: give just --pems-io=unix' \
  pemsrun -n 4 --io=unix:x ./hello
refused "a word that is none of an option's" 'swapin: some: .*auto|eager|lazy' \
  pemsrun -n 4 --swapin=some ./hello
refused "stripes that are no whole blocks" '--pems-stripe: 5000 bytes' \
  pemsrun -n 4 --stripe=5000 ./hello
refused "track=fault with several processes" '--pems-track=fault: with 2' \
  pemsrun -n 4 --procs=2 --track=fault ./hello
refused "missing scratch directory" '/no/such: does not exist' \
  pemsrun -n 4 --disk=/no/such ./hello
refused "scratch directory that is a file" 'hosts: is not a directory' \
  pemsrun -n 4 --disk="$work,$work/hosts" ./hello
refused "the second of several directories" '/no/such: does not exist' \
  pemsrun -n 4 --disk="$work,/no/such" ./hello
refused "an empty name" '--pems-disk: a,,b: a name is empty' \
  pemsrun -n 4 --disk=a,,b ./hello
refused "scratch directory that takes no files" '/proc: no file can be made' \
  pemsrun -n 4 --disk=/proc ./hello
refused "scratch directory, though the driver is in memory" \
  '/no/such: does not exist' pemsrun -n 4 --io=mem --disk=/no/such ./hello
refused "what a driver takes, though all fits in memory" \
  'fault:unix,x=1: give --pems-io=fault:' \
  pemsrun -n 4 --memory=512M --context=8M --io=fault:unix,x=1 ./hello
refused "several programs" 'several programs \(":"\)' \
  pemsrun -n 2 ./hello x : -n 1 ./hello y
refused "a colon at the end" 'several programs \(":"\)' \
  pemsrun -n 2 ./hello x :
expect "a colon in an argument" 0 'rank 1 of 2 .* last :x$' -- \
  pemsrun -n 2 ./hello :x
[ "$launcher" = hydra ] || refused "time limit that is none" '--timeout: 2x: give' \
  pemsrun -n 4 --timeout 2x ./hello
refused "missing working directory" 'working directory: nowhere: No such file' \
  pemsrun -n 4 --wdir nowhere ./hello
refused "missing program" './nothing: No such file' pemsrun -n 4 ./nothing
refused "missing program in the PATH" 'no-such-program: not in' \
  pemsrun -n 4 no-such-program
refused "program that is a directory" '/tmp: not an executable' \
  pemsrun -n 4 /tmp
refused "program not built with pemscc" '/bin/ls: .*pemscc' pemsrun -n 4 /bin/ls
refused "few files may be open" 'ulimit -n is 8: raise it to 32' \
  sh -c 'ulimit -n 8; exec pemsrun -n 2 ./hello'
refused "few files may be open for several processes" \
  'ulimit -n is 32: raise it to 64' \
  sh -c 'ulimit -n 32; exec pemsrun -n 2 --procs=2 ./hello'
refused "files may not become large" "limit of files' sizes: [0-9]+ KiB" \
  sh -c 'ulimit -f 100; exec pemsrun -n 2 --procs=2 ./hello'

expect "runs" 0 '^rank 3 of 4 calls 1 argc 2 last x$' -- pemsrun -n 4 ./hello x
expect "the exit status" 3 -- pemsrun -n 4 ./hello status 3
expect "two processes" 0 '^rank 3 of 4 calls 1 argc 2 last x$' -- \
  pemsrun -n 4 --procs=2 ./hello x
expect "the exit status through mpirun" 3 -- \
  pemsrun -n 4 --procs=2 ./hello status 3
# elsewhere.c: changes its directory, or waits for ever.
cat >elsewhere.c <<'END'
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char **argv) {
  int rank;
  char here[1000];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  printf("rank %d in %s\n", rank, getcwd(here, sizeof here));
  fflush(stdout);
  if (argc > 1 && strcmp(argv[1], "wait") == 0)
    sleep(1000);
  if (argc > 1)
    MPI_Barrier(MPI_COMM_WORLD);
  const int failed = argc > 1 && chdir(argv[1]);
  MPI_Finalize();
  return failed;
}
END
pemscc -o elsewhere elsewhere.c || exit 1
mkdir -p below/scratch
expect "names are relative to the working directory" 0 \
  "rank 1 in $(pwd -P)/below\$" -- \
  pemsrun -n 2 --wdir below --disk=scratch ../elsewhere
refused "programs, too" './elsewhere: No such file' \
  pemsrun -n 2 --wdir below ./elsewhere
expect "a report, though the program goes elsewhere" 0 -- \
  pemsrun -n 2 --pems-report=seen --disk=below/scratch ./elsewhere /
[ -s seen/summary.txt ] || fail "no report in the directory it was to be in"
for processes in 1 2; do
  [ "$launcher" != hydra ] || break # it has no such option
  expect "--timeout with $processes processes" 110 'rank' \
    '^pems: time limit: 10 s have passed' -- \
    pemsrun -n 2 --procs=$processes --timeout 10 ./elsewhere wait
done

# printer.c: a line in every way that there is, and one in parts.
cat >printer.c <<'END'
#include <errno.h>
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  printf("first %d\nsecond ", rank);
  if (argc == 1) /* several processes mix parts of lines */
    fflush(stdout);
  printf("%d\n", rank);
  fprintf(stderr, "third %d\n", rank);
  fflush(stdout);
  if (write(fileno(stdout), "fourth\n", 7) != 7)
    return 1;
  errno = ENOENT;
  perror("fifth");
  for (int i = 0; argc > 2 && i < 30000; i++)
    putchar('a' + rank);
  if (argc > 2)
    putchar('\n');
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
END
pemscc -o printer printer.c || exit 1
tag=--tag-output
[ "$launcher" != hydra ] || tag=-prepend-rank
for processes in 1 2; do
  try pemsrun -n 3 --pems-k=1 --procs=$processes $tag ./printer \
    ${whole-}
  whole=whole
  for rank in 0 1 2; do
    for line in "first $rank" "second $rank" fourth; do
      grep -qx "\[1,$rank\]<stdout>:$line" "$work/out" ||
        fail "tags, $processes processes: no line '$line' of rank $rank"
    done
    for line in "third $rank" 'fifth: No such file or directory'; do
      grep -qx "\[1,$rank\]<stderr>:$line" "$work/err" ||
        fail "tags, $processes processes: no line '$line' of rank $rank"
    done
  done
  grep -qv '^\[1,[012]\]<stdout>:' "$work/out" && fail "tags: a line without"
done
# Longer than a buffer; with several processes mpirun mixes such lines.
expect "a long line with one tag" 0 '^\[1,2\]<stdout>:c{30000}$' -- \
  pemsrun -n 3 --pems-k=1 $tag ./printer a long
lacks "no tags" '\[1' pemsrun -n 3 ./printer

for processes in 1 2; do
  for closed in '<&-' '>&-' '<&- >&-' '<&- >&- 2>&-'; do
    case $launcher,$processes,$closed in
    hydra,2,*'>&-'*) wanted=255 ;; # so does a program without pems, then
    *) wanted=0 ;;
    esac
    expect "closed: $closed, $processes processes" $wanted -- sh -c \
      "exec pemsrun -n 2 --procs=$processes ./hello $closed"
  done
done

expect "PEMS_CC does not disturb" 0 -- env PEMS_CC=gcc pemsrun -n 2 ./hello

expect "pemsinfo" 0 '^v +32 ranks' -- pemsinfo
expect "pemsinfo: which MPI" 0 "^built for +(Open MPI|MPICH|Intel MPI|the ABI)" \
  -- pemsinfo
for line in "ABI +(Open MPI|MPICH|MPI 5.0)'s" "MPI +(Open MPI|MPICH|Intel)" \
  "mpirun +/.* \((Open MPI|MPICH)'s\)"; do
  grep -Eq "^$line" out || fail "pemsinfo: no line $line"
done
expect "pemsinfo: drivers" 0 '^  unix ' -- pemsinfo
expect "pemsinfo: what drivers take" 0 '^ +mmap:sequential' -- pemsinfo
expect "pemsinfo: what drivers take" 0 '^ +mmap:sequential' -- pemsinfo
expect "pemsinfo -n" 0 '^v +7 ranks, at most 4 on each of 2' -- \
  pemsinfo -n 7 --pems-procs=2
expect "pemsinfo: shares of memory" 0 \
  '^boundary +16.0 MiB +16.0 KiB +any  unaligned ends of messages' -- \
  pemsinfo -n 7 --pems-memory=512M
expect "pemsinfo: memory" 0 '^memory +512.0 MiB per process' -- \
  pemsinfo --pems-memory=512M
expect "pemsinfo --version" 0 '^pemsinfo \(pems\) [0-9]' -- pemsinfo --version
expect "pemsinfo --help" 0 '^usage: pemsinfo' -- pemsinfo --help
refused "pemsinfo -n 0" '-n: 0: ' pemsinfo -n 0
refused "pemsinfo: unknown argument" 'unknown argument: x' pemsinfo x
refused "pemsinfo: unknown driver" 'unknown driver: x' pemsinfo --pems-io=x
refused "pemsinfo: stripes" '--pems-stripe: 5000 ' pemsinfo --pems-stripe=5000
refused "pemsinfo: missing scratch directory" '/no/such: does not exist' \
  pemsinfo --pems-disk=/no/such

# mu OPTIONS: what pemsinfo gives each of 9 ranks, in bytes or so.
mu() {
  try pemsinfo -n 9 --pems-k=1 --pems-memory=64T "$@"
  sed -n 's/^mu *\(.*\) at most.*/\1/p' "$work/out" |
    awk '{ print $1 * 1024 ^ index("KMGT", substr($2, 1, 1)) }'
}
# Of two disks on one file system each has half: the one that gets 5 of 9
# contexts is full when the other has room, but not if they are striped.
whole=$(mu --pems-disk="$work")
halves=$(mu --pems-disk="$work,$work")
stripes=$(mu --pems-disk="$work,$work" --pems-stripe=1M)
awk "BEGIN { exit !($whole > 0 && $stripes > 0.95 * $whole) }" ||
  fail "space for stripes: $stripes bytes each, $whole on one disk"
awk "BEGIN { exit !($halves <= 1.02 * $whole) }" ||
  fail "two disks on one file system: $halves bytes each, $whole on one"

# What the sentence names is enough: the job's, which has counted what MPI and
# the program take, and pemsinfo's.
needs() {
  sed -n 's/.*need --pems-memory=\([0-9]*\)M or more.*/\1/p' "$work/err"
}
set -- -n 4 --pems-k=2 --pems-context=20M
refused "too little memory for the job" 'need --pems-memory=' \
  pemsrun "$@" --memory=48M ./hello
# As much or 2M more: what is in memory of shared libraries is not always the
# same.
expect "the memory that it names" 0 '^rank 3 of 4 ' -- \
  pemsrun "$@" --memory="$(($(needs) + 2))M" ./hello
refused "too little memory for pemsinfo" 'need --pems-memory=' \
  pemsinfo "$@" --pems-memory=48M
expect "the memory that pemsinfo names" 0 '^rank 3 of 4 ' -- \
  pemsrun "$@" --memory="$(needs)M" ./hello
# A job on one process shares no directory of Open MPI with another: one that ends
# while the other runs takes nothing away, and none is left.
cat >nested.c <<'END'
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
  int rank;
  MPI_File f;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0 && system("pemsrun -n 1 --pems-context=16M ./hello"))
    puts("the other job failed");
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_open(MPI_COMM_WORLD, "shared", MPI_MODE_CREATE | MPI_MODE_RDWR,
                MPI_INFO_NULL, &f);
  MPI_File_write_shared(f, &rank, 1, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_close(&f);
  if (rank == 1 && argc > 1)
    exit(atoi(argv[1]));
  MPI_Finalize();
  return 0;
}
END
pemscc -o nested nested.c || exit 1
mkdir session
TMPDIR=$work/session
export TMPDIR
for ending in '' 3; do
  # shellcheck disable=SC2086 # none is no argument
  expect "a job within a job, exit $ending" "${ending:-0}" \
    '^rank 0 of 1 calls 1' -- pemsrun -n 3 --pems-procs=1 --pems-context=16M \
    --pems-disk="$work" ./nested $ending
  ! grep -q 'mca_\|mkdir' err || fail "a job within a job: Open MPI complains"
  left=$(find session -path '*jf.0*')
  [ -z "$left" ] || fail "a directory of Open MPI is left: $left"
done
unset TMPDIR

conclude
