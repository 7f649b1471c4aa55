# SPDX-License-Identifier: BSD-3-Clause
"""Sorting and priority queues for data larger than memory, by libpems-em; and
what a Python program that runs on pems can tell it. See README.md."""

from ._library import Error, version
from ._hints import discard
from ._pqueue import PriorityQueue
from ._sort import pems_sort, sort, sort_lines

# Of this package; version() is the library's.
__version__ = "0.1.0"

__all__ = ["Error", "PriorityQueue", "discard", "pems_sort", "sort",
           "sort_lines", "version"]
