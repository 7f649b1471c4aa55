"""Sorts a CSV by its column b with DuckDB or Polars: run by lines.sh.

    lines_peers.py duckdb|polars FROM TO MEMORY THREADS SCRATCH
"""

import os
import sys


def with_duckdb(source, target, memory, threads, scratch):
    import duckdb

    d = duckdb.connect()
    d.execute("SET memory_limit = '%siB'" % memory)  # 256M: 256MiB
    d.execute("SET threads = %d" % threads)
    d.execute("SET temp_directory = '%s'" % scratch)
    d.execute("SET preserve_insertion_order = false")
    d.execute(
        "COPY (SELECT * FROM read_csv('%s', header = true) ORDER BY b) "
        "TO '%s' (HEADER, DELIMITER ',')" % (source, target))


def with_polars(source, target, threads, scratch):
    os.environ["POLARS_MAX_THREADS"] = str(threads)
    os.environ["POLARS_TEMP_DIR"] = scratch
    import polars

    polars.scan_csv(source).sort("b").sink_csv(target)


peer, source, target, memory, threads, scratch = sys.argv[1:]
if peer == "duckdb":
    with_duckdb(source, target, memory, int(threads), scratch)
else:
    with_polars(source, target, int(threads), scratch)
