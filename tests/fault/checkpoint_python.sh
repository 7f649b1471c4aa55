#!/bin/sh
# Ranks that are Python programs with mpi4py go on from each of their checkpoints
# as if nothing had happened: modules that are libraries, generators, closures,
# hash states, open files. Those with threads, and numpy's with libraries that all
# ranks share, have none, which is said.
. "$(dirname "$0")/checkpoint_lib.sh"
# shellcheck source=tests/wrappers/python/find.sh
. "$here/tests/wrappers/python/find.sh"

! mpi4py_lacks || skip "$lack"

cat >"$work/steps.py" <<'P'
import sys
import mpi4py
mpi4py.rc.thread_level = sys.argv[2] if len(sys.argv) > 2 else "single"
from mpi4py import MPI
import collections
import hashlib
import json
import math
import random
import struct

comm = MPI.COMM_WORLD
random.seed(comm.rank)
kept = collections.OrderedDict()
digest = hashlib.sha256()
lines = open(sys.argv[1])


def squares():
    n = comm.rank
    while True:
        yield n * n
        n += 1


each = squares()
of = lambda x: math.sin(x) + len(kept)
for step in range(14):
    kept[step] = [random.random() for _ in range(500)]
    digest.update(json.dumps(kept[step]).encode() + lines.readline().encode())
    all = comm.allreduce(of(step) + sum(kept[step]) + next(each))
    packed = bytearray(struct.pack("d", all))
    comm.Bcast(packed, root=0)
    if comm.rank == 0:
        print("step", step, repr(all), digest.hexdigest()[:16], flush=True)
if comm.rank == 0:
    print("the end", lines.readline().strip(), flush=True)
P
seq 1 100 >"$work/lines"

begin "without checkpoints"
run -n 3 "$python" "$work/steps.py" "$work/lines"
expect_status 0
expect_silence
expect_output 'the end 15'
cp "$out" "$work/reference"
end

begin "restarted from each checkpoint"
PEMS_TEST_EVICT_ALWAYS=1 run -n 3 --pems-procs=2 --pems-checkpoint="$shelf,every=5,keep=20" \
  "$python" "$work/steps.py" "$work/lines"
expect_status 0
expect_silence
cmp -s "$out" "$work/reference" || fault "checkpoints change what it prints"
number=0
each_resumes "$work/reference" "$shelf"
[ "$number" -ge 3 ] || fault "there are only $number checkpoints"
expect_clean
end

begin "with threads there are none"
run -n 2 --pems-checkpoint="$work/other,every=2" "$python" "$work/steps.py" "$work/lines" multiple
expect_status 0
expect_line 'no checkpoint at .*: it has threads, or MPI_THREAD_MULTIPLE: the job goes on'
end

conclude
