# SPDX-License-Identifier: BSD-3-Clause
"""Sorting: files, numpy arrays (also of a memmap), lines."""

import ctypes
import os
import subprocess
from ctypes import byref, c_size_t, c_void_p

from ._library import (KEYS, Error, Record, SortOptions, call, library,
                       records_of, set_common)

_CHUNK = 8 << 20  # bytes of an array whose parts do not lie side by side


def _options(record, memory, threads, disks, io, count):
    options = set_common(SortOptions(), memory, threads, disks, io)
    options.record = record
    options.count = count
    return options


class _Sorter:
    """One sort: push all, then pull. Freed at the end of a `with`."""

    def __init__(self, options):
        self._options = options
        self._sorter = c_void_p()

    def __enter__(self):
        call("pems_sorter_new", byref(self._sorter), byref(self._options))
        return self

    def __exit__(self, *_):
        library().pems_sorter_free(self._sorter)

    def push(self, array):
        call("pems_sorter_push", self._sorter, array.ctypes.data, array.size)

    def pull(self):
        """Address and number of the next records."""
        at, n = c_void_p(), c_size_t()
        call("pems_sorter_pull", self._sorter, byref(at), byref(n))
        return at.value, n.value


def _chunks(array):
    """Contiguous arrays that are parts of one of one dimension: (part, where)."""
    step = max(1, _CHUNK // array.itemsize)
    if array.flags.c_contiguous:
        step = max(step, array.size)
    for begin in range(0, array.size, step):
        yield slice(begin, min(begin + step, array.size))


def _sort_array(array, out, options):
    import numpy
    with _Sorter(options) as sorter:
        for part in _chunks(array):
            sorter.push(numpy.ascontiguousarray(array[part]))
        call("pems_sorter_finish", sorter._sorter)
        done = 0
        while True:
            at, n = sorter.pull()
            if not n:
                return
            raw = (ctypes.c_char * (n * array.itemsize)).from_address(at)
            out[done:done + n] = numpy.frombuffer(raw, dtype=array.dtype)
            done += n


def _sort_arrays(array, out, field, descending, stable, common):
    import numpy
    target = array if out is None else out
    for x, what in ((array, "array"), (target, "out")):
        if not isinstance(x, numpy.ndarray) or x.ndim != 1:
            raise ValueError("sort: %s: give a numpy array of one dimension"
                             % what)
    if target.dtype != array.dtype or target.size != array.size:
        raise ValueError("sort: out: must have the size and type of the array")
    if not target.flags.writeable:
        raise ValueError("sort: the array cannot be written: open it with "
                         "mode='r+', or give out=")
    if array.dtype.hasobject:
        raise ValueError("sort: %s: holds Python objects" % array.dtype)
    records = records_of(array.dtype, field, descending, stable)
    for i, record in enumerate(records):
        _sort_array(array if i == 0 else target, target,
                    _options(record, *common, array.size))
    return target


def _file_records(dtype, field, descending, stable, record, key, offset,
                  length):
    if (dtype is None) == (record is None):
        raise ValueError("sort: a file: give either dtype= (and field=), or "
                         "record= and key=")
    if dtype is not None:
        import numpy
        return records_of(numpy.dtype(dtype), field, descending, stable)
    if key not in KEYS:
        raise ValueError("sort: key: %r: give one of %s"
                         % (key, ", ".join(list(KEYS)[1:])))
    return [Record(size=record, key=KEYS[key], key_offset=offset,
                   key_size=length, descending=bool(descending),
                   stable=bool(stable))]


def _sort_files(source, target, records, common):
    source, target = os.fsencode(source), os.fsencode(target)
    for i, record in enumerate(records):
        options = _options(record, *common, 0)
        call("pems_sort_file", source if i == 0 else target, target,
             byref(options), None)


def sort(what, out=None, *, field=None, dtype=None, record=None, key=None,
         offset=0, length=0, descending=False, stable=False, memory=None,
         threads=None, disks=None, io=None):
    """Sorts an array or a file of records.

    what: a numpy array of one dimension, a memmap for instance, or the path of a
      file. out: another array of the same type and size, or another path; without
      it the result takes the place of the input. A file appears when it is
      complete, so a memmap of one that is sorted by its path shows the old data.
    field: the field to sort by, or a list of them, the most important first.
    dtype: of a file's records; or record: their size in bytes, with key ("u64",
      "i32", "f64", "bytes", ...) at `offset`, of `length` bytes if it is bytes.
    memory, threads, disks, io: what the sort may use; memory may be "512M".
    Returns the sorted array, or the path. Raises Error, ValueError."""
    common = (memory, threads, disks, io)
    if isinstance(what, (str, bytes, os.PathLike)):
        records = _file_records(dtype, field, descending, stable, record, key,
                                offset, length)
        target = what if out is None else out
        _sort_files(what, target, records, common)
        return target
    if dtype is not None or record is not None or key is not None:
        raise ValueError("sort: dtype, record and key are for files")
    return _sort_arrays(what, out, field, descending, stable, common)


# --- the command ---

def pems_sort(*arguments, input=None):
    """Runs pems-sort (PEMS_SORT names another one) with these arguments, and
    returns its output (bytes). Raises Error with its line if it fails."""
    command = [os.environ.get("PEMS_SORT", "pems-sort")]
    command += [os.fspath(a) if isinstance(a, os.PathLike) else str(a)
                for a in arguments]
    try:
        done = subprocess.run(command, input=input, capture_output=True,
                              check=False)
    except FileNotFoundError as error:
        raise Error(error.errno, "%s: not found: install pems, or name it in "
                    "PEMS_SORT" % command[0]) from None
    if done.returncode:
        text = done.stderr.decode(errors="replace").strip()
        raise Error(done.returncode, text or "%s: ended with status %d"
                    % (command[0], done.returncode))
    return done.stdout


def sort_lines(source, target, *options, memory=None):
    """Sorts the lines of a file into another (or into itself), as sort(1) does
    in this locale. Further options of it or of pems-sort, as "--numeric-sort" or
    "--threads", "2", are passed on."""
    more = ["--memory", str(memory)] if memory is not None else []
    pems_sort("--lines", *more, *options, "--output", target, "--", source)
    return target
