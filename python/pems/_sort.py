# SPDX-License-Identifier: BSD-3-Clause
"""Sorting: files, numpy arrays (also of a memmap), lines."""

import contextlib
import os
import subprocess
import tempfile
import threading
from ctypes import byref, c_int, c_size_t, c_void_p, pointer

from ._hints import is_rank
from ._library import (KEYS, Error, Record, SortOptions, call, library,
                       records_of, refuse_mask, set_common)

_CHUNK = 8 << 20  # bytes that are pushed at a time: then Ctrl-C is heeded
_PATIENCE = 0.3  # seconds for a sort that was told to stop


def _options(record, memory, threads, disks, io, count):
    options = set_common(SortOptions(), memory, threads, disks, io)
    options.record = record
    options.count = count
    return options


class _Sorter:
    """One sort: push all, then pull. Freed at the end of a `with`; or, if an
    interrupt came between the lines, with the object."""

    def __init__(self, options):
        self._options = options
        self._sorter = c_void_p()

    def __enter__(self):
        call("pems_sorter_new", byref(self._sorter), byref(self._options))
        return self

    def __exit__(self, *_):
        # First of all, so that an interrupt between the two frees nothing twice.
        sorter, self._sorter = self._sorter, c_void_p()
        library().pems_sorter_free(sorter)

    def __del__(self):
        if getattr(self, "_sorter", None):
            self.__exit__()

    def push(self, array):
        call("pems_sorter_push", self._sorter, array.ctypes.data, array.size)

    def finish(self):
        call("pems_sorter_finish", self._sorter)

    def pull_into(self, array):
        """In one call, during which Python interrupts nothing. Returns how many
        records there were."""
        n = c_size_t(array.size)
        call("pems_sorter_pull_into", self._sorter, array.ctypes.data,
             array.strides[0], byref(n))
        return n.value


def _push_array(sorter, array):
    import numpy
    step = max(1, _CHUNK // array.itemsize)
    for begin in range(0, array.size, step):
        sorter.push(numpy.ascontiguousarray(array[begin:begin + step]))
    sorter.finish()


def _push_sorted(sorter, before, array):
    """What another sorter has sorted, of as many records as an array."""
    import numpy
    step = max(1, min(_CHUNK // array.itemsize, array.size))
    some = numpy.empty(step, dtype=array.dtype)
    n = step
    while n == step:
        n = before.pull_into(some)
        sorter.push(some[:n])
    sorter.finish()


def _share(options, first, last):
    """Of several sorts, one is pulled from while another is pushed to."""
    half = options.memory // 2
    options.merge_memory = options.memory if last else half
    options.memory = options.memory if first else half


def _sort_array(array, out, records, common):
    """Nothing is written to `out` before all is sorted, and then all in one
    call: whenever an interrupt comes, it is as before or complete."""
    before = None
    with contextlib.ExitStack() as stack:
        for i, record in enumerate(records):
            options = _options(record, *common, array.size)
            if len(records) > 1 and options.memory:
                _share(options, i == 0, i == len(records) - 1)
            sorter = stack.enter_context(_Sorter(options))
            if before is None:
                _push_array(sorter, array)
            else:
                _push_sorted(sorter, before, array)
            before = sorter
        before.pull_into(out)


def _sort_arrays(array, out, field, descending, stable, common):
    import numpy
    target = array if out is None else out
    for x, what in ((array, "array"), (target, "out")):
        refuse_mask(numpy, x, "sort: " + what)
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
    _sort_array(array, target, records, common)
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


class _Work(threading.Thread):
    """A call of the library on a thread of its own, so that the main one can be
    interrupted."""

    def __init__(self, *arguments):
        super().__init__(name="pems.sort")
        self._arguments = arguments
        self._error = None
        self.done = threading.Event()

    def run(self):
        try:
            call(*self._arguments)
        except BaseException as error:  # it is raised by `end`
            self._error = error
        self.done.set()

    def end(self):
        self.join()
        if self._error is not None:
            raise self._error


def _sort_file(source, target, options):
    """Only the main thread is interrupted. The sort is told to stop then: what
    it is at takes a moment, but there will be no output."""
    arguments = ("pems_sort_file", source, target, byref(options), None)
    if threading.current_thread() is not threading.main_thread() or is_rank():
        call(*arguments)
        return
    stop = c_int(0)
    options.stop = pointer(stop)
    work = _Work(*arguments)
    try:
        work.start()
        work.done.wait()
    except BaseException:
        stop.value = 1
        work.done.wait(_PATIENCE)
        raise
    work.end()


def _sort_files(source, target, records, common):
    """By several fields: what is sorted by some of them has a name beside the
    target, but not the target's."""
    source, target = os.fsencode(source), os.fsencode(target)
    made = []
    try:
        for i, record in enumerate(records):
            to = target
            if i + 1 < len(records):
                folder, name = os.path.split(os.path.realpath(target))
                file, to = tempfile.mkstemp(dir=folder,
                                            prefix=b"." + name + b".")
                made.append(to)
                os.close(file)
            _sort_file(source, to, _options(record, *common, 0))
            source = to
    finally:
        for path in made:
            os.unlink(path)


def sort(what, out=None, *, field=None, dtype=None, record=None, key=None,
         offset=0, length=0, descending=False, stable=False, memory=None,
         threads=None, disks=None, io=None):
    """Sorts an array or a file of records.

    what: a numpy array of one dimension, a memmap for instance, or the path of a
      file. out: another array of the same type and size, or another path; without
      it the result takes the place of the input. A file appears when it is
      complete, so a memmap of one that is sorted by its path shows the old data.
      An array is written in one step, at the end: when Ctrl-C ends a sort, it is
      as it was before or sorted. After kill -9, or an error of a disk in that
      step, it may be neither.
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
