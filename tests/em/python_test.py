"""python/pems against numpy's own sort and heapq: run by python.sh."""

import errno
import heapq
import os
import signal
import subprocess
import sys
import threading
import time

import numpy
import pems

SMALL = dict(memory="24M", threads=2)
random = numpy.random.default_rng(5)


def raises(kind, text, function, *arguments, **named):
    try:
        function(*arguments, **named)
    except kind as error:
        assert text in str(error), error
        return error
    raise AssertionError("%s was not raised" % kind.__name__)


def records(n):
    kind = numpy.dtype([("a", "<i2"), ("b", "<u4"), ("x", "<f8"),
                        ("name", "S5"), ("big", ">u8"), ("n", "<u4")],
                       align=True)
    r = numpy.zeros(n, dtype=kind)
    r["a"] = random.integers(-3, 3, n)
    r["b"] = random.integers(0, 50, n)
    r["x"] = random.normal(size=n)
    r["name"] = random.integers(0, 300, n).astype("S5")
    r["big"] = random.integers(0, 1 << 60, n)
    r["n"] = numpy.arange(n)
    return r


def numbers():
    for kind in "<u1 <i2 <u4 <i4 <u8 <i8 <f4 <f8 ? S7 >u4".split():
        a = (random.normal(size=5000) * 100).astype(
            "i4").astype(kind) if kind != ">u4" else random.integers(
                0, 1 << 32, 5000).astype(kind)
        want = numpy.sort(a)
        got = a.copy()
        assert pems.sort(got, **SMALL) is got
        assert got.tobytes() == want.tobytes(), kind
        other = numpy.empty_like(a)
        pems.sort(a, other, descending=True, **SMALL)
        assert (other == want[::-1]).all()


def fields():
    r = records(20000)
    for field in ("a", "b", "x", "name", "big"):
        got = r.copy()
        pems.sort(got, field=field, stable=True, **SMALL)
        assert got.dtype == r.dtype
        assert (got == numpy.sort(r, order=[field, "n"])).all(), field
    got = r.copy()
    pems.sort(got, field=["a", "name", "b"], **SMALL)
    assert (got == numpy.sort(r, order=["a", "name", "b", "n"])).all()
    every_other = r[::2]
    want = numpy.sort(every_other, order=["x"])
    pems.sort(every_other, field="x", **SMALL)
    assert (r[::2] == want).all()


def files():
    r = records(30000)
    r.tofile("from.bin")
    pems.sort("from.bin", "to.bin", dtype=r.dtype, field=["b", "x"], **SMALL)
    assert (numpy.fromfile("to.bin", r.dtype) == numpy.sort(
        r, order=["b", "x"])).all()
    assert numpy.fromfile("from.bin", r.dtype).tobytes() == r.tobytes()
    offset = r.dtype.fields["name"][1]
    pems.sort("from.bin", record=r.itemsize, key="bytes", offset=offset,
              length=5, **SMALL)
    assert (numpy.fromfile("from.bin", r.dtype)["name"] == numpy.sort(
        r["name"])).all()
    # More than the memory: by runs on a disk.
    big = numpy.memmap("map.bin", "<u8", "w+", shape=(8000000,))
    big[:] = random.integers(0, 1 << 63, big.size, dtype="u8")
    want = numpy.sort(big)
    os.mkdir("scratch")
    pems.sort(big, disks=["scratch"], **SMALL)
    big.flush()
    assert (numpy.fromfile("map.bin", "<u8") == want).all()
    assert os.listdir("scratch") == []


def special(kind, n):
    """Zeros, infinities and NaNs of both signs, and other numbers; each NaN has
    bits of its own."""
    a = random.choice(numpy.array([0.0, -0.0, 1, -1, numpy.inf, -numpy.inf]), n)
    a = a.astype(kind)
    nans = random.random(n) < 0.2
    word = a.view("u%d" % a.itemsize)
    word[nans] = (numpy.array(numpy.nan, kind).view(word.dtype)
                  | random.integers(0, 1 << 20, nans.sum()).astype(word.dtype)
                  | (random.integers(0, 2, nans.sum()).astype(word.dtype)
                     << word.dtype.type(8 * a.itemsize - 1)))
    return a


