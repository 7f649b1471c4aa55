#!/bin/sh
# Scripts and tools that stand between pemsrun and the program: they start it,
# in their place or as a child, with one process and with two.
# shellcheck source=tests/wrappers/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/launcher.sh
. "$here/tests/launcher.sh"
pemscc -g -o hello hello.c || exit 1

# script NAME LINE...: an executable one.
script() {
  file=$1
  shift
  printf '%s\n' '#!/bin/sh' "$@" >"$file"
  chmod +x "$file"
}
script exec.sh 'exec ./hello "$@"'
script child.sh './hello "$@"' 'status=$?' 'exit $status'
script nothing.sh 'exec /bin/true'
script fails.sh 'exit 9'
script twice.sh './hello first' './hello second'
echo 'import subprocess, sys' >start.py
echo 'sys.exit(subprocess.call(["./hello"] + sys.argv[1:]))' >>start.py

# both TITLE STATUS OUT ERR -- [options] program...: with 1 and 2 processes.
both() {
  both_title=$1
  both_status=$2
  both_out=$3
  both_err=$4
  shift 5
  for processes in 1 2; do
    expect "$both_title, $processes processes" "$both_status" "$both_out" \
      "$both_err" -- pemsrun -n 3 --procs=$processes "$@"
  done
}

last='^rank 2 of 3 calls 1 argc 2 last x$'
none='^pems: .*it has started no program that pemscc built: see what it does, and build MPI programs of mpicc with pemscc$'
both "a script that becomes the program" 0 "$last" '' -- ./exec.sh x
both "a script with a child" 0 "$last" '' -- ./child.sh x
both "its exit status" 7 'rank 2 of 3' '^pems: rank 2: ended with status 7' -- \
  ./child.sh status 7
both "a command before the program" 0 "$last" '' -- --wrapper='env A=1' ./hello x
both "words in quotes" 0 "$last" '' -- \
  --wrapper="env 'A=1 2' sh -c 'test \"\$A\" = \"1 2\" && exec \"\$@\"' sh" \
  ./hello x
both "a tool that is named first" 0 "$last" '' -- env A=1 ./hello x
both "a script that starts nothing" 2 '' "$none" -- ./nothing.sh
cat >plain.c <<'end'
#include <mpi.h>
#include <unistd.h>
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  sleep(1);
  MPI_Finalize();
}
end
${MPICC:-mpicc} -o plain plain.c || exit 1
script plain.sh './plain' 'exit $?'
plain='^pems: ./plain.sh: exit status 0: it has started a program of plain MPI, /.*/plain: build that with pemscc$'
both "a script that starts a program of plain MPI" 2 '' "$plain" -- ./plain.sh
both "one that fails first" 9 '' "fails.sh: exit status 9: .*no program" -- \
  ./fails.sh
both "a wrapper that starts nothing" 2 '^./hello x$' "$none" -- \
  --wrapper=echo ./hello x
expect "a script that starts two" 0 '^rank 2 of 3 .*last second$' -- \
  pemsrun -n 3 ./twice.sh
grep -q '^rank 2 of 3 .*last first$' "$work/out" || fail "the first of two"
if command -v python3 >/dev/null; then
  both "a script for an interpreter" 0 "$last" '' -- \
    --wrapper=python3 ./start.py x
fi
# Process 1 ends before MPI, where process 0 is or is not yet; or it takes its time.
script ends.sh '[ "$OMPI_COMM_WORLD_RANK$PMI_RANK" != 1 ] || exit $1' 'shift' 'exec "$@"'
script late.sh '[ "$OMPI_COMM_WORLD_RANK$PMI_RANK" != 1 ] || sleep 5' 'exec "$@"'
ended='host .*: process 1 of 2, pid [0-9]*, has ended before MPI_Init: the job ends: '
if [ "$launcher" = hydra ]; then
  echo "SKIP a process that ends before MPI_Init: Hydra has no agent"
else
  for ends in 0 127; do
    expect "a process that ends with $ends before MPI_Init" $((ends > 0 ? ends : 1)) '' \
      "^pems: ($ended|./ends.sh: exit status 127: )" -- \
      pemsrun -n 3 --procs=2 ./ends.sh $ends ./hello x
    [ "$(grep -c '^pems: ' "$work/err")" -eq 1 ] || fail "not one line"
  done
fi
both "a process that begins late" 0 "$last" '' -- ./late.sh ./hello x
if command -v gdb >/dev/null; then
  both "gdb" 0 'rank 2 of 3 calls 1 argc 2 last x$' '' -- \
    --wrapper='gdb -q -batch -ex run --args' ./hello x
fi
refused "a wrapper that is not there" '--wrapper: nowhere: ' \
  pemsrun -n 3 --wrapper=nowhere ./hello
refused "a wrapper that cannot be split" "--wrapper: it's: " \
  pemsrun -n 3 --wrapper="it's" ./hello
refused "an empty wrapper" '--wrapper: "": no command' \
  pemsrun -n 3 --wrapper= ./hello
refused "a wrapper and no program of pems" '/bin/ls: .*pemscc' \
  pemsrun -n 3 --wrapper=env /bin/ls
expect "what is run" 0 ' gdb --args ./hello x$' -- \
  pemsrun --pems-show -n 3 --wrapper='gdb --args' ./hello x
expect "what is run by mpirun" 0 'mpirun.* gdb --args ./hello x$' -- \
  pemsrun --pems-show -n 3 --procs=2 --wrapper='gdb --args' ./hello x
conclude
