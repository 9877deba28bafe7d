"""What the programs share: numbers that are the same in each run, sums of what was read, and the command line."""

import hashlib
import os
import sys
import time

import numpy

MIB = 1 << 20


def numbers(seed, count):
    """So many floats."""
    return numpy.random.default_rng(seed).random(count, dtype=numpy.float32)


def picked(seed, of, count):
    """So many different numbers below a limit, in no order."""
    return [int(i) for i in numpy.random.default_rng(seed).choice(of, count, replace=False)]


def show(name, content):
    """Prints the sum of bytes, or of an array."""
    print(name, hashlib.sha256(memoryview(content).cast("B")).hexdigest()[:16], flush=True)


def size(path):
    """The bytes of a file, or of all files below a folder."""
    if os.path.isfile(path):
        return os.path.getsize(path)
    return sum(os.path.getsize(os.path.join(at, file)) for at, _, files in os.walk(path) for file in files)


def main(write, read):
    """`write FOLDER` writes there, `read FOLDER` reads that, prints sums, and then how many bytes it has used.
    The last line is the time that it took, without imports."""
    command, folder = sys.argv[1:]
    os.chdir(folder)
    start = time.perf_counter()
    if command == "write":
        write()
    else:
        print("used", read())
    print("seconds", time.perf_counter() - start)
