"""NumPy: arrays in one zip file, and random rows of a mapped array, changed in place through the map before."""

import numpy
import shared


def write():
    numpy.savez("a.npz", **{f"a{i}": shared.numbers(i, 512 * 1024) for i in range(12)})
    rows = numpy.lib.format.open_memmap("rows.npy", "w+", numpy.float32, (4096, 1024))
    for i in range(0, 4096, 512):
        rows[i : i + 512] = shared.numbers(i, 512 * 1024).reshape(512, 1024)
    rows.flush()
    rows[17, 3:5] = 1
    del rows


def read():
    with numpy.load("a.npz") as file:
        for name in file.files:
            shared.show(name, file[name])
    rows = numpy.load("rows.npy", mmap_mode="r")
    for i in [17] + shared.picked(1, 4096, 100):
        shared.show(str(i), rows[i].copy())
    return shared.size("a.npz") + 101 * 4096


shared.main(write, read)