def floats():
    """numpy's order: NaNs last, -0.0 equal to 0.0; where stable, to the bit."""
    for kind in ("f4", "f8"):
        for n in (1, 50, 60000):
            a = special(kind, n)
            got = pems.sort(a.copy(), **SMALL)
            assert numpy.array_equal(got, numpy.sort(a), equal_nan=True)
            assert sorted(got.tobytes()) == sorted(a.tobytes())
            got = pems.sort(a.copy(), stable=True, **SMALL)
            assert got.tobytes() == numpy.sort(a, kind="stable").tobytes()
            got = pems.sort(a.copy(), descending=True, **SMALL)
            assert numpy.array_equal(got, numpy.sort(a)[::-1], equal_nan=True)
            got = pems.sort(a.copy(), descending=True, stable=True, **SMALL)
            turned = numpy.sort(a[::-1], kind="stable")[::-1]
            assert got.tobytes() == turned.tobytes()
        # With what is beside the key, of sizes that different kernels sort.
        for other in ("u4", "u8", "S8", "S20"):
            r = numpy.zeros(20000, dtype=[("k", kind), ("x", other)])
            r["k"] = special(kind, r.size)
            r["x"] = numpy.arange(r.size).astype(other)
            order = numpy.argsort(r["k"], kind="stable")
            got = pems.sort(r.copy(), field="k", stable=True, **SMALL)
            assert got.tobytes() == r[order].tobytes(), (kind, other)
            got = pems.sort(r.copy(), field="k", **SMALL)
            assert numpy.array_equal(got["k"], r["k"][order], equal_nan=True)
        r = numpy.zeros(20000, dtype=[("a", kind), ("b", kind), ("n", "u4")])
        r["a"], r["b"] = special(kind, r.size), special(kind, r.size)
        r["n"] = numpy.arange(r.size)
        order = numpy.lexsort((r["n"], r["b"], r["a"]))
        got = pems.sort(r.copy(), field=["a", "b"], **SMALL)
        assert got.tobytes() == r[order].tobytes()
        r["a"].tofile("floats.bin")
        pems.sort("floats.bin", dtype=kind, **SMALL)
        assert numpy.array_equal(numpy.fromfile("floats.bin", kind),
                                 numpy.sort(r["a"]), equal_nan=True)
        with pems.PriorityQueue(kind, **SMALL) as q:
            q.push(r["a"])
            assert numpy.array_equal(q.pop(r.size), numpy.sort(r["a"]),
                                     equal_nan=True)
    for kind in ("f2", "g", "c8", "M8[s]", "m8[s]", "U3"):
        raises(ValueError, "is no key", pems.sort, numpy.zeros(3, kind))


def masks():
    masked = numpy.ma.array([3, 1, 2], mask=[0, 1, 0])
    raises(TypeError, "mask would be lost", pems.sort, masked)
    raises(TypeError, "mask would be lost", pems.sort, numpy.arange(3), masked)
    with pems.PriorityQueue("<i8", **SMALL) as q:
        raises(TypeError, "mask would be lost", q.push, masked)


def ring(*_):
    raise KeyboardInterrupt


def interrupted(sort, array, seconds):
    """Whether Ctrl-C after so many seconds came before the end of a sort."""
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds)
        sort(array)
        signal.setitimer(signal.ITIMER_REAL, 0)
    except KeyboardInterrupt:
        return True
    return False


def interrupts():
    """Whenever one comes, an array is as before or sorted."""
    little = dict(memory="2M", threads=1)
    pairs = [("a", "<u4"), ("b", "<u4")]
    before = signal.signal(signal.SIGALRM, ring)
    for rounds, dtype, named in ((140, "<u8", {}), (40, pairs, dict(field=[
            "a", "b"])), (20, "<f8", dict(stable=True))):
        a = random.integers(0, 1 << 62, 200000, dtype="<u8").view(dtype)
        want = numpy.sort(a)
        got = numpy.memmap("interrupt.bin", dtype, "w+", shape=a.shape)
        seconds, ended = 0.1, 0
        for _ in range(rounds):
            got[:] = a
            begin = time.monotonic()
            if interrupted(lambda x: pems.sort(x, **little, **named), got,
                           random.uniform(0.0001, 1.1 * seconds)):
                ended += 1
            else:
                seconds = min(time.monotonic() - begin, 5)
            assert (got == a).all() or (got == want).all(), named
        assert ended > 0
    signal.signal(signal.SIGALRM, before)


def interrupted_files():
    """A file sort leaves no output, nor anything else."""
    before = signal.signal(signal.SIGALRM, ring)
    kind = numpy.dtype([("a", "<u4"), ("b", "<u4")])
    numpy.zeros(500000, dtype=kind).tofile("whole.bin")
    names = set(os.listdir("."))
    for field, seconds in (("a", 0.2), ("a", 0.6), (["a", "b"], 0.3)):
        # On a disk that takes half a second for each of some ten requests.
        slow = dict(memory="2M", threads=1, io="fault:unix,seek=400000")
        assert interrupted(lambda x: pems.sort(
            x, "part.bin", dtype=kind, field=field, **slow), "whole.bin",
            seconds)
        assert "part.bin" not in os.listdir(".")
        for thread in threading.enumerate():
            if thread is not threading.main_thread():
                thread.join()
        assert set(os.listdir(".")) == names
    signal.signal(signal.SIGALRM, before)


