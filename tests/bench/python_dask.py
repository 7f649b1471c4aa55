"""The sample sort's numbers, sorted by Dask, to compare it with pems.

Arguments: the number of ranks, how many numbers each has, how many partitions
they are divided in, and how Dask works: "threads" (one process, two threads,
partitions on disk in between), or WORKERSxBYTES: processes of one thread and their
memory. Prints what the parts of the result are.
"""

import os
import sys
import time

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd


def make(piece, n, pieces):
    """The piece of a rank's numbers of which each has n."""
    rank, index = divmod(piece, pieces)
    random = np.random.default_rng(rank)
    random.bit_generator.advance(index * n)
    return pd.DataFrame({"x": random.random(n)})


def facts(part):
    x = part["x"].to_numpy()
    rising = bool(np.all(x[1:] >= x[:-1]))
    ends = (x[0], x[-1]) if len(x) else (np.nan, np.nan)
    row = (len(x), rising, ends[0], ends[1], float(x.sum()))
    return pd.DataFrame([row], columns=["n", "rising", "first", "last", "sum"])


def sort(ranks, n, pieces):
    n //= pieces
    parts = ranks * pieces
    one = make(0, 1, 1)
    frame = dd.from_map(make, range(parts), n=n, pieces=pieces, meta=one)
    ordered = frame.sort_values("x", npartitions=parts)
    meta = facts(one)
    got = ordered.map_partitions(facts, meta=meta).compute()
    got = got[got.n > 0]
    rising = got.rising.all() and (
        got["first"].to_numpy()[1:] >= got["last"].to_numpy()[:-1]
    ).all()
    print("parts %d rising %s sum %.6f" % (len(got), rising, got["sum"].sum()))
    return int(got.n.sum()), bool(rising)


def main():
    ranks, n, parts = (int(a) for a in sys.argv[1:4])
    how, pieces = sys.argv[4], parts // ranks
    assert n % pieces == 0 and parts % ranks == 0
    began = time.time()
    disk = os.environ.get("TMPDIR", "/var/tmp")
    dask.config.set({"temporary_directory": disk})
    if how == "threads":
        with dask.config.set(
            {
                "scheduler": "threads",
                "num_workers": 2,
                "dataframe.shuffle.method": "disk",
            }
        ):
            count, rising = sort(ranks, n, pieces)
    else:
        from distributed import Client, LocalCluster

        workers, memory = (int(word) for word in how.split("x"))
        with LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            memory_limit=memory,
            dashboard_address=None,
            local_directory=disk,
        ) as cluster, Client(cluster):
            count, rising = sort(ranks, n, pieces)
    wrong = int(count != ranks * n or not rising)
    print("RESULT app=dask seconds=%.2f wrong=%d" % (time.time() - began, wrong))


if __name__ == "__main__":
    main()
