# SPDX-License-Identifier: BSD-3-Clause
"""libpems-em: its structs and functions, as include/pems/*.h have them."""

import ctypes
import ctypes.util
import os
import re
from ctypes import (POINTER, Structure, byref, c_char, c_char_p, c_double,
                    c_int, c_size_t, c_ssize_t, c_uint64, c_void_p)

KEYS = {name: number for number, name in enumerate(
    ("none", "u8", "u16", "u32", "u64", "u128", "i8", "i16", "i32", "i64",
     "f32", "f64", "bytes", "real32", "real64"))}


class Error(OSError):
    """A function of the library failed: errno, and the library's line."""


class Status(Structure):
    _fields_ = [("code", c_int), ("text", c_char * 500)]


class Record(Structure):
    _fields_ = [("size", c_size_t), ("key", c_int), ("key_offset", c_size_t),
                ("key_size", c_size_t), ("descending", c_int),
                ("stable", c_int), ("compare", c_void_p),
                ("context", c_void_p), ("kernel", c_void_p),
                ("reserved", c_void_p)]


class DisksOptions(Structure):
    _fields_ = [("path", POINTER(c_char_p)), ("count", c_int),
                ("io", c_char_p), ("depth", c_int), ("strict", c_int),
                ("reserved", c_uint64 * 4)]


class SortOptions(Structure):
    _fields_ = [("size", c_size_t), ("record", Record), ("memory", c_uint64),
                ("merge_memory", c_uint64), ("threads", c_int),
                ("merge_threads", c_int), ("disks", c_void_p),
                ("scratch", DisksOptions), ("block", c_size_t),
                ("count", c_uint64), ("runs", c_int), ("deal", c_int),
                ("fetch", c_int), ("write_buffers", c_int),
                ("read_buffers", c_int), ("prefetch_buffers", c_int),
                ("kernel", c_char_p), ("seed", c_uint64),
                ("progress", c_void_p), ("progress_arg", c_void_p),
                ("stop", POINTER(c_int))]


class QueueOptions(Structure):
    _fields_ = [("size", c_size_t), ("record", Record), ("memory", c_uint64),
                ("room", c_void_p), ("threads", c_int), ("disks", c_void_p),
                ("scratch", DisksOptions), ("block", c_size_t),
                ("heap", c_size_t), ("extract_buffer", c_size_t),
                ("read_memory", c_size_t), ("arrays", c_int),
                ("external_arrays", c_int), ("deal", c_int),
                ("seed", c_uint64), ("kernel", c_char_p)]


_ERROR = POINTER(Status)
# name: arguments; all return an errno value but for those of _OTHERS.
_FUNCTIONS = {
    "pems_sort_file": [c_char_p, c_char_p, POINTER(SortOptions), c_void_p,
                       _ERROR],
    "pems_sorter_new": [POINTER(c_void_p), POINTER(SortOptions), _ERROR],
    "pems_sorter_push": [c_void_p, c_void_p, c_size_t, _ERROR],
    "pems_sorter_finish": [c_void_p, _ERROR],
    "pems_sorter_pull_into": [c_void_p, c_void_p, c_ssize_t, POINTER(c_size_t),
                              _ERROR],
    "pems_pqueue_new": [POINTER(c_void_p), POINTER(QueueOptions), _ERROR],
    "pems_pqueue_push": [c_void_p, c_void_p, c_size_t, _ERROR],
    "pems_pqueue_bulk_pop": [c_void_p, c_void_p, c_size_t, POINTER(c_size_t),
                             _ERROR],
}
_OTHERS = {
    "pems_sorter_free": (None, [c_void_p]),
    "pems_pqueue_free": (None, [c_void_p]),
    "pems_pqueue_size": (c_uint64, [c_void_p]),
    "pems_pqueue_top": (c_void_p, [c_void_p, _ERROR]),
    "pems_version_number": (c_int, []),
}
_loaded = None


def _find():
    named = os.environ.get("PEMS_EM_LIBRARY")
    if named:
        return named
    found = ctypes.util.find_library("pems-em")
    return found or "libpems-em.so.0"


