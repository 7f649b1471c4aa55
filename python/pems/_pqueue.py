# SPDX-License-Identifier: BSD-3-Clause
"""A priority queue of numpy records."""

import ctypes
import errno
import os
import threading
from ctypes import byref, c_size_t, c_void_p

from ._library import (QueueOptions, Status, Error, call, library, records_of,
                       refuse_mask, set_common)


class PriorityQueue:
    """Records of a numpy type, the least first (or the largest, if descending),
    by one field. The order of equal ones is undefined. Threads may share it: one
    waits for another. A forked child may not use its parent's: it gets an Error
    (EPERM)."""

    def __init__(self, dtype, field=None, *, descending=False, memory=None,
                 threads=None, disks=None, io=None):
        import numpy
        self.dtype = numpy.dtype(dtype)
        records = records_of(self.dtype, field, descending, False)
        if len(records) != 1:
            raise ValueError("PriorityQueue: %d fields: give one" %
                             len(records))
        self._options = set_common(QueueOptions(), memory, threads, disks, io)
        self._options.record = records[0]
        self._queue = c_void_p()
        self._numpy = numpy
        self._process = os.getpid()
        # A handler of a signal may use the queue, too, between two calls.
        self._lock = threading.RLock()
        call("pems_pqueue_new", byref(self._queue), byref(self._options))

    def close(self):
        """Frees the queue and its scratch disks: so does the end of a `with`,
        and the garbage collector."""
        if self._process != os.getpid():
            self._queue = c_void_p()
            return
        with self._lock:
            queue, self._queue = self._queue, c_void_p()
            if queue:
                library().pems_pqueue_free(queue)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        if getattr(self, "_queue", None):
            self.close()

    def _use(self):
        """The lock: not of a child, whose parent may hold it."""
        if self._process != os.getpid():
            raise Error(errno.EPERM, "PriorityQueue: was made before the fork: "
                        "make another one in the child")
        return self._lock

    def _open(self):
        if not self._queue:
            raise ValueError("PriorityQueue: closed")
        return self._queue

    def __len__(self):
        with self._use():
            return library().pems_pqueue_size(self._open())

    def __bool__(self):
        return len(self) > 0

    def push(self, records):
        """Adds one record (a number, a tuple) or an array of them."""
        refuse_mask(self._numpy, records, "PriorityQueue")
        array = self._numpy.ascontiguousarray(records, dtype=self.dtype)
        with self._use():
            call("pems_pqueue_push", self._open(), array.ctypes.data,
                 array.size)

    def top(self):
        """A copy of the first record. IndexError if there is none."""
        status = Status()
        with self._use():
            at = library().pems_pqueue_top(self._open(), byref(status))
            if status.code:
                raise Error(status.code, status.text.decode(errors="replace"))
            if not at:
                raise IndexError("PriorityQueue: empty")
            raw = ctypes.string_at(at, self.dtype.itemsize)
        return self._numpy.frombuffer(raw, dtype=self.dtype)[0]

    def pop(self, most=None):
        """Removes the first record and returns it (IndexError if there is none);
        or, given a number, up to so many, as an array in order."""
        out = self._numpy.empty(1 if most is None else most, dtype=self.dtype)
        n = c_size_t()
        with self._use():
            call("pems_pqueue_bulk_pop", self._open(), out.ctypes.data,
                 out.size, byref(n))
        if most is not None:
            return out[:n.value]
        if n.value == 0:
            raise IndexError("PriorityQueue: empty")
        return out[0]
