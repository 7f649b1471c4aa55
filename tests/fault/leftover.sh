#!/bin/sh
# What a job that is killed leaves in $TMPDIR is removed at once by pems's
# keeper, or by the next job if that was killed as well; what is of a job that
# lives, or not of pems, stays.
. "$(dirname "$0")/lib.sh"

build tests/fault/misbehave.c
mkdir "$work/tmp"
TMPDIR=$work/tmp
export TMPDIR
small=--pems-context=8M
crowded=
[ "$launcher" != orte ] || crowded=--oversubscribe

# What is left, but for what an Open MPI 5's mpirun that is killed leaves of its own.
left() {
  find "$TMPDIR" -mindepth 1 ! \( -path "$TMPDIR/prterun.*" ! -name '*pems*' \)
}

nothing_left() {
  [ -z "$(left)" ]
}

# by WAY MODE: starts the program that way; it lives till it is killed if MODE is
# spin.
by() {
  : >"$out" # what the last job printed is not to be taken for this one's
  case $1 in
    direct) launch "$program" "$2" --pems-v=2 $small "--pems-disk=$disk" ;;
    pemsrun) start -n 2 $small "$program" "$2" ;;
    pemsrun2) start -n 2 --pems-procs=2 $small "$program" "$2" ;;
    mpirun) launch "$mpirun" -n 2 ${crowded:+"$crowded"} "$program" "$2" --pems-v=2 \
      $small "--pems-disk=$disk" ;;
  esac
}

# The keepers of this test's jobs.
keepers() {
  for pid in $(marked); do
    if [ "$(cat "/proc/$pid/comm" 2>/dev/null)" = pems-keeper ]; then
      echo "$pid"
    fi
  done
}

for way in direct pemsrun pemsrun2 mpirun; do
  begin "$way: nothing is left of a job that is killed"
  by $way spin
  await running
  [ -n "$(left)" ] || fault "the job has no folder: this test tests nothing"
  kill -KILL "$job"
  finish
  expect_clean
  until_seconds 60 nothing_left || fault "left: $(left)"
  end

  begin "$way: what is left with its keeper killed, the next job removes"
  by $way spin
  await running
  keeper=$(keepers)
  [ -n "$keeper" ] || fault "there is no keeper"
  for pid in $keeper; do
    kill -KILL "$pid"
  done
  kill -KILL "$job"
  finish
  until_seconds 60 no_process || fault "processes left: $(marked)"
  [ -n "$(left)" ] || fault "nothing is left: this test tests nothing"
  run -n 2 $small --pems-stats "$program" none
  expect_status 0
  grep -q 'jobs that were killed: removed what [12] of them' "$err" ||
    fault "no line says that something was removed"
  until_seconds 60 nothing_left || fault "left: $(left)"
  expect_clean
  end
done

begin "a job leaves those that live, and what has no mark, alone"
by pemsrun2 spin
await running
first=$job
cp "$out" "$work/out1"
by mpirun spin
await running
second=$job
host=$(uname -n)
foreign=$TMPDIR/ompi.${host%%.*}.$(id -u)/pid.4999999
mkdir -p "$foreign" "$foreign.2"
echo 'boot of-another-host' >"$foreign.2/pems-mark"
left | sort >"$work/before"
run -n 2 $small "$program" none
expect_status 0
left | sort >"$work/after"
cmp -s "$work/before" "$work/after" ||
  fault "other files: $(diff "$work/before" "$work/after")"
rm -r "$foreign" "$foreign.2"
kill -TERM "$first" "$second"
wait "$first" "$second" 2>/dev/null
expect_clean
until_seconds 60 nothing_left || fault "left: $(left)"
end

begin "jobs of one process share no folder in \$TMPDIR"
by direct spin
await running
first=$job
by pemsrun spin
await running
folders='*/pems-session.*/pems-mark'
[ "$launcher" != orte ] || folders='*/ompi.*/jf.0'
found=$(find "$TMPDIR" -path "$folders" | wc -l)
[ "$found" -eq 2 ] || fault "$found folders for two jobs: $(left)"
kill -KILL "$first" "$job"
finish
expect_clean
until_seconds 60 nothing_left || fault "left: $(left)"
end

