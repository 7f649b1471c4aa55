"""Python ranks that do little: what does it take that they are there?

Arguments: the number of supersteps, and when the job was started (seconds since
1970). Rank 0 prints when all ranks had begun, and where the memory of its process
is, from /proc/self/smaps, when the supersteps are over.
"""

import re
import sys
import time

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
steps, started = int(sys.argv[1]), float(sys.argv[2])
state = np.full(1000, comm.rank, "d")
comm.Barrier()
begun = time.time()
total = np.empty_like(state)
for _ in range(steps):
    comm.Allreduce(state, total)
assert steps == 0 or total[0] == comm.size * (comm.size - 1) / 2


def memory():
    """Bytes by kind of mapping and field of smaps: libraries' files, others."""
    sums = {}
    kind = "anonymous"
    with open("/proc/self/smaps") as lines:
        for line in lines:
            field = re.match(r"(\w+): +(\d+) kB", line)
            if field:
                key = kind, field[1]
                sums[key] = sums.get(key, 0) + 1024 * int(field[2])
            elif re.match(r"[0-9a-f]+-[0-9a-f]+ ", line):
                name = line.split(None, 5)[5:]
                kind = "library" if name and ".so" in name[0] else "anonymous"
    return sums


ended = time.time()
if comm.rank == 0:
    sums = memory()
    fields = {
        "start_seconds": "%.2f" % (begun - started),
        "steps_seconds": "%.2f" % (ended - begun),
    }
    for kind in "library", "anonymous":
        for field in "Rss", "Pss", "Private_Clean", "Private_Dirty":
            fields[kind + "_" + field.lower()] = sums.get((kind, field), 0)
    print("RESULT app=python_ranks", *("%s=%s" % f for f in fields.items()))
