"""Jacobi's iteration for Laplace's equation, with numpy and mpi4py.

Arguments: M and the number of iterations. The grid has M * M points, of which
each rank has some rows, M a multiple of the number of ranks; neighbours exchange
the rows at their borders. Rank 0 prints the change in the last iteration, and a
checksum of each rank's rows.
"""

import hashlib
import sys

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.rank, comm.size
m, iterations = int(sys.argv[1]), int(sys.argv[2])
rows = m // size
assert rows * size == m, "M is no multiple of the number of ranks"
above = rank - 1 if rank > 0 else MPI.PROC_NULL
below = rank + 1 if rank < size - 1 else MPI.PROC_NULL

# With a border of one point. The upper edge is hot.
u = np.zeros((rows + 2, m + 2))
new = np.zeros_like(u)
if rank == 0:
    u[0] = new[0] = 1

change = 0.0
for _ in range(iterations):
    comm.Sendrecv(u[1], above, recvbuf=u[rows + 1], source=below)
    comm.Sendrecv(u[rows], below, recvbuf=u[0], source=above)
    mine = 0.0
    for i in range(1, rows + 1):
        row = (u[i - 1, 1:-1] + u[i + 1, 1:-1] + u[i, :-2] + u[i, 2:]) / 4
        mine = max(mine, float(np.abs(row - u[i, 1:-1]).max()))
        new[i, 1:-1] = row
    u, new = new, u
    if rank == 0:
        u[0] = 1
    change = comm.allreduce(mine, MPI.MAX)

sums = comm.gather(hashlib.sha256(u[1:-1]).hexdigest()[:16])
if rank == 0:
    print("change %.17g" % change)
    for i, s in enumerate(sums):
        print("rank", i, s)