for procs in 1 2; do
  begin "$procs processes: one line if \$TMPDIR is not there"
  TMPDIR=$work/none
  run -n 2 --pems-procs=$procs $small "$program" none
  TMPDIR=$work/tmp
  expect_status 2
  expect_line 'temporary directory: .*none: .*TMPDIR'
  expect_not_started
  [ "$(wc -l <"$err")" -eq 1 ] || fault "more than one line"
  end
done

for procs in 1 2; do
  begin "$procs processes: a comma in \$TMPDIR is a part of its name"
  mkdir -p "$work/a,b"
  TMPDIR=$work/a,b
  launch "$pemsrun" -n 2 --pems-procs=$procs $small "$program" none
  finish
  expect_status 0
  until_seconds 60 nothing_left || fault "left: $(left)"
  TMPDIR=$work/tmp
  end
done

# UCX, below some MPIs, takes the signal for itself.
for way in direct pemsrun; do
  begin "$way: SIGHUP to a job of one process"
  by $way spin
  await running
  kill -HUP "$job"
  finish
  expect_status 129
  expect_line 'SIGHUP|hangup'
  expect_clean
  until_seconds 60 nothing_left || fault "left: $(left)"
  end

  begin "$way: SIGHUP that is ignored, as under nohup"
  case $way in
    direct) set -- "$program" spin --pems-v=2 $small "--pems-disk=$disk" ;;
    pemsrun) set -- "$pemsrun" -n 2 $small "--pems-disk=$disk" "$program" spin ;;
  esac
  launch env --ignore-signal=HUP "$@"
  await running
  kill -HUP "$job"
  kill -TERM "$job"
  finish
  expect_status 143
  expect_line 'SIGTERM'
  expect_clean
  until_seconds 60 nothing_left || fault "left: $(left)"
  end
done

# As a shell starts jobs in the background of a script. Their folder is there long
# before a rank is.
begin "SIGINT that is ignored at first, while a job starts"
shared_memory >"$work/shm"
env --ignore-signal=INT,QUIT "$pemsrun" -n 8 $small "--pems-disk=$disk" \
  "$program" spin >"$out" 2>"$err" </dev/null &
job=$!
began=$(date +%s)
while nothing_left && [ $(($(date +%s) - began)) -lt $limit ]; do
  :
done
kill -INT "$job"
finish
expect_status 130
expect_clean
until_seconds 60 nothing_left || fault "left: $(left)"
end

# A rank that kills itself; the others wait.
cat >"$work/die.c" <<'C'
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  signal(SIGSEGV, SIG_DFL);
  if (rank == 1)
    kill(getpid(), argc > 1 ? atoi(argv[1]) : SIGKILL);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
C
"$pemscc" -O1 -o "$work/die" "$work/die.c" || fault "cannot compile die.c"
for procs in 1 2; do
  for signal in 9 11; do
    begin "$procs processes: a rank that kills itself by signal $signal"
    run -n 2 --pems-procs=$procs $small "$work/die" $signal
    [ $procs -eq 1 ] || status=$(launcher_status "$status")
    expect_status $((128 + signal))
    [ $procs -eq 1 ] || expect_line 'process 1 of 2, pid [0-9]*, has died|rank 1: Segm'
    expect_clean
    until_seconds 60 nothing_left || fault "left: $(left)"
    end
  done
done

# Nobody is there to end the others of a job that a rank takes down, at first.
cat >"$work/abort.c" <<'C'
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 1) {
    printf("starter %d\n", (int)getppid());
    fflush(stdout);
    sleep(1); /* it comes through the starter */
    kill(getppid(), SIGSTOP);
    MPI_Abort(MPI_COMM_WORLD, 7);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
C
"$pemscc" -O1 -o "$work/abort" "$work/abort.c" || fault "cannot compile abort.c"
begin "a rank calls MPI_Abort, and mpirun does not end the others"
start -n 2 --pems-procs=2 $small "$work/abort"
await starter
starter=$(sed -n 's/^starter //p' "$out")
finish
kill -CONT "$starter" 2>/dev/null # so that it sees what has happened
expect_status 7
expect_clean
until_seconds 60 nothing_left || fault "left: $(left)"
end
conclude