def library():
    """The library, loaded when it is needed first."""
    global _loaded
    if _loaded is None:
        try:
            lib = ctypes.CDLL(_find())
        except OSError as error:
            raise ImportError(
                "pems: the library libpems-em was not found: install pems, or "
                "name the file in PEMS_EM_LIBRARY: %s" % error) from None
        for name, arguments in _FUNCTIONS.items():
            function = getattr(lib, name, None)
            if function is None:
                raise ImportError("pems: %s: has no %s: install the library "
                                  "that this package came with"
                                  % (lib._name, name))
            function.restype, function.argtypes = c_int, arguments
        for name, (result, arguments) in _OTHERS.items():
            function = getattr(lib, name, None)
            if function is not None:
                function.restype, function.argtypes = result, arguments
        _loaded = lib
    return _loaded


def call(name, *arguments):
    """Calls a function that may fail, and raises an Error if it does."""
    status = Status()
    code = getattr(library(), name)(*arguments, byref(status))
    if code:
        text = status.text.decode(errors="replace") or os.strerror(code)
        raise Error(code, text)


def version():
    """The version of the library, as a number, or None."""
    lib = library()
    return lib.pems_version_number() if hasattr(
        lib, "pems_version_number") else None


_UNITS = {"": 0, "K": 10, "M": 20, "G": 30, "T": 40}


def size_of(value):
    """A number of bytes, or text as "512M"."""
    if value is None:
        return 0
    if isinstance(value, str):
        match = re.fullmatch(r"(\d+)([KMGT]?)(i?B)?", value.strip(), re.I)
        if not match:
            raise ValueError("size: %r: give a number, or one with K, M, G or T"
                             % value)
        return int(match[1]) << _UNITS[match[2].upper()]
    if value < 0:
        raise ValueError("size: %r: must not be negative" % (value,))
    return int(value)


def set_common(options, memory, threads, disks, io):
    """Fills in what all structs of options have."""
    options.size = ctypes.sizeof(options)
    options.memory = size_of(memory)
    options.threads = threads or 0
    if disks:
        disks = [disks] if isinstance(disks, (str, os.PathLike)) else disks
        paths = [os.fsencode(path) for path in disks]
        options.scratch.path = (c_char_p * len(paths))(*paths)
        options.scratch.count = len(paths)
    if io:
        options.scratch.io = io.encode()
    return options


def refuse_mask(numpy, array, what):
    """What has a mask would come back without."""
    if isinstance(array, numpy.ma.MaskedArray):
        raise TypeError("%s: a masked array: its mask would be lost: give "
                        "array.compressed(), or use numpy.ma.sort" % what)


# --- keys ---

def _key_of(dtype, name):
    """The key that a number or a string of numpy is: (type, bytes)."""
    kind, size = dtype.kind, dtype.itemsize
    if dtype.subdtype is not None or dtype.names is not None:
        raise ValueError("field %r: %s: give fields that are numbers or bytes"
                         % (name, dtype))
    if kind == "S" and size > 0:
        return "bytes", size
    if kind == "b":
        return "u8", 1
    if kind == "u" and size > 1 and not dtype.isnative:
        return "bytes", size  # big-endian
    letter = {"u": "u", "i": "i", "f": "real"}.get(kind)
    key = "%s%d" % (letter, 8 * size)
    if letter is None or key not in KEYS or not dtype.isnative:
        raise ValueError("field %r: %s: is no key: convert it" % (name, dtype))
    return key, 0


def records_of(dtype, field, descending, stable):
    """The records to sort by, one for each field, the least important first:
    each sort but the first must be stable."""
    if dtype.names is None:
        if field is not None:
            raise ValueError("field %r: the records have none" % (field,))
        fields = [(None, dtype, 0)]
    else:
        if field is None:
            raise ValueError("field: missing: the records have %s"
                             % ", ".join(dtype.names))
        names = [field] if isinstance(field, str) else list(field)
        for name in names:
            if name not in dtype.names:
                raise ValueError("field %r: unknown: the records have %s"
                                 % (name, ", ".join(dtype.names)))
        if not names:
            raise ValueError("field: none given")
        fields = [(name,) + dtype.fields[name][:2] for name in names]
    records = []
    for name, kind, offset in fields:
        key, size = _key_of(kind, name)
        records.append(Record(size=dtype.itemsize, key=KEYS[key],
                              key_offset=offset, key_size=size,
                              descending=bool(descending),
                              stable=bool(stable) or len(fields) > 1))
    return records[::-1]
