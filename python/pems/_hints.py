# SPDX-License-Identifier: BSD-3-Clause
"""What a program tells pems, if it runs on it."""

import ctypes


def _discard_of_rank():
    return getattr(ctypes.CDLL(None), "pems_api_discard", None)


def is_rank():
    """Whether this process carries ranks of pems."""
    return _discard_of_rank() is not None


def discard(array):
    """Declares that the contents of an array (any object with a writable,
    contiguous buffer) will not be read before they are written again: a rank of
    pems then neither writes nor reads them when it waits. They are undefined from
    now on. Outside pems it does nothing. Returns whether pems could use it."""
    view = memoryview(array)
    if view.readonly or not view.contiguous:
        raise ValueError("discard: the array must be writable and contiguous")
    hint = _discard_of_rank()
    if hint is None or view.nbytes == 0:
        return False
    hint.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    flat = view.cast("B") if view.c_contiguous else None
    if flat is None:  # Fortran's order
        address = array.ctypes.data
    else:
        address = ctypes.addressof((ctypes.c_char * view.nbytes)
                                   .from_buffer(flat))
    return hint(address, view.nbytes) == 0
