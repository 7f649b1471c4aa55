#!/bin/sh
# Python under pemsrun: each rank is an interpreter of its own. Skipped without a
# Python that has a shared library; what needs numpy and mpi4py, without these.
# shellcheck source=tests/script.sh
. "$(dirname "$0")/../script.sh"
# Unbuffered, a line is written in parts, between which another rank's may come.
unset PYTHONUNBUFFERED PYTHONOPTIMIZE

# shellcheck source=tests/wrappers/python/find.sh
. "$here/python/find.sh"

# run RANKS ARGUMENTS...: standard output in out, and the status.
run() {
  ranks=$1
  shift
  limited pemsrun -n "$ranks" --pems-context=256M "$@" >out 2>err
}
# expect NAME TIMES LINE
expect() {
  [ "$(grep -cxF -- "$3" out)" -eq "$2" ] ||
    fail "$1: not $2 times '$3': $(head -n 5 out) $(head -n 5 err)"
}

cat >basic.py <<'P'
import atexit, ctypes, decimal, json, math, os, signal, subprocess, sys
import threading, zlib
atexit.register(lambda: print("at exit"))
print(sys.argv[1:], math.sqrt(16), json.dumps({"a": 1}))
print(decimal.Decimal(1) / 4, zlib.crc32(b"pems"))
print(ctypes.CDLL(None).abs(-5))
values = []
threads = [threading.Thread(target=values.append, args=(i,)) for i in range(4)]
for t in threads:
    t.start()
for t in threads:
    t.join()
print(sorted(values), os.path.samefile(sys.executable, sys.argv[1]))
print(subprocess.run(["echo", "sub"], capture_output=True, text=True).stdout,
      end="")
hits = []
signal.signal(signal.SIGUSR1, lambda *a: hits.append(1))
signal.raise_signal(signal.SIGUSR1)
print("signal", hits)
big = [i for i in range(100000)]
print(sum(big))
P
real=$("$python" -c 'import sys; print(sys.executable)')
run 3 "$python" basic.py "$real" two || fail "basic: $(head -n 5 err)"
"$python" basic.py "$real" two >wanted || fail "plain: $(cat wanted)"
while read -r line; do
  [ "$(grep -cxF -- "$line" out)" -eq 3 ] || fail "basic: not 3 times '$line'"
done <wanted
[ "$(wc -l <out)" -eq $((3 * $(wc -l <wanted))) ] || fail "basic: $(cat out)"

# What a launcher tells a process, it would tell each rank.
cat >variables.py <<'P'
import os
print("rank", os.environ.get("OMPI_COMM_WORLD_RANK") or os.environ["PMI_RANK"])
P
run 3 --pems-procs=2 "$python" variables.py || fail "variables: $(head -n 5 err)"
for rank in 0 1 2; do
  expect variables 1 "rank $rank"
done

# SQLite lives by record locks.
cat >rows.py <<'P'
import sqlite3
d = sqlite3.connect("rows.db", timeout=100)
for i in range(8):
    with d:
        d.execute("create table if not exists t(i)")
        d.execute("insert into t values(?)", (i,))
