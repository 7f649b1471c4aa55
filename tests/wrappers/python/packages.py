"""Calls what the package that the first argument names is used for, on each
rank with other numbers, and prints what does not depend on rounding."""
import os
import sys

from mpi4py import MPI
import numpy as np

world = MPI.COMM_WORLD
rank = world.rank
random = np.random.default_rng(rank)


def say(*words):
    """In one piece: lines of ranks do not mix."""
    words = ["%.6g" % w if isinstance(w, float) else str(w) for w in words]
    os.write(1, ("%d: %s\n" % (rank, " ".join(words))).encode())


def use_scipy():
    from scipy import fft, integrate, linalg, optimize, sparse, spatial, special
    from scipy.sparse.linalg import spsolve
    a = random.random((60, 60)) + 60 * np.eye(60)
    x = linalg.solve(a, a @ np.arange(60.0))
    say("linalg", float(np.round(x, 6).sum()))
    a = sparse.diags([-1.0, 4.0, -1.0], [-1, 0, 1], (500, 500), format="csc")
    say("sparse", float(spsolve(a, np.full(500, 1.0 + rank)).sum()))
    say("optimize", float(optimize.brentq(lambda t: t * t - 2 - rank, 0, 9)))
    say("integrate", float(integrate.quad(np.sin, 0, 1 + rank)[0]))
    tree = spatial.cKDTree(random.random((1000, 3)))
    say("spatial", float(tree.query([0.5, 0.5, 0.5])[0]))
    say("special", float(special.gamma(2.5 + rank)))
    world.Barrier()
    data = random.random(1 << 15)
    say("fft", bool(np.allclose(fft.ifft(fft.fft(data)).real, data)))


def use_pandas():
    import pandas as pd
    frame = pd.DataFrame({"key": random.integers(0, 9, 50000),
                          "value": random.integers(0, 1000, 50000)})
    sums = frame.groupby("key").value.sum()
    world.Barrier()
    say("groupby", *sums.tolist())
    say("sorted", frame.sort_values(["value", "key"]).iloc[25000].tolist())
    days = pd.date_range("2026-01-01", periods=100 + rank, freq="D")
    say("times", days[-1].strftime("%Y-%m-%d"), int((days.dayofweek < 5).sum()))
    text = frame.head(20).to_csv(index=False)
    say("csv", len(text), text.count("\n"))


def use_h5py():
    import h5py
    name = "rank%d.h5" % rank
    data = random.integers(0, 100, (300, 300))
    with h5py.File(name, "w") as f:
        d = f.create_dataset("d", data=data, compression="gzip")
        d.attrs["rank"] = rank
        world.Barrier()
        f.create_group("g")["text"] = "some text"
    world.Barrier()
    with h5py.File(name, "r") as f:
        say("h5py", bool((f["d"][:] == data).all()), f["d"].attrs["rank"],
            f["g/text"][()].decode(), sorted(f))
    os.remove(name)
    if h5py.get_config().mpi:
        with h5py.File("all.h5", "w", driver="mpio", comm=world) as f:
            d = f.create_dataset("d", (world.size, 100), dtype="i4")
            d[rank] = np.arange(100) + rank
        with h5py.File("all.h5", "r", driver="mpio", comm=world) as f:
            say("parallel h5py", int(f["d"][:].sum()))


def use_numba():
    import numba

    @numba.njit
    def count(n):
        found = 0
        for i in range(2, n):
            prime = True
            for j in range(2, int(i ** 0.5) + 1):
                if i % j == 0:
                    prime = False
                    break
            found += prime
        return found

    @numba.njit(parallel=True)
    def total(a):
        s = 0.0
        for i in numba.prange(a.size):
            s += a[i]
        return s

    say("njit", count(5000 + 1000 * rank))
    world.Barrier()
    say("njit again", count(6000 + 1000 * rank))
    if "parallel" in sys.argv:
        say("parallel", total(np.arange(100000.0) * (rank + 1)))


{"scipy": use_scipy, "pandas": use_pandas, "h5py": use_h5py,
 "numba": use_numba}[sys.argv[1]]()
