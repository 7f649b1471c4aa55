"""Uses the Python package pems on each rank: arrays and files that are sorted with
less memory than they have, and a queue that waits in MPI, compared with numpy.

Arguments: what to do ("sort", or "keep" or "discard", which see); a folder.
"""
import os
import sys

from mpi4py import MPI
import numpy as np
import pems

world = MPI.COMM_WORLD
rank = world.rank
random = np.random.default_rng(rank)
SMALL = dict(memory="12M", threads=2)


def say(*words):
    """In one piece: lines of ranks do not mix."""
    os.write(1, ("%d: %s\n" % (rank, " ".join(map(str, words)))).encode())


def arrays(folder):
    kind = [("key", "<u4"), ("n", "<u8"), ("x", "<f8")]
    records = np.empty(1 << 20, kind)  # 20 MiB
    records["key"] = random.integers(0, 1000, records.size)
    records["n"] = np.arange(records.size)
    records["x"] = random.random(records.size)
    want = records[np.argsort(records["key"], kind="stable")]
    world.Barrier()
    pems.sort(records, field="key", stable=True, disks=[folder], **SMALL)
    world.Barrier()
    say("array", bool((records == want).all()))


def files(folder):
    name = os.path.join(folder, "rank%d" % rank)
    numbers = random.integers(0, 1 << 62, 5 << 19, dtype="u8")
    numbers.tofile(name)
    numbers.sort()
    world.Barrier()
    pems.sort(name, dtype="<u8", disks=[folder], **SMALL)
    say("file", bool((np.fromfile(name, "<u8") == numbers).all()))
    mapped = np.memmap(name, "<u8", "r+")
    pems.sort(mapped, descending=True, disks=[folder], **SMALL)
    world.Barrier()
    say("memmap", bool((mapped == numbers[::-1]).all()))
    os.remove(name)


def queue(folder):
    numbers = random.integers(0, 1 << 62, 4 << 19, dtype="u8")
    got = np.empty_like(numbers)
    with pems.PriorityQueue("<u8", disks=[folder], **SMALL) as q:
        for part in np.split(numbers, 4):
            q.push(part)
            world.Barrier()
        for part in np.split(got, 4):
            part[:] = q.pop(part.size)
            world.Barrier()
    numbers.sort()
    say("queue", bool((got == numbers).all()), len(os.listdir(folder)) == 0)


def rounds(discards):
    """Waits a few times with an array whose contents it does not need again."""
    kept = random.random(1 << 17)
    work = np.empty(4 << 20)  # 32 MiB
    total, used = kept.sum(), True
    for i in range(4):
        work[:] = rank + i
        assert work.sum() == (rank + i) * work.size
        if discards:
            used = pems.discard(work) and used
        world.Barrier()
    say("rounds", bool(kept.sum() == total), used)


if sys.argv[1] == "sort":
    for step in arrays, files, queue:
        step(sys.argv[2])
        world.Barrier()
else:
    rounds(sys.argv[1] == "discard")
