#!/bin/sh
# Python ranks spawn Python: by the interpreter's name, and by scripts that name
# it; other programs are refused. Skipped without mpi4py.
# shellcheck source=tests/script.sh
. "$(dirname "$0")/../script.sh"
unset PYTHONUNBUFFERED PYTHONOPTIMIZE
# shellcheck source=tests/wrappers/python/find.sh
. "$here/python/find.sh"
! mpi4py_lacks || skip "$lack"

# times NAME N LINE: the line came so often; count adds up.
count=0
times() {
  count=$((count + $2))
  [ "$(grep -cxF -- "$3" out)" -eq "$2" ] ||
    fail "$1: not $2 times '$3': $(cat out) $(head -n 5 err)"
}

# spawn NAME INTERPRETER: two ranks spawn two, one and three.
spawn() {
  { echo "#!$2 -O"; cat "$here/python/spawn.py"; } >script.py
  chmod +x script.py
  cp "$here/python/spawn.py" .
  for procs in 1 2; do
    name="$1, $procs processes"
    PEMS_TEST_EVICT_ALWAYS=1 limited pemsrun -n 2 --pems-procs=$procs \
      --pems-universe=8 --pems-context=128M "$2" spawn.py ./script.py \
      >out 2>err || fail "$name: $(cat err)"
    count=0
    times "$name" 2 "argument spawn.py ['one', 'two words', ''] 0 True True"
    times "$name" 3 "argument script.py ['one', 'two words', ''] 1 True True"
    times "$name" 1 "argument spawn.py ['one', 'two words', ''] 1 True True"
    for rank in 0 1; do
      times "$name" 1 "parent $rank of 2 sum 3 last child 1"
      times "$name" 1 "parent $rank of 2 sum 1 last child 0"
      times "$name" 1 "parent $rank of 2 sum 6 last child 2"
      times "$name" 1 "child $rank of 2 sum 3 last parent 1"
      times "$name" 1 "child $rank of 3 sum 3 last parent 1"
    done
    times "$name" 1 "child 2 of 3 sum 3 last parent 1"
    times "$name" 1 "child 0 of 1 sum 3 last parent 1"
    times "$name" 4 "refused True"
    [ "$(wc -l <out)" -eq $count ] || fail "$name: other lines: $(cat out)"
    for file in /bin/sh ./other.sh; do
      [ "$(grep -c "^pems: MPI_Comm_spawn: .*/${file##*/}: another program: .*: spawn $2, or" err)" -eq 1 ] ||
        fail "$name: $file: $(cat err)"
    done
    [ "$(wc -l <err)" -eq 2 ] || fail "$name: other lines: $(cat err)"
  done
}

echo '#!/bin/sh' >other.sh
chmod +x other.sh
spawn "the interpreter" "$("$python" -c 'import sys; print(sys.executable)')"
if "$python" -m venv --system-site-packages --without-pip venv 2>/dev/null; then
  spawn "a virtual environment" "$work/venv/bin/python"
fi
conclude
