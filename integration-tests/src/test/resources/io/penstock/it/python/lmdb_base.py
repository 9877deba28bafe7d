"""lmdb: transactions by a map that writes and one that does not, and random reads."""

import lmdb
import shared


def write():
    for folder, mapped in ("written", False), ("mapped", True):
        with lmdb.open(folder, map_size=64 * shared.MIB, writemap=mapped) as base:
            for transaction in range(10):
                with base.begin(write=True) as writing:
                    for i in range(400):
                        key = b"%06d" % (transaction * 400 + i)
                        writing.put(key, shared.numbers(i, 500 + i).tobytes())
            with base.begin(write=True) as writing:
                for i in range(0, 4000, 7):
                    writing.delete(b"%06d" % i)


def read():
    used = 0
    for folder in "written", "mapped":
        with lmdb.open(folder, readonly=True, map_size=64 * shared.MIB) as base, base.begin() as reading:
            print(folder, reading.stat()["entries"])
            for i in shared.picked(1, 4000, 500):
                value = reading.get(b"%06d" % i)
                used += len(value or b"")
                shared.show(str(i), value or b"none")
    return used


shared.main(write, read)
