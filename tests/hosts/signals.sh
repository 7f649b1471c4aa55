#!/bin/sh
# Signals to pemsrun reach all processes on all hosts.
. "$(dirname "$0")/lib.sh"
only_long
build tests/fault/misbehave.c
on_hosts 3

spin() {
  # shellcheck disable=SC2086 # $budget is two options
  start_hosts -n 12 --procs=6 --pems-k=1 $budget "$program" spin 0 $array
  await running
  sleep 1
}

for signal in INT:130 TERM:143 HUP:129; do
  begin "SIG${signal%:*}"
  spin
  kill -"${signal%:*}" "$job"
  finish
  expect_status "${signal#*:}"
  expect_line "interrupted: SIG${signal%:*}: the job ends"
  expect_hosts_clean 15
  end
done

begin "SIGTERM to one process"
spin
# shellcheck disable=SC2046 # one
kill -TERM $(hosts_running nodeB misbehave | head -n 1)
finish
expect_status 143
expect_line 'interrupted: SIGTERM'
expect_hosts_clean 15
end

# A program that catches it prints a line in every process.
cat >"$work/catch.c" <<'END'
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
static volatile sig_atomic_t caught;
static void on_signal(int number) {
  caught = number;
}
int main(int argc, char **argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  signal(SIGUSR1, on_signal);
  signal(SIGUSR2, on_signal);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    printf("running\n");
    fflush(stdout);
  }
  const struct timespec pause = {0, 10000000};
  for (int i = 0; i < 2000 && !caught; i++)
    nanosleep(&pause, NULL);
  printf("rank %d caught %d\n", rank, (int)caught);
  MPI_Finalize();
  return 0;
}
END
"$pemscc" -o "$work/catch" "$work/catch.c" || exit 1
for signal in USR1:10 USR2:12; do
  begin "SIG${signal%:*} is forwarded"
  start_hosts -n 3 --pems-memory=200M "$work/catch"
  await running
  kill -"${signal%:*}" "$job"
  finish
  expect_status 0
  [ "$(grep -c "caught ${signal#*:}" "$out")" -eq 3 ] ||
    fault "not every process has caught it"
  expect_hosts_clean 5
  end
done

conclude
