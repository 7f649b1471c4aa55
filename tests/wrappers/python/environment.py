"""What a rank sets in its environment, it and the processes that it starts
have, and no other of the three ranks, however it starts them and whoever asks.
Each waits until all have set theirs, in the directory that it runs in."""
import ctypes
import os
import subprocess
import sys
import time

me = os.urandom(4).hex()
only, put, by_libc, gone = ["PEMS_%s_%s" % (how, me)
                            for how in ("ONLY", "PUT", "LIBC", "GONE")]
everything = [only, put, by_libc]
libc = ctypes.CDLL("libc.so.6")
libc.getenv.restype = ctypes.c_char_p


def begin():
    os.environ[only] = os.environ[gone] = me
    del os.environ[gone]
    os.putenv(put, me)
    libc.setenv(by_libc.encode(), me.encode(), 1)
    # A program that only this rank's PATH leads to.
    os.mkdir("of." + me)
    with open("of.%s/pems_own" % me, "w") as f:
        f.write("#!/bin/sh\nenv >env.%s\nexit 5\n" % me)
    os.chmod("of.%s/pems_own" % me, 0o700)
    os.environ["PATH"] = os.path.abspath("of." + me) + ":" + os.environ["PATH"]
    open("set." + me, "w").close()
    while len([n for n in os.listdir(".") if n.startswith("set.")]) < 3:
        time.sleep(0.01)


def check(how, text, wanted):
    got = sorted(line.split("=")[0] for line in text.splitlines()
                 if line.startswith(("PEMS_ONLY_", "PEMS_PUT_", "PEMS_GONE_",
                                     "PEMS_LIBC_")))
    if got != sorted(wanted):
        print(how, got, sorted(wanted))


def ended(how, status):
    if status == 5:
        with open("env." + me) as f:
            check(how, f.read(), everything)
        os.unlink("env." + me)
    else:
        print(how, status)


def fork(run):
    pid = os.fork()
    if pid == 0:
        run()
        os._exit(99)
    return waited(pid)


def waited(pid):
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def output(words, **how):
    return subprocess.run(words, capture_output=True, text=True, **how).stdout


def children():
    check("run", output(["env"]), everything)
    # Python's own environment before 3.13, libc's since.
    check("run with files", output(["/usr/bin/env"], close_fds=False),
          everything if sys.version_info >= (3, 13) else [only])
    check("run with env", output(["env"], env=os.environ), [only])
    check("popen", os.popen("env").read(), everything)
    ended("call", subprocess.call(["pems_own"]))
    ended("system", os.waitstatus_to_exitcode(os.system("pems_own")))
    ended("libc's system", os.waitstatus_to_exitcode(libc.system(b"pems_own")))
    words = (ctypes.c_char_p * 2)(b"pems_own", None)
    ended("execv", fork(lambda: os.execv("of.%s/pems_own" % me, ["own"])))
    ended("execvp", fork(lambda: libc.execvp(words[0], words)))
    ended("posix_spawnp", waited(os.posix_spawnp(
        "pems_own", ["own"], dict(os.environ, **{put: me, by_libc: me}))))


# The time zone is the process's, and all set the same.
def own_state():
    os.environ["TZ"] = "EAST-3"
    time.tzset()
    wanted = [me.encode(), me.encode(), None, b"EAST-3"]
    got = [libc.getenv(n.encode()) for n in (only, put, gone, "TZ")]
    if got != wanted:
        print("libc's getenv", got)
    libc.srand(7)
    number = libc.rand()
    libc.srand(7)
    libc.printf(b"%s", b"a line ")
    libc.printf(b"by libc %d\n", int(libc.rand() == number))
    libc.fflush(None)


begin()
children()
own_state()
print("environment", time.tzname[0], time.localtime(0).tm_hour)
