"""Spawns itself in several ways, and talks with the children.

Arguments: another script, which begins with "#!" and this interpreter. Each line
is written at once, so that lines of ranks do not mix.
"""
import os
import sys

from mpi4py import MPI

world = MPI.COMM_WORLD


def say(*words):
    os.write(1, (" ".join(map(str, words)) + "\n").encode())


def talk(inter, name):
    """Both sides learn the sum of the others' ranks, counted from 1."""
    total = inter.allreduce(world.rank + 1)
    data = inter.alltoall(["%s %d" % (name, world.rank)] * inter.remote_size)
    say(name, world.rank, "of", world.size, "sum", total, "last", data[-1])
    inter.Disconnect()


def child(parent):
    where, executable, *words = sys.argv[1:]
    say("argument", os.path.basename(sys.argv[0]), words,
        sys.flags.optimize, executable == sys.executable,
        os.path.samefile(os.getcwd(), where))
    talk(parent, "child")


def refused(command):
    try:
        world.Spawn(command)
    except MPI.Exception as error:
        say("refused", error.Get_error_class() == MPI.ERR_SPAWN)


def parents(script):
    words = [os.getcwd(), sys.executable, "one", "two words", ""]
    talk(world.Spawn(sys.executable, [__file__] + words, 2), "parent")
    talk(world.Spawn(script, words, 1, root=world.size - 1), "parent")
    talk(world.Spawn_multiple([sys.executable, script],
                              [["-O", __file__] + words, words], [1, 2]),
         "parent")
    world.Set_errhandler(MPI.ERRORS_RETURN)
    refused("/bin/sh")
    refused("./other.sh")


if MPI.Comm.Get_parent() != MPI.COMM_NULL:
    child(MPI.Comm.Get_parent())
else:
    parents(sys.argv[1])
