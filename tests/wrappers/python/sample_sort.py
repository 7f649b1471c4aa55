"""Sorts numbers of all ranks by samples, with numpy and mpi4py.

The argument is how many each rank has. Rank 0 prints, for each rank, what it
has in the end.
"""

import sys

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.rank, comm.size
n = int(sys.argv[1])

mine = np.random.default_rng(rank).random(n)
mine.sort()
samples = np.empty(size * size)
comm.Allgather(mine[:: n // size][:size].copy(), samples)
samples.sort()
cuts = np.searchsorted(mine, samples[size // 2 :: size][1:])
counts = np.diff(np.concatenate(([0], cuts, [n]))).astype("i")
coming = np.empty(size, "i")
comm.Alltoall(counts, coming)


def starts(of):
    return np.concatenate(([0], np.cumsum(of)[:-1])).astype("i")


sorted_share = np.empty(coming.sum())
comm.Alltoallv(
    [mine, (counts, starts(counts))], [sorted_share, (coming, starts(coming))]
)
del mine
sorted_share.sort()
facts = comm.gather(
    (rank, len(sorted_share), sorted_share[0], sorted_share[-1], sorted_share.sum())
)
if rank == 0:
    assert all(a[3] <= b[2] for a, b in zip(facts, facts[1:]))
    for fact in facts:
        print("rank %d: %d numbers, %.17g to %.17g, sum %.17g" % fact)