d.close()
P
if "$python" -c 'import sqlite3' 2>/dev/null; then
  run 4 --pems-procs=2 --pems-k=2 "$python" rows.py || fail "rows: $(head -n 5 err)"
  rows=$("$python" -c 'import sqlite3
d = sqlite3.connect("rows.db")
print(*[d.execute(q).fetchone()[0] for q in
        ("select count(*) from t", "pragma integrity_check")])')
  [ "$rows" = "32 ok" ] || fail "rows: $rows"
fi

# As scripts begin, with an option.
{ echo "#!$real -O"; cat basic.py; } >script.py
echo 'print("option", sys.flags.optimize)' >>script.py
chmod +x script.py
run 2 ./script.py "$real" two || fail "script: $(head -n 5 err)"
expect script 2 "at exit"
expect script 2 "option 1"

# Processes that a rank starts are Python, and no ranks.
cat >children.py <<'P'
import multiprocessing, os, sys
def work(n):
    return n * n
def fork():
    pid = os.fork()
    if pid == 0:
        os._exit(7)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
if __name__ == "__main__":
    lines = ["fork %d" % fork()]
    for method in "fork", "spawn":
        with multiprocessing.get_context(method).Pool(2) as pool:
            lines.append("%s %s" % (method, pool.map(work, range(5))))
    os.write(1, "".join(l + "\n" for l in lines).encode())
P
run 2 "$python" children.py || fail "children: $(head -n 5 err)"
for line in "fork 7" "fork [0, 1, 4, 9, 16]" "spawn [0, 1, 4, 9, 16]"; do
  expect children 2 "$line"
done

# The environment is a rank's, and its libc's numbers and lines.
mkdir environment
cd environment || exit 1
run 3 --pems-procs=1 --pems-k=3 "$python" "$here/python/environment.py" ||
  fail "environment: $(head -n 5 err)"
expect environment 3 "environment EAST 3"
expect environment 3 "a line by libc 1"
[ "$(wc -l <out)" -eq 6 ] || fail "environment: $(cat out)"
cd ..

# Status and errors.
run 2 "$python" -c 'import sys; sys.exit(3)'
[ $? -eq 3 ] || fail "sys.exit(3): another status"
cat >raises.py <<'P'
import sys, traceback
try:
    raise ValueError("caught")
except ValueError:
    sys.stderr.write(traceback.format_exc().replace("\n", "; ") + "\n")
raise ValueError("wrong")
P
run 3 "$python" raises.py
[ $? -eq 1 ] || fail "exception: another status"
# One rank may end the job before the others have said all.
complete=
for rank in 0 1 2; do
  sed -n "s/^\[1,$rank]<stderr>://p" err >"of.$rank"
  [ "$(sed -n '1p;$p' "of.$rank" | tr '\n' '|')" = \
    "Traceback (most recent call last):|ValueError: wrong|" ] && complete=yes
done
[ -n "$complete" ] || fail "exception: no rank's whole traceback: $(cat err)"
grep -v '^\[1,[012]]<stderr>:' err | grep -v '^Traceback.*ValueError: caught; $' |
  grep -v '^pems: ' >other && fail "exception: lines without a rank: $(cat other)"
grep -q '^Traceback.*ValueError: caught; $' err ||
  fail "exception: what was caught is not as it was written: $(cat err)"
run 2 "$python" nothing.py
[ $? -eq 2 ] || fail "no script: another status"
grep -q "can't open file.*nothing.py" err || fail "no script: $(cat err)"
printf '#!/bin/sh\nprintf "/none\\n\\n"\n' >python9
chmod +x python9
run 2 ./python9 basic.py
[ $? -eq 2 ] || fail "no libpython: another status"
grep -q '^pems: no shared libpython: ./python9: install' err ||
  fail "no libpython: $(cat err)"

# Modules that are none, or for another Python, and more memory than a rank has:
# the rank is told, as by plain Python, and goes on.
cat >bad.py <<'P'
import importlib, sys
sys.path.insert(0, ".")
for name in "other", "text", "empty", "cut":
    try:
        importlib.import_module(name)
    except ImportError:
        print("cannot import", name)
try:
    bytearray(300 << 20)
except MemoryError:
    print("no memory")
print("goes on", len(bytearray(1 << 20)))
P
echo 'void *PyOther_New(void); void *PyInit_other(void) { return PyOther_New(); }' \
  >other.c
${CC:-cc} -fPIC -shared -o other.so other.c || fail "no module was made"
echo "this is no module" >text.so
: >empty.so
head -c 3000 other.so >cut.so
run 2 "$python" bad.py || fail "bad modules: $(head -n 5 err)"
for line in "cannot import other" "cannot import text" "cannot import empty" \
  "cannot import cut" "no memory" "goes on 1048576"; do
  expect "bad modules" 2 "$line"
done

# A virtual environment is its interpreter's.
if "$python" -m venv --without-pip venv 2>/dev/null; then
  run 2 venv/bin/python -c 'import sys; print(sys.prefix != sys.base_prefix)' ||
    fail "venv: $(head -n 5 err)"
  expect venv 2 True
fi

if mpi4py_lacks numpy; then
  echo "$lack: not tried"
else
  cp "$here/python/sample_sort.py" .
  limited ${MPIRUN:-mpirun} -n 4 "$python" sample_sort.py 50000 >wanted 2>err ||
    fail "plain sample sort: $(head -n 5 err)"
  [ "$(wc -l <wanted)" -eq 4 ] || fail "plain sample sort: $(cat wanted)"
  for options in "--pems-procs=1" "--pems-procs=2" "--pems-k=1 --pems-io=mmap"; do
    # shellcheck disable=SC2086
    PEMS_TEST_EVICT_ALWAYS=1 run 4 $options "$python" sample_sort.py 50000 ||
      fail "sample sort $options: $(head -n 5 err)"
    sort out | diff wanted - >differ || fail "sample sort: $(head -n 5 differ)"
  done
fi

conclude