def shared_queue():
    """Threads may use one queue, and a child not its parent's."""
    q = pems.PriorityQueue("<u8", **SMALL)
    a = random.integers(0, 1 << 63, 200000, dtype="u8")

    def work():
        for k in range(50):
            q.push(a[k * 4000:(k + 1) * 4000])
            q.top()
            q.pop(500)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(q) == 4 * 50 * 3500
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        status = 1
        try:
            for use in (q.pop, q.top, lambda: q.push(3), lambda: len(q)):
                assert raises(pems.Error, "before the fork", use
                              ).errno == errno.EPERM
            q.close()
            assert pems.sort(numpy.arange(9)[::-1].copy(), **SMALL)[0] == 0
            status = 0
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0
    assert len(q.pop(len(q))) == 4 * 50 * 3500


def queue():
    with pems.PriorityQueue("<i8", **SMALL) as q:
        assert not q and len(q) == 0
        heap = []
        for _ in range(300):
            some = random.integers(-1000, 1000, 7)
            q.push(some)
            for x in some:
                heapq.heappush(heap, x)
            assert q.top() == heap[0]
            for _ in range(3):
                assert q.pop() == heapq.heappop(heap)
        assert len(q) == len(heap) == 1200
        assert (q.pop(500) == [heapq.heappop(heap) for _ in range(500)]).all()
        assert len(q.pop(10000)) == 700
        raises(IndexError, "empty", q.pop)
        raises(IndexError, "empty", q.top)
    raises(ValueError, "closed", q.push, 1)
    q = pems.PriorityQueue([("time", "<f8"), ("event", "<u4")], "time",
                           descending=True, **SMALL)
    q.push((0.5, 7))
    q.push((1.5, 8))
    time, event = q.pop()
    assert (time, event) == (1.5, 8) and len(q) == 1


def errors():
    error = raises(pems.Error, "/nowhere", pems.sort, "/nowhere/at/all",
                   dtype="<u4", **SMALL)
    assert error.errno == errno.ENOENT
    assert raises(pems.Error, "", pems.sort, numpy.arange(5), memory=1000
                  ).errno == errno.ENOMEM
    raises(pems.Error, "/nowhere", pems.sort, numpy.arange(5),
           disks="/nowhere", **SMALL)
    raises(ValueError, "give a number", pems.sort, numpy.arange(5),
           memory="much")
    r = records(5)
    raises(ValueError, "the records have a, b", pems.sort, r)
    raises(ValueError, "unknown", pems.sort, r, field="c")
    raises(ValueError, "is no key", pems.sort, numpy.zeros(3, "c16"))
    raises(ValueError, "is no key", pems.sort, numpy.zeros(3, ">i4"))
    raises(ValueError, "have none", pems.sort, numpy.zeros(3), field="x")
    raises(ValueError, "one dimension", pems.sort, numpy.zeros((2, 2)))
    raises(ValueError, "Python objects", pems.sort, numpy.array([{}]))
    raises(ValueError, "either dtype=", pems.sort, "from.bin")
    raises(ValueError, "give one of u8", pems.sort, "from.bin", record=4,
           key="u7")
    frozen = numpy.arange(3)
    frozen.flags.writeable = False
    raises(ValueError, "cannot be written", pems.sort, frozen)


def hints():
    a = numpy.ones(100)
    assert pems.discard(a) is False and (a == 1).all()
    assert pems.discard(bytearray(5)) is False
    raises(ValueError, "writable", pems.discard, b"abc")
    assert pems.discard(numpy.ones((3, 4), order="F")) is False


def command():
    with open("words", "w") as file:
        file.writelines("%d\n" % x for x in random.integers(0, 999, 1000))
    pems.sort_lines("words", "sorted", memory="16M")
    with open("words") as a, open("sorted") as b:
        assert sorted(a) == list(b)
    raises(pems.Error, "pems", pems.pems_sort, "--no-such-option")
    os.environ["PEMS_SORT"] = "/nowhere/pems-sort"
    raises(pems.Error, "PEMS_SORT", pems.pems_sort, "--help")


def version():
    """Of the package: that of the library with it."""
    numbers = [int(n) for n in pems.__version__.split(".")]
    assert len(numbers) == 3, pems.__version__
    assert numbers[0] * 10000 + numbers[1] * 100 + numbers[2] == pems.version()


def library():
    code = "import pems; pems.sort('from.bin', record=4, key='u4')"
    for path, code, text in (
            ("/nowhere.so", "import pems; pems.version()", "PEMS_EM_LIBRARY"),
    ):
        done = subprocess.run([sys.executable, "-c", code],
                              env=dict(os.environ, PEMS_EM_LIBRARY=path),
                              capture_output=True, check=False)
        assert done.returncode and text in done.stderr.decode(), done.stderr


for test in (numbers, fields, files, floats, masks, interrupts,
             interrupted_files, queue, shared_queue, errors, hints, command,
             version, library):
    test()
print("right")
