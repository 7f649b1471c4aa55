"""The sample sort's numbers, sorted by Dask: its workers have the memory.

Arguments: the number of parts, numbers per part, memory of the workers in bytes,
and a directory for what does not fit. Prints how many numbers there are, and their
extremes, and the time that generating and sorting took.
"""

import sys
import time

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
from dask.distributed import Client, LocalCluster


def part(rank, n):
    return pd.DataFrame({"x": np.random.default_rng(rank).random(n)})


def facts(frame):
    x = frame["x"].to_numpy()
    assert (x[:-1] <= x[1:]).all()
    return pd.DataFrame({"n": [len(x)], "low": [x[0]], "high": [x[-1]]})


def main():
    parts, n, memory = (int(a) for a in sys.argv[1:4])
    dask.config.set({"temporary-directory": sys.argv[4]})
    cluster = LocalCluster(
        n_workers=1, threads_per_worker=2, memory_limit=memory, dashboard_address=None
    )
    with cluster, Client(cluster):
        began = time.time()
        numbers = dd.from_map(part, range(parts), n=n)
        found = numbers.sort_values("x").map_partitions(facts).compute()
        seconds = time.time() - began
    found = found.sort_values("low")
    assert (found["high"].to_numpy()[:-1] <= found["low"].to_numpy()[1:]).all()
    print("RESULT app=python_sort_dask numbers=%d low=%.17g high=%.17g seconds=%.1f"
          % (found["n"].sum(), found["low"].min(), found["high"].max(), seconds))


if __name__ == "__main__":
    main()
