"""Fourier transform of M * M numbers over all ranks, with numpy and mpi4py.

The argument is M, a multiple of the number of ranks. The numbers are a matrix
of which each rank has some rows; columns become rows by Alltoall (the six-step
algorithm). Rank 0 prints a checksum of each rank's part of the result, and how
far Parseval's equation is off.
"""

import hashlib
import sys

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.rank, comm.size
m = int(sys.argv[1])
rows = m // size
assert rows * size == m, "M is no multiple of the number of ranks"


def transpose(a):
    """Columns become rows."""
    blocks = np.ascontiguousarray(a.reshape(rows, size, rows).transpose(1, 2, 0))
    coming = np.empty_like(blocks)
    comm.Alltoall(blocks, coming)
    a.reshape(rows, size, rows)[:] = coming.transpose(1, 0, 2)


def transform(a):
    for row in a:
        row[:] = np.fft.fft(row)


def twiddle(a):
    column = np.arange(m)
    for i, row in enumerate(a):
        row *= np.exp(-2j * np.pi / (m * m) * ((rank * rows + i) * column))


def square(a):
    return sum(float(np.vdot(row, row).real) for row in a)


random = np.random.default_rng(rank)
a = np.empty((rows, m), complex)
for row in a:
    row[:] = random.random(m) - 0.5
before = comm.allreduce(square(a))
transpose(a)
transform(a)
twiddle(a)
transpose(a)
transform(a)
transpose(a)
after = comm.allreduce(square(a)) / m / m
sums = comm.gather(hashlib.sha256(a).hexdigest()[:16])
if rank == 0:
    print("parseval", abs(after - before) < 1e-9 * before)
    for i, s in enumerate(sums):
        print("rank", i, s)
